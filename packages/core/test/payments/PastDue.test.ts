/** Subscriptions that are past due, and invoices whose due date is over. */
import {
  BillingRuns,
  CreditNotes,
  FakeProvider,
  type Invoice,
  Invoices,
  Payments,
  Plans,
  Refunds,
  Subscriptions,
  type Tenant,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { at, inWorld, newCustomer, NOON } from "../world.ts"
import {
  advanceTo,
  declined,
  events,
  inHours,
  outcomes,
  PLAN,
  SOON,
  subscribe,
  withProvider,
} from "./collecting.ts"

/** The first invoice is due at the end of this day. */
const OVERDUE = at("2026-12-05T23:00:00.000Z")
const AFTER = DateTime.add(OVERDUE, { hours: 1 })

/** Since when the oldest subscription and its first invoice are late. */
const look = Effect.gen(function* () {
  const subscriptions = yield* Subscriptions
  const listed = (yield* subscriptions.list()).data.at(-1)!
  const subscription = yield* subscriptions.get(listed.id)
  assert.strictEqual(listed.pastDueSince, subscription.pastDueSince)
  const invoice = (yield* (yield* Invoices).list({ limit: 100 })).data.at(-1)!
  return { invoice, subscription }
})

const since = Effect.map(look, ({ invoice, subscription }) => {
  assert.strictEqual(subscription.pastDueSince, invoice.pastDueSince)
  return subscription.pastDueSince
})

const overdue = Effect.map(events, (all) => all.filter(({ type }) => type === "invoice.overdue"))

type Act = (
  id: Invoice.InvoiceId,
) => Effect.Effect<unknown, unknown, Payments | Invoices | CreditNotes | Tenant.CurrentTenant>
const record: Act = (invoiceId) => Effect.flatMap(Payments, (payments) => payments.record({ invoiceId }))
const ends: ReadonlyArray<readonly [string, Act]> = [
  ["paid", record],
  ["void", (id) => Effect.flatMap(Invoices, (invoices) => invoices.void(id))],
  ["written off", (id) => Effect.flatMap(Invoices, (invoices) => invoices.markUncollectible(id))],
  [
    "credited",
    (id) =>
      Effect.flatMap(CreditNotes, ({ create }) => create({ invoiceId: id, amount: 2_000n, reason: "other" })),
  ],
]

describe("a subscription", () => {
  it.effect(
    "is past due from the first attempt that is declined, also during the next one, until it is paid",
    () => {
      const seen: Array<number | null> = []
      const outcome = outcomes(declined("insufficient_funds"), declined("insufficient_funds"))
      return Effect.gen(function* () {
        yield* subscribe
        assert.isNull((yield* look).subscription.pastDueSince)
        yield* advanceTo(SOON)
        const { invoice, subscription } = yield* look
        assert.strictEqual(invoice.collection, "retrying")
        assert.strictEqual(subscription.phase, "active")
        const first = invoice.pastDueSince
        assert.strictEqual(first, invoice.updatedAt.epochMilliseconds)
        yield* advanceTo(inHours(26))
        assert.strictEqual((yield* look).invoice.collection, "retrying")
        seen.push(yield* since)
        yield* advanceTo(inHours(24 * 4))
        assert.strictEqual((yield* look).invoice.status, "paid")
        seen.push(yield* since)
        assert.deepStrictEqual(seen, [first, null])
      }).pipe(withProvider(new FakeProvider({ outcomeOf: outcome })))
    },
  )

  it.effect.each(ends)("is not past due any more when the invoice is %s", ([, act]) =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      assert.isNotNull(yield* since)
      yield* act((yield* look).invoice.id)
      assert.isNull(yield* since)
    }).pipe(withProvider(new FakeProvider({ outcomeOf: () => declined("insufficient_funds") }))),
  )

  it.effect(
    "is past due by an invoice that it shares, as is each of the invoice, and by no other one's",
    () =>
      Effect.gen(function* () {
        yield* (yield* Plans).push({ plans: [PLAN] })
        const [customer, other] = [yield* newCustomer(), yield* newCustomer()]
        const subscriptions = yield* Subscriptions
        for (const invoiceGroup of ["all", "all", null]) {
          const startAt = DateTime.add(NOON, { minutes: 1 })
          yield* subscriptions.create({ customerId: customer.id, plan: "base", invoiceGroup, startAt })
        }
        yield* subscriptions.create({ customerId: other.id, plan: "base" })
        yield* advanceTo(SOON)
        for (const { id, subscriptionIds } of (yield* (yield* Invoices).list()).data) {
          if (subscriptionIds.length === 1) yield* record(id)
        }
        yield* advanceTo(AFTER)
        const { data } = yield* subscriptions.list()
        assert.deepStrictEqual(
          data.map(({ pastDueSince }) => pastDueSince !== null),
          [false, false, true, true],
        )
      }).pipe(inWorld()),
  )

  it.effect("says so in the answers of its commands", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(AFTER)
      const { subscription } = yield* look
      const paused = yield* (yield* Subscriptions).pause(subscription.id)
      assert.strictEqual(paused.phase, "paused")
      assert.strictEqual(paused.pastDueSince, OVERDUE.epochMilliseconds)
    }).pipe(inWorld()),
  )
})

describe("the due date of an invoice", () => {
  it.effect("is told once when it is over and the invoice is open", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(DateTime.subtract(OVERDUE, { seconds: 1 }))
      assert.isNull(yield* since)
      assert.deepStrictEqual(yield* overdue, [])
      const before = (yield* look).invoice
      assert.isNull(before.finalizesAt)
      yield* advanceTo(AFTER)
      assert.strictEqual(yield* since, OVERDUE.epochMilliseconds)
      const { invoice } = yield* look
      assert.strictEqual(invoice.sequence, before.sequence + 1)
      const [told, ...others] = yield* overdue
      assert.strictEqual(told?.at, DateTime.formatIso(OVERDUE))
      assert.deepInclude(told?.data, { invoice_id: invoice.id, amount: 2000 })
      assert.deepInclude(told?.data.invoice, { status: "open", amount_due: 2000, sequence: invoice.sequence })
      yield* (yield* BillingRuns).runDue()
      yield* advanceTo(DateTime.add(AFTER, { days: 10 }))
      assert.deepStrictEqual(others, [])
      assert.lengthOf(yield* overdue, 1)
      yield* record(invoice.id)
      assert.isNull(yield* since)
    }).pipe(inWorld()),
  )

  it.effect("does not change since when it is late, if an attempt was declined before", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const first = yield* since
      yield* advanceTo(AFTER)
      assert.lengthOf(yield* overdue, 1)
      assert.strictEqual(yield* since, first)
    }).pipe(withProvider(new FakeProvider({ outcomeOf: () => declined("stop_payment_order") }))),
  )

  it.effect.each(ends)("is not told of an invoice that was %s before", ([, act]) =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      yield* act((yield* look).invoice.id)
      assert.isTrue(Option.isSome(yield* (yield* BillingRuns).nextDueAt))
      yield* advanceTo(AFTER)
      assert.deepStrictEqual(yield* overdue, [])
    }).pipe(inWorld()),
  )

  const reopen = Effect.gen(function* () {
    const [payment] = (yield* (yield* Payments).list()).data
    yield* (yield* Refunds).create({ paymentId: payment!.id, reason: "other" })
  })

  it.effect("is told of an invoice that is due again before it", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      yield* record((yield* look).invoice.id)
      yield* reopen
      assert.isNull(yield* since)
      yield* advanceTo(AFTER)
      assert.lengthOf(yield* overdue, 1)
      assert.strictEqual(yield* since, OVERDUE.epochMilliseconds)
    }).pipe(inWorld()),
  )

  it.effect("of an invoice that was late before it was paid makes it late anew when it is due again", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(AFTER)
      assert.strictEqual(yield* since, OVERDUE.epochMilliseconds)
      yield* record((yield* look).invoice.id)
      assert.isNull(yield* since)
      const later = DateTime.add(AFTER, { days: 10 })
      yield* advanceTo(later)
      yield* reopen
      assert.strictEqual(yield* since, later.epochMilliseconds)
    }).pipe(inWorld()),
  )

  it.effect("that was over before makes an invoice late that is due again, without being told", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      yield* record((yield* look).invoice.id)
      yield* advanceTo(AFTER)
      yield* reopen
      assert.strictEqual(yield* since, AFTER.epochMilliseconds)
      assert.deepStrictEqual(yield* overdue, [])
    }).pipe(inWorld()),
  )
})
