/**
 * The journal: what it says is what documents say, whatever happens; and it is the same in memory, on Postgres and in its
 * views.
 */
import { Id, IdGenerator, type JournalEntry } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { balanceOf, checkBooks, live, liveAtOneInstant, providerOf, worldOf } from "./BookHistory.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const BEHAVIORS = ["exclusive", "inclusive"] as const
const IDS = IdGenerator.layerSeeded(1)

const worldAt = (seed: number) => {
  const fake = providerOf()
  return { fake, world: worldOf(BEHAVIORS[seed % 2]!, fake) }
}

const inMemory = (seed: number, steps: number) => {
  const { fake, world } = worldAt(seed)
  const services = world.pipe(Layer.provideMerge(Layer.merge(Memory.layer, IDS)))
  const work = Effect.andThen(live(seed, fake, steps), checkBooks)
  return work.pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(services), Effect.scoped)
}

type History = ReturnType<typeof live> | typeof liveAtOneInstant

const onPostgres = (world: ReturnType<typeof worldOf>, history: History) =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.make
    const services = world.pipe(
      Layer.provideMerge(Layer.merge(Storage.layer(), IDS)),
      Layer.provideMerge(PostgresClient.layer({ url: Redacted.make(url) })),
    )
    const work = Effect.gen(function* () {
      yield* history
      const sql = yield* SqlClient.SqlClient
      const viewed =
        yield* sql<Row>`select day::text, kind, document_id::text, invoice_id::text, customer_id::text,
  currency, account, amount::text from billwright.journal_schedule where day <= date '2030-12-31'`
      const deferred = yield* sql<
        Record<"currency" | "amount", string>
      >`select currency, sum(amount)::text as amount
from billwright.deferred_revenue('2026-04-01') group by currency`
      const aging = yield* sql<
        Record<"currency" | "amount", string>
      >`select currency, sum(amount)::text as amount
from billwright.receivable_aging group by currency`
      const refusals = yield* Effect.forEach(UNBALANCED, (text) => Effect.exit(sql.unsafe(text)))
      return { entries: yield* checkBooks, viewed, deferred, aging, refusals }
    })
    return yield* work.pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(services))
  }).pipe(Effect.scoped)

type Row = Readonly<Record<string, string | null>>

/** The postings of entries, as the view has them. */
const rowsOf = (entries: ReadonlyArray<JournalEntry>): ReadonlyArray<string> =>
  entries
    .flatMap(({ currency, customerId, day, documentId, invoiceId, kind, postings }) =>
      postings.map(({ account, amount }) =>
        [
          day,
          kind,
          Id.toUuid(documentId),
          invoiceId === null ? null : Id.toUuid(invoiceId),
          Id.toUuid(customerId),
          currency,
          account,
          String(amount),
        ].join(" "),
      ),
    )
    .sort()

const viewedRows = (viewed: ReadonlyArray<Row>): ReadonlyArray<string> =>
  viewed.map((row) => Object.values(row).join(" ")).sort()

const TENANT_OF_PAYMENT = "account_id, mode, customer_id, invoice_id, currency"

/** In plain SQL of the owner: documents that are not the sum of their parts. */
const UNBALANCED = [
  `update billwright.billing_invoices set state = state || '{"total": "1", "amountDue": "1"}' where status <> 'draft'`,
  `update billwright.billing_invoices set state = state || '{"tax": "1"}' where status <> 'draft'`,
  `update billwright.billing_invoice_lines set line = line || '{"net": "1"}'`,
  `insert into billwright.billing_payments (${TENANT_OF_PAYMENT}, id, provider, status, amount, applied, overpaid, paid_at,
  sequence, created_at, updated_at)
select ${TENANT_OF_PAYMENT}, gen_random_uuid(), provider, status, 2, 1, 0, paid_at, 1, created_at, updated_at
from billwright.billing_payments where status = 'succeeded' limit 1`,
  `update billwright.billing_credit_notes set state = state || '{"net": "1"}'`,
]

/** Storages take different numbers of ids. */
const withoutIds = (entries: ReadonlyArray<JournalEntry>): ReadonlyArray<string> =>
  entries
    .flatMap(({ currency, day, kind, postings }) =>
      postings.map(({ account, amount }) => [day, kind, currency, account, String(amount)].join(" ")),
    )
    .sort()

describe("the journal", () => {
  it.live.each([1, 2, 3, 5, 6, 7])("balances, and says what documents say: seed %i", (seed) =>
    Effect.gen(function* () {
      const entries = yield* inMemory(seed, 90)
      assert.isAbove(entries.length, 100)
    }),
  )

  it.live.each([4])("is the same in memory, on Postgres and in its views: seed %i", (seed) =>
    Effect.gen(function* () {
      const { fake, world } = worldAt(seed)
      const { aging, deferred, entries, refusals, viewed } = yield* onPostgres(world, live(seed, fake, 90))
      assert.deepStrictEqual(viewedRows(viewed), rowsOf(entries))
      assert.deepStrictEqual(withoutIds(entries), withoutIds(yield* inMemory(seed, 90)))
      for (const [index, refused] of refusals.entries()) {
        assert.isTrue(Exit.isFailure(refused), `not refused: ${UNBALANCED[index]}`)
      }
      const until = entries.filter(({ day }) => day <= "2026-04-01")
      for (const { amount, currency } of deferred) {
        assert.strictEqual(-balanceOf(until, "contract_liability", currency), BigInt(amount))
      }
      for (const { amount, currency } of aging) {
        assert.strictEqual(balanceOf(entries, "receivable", currency), BigInt(amount))
      }
    }),
  )

  it.live("and its views say the same of what happens at the instant of a write-off", () =>
    Effect.gen(function* () {
      const { entries, viewed } = yield* onPostgres(worldOf("exclusive"), liveAtOneInstant)
      assert.deepStrictEqual(viewedRows(viewed), rowsOf(entries))
      const kinds = new Set(entries.map(({ kind }) => kind))
      for (const kind of ["write_off", "void", "payment", "credit_note", "refund"] as const) {
        assert.isTrue(kinds.has(kind), kind)
      }
    }),
  )
})
