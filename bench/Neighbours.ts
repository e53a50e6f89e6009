/**
 * Two accounts of one `billwright serve` on Postgres: one that asks for all it can get, and its neighbour, whose latency is
 * measured. Both are in test mode, so that webhooks may go to this machine.
 */
import { once } from "node:events"
import { launch, lines } from "./BillwrightServer.ts"
import { percentile } from "./Statistics.ts"

/** How long the neighbour is measured in a round, in milliseconds. */
const ROUND_MILLIS = 6_000
/** The mean pause between two requests of the neighbour, in milliseconds. It does not wait for answers. */
const PAUSE_MILLIS = 25

/** Calls the API of an account. */
export type Call = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>

const caller =
  (url: string, key: string): Call =>
  async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>)
  }

/** Asks for what an account reads, and throws the answer away. Reading it would take time from the neighbour's requests here. */
const asker =
  (url: string, key: string) =>
  async (path: string): Promise<void> => {
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })
    await response.body?.pipeTo(new WritableStream())
  }

const issueKey = async (databaseUrl: string, account: string): Promise<string> => {
  const args = [
    "keys",
    "issue",
    "--store",
    "postgres",
    "--mode",
    "test",
    "--account",
    account,
    "--name",
    "bench",
  ]
  const child = launch("packages/cli/src/bin.ts", args, { DATABASE_URL: databaseUrl })
  for await (const line of lines(child)) {
    const key = /(sk_test_\S+)/.exec(line)?.[1]
    if (key !== undefined) return key
  }
  throw new Error("no key was issued")
}

export interface Neighbours {
  /** The account that asks for a lot. */
  readonly greedy: Call
  /** Asks for something of its own, and does not look at the answer. */
  readonly ask: (path: string) => Promise<void>
  /** Its neighbour. */
  readonly modest: Call
  readonly stop: () => Promise<void>
}

/** Starts the server on an empty database. */
export const start = async (databaseUrl: string): Promise<Neighbours> => {
  const args = [
    "serve",
    "--store",
    "postgres",
    "--allow-loopback",
    "--allow-plaintext-secrets",
    "--port",
    "0",
  ]
  const server = launch("packages/cli/src/bin.ts", args, { DATABASE_URL: databaseUrl })
  let url = ""
  for await (const line of lines(server)) {
    url = /listening on (\S+)/.exec(line)?.[1] ?? url
    if (line.startsWith("API reference")) break
  }
  const [greedy, modest] = [await issueKey(databaseUrl, "greedy"), await issueKey(databaseUrl, "modest")]
  return {
    greedy: caller(url, greedy),
    ask: asker(url, greedy),
    modest: caller(url, modest),
    stop: async () => {
      server.kill("SIGTERM")
      await once(server, "exit")
    },
  }
}

const later = (millis: number): Promise<void> => new Promise((done) => setTimeout(done, millis))

/** The 95th percentile of what `work` takes, in milliseconds, while it is begun again and again. */
export const p95 = async (work: (index: number) => Promise<number>): Promise<number> => {
  const all: Array<Promise<number>> = []
  const until = performance.now() + ROUND_MILLIS
  for (let index = 0; performance.now() < until; index++) {
    all.push(work(index))
    await later(PAUSE_MILLIS * (0.5 + Math.random()))
  }
  return percentile(await Promise.all(all), 0.95)
}

/** Runs `work` in so many loops until the returned function is called, which waits for their ends. */
export const keepBusy = (loops: number, work: (index: number) => Promise<unknown>) => {
  let isOver = false
  let index = 0
  const running = Array.from({ length: loops }, async () => {
    // A refusal is an answer, too: the client tries again.
    const asked = () => !isOver
    while (asked()) await work(index++).catch(() => later(10))
  })
  return async (): Promise<void> => {
    isOver = true
    await Promise.all(running)
  }
}
