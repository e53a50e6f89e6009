/**
 * The process that `ingest-memory.bench.ts` measures. Records 5 million records into DATABASE_URL, in batches of
 * 1,000 from 2 callers, and prints its resident memory every 250,000 records, as JSON.
 */
import { Billing, CurrentTenant, Customers, Tenant, Usage, type UsageRecord } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"

const RECORDS = 5_000_000
const BATCH = 1000
const CALLERS = 2
const CUSTOMERS = 1000
const SAMPLE_EVERY = 250_000

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" } as const

const residentMiB = (): number => Math.round(process.memoryUsage.rss() / 2 ** 20)

const runtime = ManagedRuntime.make(
  Billing.layer.pipe(
    Layer.provideMerge(Storage.layer()),
    Layer.provide(PostgresClient.layer({ url: Redacted.make(process.env["DATABASE_URL"] ?? "") })),
  ),
)

const provided = <A, E>(effect: Effect.Effect<A, E, Customers | Usage | CurrentTenant>) =>
  runtime.runPromise(Effect.provideService(effect, CurrentTenant, tenant))

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

let next = 0
let done = 0

const caller = async (): Promise<void> => {
  while (next < RECORDS) {
    const from = next
    next += BATCH
    await provided(Effect.flatMap(Usage, (usage) => usage.recordBatch({ records: batch(from) })))
    done += BATCH
    if (done % SAMPLE_EVERY === 0) console.log(JSON.stringify({ records: done, residentMiB: residentMiB() }))
  }
}

await Promise.all(Array.from({ length: CALLERS }, caller))
await runtime.dispose()
