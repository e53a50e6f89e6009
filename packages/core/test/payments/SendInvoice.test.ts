/**
 * Customers who pay invoices by themselves: nothing is charged unless somebody asks for it, and an attempt that somebody asked
 * for is not followed by others.
 */
import { Customers, FakeProvider, Invoices, PaymentMethods, Payments, Subscriptions } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  advanceTo,
  declined,
  events,
  inHours,
  look,
  outcomes,
  save,
  SOON,
  subscribe,
  typesOf,
  withProvider,
} from "./collecting.ts"

const DAYS = 24

const billAs = Effect.fnUntraced(function* (
  customerId: string,
  collectionMethod: "charge_automatically" | "send_invoice",
) {
  return yield* (yield* Customers).update(customerId, { collectionMethod })
})

/** An open invoice of 20.00 of a customer who pays by itself and has a card. */
const sent = Effect.fnUntraced(function* (fake: FakeProvider) {
  const customer = yield* subscribe
  assert.strictEqual(customer.collectionMethod, "charge_automatically")
  yield* billAs(customer.id, "send_invoice")
  yield* save(fake, customer.id)
  yield* advanceTo(SOON)
  const { invoice } = yield* look(fake)
  assert.deepInclude(invoice, { status: "open", collection: "idle", amountDue: 2000n })
  return { customer, invoice }
})

const pay = (id: string) => Effect.flatMap(Payments, (payments) => payments.pay(id))

describe("a customer who pays invoices by itself", () => {
  it.effect("is not charged, and is late when the due date is over", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const { customer, invoice } = yield* sent(fake)
      yield* advanceTo(inHours(40 * DAYS))
      assert.lengthOf(fake.payments, 0)
      const { data } = yield* (yield* Subscriptions).list({ customerId: customer.id })
      assert.isNotNull(data[0]!.pastDueSince)
      const types = (yield* events).map(({ type }) => type as string)
      assert.include(types, "invoice.overdue")
      yield* (yield* Payments).record({ invoiceId: invoice.id })
      assert.deepInclude(yield* (yield* Invoices).get(invoice.id), { status: "paid", amountPaid: 2000n })
    }).pipe(withProvider(fake))
  })

  it.effect("can be charged once by call, with no retries and no attempt with another method", () => {
    const fake = new FakeProvider({
      hasMethods: true,
      outcomeOf: outcomes(declined("insufficient_funds"), declined("insufficient_funds")),
    })
    return Effect.gen(function* () {
      const { customer, invoice } = yield* sent(fake)
      assert.deepInclude(yield* pay(invoice.id), { status: "open", collection: "exhausted" })
      yield* advanceTo(inHours(2))
      const other = yield* save(fake, customer.id)
      assert.isFalse(other.isDefault)
      yield* advanceTo(inHours(12 * DAYS))
      assert.lengthOf(fake.payments[0]!.attempts, 1)
      const failed = (yield* events).filter(({ type }) => type === "payment.failed")
      assert.deepStrictEqual(
        failed.map(({ data }) => data.will_retry),
        [false],
      )
      assert.notInclude(yield* typesOf, "invoice.collection_exhausted")
      assert.deepInclude(yield* pay(invoice.id), { status: "open", collection: "exhausted" })
      assert.strictEqual((yield* pay(invoice.id)).status, "paid")
      const { booked, taken } = yield* look(fake)
      assert.deepStrictEqual(booked, taken)
      assert.lengthOf(booked, 1)
    }).pipe(withProvider(fake))
  })

  it.effect("is not charged for the rest after a part was paid by other means", () => {
    const fake = new FakeProvider({ hasMethods: true, outcomeOf: outcomes(declined("do_not_honor")) })
    return Effect.gen(function* () {
      const { invoice } = yield* sent(fake)
      yield* pay(invoice.id)
      yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 500n })
      yield* advanceTo(inHours(12 * DAYS))
      const { payments, taken } = yield* look(fake)
      assert.lengthOf(taken, 0)
      assert.deepStrictEqual(payments.map(({ status }) => status).toSorted(), ["closed", "succeeded"])
      assert.strictEqual((yield* pay(invoice.id)).status, "paid")
      assert.deepStrictEqual(
        fake.payments.map(({ amount, charges }) => [amount, charges]),
        [
          [2000n, 0],
          [1500n, 1],
        ],
      )
    }).pipe(withProvider(fake))
  })

  it.effect("is not charged with a new default method after an attempt that was asked for", () => {
    const fake = new FakeProvider({ hasMethods: true, outcomeOf: outcomes(declined("expired_card")) })
    return Effect.gen(function* () {
      const { customer, invoice } = yield* sent(fake)
      assert.deepInclude(yield* pay(invoice.id), { collection: "exhausted" })
      const { id } = yield* save(fake, customer.id)
      yield* (yield* PaymentMethods).update(id, { isDefault: true })
      yield* advanceTo(inHours(2))
      assert.lengthOf(fake.payments[0]!.attempts, 1)
      assert.strictEqual((yield* pay(invoice.id)).status, "paid")
    }).pipe(withProvider(fake))
  })

  it.effect("is charged again for invoices that are issued after it is so set", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const { customer, invoice } = yield* sent(fake)
      yield* billAs(customer.id, "charge_automatically")
      yield* advanceTo(inHours(32 * DAYS))
      const { data } = yield* (yield* Invoices).list()
      assert.deepStrictEqual(
        data.filter(({ status }) => status !== "draft").map(({ collection, status }) => [status, collection]),
        [
          ["paid", "paid"],
          ["open", "idle"],
        ],
      )
      assert.strictEqual((yield* pay(invoice.id)).status, "paid")
    }).pipe(withProvider(fake))
  })

  it.effect("refuses another word", () =>
    Effect.gen(function* () {
      const customer = yield* subscribe
      const error = yield* Effect.flip(billAs(customer.id, "never" as never))
      assert.deepInclude(error, { _tag: "InvalidInput", field: "collectionMethod" })
    }).pipe(withProvider(new FakeProvider())),
  )
})
