/**
 * B2: usage over HTTP on Postgres, one record a request, against a hand-written server: one that writes each request by
 * itself, and one that gathers requests for 5 ms and writes them in one statement.
 *
 * All servers are separate processes, on databases of the same Postgres. 64 connections send records of 1,000
 * customers, each with a key. `baselines/FastifyUsage.ts` describes the other sides.
 */
import { launch, lines, start, stop, type Target } from "./BillwrightServer.ts"
import { compare, type Contender } from "./Comparison.ts"
import * as Load from "./Load.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { cpuMicros } from "./ProcessTime.ts"
import { intervalOf } from "./Statistics.ts"
import { p99Of } from "./Tails.ts"

const CONNECTIONS = 64
const CUSTOMERS = 1000
const ROUND_MILLIS = 2000
const ROUNDS = 21
const GATHER_MILLIS = 5

/** The server by hand, which gathers requests for some time, or does not. */
const startTheirs = async (databaseUrl: string, gatherMillis = 0): Promise<Target> => {
  const key = `sk_live_${"0".repeat(38)}`
  const child = launch("bench/baselines/FastifyUsage.ts", [], {
    DATABASE_URL: databaseUrl,
    API_KEY: key,
    CUSTOMERS: String(CUSTOMERS),
    GATHER_MILLIS: String(gatherMillis),
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

interface Side {
  readonly name: string
  readonly target: Target
  /** The 99th percentile of each round, in milliseconds. */
  readonly p99: Array<number>
  /** Processor time of the server's process for each request of a round. */
  readonly cpuMicros: Array<number>
}

const sideOf = (name: string, target: Target): Side => ({ name, target, p99: [], cpuMicros: [] })

const contender = ({ cpuMicros: cpu, name, p99, target }: Side): Contender => ({
  name,
  round: async (round) => {
    const before = cpuMicros(target.process.pid!)
    const { p99Millis, requests, requestsPerSecond } = await fire(target)
    const used = cpuMicros(target.process.pid!) - before
    if (round >= 0) {
      p99.push(p99Millis)
      cpu.push(used / requests)
    }
    return requestsPerSecond
  },
})

/** The processor time of each server for a request. */
const costsOf = (sides: ReadonlyArray<Side>) =>
  sides
    .filter(({ cpuMicros: cpu }) => cpu.length > 0)
    .map(({ cpuMicros: cpu, name }) => {
      const serverCpuMicrosPerRequest = intervalOf(cpu)
      console.log(
        `${name}: ${serverCpuMicrosPerRequest.median.toFixed(1)} µs of the server's processor time a request`,
      )
      return { name, serverCpuMicrosPerRequest }
    })

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const database = (name: string) => server.createDatabase(`bench_http_${name}`)
    const sides = [
      sideOf("billwright serve", await start(await database("ours"), CUSTOMERS)),
      sideOf("Fastify and pg, by hand", await startTheirs(await database("theirs"))),
      sideOf(
        `the same, gathered for ${GATHER_MILLIS} ms`,
        await startTheirs(await database("gathered"), GATHER_MILLIS),
      ),
    ]
    await compare({
      name: "http-ingest",
      title: `B2: POST /v1/usage, ${CONNECTIONS} connections, ${CUSTOMERS} customers, ${ROUND_MILLIS} ms a round, Postgres ${server.version}`,
      unit: "requests/s",
      isRate: true,
      rounds: ROUNDS,
      contenders: sides.map(contender),
      details: () => ({ ...p99Of(sides), costs: costsOf(sides) }),
    })
    for (const { target } of sides) await stop(target)
  } finally {
    await server.stop()
  }
}
