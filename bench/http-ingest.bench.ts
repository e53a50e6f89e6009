import { type ChildProcess, spawn } from "node:child_process"
/**
 * B2: one record a request over HTTP on Postgres, against a hand-written server.
 *
 * Both servers are processes of their own on databases of the same Postgres; 64 connections send records of
 * 1,000 customers, with a key each. See `baselines/FastifyUsage.ts` for what the other side does.
 */
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { compare, type Contender, median, save } from "./Comparison.ts"
import * as Load from "./Load.ts"
import * as PostgresServer from "./PostgresServer.ts"

const CONNECTIONS = 64
const CUSTOMERS = 1000
const ROUND_MILLIS = 6000
const ROUNDS = 5

const root = join(import.meta.dirname, "..")

interface Target {
  readonly url: string
  readonly key: string
  readonly customers: ReadonlyArray<string>
  readonly process: ChildProcess
}

const launch = (script: string, args: ReadonlyArray<string>, env: Record<string, string>): ChildProcess =>
  spawn(process.execPath, [join(root, script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  })

const lines = (child: ChildProcess) => createInterface({ input: child.stdout! })

const createCustomers = (url: string, key: string): Promise<ReadonlyArray<string>> =>
  Promise.all(
    Array.from({ length: CUSTOMERS }, async (_, index) => {
      const response = await fetch(`${url}/v1/customers`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ name: `Customer ${index}`, email: `c${index}@example.com` }),
      })
      return ((await response.json()) as { id: string }).id
    }),
  )

const startOurs = async (databaseUrl: string): Promise<Target> => {
  const child = launch("packages/cli/src/bin.ts", ["serve", "--store", "postgres", "--port", "0"], {
    DATABASE_URL: databaseUrl,
  })
  let url = ""
  for await (const line of lines(child)) {
    url = /listening on (\S+)/.exec(line)?.[1] ?? url
    const key = /live key {2}(\S+)/.exec(line)?.[1]
    if (key !== undefined) return { url, key, customers: await createCustomers(url, key), process: child }
  }
  throw new Error("the server did not start")
}

const startTheirs = async (databaseUrl: string): Promise<Target> => {
  const key = `sk_live_${"0".repeat(38)}`
  const child = launch("bench/baselines/FastifyUsage.ts", [], {
    DATABASE_URL: databaseUrl,
    API_KEY: key,
    CUSTOMERS: String(CUSTOMERS),
    NODE_ENV: "production",
  })
  for await (const line of lines(child)) {
    const { customers, port } = JSON.parse(line) as { port: number; customers: ReadonlyArray<string> }
    return { url: `http://127.0.0.1:${port}`, key, customers, process: child }
  }
  throw new Error("the baseline did not start")
}

const fire = ({ customers, key, url }: Target): Promise<Load.LoadResult> =>
  Load.run({
    port: Number(new URL(url).port),
    connections: CONNECTIONS,
    millis: ROUND_MILLIS,
    requests: customers.map((customer_id) =>
      Load.post("/v1/usage", key, { customer_id, product_id: "api", quantity: 5, unit: "call" }),
    ),
  })

const contender = (name: string, target: Target, p99: Array<number>): Contender => ({
  name,
  round: async (round) => {
    const { p99Millis, requestsPerSecond } = await fire(target)
    if (round >= 0) p99.push(p99Millis)
    return requestsPerSecond
  },
})

const stop = async ({ process: child }: Target): Promise<void> => {
  child.kill("SIGTERM")
  await once(child, "exit")
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const ours = await startOurs(await server.createDatabase("bench_http_ours"))
    const theirs = await startTheirs(await server.createDatabase("bench_http_theirs"))
    const p99 = { ours: [] as Array<number>, theirs: [] as Array<number> }
    const title = `B2: POST /v1/usage, ${CONNECTIONS} connections, ${CUSTOMERS} customers, ${ROUND_MILLIS} ms a round, Postgres ${server.version}`
    const figures = await compare({
      name: "http-ingest",
      title,
      unit: "requests/s",
      isRate: true,
      rounds: ROUNDS,
      contenders: [
        contender("billwright serve", ours, p99.ours),
        contender("Fastify and pg, by hand", theirs, p99.theirs),
      ],
    })
    const latency = { oursP99Millis: median(p99.ours), theirsP99Millis: median(p99.theirs) }
    console.log(
      `p99: ${latency.oursP99Millis.toFixed(1)} ms, by hand ${latency.theirsP99Millis.toFixed(1)} ms`,
    )
    save("http-ingest", { title, figures, ratio: figures[0]!.median / figures[1]!.median, latency })
    await stop(ours)
    await stop(theirs)
  } finally {
    await server.stop()
  }
}
