/**
 * Payments on Postgres: collected by several runners, and what it refuses by itself, also in plain SQL of the owner of the tables.
 */
import {
  Billing,
  BillingRuns,
  type CurrentTenant,
  type FakeOutcome,
  FakeProvider,
  Payments,
  type ProviderFault,
  Subscriptions,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Client } from "pg"
import { advanceTo, allInvoices, START, subscribe } from "./Invoicing.ts"
import { type Attempt, tried } from "./Refusals.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const CHECK = "23514"
const FINAL = "23001"
const UNIQUE = "23505"
const KEY = "23503"

/** Runs a test over a database of its own, and a connection of `pg` to it. */
const withDatabase = <A, E>(
  test: (client: Client) => Effect.Effect<A, E, Billing.Services | CurrentTenant>,
  options: Billing.BillingOptions = {},
) =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.make
    const services = Billing.layerWith(options).pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    )
    const client = new Client({ connectionString: url })
    yield* Effect.acquireRelease(
      Effect.promise(() => client.connect()),
      () => Effect.promise(() => client.end()),
    )
    return yield* test(client).pipe(asTenant, Effect.provide(TestClock.layer()), Effect.provide(services))
  }).pipe(Effect.scoped)

it.live("runners that meet, and answers that are lost, charge and book an invoice once", () => {
  const faults: Array<ProviderFault | undefined> = [undefined, "lose_reply", "lose_request", "twice"]
  const outcomes: Array<FakeOutcome> = [
    { status: "declined", code: "insufficient_funds", advice: null, notBefore: null },
  ]
  const provider = new FakeProvider({
    faultOf: (call) => (call === "openPayment" ? "twice" : faults.shift()),
    outcomeOf: () => outcomes.shift() ?? { status: "succeeded" },
  })
  return withDatabase(
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START.epochMilliseconds)
        yield* subscribe
        const { nextDueAt, runDue } = yield* BillingRuns
        const end = DateTime.add(START, { days: 3 })
        for (;;) {
          const next = yield* nextDueAt
          if (Option.isNone(next) || DateTime.isGreaterThan(next.value, end)) break
          const now = yield* DateTime.now
          yield* TestClock.setTime(Math.max(now.epochMilliseconds, next.value.epochMilliseconds))
          yield* Effect.all([runDue(), runDue(), runDue()], { concurrency: "unbounded" })
        }
        const [invoice] = yield* allInvoices
        assert.deepInclude(invoice, { status: "paid", collection: "paid" })
        assert.strictEqual(provider.payments[0]?.charges, 1)
        assert.lengthOf(provider.payments, 1)
        assert.lengthOf(provider.payments[0]!.attempts, 2)
        const { data } = yield* (yield* Payments).list({ invoiceId: invoice!.id })
        assert.deepStrictEqual(
          data.map(({ applied, status }) => [status, applied]),
          [["succeeded", invoice!.amountPaid]],
        )
      }),
    { payments: provider },
  )
})

it.live("what follows the end of a payment is done once, by one of several runners that meet", () => {
  const stop: FakeOutcome = { status: "declined", code: "stop_payment_order", advice: null, notBefore: null }
  return withDatabase(
    (client) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START.epochMilliseconds)
        const { subscription } = yield* subscribe
        const { nextDueAt, runDue } = yield* BillingRuns
        const end = DateTime.add(START, { days: 3 })
        for (;;) {
          const next = yield* nextDueAt
          if (Option.isNone(next) || DateTime.isGreaterThan(next.value, end)) break
          const now = yield* DateTime.now
          yield* TestClock.setTime(Math.max(now.epochMilliseconds, next.value.epochMilliseconds))
          yield* Effect.all([runDue(), runDue(), runDue()], { concurrency: "unbounded" })
        }
        const [invoice] = yield* allInvoices
        assert.deepInclude(invoice, { status: "open", collection: "exhausted" })
        const after = yield* (yield* Subscriptions).get(subscription.id)
        assert.deepInclude(after, { phase: "paused", pastDueSince: invoice!.pastDueSince })
        assert.isNotNull(invoice!.pastDueSince)
        const told = yield* Effect.promise(() =>
          client.query("select from billwright.events where type = 'subscription.paused'"),
        )
        assert.strictEqual(told.rowCount, 1)
        const left = yield* Effect.promise(() =>
          client.query("select from billwright.billing_due where kind = 'payment'"),
        )
        assert.strictEqual(left.rowCount, 0)
      }),
    { payments: new FakeProvider({ outcomeOf: () => stop }), invoices: { whenExhausted: "pause" } },
  )
})

const payments = "billwright.billing_payments"
const invoices = "billwright.billing_invoices"
const OWNER = "account_id, mode, customer_id"
const FIRST = "number = '2026-0001'"

/** A payment of the first invoice. Fields are SQL. */
const payment = (fields: Readonly<Record<string, string>> = {}, where = FIRST): string => {
  const values: Readonly<Record<string, string>> = {
    id: "gen_random_uuid()",
    invoice_id: "id",
    currency: "currency",
    provider: "'manual'",
    reference: "null",
    status: "'succeeded'",
    amount: "500",
    applied: "500",
    overpaid: "0",
    paid_at: "now()",
    sequence: "1",
    created_at: "now()",
    updated_at: "now()",
    ...fields,
  }
  return `insert into ${payments} (${OWNER}, ${Object.keys(values).join(", ")})
select ${OWNER}, ${Object.values(values).join(", ")} from ${invoices} where ${where}`
}

const OPEN = { status: "'open'", applied: "0", paid_at: "null" }

/** The first invoice says that so much of its 20.00 is paid. */
const paid = (amount: number): string =>
  `update ${invoices} set state = state || '${JSON.stringify({
    amountPaid: String(amount),
    amountDue: String(2_000 - amount),
    status: amount === 2_000 ? "paid" : "open",
    sequence: 9,
  })}' where ${FIRST}`

const RECORDED = "reference = 'R1'"

const ATTEMPTS: ReadonlyArray<Attempt> = [
  ["the next payment", undefined, [payment(), paid(800)]],
  [
    "the rest, and more",
    undefined,
    [payment({ amount: "1800", applied: "1700", overpaid: "100" }), paid(2_000)],
  ],
  ["an open payment", undefined, [payment(OPEN)]],
  [
    "an open payment that succeeds",
    undefined,
    [
      payment({ ...OPEN, reference: "'X'" }),
      `update ${payments} set status = 'succeeded', applied = 500, paid_at = now(), sequence = 2 where reference = 'X'`,
      paid(800),
    ],
  ],
  ["a payment that the invoice does not know", CHECK, [payment()]],
  ["an invoice that says more than its payments", CHECK, [paid(800)]],
  ["an invoice that says less than its payments", CHECK, [paid(0)]],
  ["more than is owed", CHECK, [payment({ amount: "1800", applied: "1800" }), paid(2_100)]],
  ["an overpayment while something is due", CHECK, [payment({ amount: "600", overpaid: "100" }), paid(800)]],
  ["parts that are not the amount", CHECK, [payment({ amount: "501" }), paid(800)]],
  ["a part below 0", CHECK, [payment({ applied: "501", overpaid: "-1" }), paid(801)]],
  ["an amount of 0", CHECK, [payment({ amount: "0", applied: "0" })]],
  ["a success without its instant", CHECK, [payment({ paid_at: "null" }), paid(800)]],
  ["an open payment with money", CHECK, [payment({ status: "'open'" }), paid(800)]],
  ["another currency", CHECK, [payment({ currency: "'USD'" }), paid(800)]],
  ["a payment of a draft", CHECK, [payment(OPEN, "status = 'draft'")]],
  ["an invoice that there is not", KEY, [payment({ ...OPEN, invoice_id: "gen_random_uuid()" })]],
  ["an invoice of another customer", KEY, [payment(OPEN).replace("select account_id", "select 'other'")]],
  ["a second open payment", UNIQUE, [payment(OPEN), payment(OPEN)]],
  ["a reference that is taken", UNIQUE, [payment({ reference: "'R1'" }), paid(800)]],
  ["an unknown status", CHECK, [payment({ ...OPEN, status: "'done'" })]],
  [
    "a change of a payment that has succeeded",
    FINAL,
    [`update ${payments} set reference = 'R2' where ${RECORDED}`],
  ],
  ["a success that is taken back", FINAL, [`update ${payments} set status = 'closed' where ${RECORDED}`]],
  [
    "another amount of an open payment",
    FINAL,
    [payment({ ...OPEN, reference: "'X'" }), `update ${payments} set amount = 1 where reference = 'X'`],
  ],
  ["a removal of a payment", FINAL, [`delete from ${payments} where ${RECORDED}`]],
  [
    "a removal of an open payment",
    FINAL,
    [payment({ ...OPEN, reference: "'X'" }), `delete from ${payments} where reference = 'X'`],
  ],
  ["a removal of all payments", FINAL, [`truncate ${payments}`]],
]

it.live(
  "Postgres refuses payments that don't fit their invoice, and changes of those that have succeeded",
  () =>
    withDatabase((client) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START.epochMilliseconds)
        yield* subscribe
        yield* advanceTo(DateTime.add(START, { months: 1 }).epochMilliseconds)
        const all = yield* allInvoices
        const [first] = all
        assert.strictEqual(all.at(-1)?.status, "draft")
        yield* (yield* Payments).record({ invoiceId: first!.id, amount: 300n, reference: "R1" })
        assert.deepStrictEqual(yield* Effect.promise(() => tried(client, ATTEMPTS)), ATTEMPTS)
      }),
    ),
)
