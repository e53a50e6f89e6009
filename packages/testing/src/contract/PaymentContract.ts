/**
 * The contract of `PaymentStore`, and of payments over it.
 */
import {
  DueStore,
  EVENT_RETENTION_DAYS,
  Invoices,
  MAX_FORGOTTEN_EVENTS,
  Outbox,
  Payments,
  PaymentStore,
  StorageError,
  SubscriptionStore,
  Transactor,
} from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, otherTenants, same } from "./ContractTest.ts"
import { emptyQueue } from "./DueContract.ts"
import {
  draftOf,
  insertCustomer,
  type InvoicingTest,
  issue,
  millisOf,
  minuteOf,
  paymentOf,
  subscriptionOf,
  listsNothing,
} from "./InvoicingProbe.ts"
import { firstPage } from "./WebhookProbe.ts"

/** An issued invoice of 20.00 of a new subscription. */
const issued = Effect.gen(function* () {
  const { id } = yield* insertCustomer
  const subscription = yield* subscriptionOf(id, { dueAt: null })
  yield* (yield* SubscriptionStore).insert(subscription)
  return yield* issue(yield* draftOf(subscription, 0))
})

/** When events of providers are received. */
const NOW = minuteOf(0)
/** Long before that, so that no event of another test is older. */
const AFTER = Sample.instant("1971-06-01T00:00:00Z")
/** So many seconds before what is kept at `AFTER`. */
const longAgo = (seconds: number) => DateTime.subtract(AFTER, { days: EVENT_RETENTION_DAYS, seconds })

/** The services over the ports. */
const services = Layer.mergeAll(Invoices.layer, Payments.layer).pipe(Layer.provide(Outbox.layer))

export const paymentContract = (test: InvoicingTest): void => {
  test(
    "a payment is found and listed as it was stored, newest first",
    Effect.gen(function* () {
      const payments = yield* PaymentStore
      const invoice = yield* issued
      const first = yield* paymentOf(invoice)
      const second = yield* paymentOf(invoice, { status: "closed", reference: "a'b\\c" })
      yield* payments.insert(first)
      yield* payments.insert(second)
      same(yield* payments.find(first.id), Option.some(first))
      same(yield* payments.find(second.id), Option.some(second))
      same(yield* payments.find((yield* paymentOf(invoice)).id), Option.none())
      same(yield* payments.ofInvoice(invoice.id), [first, second])
      same((yield* payments.list({}, firstPage)).data, [second, first])
      same((yield* payments.list({ invoiceId: invoice.id, status: "open" }, firstPage)).data, [first])
      same((yield* payments.list({ status: "succeeded" }, firstPage)).data, [])
      same((yield* payments.list({ customerId: invoice.customerId }, firstPage)).data, [second, first])
      same((yield* payments.list({ customerId: (yield* insertCustomer).id }, firstPage)).data, [])
      const older = { limit: 1, cursor: { direction: "older", id: second.id } } as const
      same(yield* payments.list({}, older), { data: [first], hasMore: false })
      same(yield* payments.list({}, { ...firstPage, limit: 1 }), { data: [second], hasMore: true })
      const unknown = {
        limit: 1,
        cursor: { direction: "older", id: (yield* paymentOf(invoice)).id },
      } as const
      assert.strictEqual((yield* Effect.flip(payments.list({}, unknown)))._tag, "CursorNotFound")
    }),
  )

  test(
    "a payment is found by its provider's reference",
    Effect.gen(function* () {
      const payments = yield* PaymentStore
      const invoice = yield* issued
      const reference = (yield* paymentOf(invoice)).id
      const payment = yield* paymentOf(invoice, { reference })
      yield* payments.insert(payment)
      same(yield* payments.findByReference("bank", reference), Option.some(payment))
      same(yield* payments.findByReference("bank", `${reference}x`), Option.none())
      same(yield* payments.findByReference("other", reference), Option.none())
      for (const other of yield* otherTenants) {
        same(yield* asTenant(other)(payments.findByReference("bank", reference)), Option.none())
      }
    }),
  )

  test(
    "an event of a provider is noted once, for each tenant",
    Effect.gen(function* () {
      const payments = yield* PaymentStore
      const event = `evt_${(yield* paymentOf(yield* issued)).id}`
      assert.isFalse(yield* payments.hasEvent("bank", event))
      const noted = yield* Effect.all(
        Array.from({ length: 5 }, () => payments.noteEvent("bank", event, NOW)),
        { concurrency: "unbounded" },
      )
      same(
        noted.filter((isFirst) => isFirst),
        [true],
      )
      assert.isTrue(yield* payments.hasEvent("bank", event))
      assert.isTrue(yield* payments.noteEvent("other", event, NOW))
      const undone = (yield* Transactor).atomically(
        Effect.andThen(payments.noteEvent("bank", `${event}x`, NOW), Effect.fail("undone")),
      )
      yield* Effect.exit(undone)
      assert.isFalse(yield* payments.hasEvent("bank", `${event}x`))
      for (const other of yield* otherTenants) {
        assert.isFalse(yield* asTenant(other)(payments.hasEvent("bank", event)))
      }
    }),
  )

  test(
    "events of a provider are forgotten after their retention, oldest first and some at a time",
    Effect.gen(function* () {
      const payments = yield* PaymentStore
      const event = `evt_${(yield* paymentOf(yield* issued)).id}`
      const count = MAX_FORGOTTEN_EVENTS + 2
      const old = Array.from({ length: count }, (_, n) => `${event}_${n}`)
      for (const [n, id] of old.entries()) yield* payments.noteEvent("bank", id, longAgo(count - n))
      yield* payments.noteEvent("bank", `${event}_kept`, longAgo(0))
      const left = Effect.map(
        Effect.forEach(old, (id) => payments.hasEvent("bank", id)),
        (all) => all.map((isThere, n) => (isThere ? n : -1)).filter((n) => n >= 0),
      )
      const all = yield* left
      same(all.length, count)
      for (const other of yield* otherTenants)
        yield* asTenant(other)(payments.noteEvent("bank", event, AFTER))
      same(yield* left, all)
      const undone = (yield* Transactor).atomically(
        Effect.andThen(payments.noteEvent("bank", `${event}x`, AFTER), Effect.fail("undone")),
      )
      yield* Effect.exit(undone)
      same(yield* left, all)
      // Also when the event itself was noted before.
      yield* payments.noteEvent("bank", old.at(-1)!, AFTER)
      same(yield* left, [count - 2, count - 1])
      assert.isTrue(yield* payments.noteEvent("bank", `${event}y`, AFTER))
      same(yield* left, [])
      assert.isTrue(yield* payments.hasEvent("bank", `${event}y`))
      assert.isTrue(yield* payments.hasEvent("bank", `${event}_kept`))
    }),
  )

  test(
    "no other tenant sees a payment",
    Effect.gen(function* () {
      const payments = yield* PaymentStore
      const invoice = yield* issued
      const payment = yield* paymentOf(invoice)
      yield* payments.insert(payment)
      for (const other of yield* otherTenants) {
        const theirs = asTenant(other)
        same(yield* theirs(payments.find(payment.id)), Option.none())
        yield* listsNothing(other, payments.list, payment.id, [{}, { invoiceId: invoice.id }])
        same(yield* theirs(payments.ofInvoice(invoice.id)), [])
      }
    }),
  )

  test(
    "an invoice has one open payment at most, and an id and a reference are taken once",
    Effect.gen(function* () {
      const payments = yield* PaymentStore
      const transactor = yield* Transactor
      const invoice = yield* issued
      const [open, closed] = [
        yield* paymentOf(invoice),
        yield* paymentOf(invoice, { status: "closed", reference: "R1" }),
      ]
      yield* payments.insert(open)
      yield* payments.insert(closed)
      const refused = [
        yield* paymentOf(invoice),
        { ...closed, reference: null },
        yield* paymentOf(invoice, { status: "closed", reference: "R1" }),
      ]
      for (const payment of refused) {
        assert.instanceOf(yield* Effect.flip(payments.insert(payment)), StorageError)
      }
      yield* payments.insert(
        yield* paymentOf(invoice, { status: "closed", reference: "R1", provider: "other" }),
      )
      yield* payments.insert(yield* paymentOf(invoice, { status: "closed" }))
      const next = yield* paymentOf(invoice, { status: "closed" })
      yield* Effect.flip(transactor.atomically(Effect.andThen(payments.insert(next), Effect.fail("no"))))
      same(yield* payments.find(next.id), Option.none())
      assert.lengthOf(yield* payments.ofInvoice(invoice.id), 4)
    }),
  )

  test(
    "a payment is saved, and is due as it says",
    Effect.gen(function* () {
      const [payments, due] = [yield* PaymentStore, yield* DueStore]
      const transactor = yield* Transactor
      yield* emptyQueue
      const invoice = yield* issued
      const payment = yield* paymentOf(invoice, {
        dueAt: millisOf(5),
        collection: {
          state: "retrying",
          attempt: { id: "att_1", status: "declined", method: "pm_1", sentAt: millisOf(3), once: true },
          declines: [{ method: "pm_1", at: millisOf(4) }],
          tries: 0,
          nextAt: millisOf(5),
        },
      })
      yield* payments.insert(payment)
      same(yield* payments.find(payment.id), Option.some(payment))
      const claim = { lane: "calls", now: minuteOf(6), leaseUntil: minuteOf(8), limit: 10 } as const
      // No other lane has it.
      same(yield* due.claimDue({ ...claim, lane: "billing" }), [])
      const [claimed] = yield* due.claimDue(claim)
      assert.deepInclude(claimed, { dueAt: millisOf(5), customerId: payment.customerId, attempts: 0 })
      assert.deepStrictEqual(claimed?.subject, { kind: "payment", id: payment.id })
      assert.isTrue(yield* transactor.atomically(due.holds(claimed!)))
      const failure = { attempts: 1, problem: "no", at: minuteOf(6), retryAt: minuteOf(7) }
      assert.isTrue(yield* due.release(claimed!, failure))
      same(yield* payments.ofInvoice(invoice.id), [{ ...payment, failure }])
      const closed = {
        ...payment,
        status: "closed",
        reference: "R1",
        collection: {
          state: "needs_attention",
          attempt: null,
          declines: [],
          tries: 10,
          nextAt: null,
          attention: { code: "provider_refused", since: millisOf(8), detail: "the key is wrong" },
        },
        dueAt: null,
        sequence: 2,
        updatedAt: minuteOf(9),
      } as const
      yield* payments.save({ ...closed, amount: 1n, currency: "USD", provider: "other" })
      same(yield* payments.find(payment.id), Option.some(closed))
      same(yield* due.claimDue({ ...claim, now: minuteOf(10), leaseUntil: minuteOf(11) }), [])
      const unknown = yield* paymentOf(invoice)
      yield* payments.save(unknown)
      same(yield* payments.find(unknown.id), Option.none())
      yield* payments.insert(unknown)
      // A second open one.
      const reopened = { ...closed, status: "open" } as const
      assert.instanceOf(yield* Effect.flip(payments.save(reopened)), StorageError)
    }),
  )

  test(
    "recorded payments pay their invoice, and what is stored says the same",
    Effect.gen(function* () {
      const payments = yield* Payments
      const { customerId, id } = yield* issued
      const part = yield* payments.record({ invoiceId: id, amount: 500n, reference: "R1" })
      same(yield* payments.record({ invoiceId: id, amount: 500n, reference: "R1" }), part)
      const rest = yield* payments.record({ invoiceId: id, amount: 1_700n, acceptOverpayment: true })
      assert.deepInclude(rest, { customerId, applied: 1_500n, overpaid: 200n, status: "succeeded" })
      same((yield* payments.list({ invoiceId: id })).data, [rest, part])
      const invoice = yield* (yield* Invoices).get(id)
      assert.deepInclude(invoice, { status: "paid", amountPaid: 2_000n, amountDue: 0n, collection: "paid" })
    }).pipe(Effect.provide(services)),
  )

  test(
    "payments of one invoice at once never apply more than it has",
    Effect.gen(function* () {
      const payments = yield* Payments
      const { id } = yield* issued
      const exits = yield* Effect.all(
        Array.from({ length: 6 }, () => Effect.exit(payments.record({ invoiceId: id, amount: 700n }))),
        { concurrency: "unbounded" },
      )
      assert.lengthOf(
        exits.filter(({ _tag }) => _tag === "Success"),
        2,
      )
      assert.strictEqual((yield* (yield* Invoices).get(id)).amountDue, 600n)
    }).pipe(Effect.provide(services)),
  )
}
