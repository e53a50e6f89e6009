/** Invoices are collected with the default method of their customer, and wait for one if there is none. */
import { BillingRuns, FakeProvider, PaymentMethods, Payments } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  advanceTo,
  events,
  inHours,
  look,
  save,
  script,
  SOON,
  subscribe,
  typesOf,
  withProvider,
} from "./collecting.ts"

const runDue = Effect.flatMap(BillingRuns, (runs) => runs.runDue())

describe("with saved methods", () => {
  it.effect("an invoice waits for a method, and is paid at once when there is one", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const customer = yield* subscribe
      yield* advanceTo(SOON)
      const waiting = yield* look(fake)
      assert.deepInclude(waiting.invoice, { status: "open", collection: "awaiting_method" })
      assert.include(waiting.invoice.availableActions, "void")
      assert.lengthOf(fake.payments, 0)
      const [failed] = (yield* events).filter(({ type }) => type === "payment.failed")
      assert.deepInclude(failed!.data, { failure_code: "no_method", will_retry: false })
      const method = yield* save(fake, customer.id)
      yield* runDue
      const { booked, invoice, taken } = yield* look(fake)
      assert.strictEqual(invoice.status, "paid")
      assert.deepStrictEqual(booked, taken)
      assert.strictEqual(fake.payments[0]?.customer, method.providerCustomer)
      assert.deepStrictEqual(yield* typesOf, [
        "payment.failed",
        "payment_method.attached",
        "payment.succeeded",
        "invoice.paid",
      ])
    }).pipe(withProvider(fake))
  })

  it.effect("an invoice is paid with the default, and with the next one after that was detached", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const customer = yield* subscribe
      const methods = yield* PaymentMethods
      const first = yield* save(fake, customer.id)
      const broke = yield* save(fake, customer.id, { behaviour: { code: "insufficient_funds" } })
      yield* methods.update(broke.id, { isDefault: true })
      yield* advanceTo(SOON)
      assert.strictEqual((yield* look(fake)).invoice.collection, "retrying")
      yield* methods.detach(broke.id)
      yield* advanceTo(inHours(24))
      assert.strictEqual((yield* look(fake)).invoice.collection, "awaiting_method")
      yield* methods.update(first.id, { isDefault: true })
      yield* runDue
      const { invoice, payments } = yield* look(fake)
      assert.strictEqual(invoice.status, "paid")
      assert.lengthOf(payments, 1)
      assert.lengthOf(fake.payments[0]!.attempts, 2)
    }).pipe(withProvider(fake))
  })

  it.effect("a default that was taken away is tried again once it is the default again", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const customer = yield* subscribe
      const methods = yield* PaymentMethods
      const { id } = yield* save(fake, customer.id, { behaviour: { code: "insufficient_funds" } })
      yield* advanceTo(SOON)
      assert.strictEqual((yield* look(fake)).invoice.collection, "retrying")
      yield* methods.update(id, { isDefault: false })
      yield* advanceTo(inHours(24))
      assert.strictEqual((yield* look(fake)).invoice.collection, "awaiting_method")
      yield* methods.update(id, { isDefault: true })
      yield* runDue
      assert.lengthOf(fake.payments[0]!.attempts, 2)
      assert.strictEqual((yield* look(fake)).invoice.collection, "retrying")
    }).pipe(withProvider(fake))
  })

  it.effect(
    "a new default is tried at once where the old one was declined, and one that was declined is not",
    () => {
      const fake = new FakeProvider({
        hasMethods: true,
        faultOf: script({ attemptPayment: [undefined, "lose_reply"] }),
      })
      return Effect.gen(function* () {
        const customer = yield* subscribe
        const methods = yield* PaymentMethods
        const broke = yield* save(fake, customer.id, { behaviour: { code: "expired_card" } })
        yield* advanceTo(SOON)
        assert.strictEqual((yield* look(fake)).invoice.collection, "awaiting_method")
        yield* methods.update(broke.id, { isDefault: true })
        yield* runDue
        assert.lengthOf(fake.payments[0]!.attempts, 1)
        const good = yield* save(fake, customer.id)
        yield* methods.update(good.id, { isDefault: true })
        yield* runDue
        assert.strictEqual((yield* look(fake)).invoice.collection, "unresolved")
        yield* advanceTo(inHours(2))
        const { booked, invoice, taken } = yield* look(fake)
        assert.strictEqual(invoice.status, "paid")
        assert.deepStrictEqual(booked, taken)
        assert.lengthOf(taken, 1)
      }).pipe(withProvider(fake))
    },
  )

  for (const isClosedFirst of [true, false]) {
    const when = isClosedFirst ? "after" : "before"
    it.effect(
      `what is left of a partly paid invoice is attempted with a new default, set ${when} that is noticed`,
      () => {
        const fake = new FakeProvider({ hasMethods: true })
        return Effect.gen(function* () {
          const customer = yield* subscribe
          yield* save(fake, customer.id, { behaviour: { code: "expired_card" } })
          yield* advanceTo(SOON)
          const { invoice } = yield* look(fake)
          yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 500n })
          if (isClosedFirst) yield* advanceTo(inHours(2))
          assert.strictEqual((yield* look(fake)).invoice.collection, "awaiting_method")
          const good = yield* save(fake, customer.id)
          yield* (yield* PaymentMethods).update(good.id, { isDefault: true })
          yield* advanceTo(inHours(3))
          const { booked, invoice: paid, taken } = yield* look(fake)
          assert.strictEqual(paid.status, "paid")
          assert.deepStrictEqual(booked, taken)
          assert.deepStrictEqual(
            taken.map(([, amount]) => amount),
            [1_500n],
          )
        }).pipe(withProvider(fake))
      },
    )
  }

  it.effect("a method that needs a confirmation waits for the customer", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const customer = yield* subscribe
      yield* save(fake, customer.id, { behaviour: "needs_confirmation" })
      yield* advanceTo(SOON)
      assert.strictEqual((yield* look(fake)).invoice.collection, "awaiting_customer")
      assert.include(yield* typesOf, "payment.action_required")
    }).pipe(withProvider(fake))
  })
})
