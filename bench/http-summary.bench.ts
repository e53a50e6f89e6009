/**
 * A summary over 100,000 records through the REST API on the memory adapter.
 *
 * The records are sent in batches of 1,000 over real HTTP, spread over the days of a year. Then the benchmark asks,
 * one request at a time, for the total of everything, of a month, and of a month in a time zone with partial days.
 */
import { ApiKeys, Billing, CurrentTenant, Tenant } from "@billwright/core"
import { Server } from "@billwright/http"
import { NodeHandler, NodeServer } from "@billwright/http/node"
import { Memory } from "@billwright/memory"
import { Effect, Layer, Redacted } from "effect"
import { save } from "./Comparison.ts"
import { median, percentile } from "./Statistics.ts"

const RECORDS = 100_000
const BATCH = 1000
const DAYS = 365
const DAY_MILLIS = 86_400_000
const SAMPLES = 500

type Call = (method: string, path: string, body?: unknown) => Promise<string>

const client =
  (url: string, secret: string): Call =>
  async (method, path, body) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
    return text
  }

const start = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const { secret } = yield* keys
    .issue({ name: "bench" })
    .pipe(Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" }))
  const server = yield* Server.make()
  const handler = NodeHandler.make(server, yield* Effect.context<never>())
  const { url } = yield* NodeServer.listen(handler, { port: 0 })
  return client(url, Redacted.value(secret))
})

const ingest = async (call: Call, customer: string): Promise<bigint> => {
  let sum = 0n
  for (let from = 0; from < RECORDS; from += BATCH) {
    const records = Array.from({ length: BATCH }, (_, index) => {
      const number = from + index
      const quantity = (number * 7919) % 1000
      sum += BigInt(quantity)
      const timestamp = new Date(Date.now() - ((number % DAYS) + 1) * DAY_MILLIS).toISOString()
      return {
        customer_id: customer,
        product_id: "api",
        quantity,
        unit: "call",
        timestamp,
        idempotency_key: `k${number}`,
      }
    })
    await call("POST", "/usage/batch", { records })
  }
  return sum
}

const measure = async (call: Call, title: string, path: string) => {
  const times: Array<number> = []
  for (let sample = -50; sample < SAMPLES; sample++) {
    const started = performance.now()
    await call("GET", path)
    if (sample >= 0) times.push(performance.now() - started)
  }
  console.log(`${title}: median ${median(times).toFixed(2)} ms, p99 ${percentile(times, 0.99).toFixed(2)} ms`)
  return { title, medianMillis: median(times), p99Millis: percentile(times, 0.99) }
}

const benchmark = Effect.gen(function* () {
  const call = yield* start
  yield* Effect.promise(async () => {
    const customer = JSON.parse(
      await call("POST", "/customers", { name: "Ada", email: "ada@example.com" }),
    ) as { id: string }
    const started = performance.now()
    const sum = await ingest(call, customer.id)
    const seconds = (performance.now() - started) / 1000
    console.log(
      `posted ${RECORDS} records in ${seconds.toFixed(1)} s: ${Math.round(RECORDS / seconds)} records/s`,
    )
    const summary = await call("GET", `/usage?customer_id=${customer.id}`)
    if (!summary.includes(`"total_quantity":${sum},`)) throw new Error(`the total is wrong: ${summary}`)
    const month = new Date(Date.now() - 40 * DAY_MILLIS).toISOString().slice(0, 7)
    const dates = `start_date=${month}-01&end_date=${month}-28`
    const summaries = [
      await measure(call, "all time", `/usage?customer_id=${customer.id}`),
      await measure(call, "a month, UTC", `/usage?customer_id=${customer.id}&${dates}`),
      await measure(
        call,
        "a month, New York",
        `/usage?customer_id=${customer.id}&${dates}&timezone=America/New_York`,
      ),
    ]
    save("http-summary", { records: RECORDS, recordsPerSecond: RECORDS / seconds, summaries })
  })
})

/** Runs the benchmark. */
export const run = (): Promise<void> =>
  benchmark.pipe(
    Effect.scoped,
    Effect.provide(Billing.layer.pipe(Layer.provideMerge(Memory.layer))),
    Effect.runPromise,
  )
