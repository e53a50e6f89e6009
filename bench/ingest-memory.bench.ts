/**
 * The memory of a process that ingests 5 million records into Postgres: it must stay flat.
 *
 * The process does nothing else: it makes the records, records them in batches of 1,000 from 2 callers, and
 * looks at its resident memory every 250,000 records.
 */
import { Billing, CurrentTenant, Customers, Tenant, Usage, type UsageRecord } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { save } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"

const RECORDS = 5_000_000
const BATCH = 1000
const CALLERS = 2
const CUSTOMERS = 1000
const SAMPLE_EVERY = 250_000
const LIMIT_MIB = 200

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" } as const

const residentMiB = (): number => Math.round(process.memoryUsage.rss() / 2 ** 20)

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  const url = await server.createDatabase("bench_ingest_memory")
  const runtime = ManagedRuntime.make(
    Billing.layer.pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    ),
  )
  const provided = <A, E>(effect: Effect.Effect<A, E, Customers | Usage | CurrentTenant>) =>
    runtime.runPromise(Effect.provideService(effect, CurrentTenant, tenant))
  try {
    const customers = await provided(
      Effect.flatMap(Customers, (service) =>
        Effect.forEach(
          Array.from({ length: CUSTOMERS }, (_, index) => index),
          (index) => service.create({ name: `Customer ${index}`, email: `c${index}@example.com` }),
          { concurrency: 10 },
        ),
      ),
    )
    const batch = (from: number): ReadonlyArray<UsageRecord.RecordUsage> =>
      Array.from({ length: BATCH }, (_, index) => ({
        customerId: customers[(index * 7919 + from) % CUSTOMERS]!.id,
        productId: "api",
        quantity: index,
        unit: "call",
        idempotencyKey: `request-${from + index}`,
      }))
    const samples: Array<{ readonly records: number; readonly residentMiB: number }> = []
    const started = performance.now()
    let next = 0
    let done = 0
    const caller = async () => {
      while (next < RECORDS) {
        const from = next
        next += BATCH
        await provided(Effect.flatMap(Usage, (usage) => usage.recordBatch({ records: batch(from) })))
        done += BATCH
        if (done % SAMPLE_EVERY === 0) {
          samples.push({ records: done, residentMiB: residentMiB() })
          console.log(`  ${done.toLocaleString("en-US")} records, ${residentMiB()} MiB resident`)
        }
      }
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
    const recordsPerSecond = RECORDS / ((performance.now() - started) / 1000)
    const highestMiB = Math.max(...samples.map((sample) => sample.residentMiB))
    console.log(`at most ${highestMiB} MiB (limit ${LIMIT_MIB}), ${Math.round(recordsPerSecond)} records/s`)
    save("ingest-memory", { records: RECORDS, recordsPerSecond, highestMiB, limitMiB: LIMIT_MIB, samples })
  } finally {
    await runtime.dispose()
    await server.stop()
  }
}
