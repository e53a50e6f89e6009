/**
 * The payment of an invoice that somebody asks for, and the way out of `needs_attention`.
 */
import {
  BillingRuns,
  type CurrentTenant,
  FakeProvider,
  Invoices,
  InvoiceStore,
  PaymentMethod,
  PaymentMethods,
  type PaymentProvider,
  Payments,
  PaymentStore,
  StorageError,
  Transactor,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { inWorld } from "../world.ts"
import {
  advanceTo,
  declined,
  events,
  inHours,
  look,
  outcomes,
  save,
  script,
  SOON,
  subscribe,
  typesOf,
  withProvider,
} from "./collecting.ts"

const DAYS = 24
const UNKNOWN_METHOD = PaymentMethod.PaymentMethodId.make("mtd_01kahd3kc8e0fsr8zknzqgf2h1")

/** Asks for the payment of the first invoice. */
const pay = (fake: FakeProvider, input?: Parameters<Payments["Service"]["pay"]>[1]) =>
  Effect.gen(function* () {
    const { invoice } = yield* look(fake)
    return yield* (yield* Payments).pay(invoice.id, input)
  })

/** Why it was refused. */
const refusal = (fake: FakeProvider) => Effect.map(Effect.flip(pay(fake)), ({ message }) => message)

describe("an invoice whose payment is asked for", () => {
  const waits = [
    ["retrying", declined("insufficient_funds")],
    ["exhausted", declined("stop_payment_order")],
    ["awaiting_method", declined("expired_card")],
    ["awaiting_customer", { status: "requires_action" }],
  ] as const
  it.effect.each([...waits])(
    "is attempted at once while it is %s, with the same payment",
    ([state, outcome]) => {
      const fake = new FakeProvider({ outcomeOf: outcomes(outcome) })
      return Effect.gen(function* () {
        yield* subscribe
        yield* advanceTo(SOON)
        assert.strictEqual((yield* look(fake)).invoice.collection, state)
        const paid = yield* pay(fake)
        assert.deepInclude(paid, { status: "paid", amountDue: 0n, collection: "paid" })
        const { booked, payments, taken } = yield* look(fake)
        assert.deepStrictEqual(booked, taken)
        assert.lengthOf(payments, 1)
        assert.lengthOf(fake.payments, 1)
        assert.deepStrictEqual(yield* pay(fake), paid)
      }).pipe(withProvider(fake))
    },
  )

  it.effect("is attempted before the background has begun, and that attempts nothing more", () => {
    const fake = new FakeProvider()
    return Effect.gen(function* () {
      yield* subscribe
      const { runDue } = yield* BillingRuns
      for (let n = 0; n < 3; n++) {
        const { data } = yield* (yield* Invoices).list()
        if (data[0]?.collection === "collecting") break
        yield* runDue({ limit: 1 })
      }
      assert.lengthOf(
        fake.payments.flatMap(({ attempts }) => attempts),
        0,
      )
      assert.strictEqual((yield* pay(fake)).status, "paid")
      yield* advanceTo(SOON)
      assert.lengthOf(fake.payments[0]!.attempts, 1)
    }).pipe(withProvider(fake))
  })

  it.effect("goes on with its retries when it is declined", () => {
    const fake = new FakeProvider({ outcomeOf: () => declined("insufficient_funds") })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      assert.strictEqual((yield* pay(fake)).collection, "retrying")
      const failed = (yield* events).filter(({ type }) => type === "payment.failed")
      assert.deepStrictEqual(
        failed.map(({ data }) => data.will_retry),
        [true, true],
      )
    }).pipe(withProvider(fake))
  })

  it.effect("is refused while an attempt may have taken the money", () => {
    const fake = new FakeProvider({
      outcomeOf: outcomes({ status: "processing" }),
      faultOf: script({ attemptPayment: ["lose_reply"] }),
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* (yield* BillingRuns).runDue()
      assert.strictEqual((yield* look(fake)).invoice.collection, "unresolved")
      assert.include(yield* refusal(fake), "nobody knows what came of the last attempt")
      yield* advanceTo(SOON)
      assert.strictEqual((yield* look(fake)).invoice.collection, "processing")
      assert.include(yield* refusal(fake), "a bank works on its payment")
      assert.lengthOf(fake.payments[0]!.attempts, 1)
    }).pipe(withProvider(fake))
  })

  it.effect("that its customer has confirmed meanwhile is read, and not attempted again", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes({ status: "requires_action" }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      fake.settle(fake.payments[0]!.reference, "succeeded")
      assert.strictEqual((yield* pay(fake)).status, "paid")
      assert.lengthOf(fake.payments[0]!.attempts, 1)
    }).pipe(withProvider(fake))
  })

  it.effect("is attempted with what is due by then, with a payment of its own", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(fake)
      yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 500n })
      const paid = yield* pay(fake)
      assert.deepInclude(paid, { status: "paid", amountPaid: 2_000n })
      const { booked } = yield* look(fake)
      assert.deepStrictEqual(
        booked.map(([, amount]) => amount),
        [1_500n],
      )
    }).pipe(withProvider(fake))
  })

  it.effect("that nobody can read before it is attempted is as it was", () => {
    const fake = new FakeProvider({
      outcomeOf: outcomes(declined("insufficient_funds")),
      faultOf: (call) => (call === "closePayment" ? "refuse" : undefined),
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(fake)
      yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 500n })
      const error = yield* Effect.flip(pay(fake))
      assert.strictEqual(error._tag, "PaymentProviderUnavailable")
      assert.lengthOf(fake.payments, 1)
    }).pipe(withProvider(fake))
  })

  it.effect("twice at the same time is attempted once", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(fake)
      const { pay: payNow } = yield* Payments
      const { runDue } = yield* BillingRuns
      const all = [
        Effect.exit(payNow(invoice.id)),
        Effect.exit(payNow(invoice.id)),
        Effect.exit(runDue()),
      ] as const
      yield* Effect.all(all, { concurrency: "unbounded", discard: true })
      assert.lengthOf(fake.payments[0]!.attempts, 2)
      assert.strictEqual((yield* look(fake)).invoice.status, "paid")
    }).pipe(withProvider(fake))
  })

  it.effect("is refused within a transaction, without a provider, and for what is unknown", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { atomically } = yield* Transactor
      const within = yield* Effect.flip(atomically(pay(fake)))
      assert.include(within.message, "can't be called within a transaction")
      const unknown = yield* Effect.flip((yield* Payments).pay("inv_01kahd3kc8e0fsr8zknzqgf2h1"))
      assert.strictEqual(unknown._tag, "InvoiceNotFound")
      const without = yield* Effect.flip(pay(fake, { paymentMethodId: UNKNOWN_METHOD }))
      assert.deepInclude(without, { _tag: "PaymentMethodNotFound", field: "paymentMethodId" })
    }).pipe(withProvider(fake))
  })

  it.effect("is refused when there is no provider", () =>
    Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      assert.include(yield* refusal(new FakeProvider()), "there is no payment provider")
    }).pipe(inWorld({})),
  )
})

describe("with saved methods, an invoice whose payment is asked for", () => {
  it.effect("is attempted with the named one, or with the default", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const customer = yield* subscribe
      yield* advanceTo(SOON)
      assert.include(yield* refusal(fake), "the customer has no default payment method")
      yield* save(fake, customer.id, { behaviour: { code: "stop_payment_order" } })
      assert.strictEqual((yield* pay(fake)).collection, "exhausted")
      const other = yield* save(fake, customer.id)
      assert.isFalse(other.isDefault)
      assert.strictEqual((yield* pay(fake, { paymentMethodId: other.id })).status, "paid")
    }).pipe(withProvider(fake))
  })

  it.effect("is not attempted with a method of somebody else, or with one that is detached", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const customer = yield* subscribe
      const other = yield* subscribe
      yield* advanceTo(SOON)
      const foreign = yield* save(fake, other.id)
      const detached = yield* save(fake, customer.id)
      yield* Effect.flatMap(PaymentMethods, ({ detach }) => detach(detached.id))
      const ofOther = yield* Effect.flip(pay(fake, { paymentMethodId: foreign.id }))
      assert.deepInclude(ofOther, { _tag: "PaymentMethodNotFound", field: "paymentMethodId" })
      const gone = yield* Effect.flip(pay(fake, { paymentMethodId: detached.id }))
      assert.include(gone.message, `the payment method ${detached.id} is detached`)
    }).pipe(withProvider(fake))
  })
})

describe("an invoice that was written off", () => {
  const writeOff = Effect.fnUntraced(function* (fake: FakeProvider) {
    yield* subscribe
    yield* advanceTo(SOON)
    const { invoice } = yield* look(fake)
    yield* (yield* Invoices).markUncollectible(invoice.id)
    yield* advanceTo(inHours(2))
  })

  it.effect("is paid when somebody asks for it", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      yield* writeOff(fake)
      assert.deepInclude((yield* look(fake)).invoice, { status: "uncollectible", collection: "stopped" })
      assert.deepInclude(yield* pay(fake), { status: "paid", amountPaid: 2_000n })
      const { booked, taken } = yield* look(fake)
      assert.deepStrictEqual(booked, taken)
      assert.deepStrictEqual((yield* typesOf).slice(-2), ["payment.succeeded", "invoice.paid"])
    }).pipe(withProvider(fake))
  })

  it.effect("is paid in parts by hand, and by the provider what is left", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      yield* writeOff(fake)
      const payments = yield* Payments
      const { invoice } = yield* look(fake)
      for (const reference of ["A", "B"]) {
        yield* payments.record({ invoiceId: invoice.id, amount: 600n, reference })
        assert.strictEqual((yield* look(fake)).invoice.status, "uncollectible")
      }
      assert.deepInclude((yield* look(fake)).invoice, { amountPaid: 1_200n, amountDue: 800n })
      assert.deepInclude(yield* pay(fake), { status: "paid", amountPaid: 2_000n, amountDue: 0n })
      const { booked } = yield* look(fake)
      assert.deepStrictEqual(
        booked.map(([, amount]) => amount),
        [800n],
      )
      assert.lengthOf(
        (yield* typesOf).filter((type) => type === "invoice.paid"),
        1,
      )
    }).pipe(withProvider(fake))
  })

  it.effect("is attempted once, and its payment is closed when that is declined", () => {
    const fake = new FakeProvider({ outcomeOf: () => declined("insufficient_funds") })
    return Effect.gen(function* () {
      yield* writeOff(fake)
      assert.strictEqual((yield* pay(fake)).status, "uncollectible")
      yield* advanceTo(inHours(30 * DAYS - 1))
      const { invoice, payments } = yield* look(fake)
      assert.deepInclude(invoice, { status: "uncollectible", collection: "stopped" })
      assert.deepStrictEqual(
        payments.map(({ status }) => status),
        ["closed", "closed"],
      )
      assert.lengthOf(fake.payments[1]!.attempts, 1)
      assert.notInclude(yield* typesOf, "invoice.collection_exhausted")
      const failed = (yield* events).filter(({ type }) => type === "payment.failed").at(-1)
      assert.isFalse(failed?.data.will_retry)
    }).pipe(withProvider(fake))
  })

  it.effect("waits for the customer who has to confirm it", () => {
    const outcome = outcomes(declined("insufficient_funds"), { status: "requires_action" })
    const fake = new FakeProvider({ outcomeOf: outcome })
    return Effect.gen(function* () {
      yield* writeOff(fake)
      assert.strictEqual((yield* pay(fake)).collection, "awaiting_customer")
      yield* advanceTo(inHours(2 * DAYS))
      fake.settle(fake.payments[1]!.reference, "succeeded")
      yield* advanceTo(inHours(4 * DAYS))
      assert.strictEqual((yield* look(fake)).invoice.status, "paid")
    }).pipe(withProvider(fake))
  })
})

describe("an invoice that needs attention", () => {
  /** What is said about its payment. */
  const attention = Effect.fnUntraced(function* (fake: FakeProvider) {
    const { invoice, payments } = yield* look(fake)
    assert.strictEqual(invoice.collection, "needs_attention")
    return payments[0]!.attention
  })

  it.effect("says since when and what the provider refused, and is paid once that is mended", () => {
    const fake = new FakeProvider({ faultOf: script({ openPayment: ["break"] }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const why = yield* attention(fake)
      assert(why !== null)
      assert.strictEqual(why.code, "provider_refused")
      assert.include(why.message, "the key is wrong")
      assert.isAtMost(why.since, SOON.epochMilliseconds)
      assert.strictEqual((yield* pay(fake)).status, "paid")
      const { booked, payments, taken } = yield* look(fake)
      assert.deepStrictEqual(booked, taken)
      assert.isNull(payments[0]!.attention)
    }).pipe(withProvider(fake))
  })

  it.effect("because nobody knows what came of it, is read before anything else", () => {
    let isLost = true
    const fake = new FakeProvider({
      faultOf: (call) => {
        if (!isLost) return undefined
        return call === "attemptPayment" ? "lose_reply" : call === "readPayment" ? "lose_request" : undefined
      },
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(20 * DAYS))
      assert.strictEqual((yield* attention(fake))?.code, "outcome_unknown")
      const error = yield* Effect.flip(pay(fake))
      assert.strictEqual(error._tag, "PaymentProviderUnavailable")
      isLost = false
      assert.strictEqual((yield* pay(fake)).status, "paid")
      const { booked, taken } = yield* look(fake)
      assert.deepStrictEqual(booked, taken)
      assert.lengthOf(fake.payments[0]!.attempts, 1)
    }).pipe(withProvider(fake))
  })

  it.effect("because no request has arrived, is sent again", () => {
    let isLost = true
    const fake = new FakeProvider({
      faultOf: (call) => (isLost && call === "attemptPayment" ? "lose_request" : undefined),
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(20 * DAYS))
      assert.strictEqual((yield* attention(fake))?.code, "outcome_unknown")
      isLost = false
      assert.strictEqual((yield* pay(fake)).status, "paid")
      assert.strictEqual(fake.payments[0]!.charges, 1)
    }).pipe(withProvider(fake))
  })

  it.effect("because it could not be reached, is paid once it can be", () => {
    let isDown = true
    const fake = new FakeProvider({ faultOf: () => (isDown ? "refuse" : undefined) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(20 * DAYS))
      assert.strictEqual((yield* attention(fake))?.code, "provider_unreachable")
      isDown = false
      assert.strictEqual((yield* pay(fake)).status, "paid")
    }).pipe(withProvider(fake))
  })

  it.effect("because somebody closed it at the provider, gets another payment", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes({ status: "requires_action" }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      yield* fake.closePayment(fake.payments[0]!.reference)
      yield* advanceTo(inHours(2 * DAYS))
      assert.strictEqual((yield* attention(fake))?.code, "closed_at_provider")
      assert.strictEqual((yield* pay(fake)).status, "paid")
      const { booked, payments, taken } = yield* look(fake)
      assert.deepStrictEqual(booked, taken)
      assert.lengthOf(payments, 2)
    }).pipe(withProvider(fake))
  })

  it.effect("because the customer did nothing for 30 days, is attempted again", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes({ status: "requires_action" }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(31 * DAYS - 13))
      const { payments } = yield* look(fake)
      assert.strictEqual(payments[0]!.attention?.code, "no_result")
      assert.strictEqual((yield* pay(fake)).status, "paid")
    }).pipe(withProvider(fake))
  })
})

/** `Payments` in whose first look at a payment something else happens, once what is stored was read. */
const paymentsWhile = <A, E>(other: Effect.Effect<A, E, CurrentTenant>) =>
  Layer.fresh(Payments.layer).pipe(
    Layer.provide(
      Layer.effect(
        PaymentStore,
        Effect.map(PaymentStore, (store) => {
          let isFirst = true
          const meanwhile = Effect.suspend(() => {
            const work = isFirst ? Effect.asVoid(Effect.orDie(other)) : Effect.void
            isFirst = false
            return work
          })
          return PaymentStore.of({ ...store, find: (id) => Effect.tap(store.find(id), meanwhile) })
        }),
      ),
    ),
  )

/** `Payments` for which the invoice can be read so often, and then not. */
const paymentsAfter = (reads: number) =>
  Layer.fresh(Payments.layer).pipe(
    Layer.provide(
      Layer.effect(
        InvoiceStore,
        Effect.map(InvoiceStore, (store) => {
          let left = reads
          const gone = new StorageError({ operation: "InvoiceStore.find", retryable: true })
          const find: typeof store.find = (id) =>
            Effect.suspend(() => (left-- > 0 ? store.find(id) : Effect.fail(gone)))
          return InvoiceStore.of({ ...store, find })
        }),
      ),
    ),
  )

describe("a storage that fails", () => {
  const cases = [
    ["before the attempt, says that nothing was stored", 0, 1],
    ["after it, does not: a repeat would attempt it once more", 1, 2],
  ] as const
  it.effect.each([...cases])("%s", ([, reads, attempts]) => {
    const fake = new FakeProvider({ outcomeOf: () => declined("insufficient_funds") })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const error = yield* Effect.provide(Effect.flip(pay(fake)), paymentsAfter(reads), { local: true })
      if (error._tag !== "StorageError") return assert.fail(error.message)
      const isStored = attempts === 2
      assert.deepInclude(error, { retryable: !isStored })
      assert.strictEqual(error.isOutcomeUnknown ?? false, isStored)
      assert.lengthOf(fake.payments[0]!.attempts, attempts)
    }).pipe(withProvider(fake))
  })
})

describe("a payment that is canceled", () => {
  const cancel = (fake: FakeProvider) =>
    Effect.gen(function* () {
      const { payments } = yield* look(fake)
      return yield* (yield* Payments).cancel(payments[0]!.id)
    })

  it.effect("is closed for good, and its invoice is not collected by itself any more", () => {
    const fake = new FakeProvider({ outcomeOf: () => declined("insufficient_funds") })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      assert.strictEqual((yield* cancel(fake)).status, "closed")
      yield* advanceTo(inHours(20 * DAYS))
      const { invoice, payments } = yield* look(fake)
      assert.deepInclude(invoice, { status: "open", collection: "stopped" })
      assert.lengthOf(payments, 1)
      assert.isTrue(fake.payments[0]!.isClosed)
      assert.lengthOf(fake.payments[0]!.attempts, 1)
      assert.deepStrictEqual(yield* cancel(fake), payments[0])
    }).pipe(withProvider(fake))
  })

  it.effect("is stopped also when the provider tells of the close before it answers", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes({ status: "requires_action" }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice, payments } = yield* look(fake)
      const { refresh } = yield* Payments
      // What the notice says comes to the storage while the call waits for its answer.
      const noticed = Effect.andThen(
        Effect.orDie(fake.closePayment(payments[0]!.reference!)),
        refresh(invoice.id),
      )
      const canceled = yield* cancel(fake).pipe(Effect.provide(paymentsWhile(noticed), { local: true }))
      assert.deepInclude(canceled, { status: "closed", attention: null })
      assert.strictEqual((yield* look(fake)).invoice.collection, "stopped")
    }).pipe(withProvider(fake))
  })

  it.effect("and whose invoice is then paid, gets another payment", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      yield* cancel(fake)
      assert.strictEqual((yield* pay(fake)).status, "paid")
      const { booked, payments, taken } = yield* look(fake)
      assert.deepStrictEqual(booked, taken)
      assert.lengthOf(payments, 2)
    }).pipe(withProvider(fake))
  })

  it.effect("after it has taken the money, has succeeded", () => {
    const fake = new FakeProvider({ faultOf: script({ attemptPayment: ["lose_reply"] }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* (yield* BillingRuns).runDue()
      assert.strictEqual((yield* look(fake)).invoice.collection, "unresolved")
      assert.strictEqual((yield* cancel(fake)).status, "succeeded")
      const error = yield* Effect.flip(cancel(fake))
      assert.include(error.message, "cancel is not possible: the payment has succeeded")
      const { booked, invoice, taken } = yield* look(fake)
      assert.strictEqual(invoice.status, "paid")
      assert.deepStrictEqual(booked, taken)
    }).pipe(withProvider(fake))
  })

  it.effect("while it is opened and attempted, is closed at the provider before it is closed here", () => {
    const fake = new FakeProvider({
      faultOf: script({ openPayment: ["lose_reply"], attemptPayment: ["lose_reply"] }),
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* (yield* BillingRuns).runDue()
      assert.strictEqual((yield* look(fake)).payments[0]!.reference, null)
      yield* TestClock.adjust("1 day")
      const { runDue } = yield* BillingRuns
      const canceled = yield* Effect.provide(cancel(fake), paymentsWhile(runDue()))
      assert.strictEqual(canceled.status, "succeeded")
      const { booked, invoice, taken } = yield* look(fake)
      assert.strictEqual(invoice.status, "paid")
      assert.lengthOf(booked, 1)
      assert.deepStrictEqual(booked, taken)
    }).pipe(withProvider(fake))
  })

  it.effect("by a provider that does not answer, stays as it is", () => {
    const fake = new FakeProvider({
      outcomeOf: () => declined("insufficient_funds"),
      faultOf: script({ closePayment: ["lose_reply"] }),
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const error = yield* Effect.flip(cancel(fake))
      assert.strictEqual(error._tag, "PaymentProviderUnavailable")
      assert.deepInclude((yield* look(fake)).invoice, { collection: "retrying" })
      assert.strictEqual((yield* cancel(fake)).status, "closed")
    }).pipe(withProvider(fake))
  })

  it.effect("is refused within a transaction, and by another provider", () => {
    const fake = new FakeProvider({ outcomeOf: () => declined("insufficient_funds") })
    let name = "fake"
    const provider: PaymentProvider = Object.create(fake, { name: { get: () => name } })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { atomically } = yield* Transactor
      const within = yield* Effect.flip(atomically(cancel(fake)))
      assert.include(within.message, "can't be called within a transaction")
      name = "other"
      const other = yield* Effect.flip(cancel(fake))
      assert.include(other.message, "the payment provider fake is not there")
      assert.include(yield* refusal(fake), "its payment is at the provider fake")
      const unknown = yield* Effect.flip((yield* Payments).cancel("pay_01kahd3kc8e0fsr8zknzqgf2h1"))
      assert.strictEqual(unknown._tag, "PaymentNotFound")
    }).pipe(withProvider(provider))
  })
})
