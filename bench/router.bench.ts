/**
 * B8: the HTTP router alone, `POST /v1/usage` on the memory adapter, against the same handler on Fastify with
 * validation, on Hono and on `node:http`, and against bare Fastify with a `Map`.
 *
 * Each side is a separate process with its own store. 64 connections send records of 1,000 customers, each with a
 * key. All sides but the last verify the API key and record through the same services (`router/Handler.ts`). The last one
 * adds the quantity to a `Map` and checks nothing: what a request costs at least on Fastify. Our side serves the whole API.
 */
import { launch, lines, stop, type Target } from "./BillwrightServer.ts"
import { compare, type Contender } from "./Comparison.ts"
import * as Load from "./Load.ts"
import { p99Of } from "./Tails.ts"

const CONNECTIONS = 64
const ROUND_MILLIS = 2_000

const SIDES = [
  ["ours", "Billwright"],
  ["fastify", "Fastify with validation"],
  ["hono", "Hono"],
  ["raw", "node:http"],
  ["map", "bare Fastify with a Map"],
] as const

const start = async (side: string): Promise<Target> => {
  const child = launch("bench/router/RouterProcess.ts", [side], { NODE_ENV: "production" })
  for await (const line of lines(child)) {
    const { customers, key, port } = JSON.parse(line) as {
      readonly port: number
      readonly key: string
      readonly customers: ReadonlyArray<string>
    }
    return { url: `http://127.0.0.1:${port}`, key, customers, process: child }
  }
  throw new Error(`${side} did not start`)
}

const contender = (name: string, { customers, key, url }: Target, p99: Array<number>): Contender => ({
  name,
  round: async (round) => {
    const result = await Load.run({
      port: Number(new URL(url).port),
      connections: CONNECTIONS,
      millis: ROUND_MILLIS,
      requests: customers.map((customer_id) =>
        Load.post("/v1/usage", key, { customer_id, product_id: "api", quantity: 5, unit: "call" }),
      ),
    })
    if (round >= 0) p99.push(result.p99Millis)
    return result.requestsPerSecond
  },
})

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const started = await Promise.all(
    SIDES.map(async ([side, name]) => ({ name, target: await start(side), p99: [] as Array<number> })),
  )
  try {
    await compare({
      name: "router",
      title: `B8: POST /v1/usage on the memory adapter, ${CONNECTIONS} connections, ${ROUND_MILLIS} ms a round`,
      unit: "requests/s",
      isRate: true,
      contenders: started.map(({ name, p99, target }) => contender(name, target, p99)),
      details: () => p99Of(started),
    })
  } finally {
    await Promise.all(started.map(({ target }) => stop(target)))
  }
}
