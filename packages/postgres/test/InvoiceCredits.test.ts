/**
 * Credits on invoices on Postgres: at once, and what it refuses by itself, also in plain SQL of the owner of the tables.
 */
import { Billing, Credits, type CurrentTenant, Customers, Invoices } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Client } from "pg"
import { type Attempt, tried } from "./Refusals.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const CHECK = "23514"
const UNIQUE = "23505"
const INVOICES = 16

/** Runs a test over a database of its own, and a connection of `pg` to it. */
const withDatabase = <A, E>(
  test: (client: Client) => Effect.Effect<A, E, Billing.Services | CurrentTenant>,
) =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.make
    const services = Billing.layer.pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    )
    const client = new Client({ connectionString: url })
    yield* Effect.acquireRelease(
      Effect.promise(() => client.connect()),
      () => Effect.promise(() => client.end()),
    )
    return yield* test(client).pipe(asTenant, Effect.provide(services))
  }).pipe(Effect.scoped)

const newCustomer = Effect.map(
  Effect.flatMap(Customers, ({ create }) => create({ name: "Ada", email: "ada@example.com" })),
  ({ id }) => id,
)

/** A draft over 10.00. */
const draftOf = Effect.fnUntraced(function* (customerId: Effect.Success<typeof newCustomer>) {
  const lines = [{ description: "Work", amount: 1_000n }]
  return (yield* (yield* Invoices).create({ customerId, currency: "EUR", lines })).id
})

it.live("invoices of one customer that are issued at once never use more than there is", () =>
  withDatabase(() =>
    Effect.gen(function* () {
      const [credits, invoices] = [yield* Credits, yield* Invoices]
      const customerId = yield* newCustomer
      const account = { customerId, unit: "EUR" }
      yield* credits.grant({ ...account, kind: "promotional", amount: 2_500n })
      yield* credits.grant({ ...account, kind: "paid", amount: 4_700n })
      const drafts = yield* Effect.forEach(Array.from({ length: INVOICES }), () => draftOf(customerId))
      const issued = yield* Effect.forEach(drafts, invoices.finalize, { concurrency: "unbounded" })
      const due = issued.reduce((sum, { amountDue }) => sum + amountDue, 0n)
      assert.strictEqual(due, 1_000n * BigInt(INVOICES) - 7_200n)
      assert.deepInclude(yield* credits.balance(account), { available: 0n, held: 0n, debt: 0n })
      const open = issued.filter(({ status }) => status === "open")
      yield* Effect.forEach(open, ({ id }) => invoices.void(id), { concurrency: "unbounded" })
      const paid = issued.filter(({ status }) => status === "paid")
      const used = paid.reduce((sum, { subtotal }) => sum + subtotal, 0n)
      assert.deepInclude(yield* credits.balance(account), { available: 7_200n - used, held: 0n, debt: 0n })
    }),
  ),
)

it.live("Postgres refuses invoices whose credits their entries don't say", () =>
  withDatabase((client) =>
    Effect.gen(function* () {
      const [credits, invoices] = [yield* Credits, yield* Invoices]
      const customerId = yield* newCustomer
      const account = { customerId, unit: "EUR" }
      yield* credits.grant({ ...account, kind: "promotional", amount: 100n })
      yield* credits.grant({ ...account, kind: "paid", amount: 50n })
      yield* invoices.finalize(yield* draftOf(customerId))
      yield* credits.grant({ ...account, kind: "paid", amount: 70n })
      yield* draftOf(customerId)
      const entries = "billwright.billing_credit_entries"
      const accounts = "billwright.billing_credit_accounts"
      const grants = "billwright.billing_credit_grants"
      /** Uses 10 of the newest grant, with other fields of the entry. */
      const entry = (kind: string, invoice: string, unit = "unit"): ReadonlyArray<string> => [
        `with a as (update ${accounts} set available = available - 10, sequence = sequence + 1 where unit = 'EUR' returning *)
insert into ${entries} (account_id, mode, customer_id, unit, sequence, id, kind, grant_id, invoice_id, available, held, debt, at)
select account_id, mode, customer_id, ${unit}, sequence, gen_random_uuid(), '${kind}',
  (select id from ${grants} order by id desc limit 1), ${invoice}, -10, 0, 0, now() from a`,
      ]
      const idOf = (status: string) =>
        `(select id from billwright.billing_invoices where status = '${status}')`
      const state = (set: string, status: string): ReadonlyArray<string> => [
        `update billwright.billing_invoices set state = ${set} where status = '${status}'`,
      ]
      const disabled = "alter table billwright.billing_invoices disable trigger billing_invoices_are_final"
      const voided = `jsonb_set(jsonb_set(state, '{status}', '"void"'), '{amountDue}', '0')`
      const attempts: ReadonlyArray<Attempt> = [
        ["nothing", undefined, []],
        ["a use that says nothing of an invoice", undefined, entry("consume", "null")],
        ["an application without an invoice", CHECK, entry("apply", "null")],
        ["an application that the invoice does not state", CHECK, entry("apply", idOf("open"))],
        ["an application to a draft", CHECK, entry("apply", idOf("draft"))],
        ["a restoration of an invoice that is not void", CHECK, entry("restore", idOf("open"))],
        ["a void invoice whose credits are not given back", CHECK, state(voided, "open")],
        [
          "an invoice that states other credits",
          CHECK,
          [
            disabled,
            ...state(
              `jsonb_set(jsonb_set(state, '{status}', '"uncollectible"'), '{applied,0,id}', '"cgr_01kb2r9d3vffx9qd6k4v2n1h7c"')`,
              "open",
            ),
          ],
        ],
        [
          "a second grant for an invoice",
          UNIQUE,
          [1, 2].map(
            () => `insert into ${grants} (account_id, mode, customer_id, unit, id, kind, amount, priority, effective_at,
  status, available, held, source_type, source_id, created_at)
select account_id, mode, customer_id, unit, gen_random_uuid(), kind, amount, priority, effective_at, 'voided', 0, 0,
  'invoice', ${idOf("open")}, created_at from ${grants} order by id limit 1`,
          ),
        ],
      ]
      assert.deepStrictEqual(yield* Effect.promise(() => tried(client, attempts)), attempts)
    }),
  ),
)
