/**
 * `billwright serve` as it is published, with events that are published over HTTP, 50 in a second: the time from the call
 * to the first byte at the receiver, and the resident memory of the process.
 *
 * The server both answers the API and sends. The time of an event begins before its request is sent. Memory is read after a quiet
 * time of 10 s, in a new process on the same store each time, and all the time while the last of them publishes.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { lines } from "./BillwrightServer.ts"
import { compare } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { residentMegabytes, watch } from "./ProcessMemory.ts"
import { install } from "./PublishedCommand.ts"
import { roundsOf } from "./Rounds.ts"
import { intervalOf, median, percentile } from "./Statistics.ts"
import { end, type Receiver, startReceiver } from "./webhooks/Processes.ts"

const EVENTS = 200
const INTERVAL_MILLIS = 20
const QUIET_MILLIS = 10_000
const DEADLINE_MILLIS = 30_000
/** How often the receiver is asked what came, after a round. */
const POLL_MILLIS = 50

const now = (): number => performance.timeOrigin + performance.now()

interface Server {
  readonly url: string
  /** The first key of test mode, which only the first start prints. */
  readonly key: string | undefined
  readonly process: ChildProcess
}

/** The processes that run, so that none is left when something fails. */
const running = new Set<ChildProcess>()

const start = async (command: string, env: Record<string, string>): Promise<Server> => {
  const args = [
    "serve",
    "--store",
    "postgres",
    "--allow-loopback",
    "--allow-plaintext-secrets",
    "--port",
    "0",
  ]
  const child = spawn(process.execPath, [command, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_ENV: "production", ...env },
  })
  running.add(child)
  child.on("exit", () => running.delete(child))
  let url = ""
  let key: string | undefined
  for await (const line of lines(child)) {
    url = /listening on (\S+)/.exec(line)?.[1] ?? url
    key = /test key {2}(\S+)/.exec(line)?.[1] ?? key
    if (line.startsWith("API reference")) return { url, key, process: child }
  }
  throw new Error("the server did not start")
}

const stop = async ({ process: child }: Server): Promise<void> => {
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  await ended
}

type Post = (path: string, body: object) => Promise<{ readonly id: string }>

const poster =
  (url: string, key: string): Post =>
  async (path, body) => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { readonly id: string }
  }

const eventOf = (index: number) => ({
  type: "invoice.created",
  data: { invoice_id: `in_${index}`, customer_id: "cus_1", amount: 4200, currency: "EUR" },
})

/** Publishes an event at an instant. Gives its id, and when it was called. */
const publishAt = async (post: Post, index: number, at: number): Promise<readonly [string, number]> => {
  await pause(at - now())
  const called = now()
  const { id } = await post("/v1/events", eventOf(index))
  return [id, called]
}

/** The times of the events of a round, in milliseconds. */
const measure = async (post: Post, receiver: Receiver): Promise<ReadonlyArray<number>> => {
  const begin = now() + INTERVAL_MILLIS
  const calls = await Promise.all(
    Array.from({ length: EVENTS }, (_, index) => publishAt(post, index, begin + index * INTERVAL_MILLIS)),
  )
  const arrivals = new Map(await receiver.arrivals())
  const deadline = now() + DEADLINE_MILLIS
  while (!calls.every(([id]) => arrivals.has(id))) {
    if (now() > deadline) throw new Error(`${arrivals.size} events of ${EVENTS} came`)
    await pause(POLL_MILLIS)
    for (const [id, at] of await receiver.arrivals()) arrivals.set(id, at)
  }
  return calls.map(([id, called]) => arrivals.get(id)! - called)
}

/** Starts the server again and again, the memory of each after a quiet time. The last one stays. */
const startQuietly = async (command: string, env: Record<string, string>) => {
  const quiet: Array<number> = []
  for (;;) {
    const server = await start(command, env)
    await pause(QUIET_MILLIS)
    quiet.push(residentMegabytes(server.process.pid!))
    console.log(`  ${quiet.at(-1)!.toFixed(0)} MB after ${QUIET_MILLIS / 1000} quiet seconds`)
    if (quiet.length === roundsOf()) return { server, idleMegabytes: intervalOf(quiet) }
    await stop(server)
  }
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), "bench-webhook-http-"))
  const postgres = await PostgresServer.start()
  const receiver = await startReceiver()
  try {
    const command = install(directory)
    const env = {
      DATABASE_URL: await postgres.createDatabase("bench_webhook_http"),
      NODE_COMPILE_CACHE: join(directory, "cache"),
    }
    const first = await start(command, env)
    if (first.key === undefined) throw new Error("the server printed no key")
    await poster(first.url, first.key)("/v1/webhook_endpoints", {
      url: `${receiver.url}/hook`,
      event_types: ["*"],
    })
    await stop(first)
    const { idleMegabytes, server } = await startQuietly(command, env)
    const post = poster(server.url, first.key)
    const most = watch(server.process.pid!)
    const p99: Array<number> = []
    await compare({
      name: "webhook-http",
      title: `From the call of POST /v1/events to the first byte at the receiver, ${1000 / INTERVAL_MILLIS} events/s, Postgres ${postgres.version}`,
      unit: "ms",
      isRate: false,
      contenders: [
        {
          name: "billwright serve",
          round: async (round) => {
            const millis = await measure(post, receiver)
            if (round >= 0) p99.push(percentile(millis, 0.99))
            return median(millis)
          },
        },
      ],
      details: () => {
        const details = { p99Millis: intervalOf(p99), idleMegabytes, highestMegabytes: most() }
        console.log(
          `p99 ${details.p99Millis.median.toFixed(1)} ms; ${idleMegabytes.median.toFixed(0)} MB when idle, and at most ${details.highestMegabytes.toFixed(0)} MB`,
        )
        return details
      },
    })
    await stop(server)
  } finally {
    for (const child of running) child.kill()
    await end(receiver.process)
    await postgres.stop()
    rmSync(directory, { recursive: true })
  }
}
