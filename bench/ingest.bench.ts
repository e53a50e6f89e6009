/**
 * B1: batch ingest through the library, against COPY.
 *
 * All sides write the same rows, 1,000 at a time, from 2 concurrent callers, for 1,000 customers: once with as many records of
 * each customer, and once by Zipf's law. The library also checks each record's idempotency key, keeps the roll-up of each
 * customer, product, unit and day, and looks for thresholds. COPY writes into a table with the same columns and indexes, and
 * does none of that. It takes part twice: with the rows as they come, and in the order in which the library writes them, by
 * customer and key, which takes less time in the indexes.
 */
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { Billing, CurrentTenant, Customers, Tenant, Usage, type UsageRecord } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { DateTime, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { Client } from "pg"
import { from as copyFrom } from "pg-copy-streams"
import { compare, type Contender } from "./Comparison.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { type Spread, uniform, zipf } from "./Spread.ts"

const BATCH = 1000
const BATCHES_A_CALLER = 30
const CALLERS = 2
const CUSTOMERS = 1000
const RECORDS = BATCH * BATCHES_A_CALLER * CALLERS

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" } as const

/** What COPY writes. Its table is like `usage_records`, with all its indexes. */
const COLUMNS =
  "account_id, mode, customer_id, id, product_id, unit, quantity, occurred_at, idempotency_key, created_at"

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

/** The number of a batch in all of a round. */
const batchOf = (caller: number, batch: number): number => caller * BATCHES_A_CALLER + batch

/** A spread and what it is called in the name of a side. */
interface Named extends Spread {
  readonly suffix: string
}

const SPREADS: ReadonlyArray<Named> = [
  { ...uniform(CALLERS * BATCHES_A_CALLER, BATCH, CUSTOMERS), suffix: "" },
  { ...zipf(CALLERS * BATCHES_A_CALLER, BATCH, CUSTOMERS), suffix: ", Zipf" },
]

/** The names of the sides of a spread. */
const OURS = "Usage.recordBatch"
const THEIRS = ["COPY", "COPY in our order"] as const

const library = async (url: string, { batches, suffix }: Named) => {
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
      customerId: ids[batches[batchOf(caller, batch)]![index]!]!,
      productId: "api",
      quantity: index,
      unit: "call",
      timestamp,
      idempotencyKey: keyOf(round, caller, batch, index),
    }))
  }
  const contender: Contender = {
    name: `${OURS}${suffix}`,
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

/** The numbers of a batch's records in the order in which the library writes them: by customer, and then by key. */
const ourOrder = (batch: ReadonlyArray<number>, customers: ReadonlyArray<string>): ReadonlyArray<number> =>
  Array.from(batch.keys()).sort((a, b) => {
    const [left, right] = [customers[batch[a]!]!, customers[batch[b]!]!]
    if (left !== right) return left < right ? -1 : 1
    return String(a) < String(b) ? -1 : 1
  })

/** COPY into a table of its own. */
const copy = async (url: string, { batches, suffix }: Named, name: (typeof THEIRS)[number]) => {
  const clients = await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      const client = new Client({ connectionString: url })
      await client.connect()
      return client
    }),
  )
  const table = name === "COPY" ? "copied" : "copied_in_order"
  await clients[0]!.query(`create table ${table} (like billwright.usage_records including all)`)
  const customers = Array.from({ length: CUSTOMERS }, () => randomUUID())
  // Before the rounds, so that sorting costs COPY nothing.
  const orders = batches.map((batch) =>
    name === "COPY" ? Array.from(batch.keys()) : ourOrder(batch, customers),
  )
  const rows = (round: number, caller: number, batch: number): string => {
    const now = new Date().toISOString()
    const number = batchOf(caller, batch)
    let text = ""
    for (const index of orders[number]!) {
      const customer = customers[batches[number]![index]!]!
      text += `default\tlive\t${customer}\t${uuidV7()}\tapi\tcall\t${index}\t${now}\t${keyOf(round, caller, batch, index)}\t${now}\n`
    }
    return text
  }
  const contender: Contender = {
    name: `${name}${suffix}`,
    round: (round) =>
      timed(
        callers(async (caller, batch) => {
          const stream = clients[caller]!.query(copyFrom(`copy ${table} (${COLUMNS}) from stdin`))
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
    const sides = []
    for (const spread of SPREADS) {
      // Each spread has a database of its own.
      const url = await server.createDatabase(`bench_ingest_${sides.length}`)
      sides.push(await library(url, spread))
      for (const name of THEIRS) sides.push(await copy(url, spread, name))
    }
    await compare({
      name: "ingest",
      title: `B1: ${RECORDS} records a round, ${BATCH} a call, ${CALLERS} callers, ${CUSTOMERS} customers, Postgres ${server.version}`,
      unit: "records/s",
      isRate: true,
      pairs: SPREADS.flatMap(({ suffix }) =>
        THEIRS.map((name) => [`${OURS}${suffix}`, `${name}${suffix}`] as const),
      ),
      contenders: sides.map(({ contender }) => contender),
    })
    for (const { close } of sides) await close()
  } finally {
    await server.stop()
  }
}
