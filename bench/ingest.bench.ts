import { randomUUID } from "node:crypto"
import { once } from "node:events"
/**
 * B1: batch ingest through the library, against COPY.
 *
 * Both sides write the same rows, 1,000 at a time, from 2 concurrent callers, for 1,000 customers. The library also
 * checks each record's idempotency key, keeps the roll-up of each customer, product, unit and day, and looks for
 * thresholds. COPY writes into a table with the same columns and indexes, and does none of that.
 */
import { Billing, CurrentTenant, Customers, Tenant, Usage, type UsageRecord } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { DateTime, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { Client } from "pg"
import { from as copyFrom } from "pg-copy-streams"
import { compare, type Contender } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"

const BATCH = 1000
const BATCHES_A_CALLER = 50
const CALLERS = 2
const CUSTOMERS = 1000
const RECORDS = BATCH * BATCHES_A_CALLER * CALLERS

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" } as const

/** A table like `usage_records`, with all its indexes. */
const COPY_TABLE = "create table copied (like billwright.usage_records including all)"
const COPY =
  "copy copied (account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, idempotency_key, created_at) from stdin"

const timed = async (work: () => Promise<void>): Promise<number> => {
  const started = performance.now()
  await work()
  return RECORDS / ((performance.now() - started) / 1000)
}

const callers = (call: (caller: number, batch: number) => Promise<void>) => async (): Promise<void> => {
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let batch = 0; batch < BATCHES_A_CALLER; batch++) await call(caller, batch)
    }),
  )
}

const keyOf = (round: number, caller: number, batch: number, index: number): string =>
  `request-${round}-${caller}-${batch}-${index}`

/** The customer of a record: every batch has records of most customers, in no order. */
const customerOf = (batch: number, index: number): number => (index * 7919 + batch * 104_729) % CUSTOMERS

const library = async (url: string) => {
  const runtime = ManagedRuntime.make(
    Billing.layer.pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    ),
  )
  const run = <A, E>(effect: Effect.Effect<A, E, Customers | Usage | CurrentTenant>) =>
    runtime.runPromise(Effect.provideService(effect, CurrentTenant, tenant))
  const ids = await run(
    Effect.flatMap(Customers, (customers) =>
      Effect.forEach(
        Array.from({ length: CUSTOMERS }, (_, index) => index),
        (index) => customers.create({ name: `Customer ${index}`, email: `c${index}@example.com` }),
        { concurrency: 10 },
      ),
    ).pipe(Effect.map((created) => created.map(({ id }) => id))),
  )
  const records = (round: number, caller: number, batch: number): ReadonlyArray<UsageRecord.RecordUsage> => {
    const timestamp = DateTime.makeUnsafe(Date.now())
    return Array.from({ length: BATCH }, (_, index) => ({
      customerId: ids[customerOf(batch, index)]!,
      productId: "api",
      quantity: index,
      unit: "call",
      timestamp,
      idempotencyKey: keyOf(round, caller, batch, index),
    }))
  }
  const contender: Contender = {
    name: "Usage.recordBatch",
    round: (round) =>
      timed(
        callers(async (caller, batch) => {
          const results = await run(
            Effect.flatMap(Usage, (usage) => usage.recordBatch({ records: records(round, caller, batch) })),
          )
          if (results.some(({ _tag }) => _tag !== "Recorded")) throw new Error("a record was not recorded")
        }),
      ),
  }
  return { contender, close: () => runtime.dispose() }
}

const copy = async (url: string) => {
  const clients = await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      const client = new Client({ connectionString: url })
      await client.connect()
      return client
    }),
  )
  await clients[0]!.query(COPY_TABLE)
  const customers = Array.from({ length: CUSTOMERS }, () => randomUUID())
  const rows = (round: number, caller: number, batch: number): string => {
    const now = new Date().toISOString()
    let text = ""
    for (let index = 0; index < BATCH; index++) {
      const customer = customers[customerOf(batch, index)]!
      text += `default\tlive\t${customer}\t${uuidV7()}\tapi\tcall\t${index}\t${now}\t${keyOf(round, caller, batch, index)}\t${now}\n`
    }
    return text
  }
  const contender: Contender = {
    name: "COPY",
    round: (round) =>
      timed(
        callers(async (caller, batch) => {
          const stream = clients[caller]!.query(copyFrom(COPY))
          stream.end(rows(round, caller, batch))
          await once(stream, "finish")
        }),
      ),
  }
  return { contender, close: () => Promise.all(clients.map((client) => client.end())) }
}

/** Rising ids, like those of the library. Random ones would make COPY's index slower. */
const uuidV7 = (): string => {
  const time = Date.now().toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** Runs the benchmark. */
export const run = async (): Promise<void> => {
  const server = await PostgresServer.start()
  try {
    const url = await server.createDatabase("bench_ingest")
    const ours = await library(url)
    const theirs = await copy(url)
    await compare({
      name: "ingest",
      title: `B1: ${RECORDS} records a round, ${BATCH} a call, ${CALLERS} callers, ${CUSTOMERS} customers, Postgres ${server.version}`,
      unit: "records/s",
      isRate: true,
      contenders: [ours.contender, theirs.contender],
    })
    await ours.close()
    await theirs.close()
  } finally {
    await server.stop()
  }
}
