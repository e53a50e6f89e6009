/**
 * B2: usage over HTTP on Postgres, one record a request, against a hand-written server.
 *
 * Both servers are separate processes, on databases of the same Postgres. 64 connections send records of 1,000
 * customers, each with a key. `baselines/FastifyUsage.ts` describes the other side.
 */
import { launch, lines, start, stop, type Target } from "./BillwrightServer.ts"
import { compare, type Contender, median, ratiosOf, save } from "./Comparison.ts"
import * as Load from "./Load.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { cpuMicros } from "./ProcessTime.ts"

const CONNECTIONS = 64
const CUSTOMERS = 1000
const ROUND_MILLIS = 2000
const ROUNDS = 25

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

/** The other figures of a round. */
interface Rounds {
  readonly p99Millis: Array<number>
  /** Processor time of the server's process for each request. */
  readonly cpuMicros: Array<number>
}

const newRounds = (): Rounds => ({ p99Millis: [], cpuMicros: [] })

const contender = (name: string, target: Target, rounds: Rounds): Contender => ({
  name,
  round: async (round) => {
    const before = cpuMicros(target.process.pid!)
    const { p99Millis, requests, requestsPerSecond } = await fire(target)
    const used = cpuMicros(target.process.pid!) - before
    if (round >= 0) {
      rounds.p99Millis.push(p99Millis)
      rounds.cpuMicros.push(used / requests)
    }
    return requestsPerSecond
  },
})

const medians = ({ cpuMicros: cpu, p99Millis }: Rounds) => ({
  p99Millis: median(p99Millis),
  serverCpuMicrosPerRequest: median(cpu),
})

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const ours = await start(await server.createDatabase("bench_http_ours"), CUSTOMERS)
    const theirs = await startTheirs(await server.createDatabase("bench_http_theirs"))
    const rounds = { ours: newRounds(), theirs: newRounds() }
    const title = `B2: POST /v1/usage, ${CONNECTIONS} connections, ${CUSTOMERS} customers, ${ROUND_MILLIS} ms a round, Postgres ${server.version}`
    const figures = await compare({
      name: "http-ingest",
      title,
      unit: "requests/s",
      isRate: true,
      rounds: ROUNDS,
      contenders: [
        contender("billwright serve", ours, rounds.ours),
        contender("Fastify and pg, by hand", theirs, rounds.theirs),
      ],
    })
    const detail = { ours: medians(rounds.ours), theirs: medians(rounds.theirs) }
    for (const [side, { p99Millis, serverCpuMicrosPerRequest }] of Object.entries(detail)) {
      console.log(
        `${side}: p99 ${p99Millis.toFixed(1)} ms, ${serverCpuMicrosPerRequest.toFixed(1)} µs of the server's processor time a request`,
      )
    }
    const ratios = ratiosOf(figures, true)
    save("http-ingest", { title, unit: "requests/s", figures, ratios, ...detail })
    await stop(ours)
    await stop(theirs)
  } finally {
    await server.stop()
  }
}
