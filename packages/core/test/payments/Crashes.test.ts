/**
 * Payments when processes die, runners meet, and invoices change meanwhile. J6: nobody is charged twice, and what the
 * provider took is booked once.
 */
import {
  BillingRuns,
  CreditNotes,
  Customers,
  type FakeOutcome,
  FakeProvider,
  Invoices,
  Payments,
  type PaymentProvider,
  PaymentStore,
  type ProviderFault,
  StorageError,
  Subscriptions,
  TestClocks,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, type DateTime, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { numRuns } from "../property.ts"
import { acmeTest, as, listen, NOON } from "../world.ts"
import {
  advanceTo,
  declined,
  inHours,
  look,
  outcomes,
  PLAN,
  subscribe,
  typesOf,
  withProvider,
} from "./collecting.ts"

/** A process that can die: everything that it does is interrupted. */
class Mortal {
  fiber: Fiber.Fiber<unknown, unknown> | undefined

  readonly die: Effect.Effect<void> = Effect.suspend(() => {
    this.fiber?.interruptUnsafe()
    return Effect.never
  })
}

/** A provider whose process dies around its calls: at the boundaries that `dies` says, counted from 0. */
const mortal = (
  fake: FakeProvider,
  process: Mortal,
  dies: (boundary: number) => boolean,
): PaymentProvider => {
  let boundary = 0
  const die = Effect.suspend(() => (dies(boundary++) ? process.die : Effect.void))
  const around = <A, E>(call: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      yield* die
      const answer = yield* call
      yield* die
      return answer
    })
  return {
    name: "fake",
    chargeable: (money) => fake.chargeable(money),
    openPayment: (payment) => around(fake.openPayment(payment)),
    attemptPayment: (attempt) => around(fake.attemptPayment(attempt)),
    readPayment: (reference) => around(fake.readPayment(reference)),
    closePayment: (reference) => around(fake.closePayment(reference)),
    refund: (refund) => around(fake.refund(refund)),
    readRefund: (query) => around(fake.readRefund(query)),
    readDispute: (reference) => around(fake.readDispute(reference)),
    receive: (request, now) => fake.receive(request, now),
  }
}

/** Runs billing until an instant, begun again whenever it dies. */
const survive = Effect.fnUntraced(function* (process: Mortal, target: DateTime.Utc) {
  for (let deaths = 0; deaths < 100; deaths++) {
    const fiber = yield* Effect.forkChild(advanceTo(target))
    process.fiber = fiber
    const exit = yield* Fiber.await(fiber)
    if (Exit.isSuccess(exit)) return deaths
  }
  return assert.fail("it dies for ever")
})

/** More calls than any advance here takes. */
const MAX_ADVANCES = 10

describe("a process that dies", () => {
  it.effect.each([0, 1, 2, 3, 4])("at boundary %i of calls: the invoice is charged and booked once", (at) => {
    // The first answer is lost, so that there is a read to die around.
    let isFirst = true
    const fake = new FakeProvider({
      faultOf: (call) => {
        if (call !== "attemptPayment" || !isFirst) return undefined
        isFirst = false
        return "lose_reply"
      },
    })
    const process = new Mortal()
    return Effect.gen(function* () {
      yield* subscribe
      assert.strictEqual(yield* survive(process, inHours(24)), 1)
      const { booked, invoice, taken } = yield* look(fake)
      assert.strictEqual(invoice.status, "paid")
      assert.lengthOf(taken, 1)
      assert.deepStrictEqual(booked, taken)
    }).pipe(withProvider(mortal(fake, process, (boundary) => boundary === at)))
  })
})

describe("several runners", () => {
  it.effect("make one attempt of a payment", () => {
    const fake = new FakeProvider()
    return Effect.gen(function* () {
      yield* subscribe
      const { runDue } = yield* BillingRuns
      for (let n = 0; n < 4; n++)
        yield* Effect.all([runDue(), runDue(), runDue()], { concurrency: "unbounded" })
      const { booked, invoice, taken } = yield* look(fake)
      assert.strictEqual(invoice.status, "paid")
      assert.lengthOf(fake.payments[0]!.attempts, 1)
      assert.deepStrictEqual(booked, taken)
    }).pipe(withProvider(fake))
  })
})

describe("an invoice that changes while it is collected", () => {
  it.effect("has its payment closed when it is paid by other means", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(1))
      const { invoice } = yield* look(fake)
      yield* (yield* Payments).record({ invoiceId: invoice.id })
      yield* advanceTo(inHours(24 * 10))
      const { payments } = yield* look(fake)
      assert.deepStrictEqual(
        payments.map(({ provider, status }) => [provider, status]),
        [
          ["manual", "succeeded"],
          ["fake", "closed"],
        ],
      )
      assert.isTrue(fake.payments[0]?.isClosed)
      assert.strictEqual(fake.payments[0]?.charges, 0)
    }).pipe(withProvider(fake))
  })

  it.effect("is charged for what is left after a credit note and a part payment", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(1))
      const { invoice } = yield* look(fake)
      yield* (yield* CreditNotes).create({ invoiceId: invoice.id, amount: 500n, reason: "other" })
      yield* (yield* Payments).record({ invoiceId: invoice.id, amount: 300n })
      yield* advanceTo(inHours(24))
      const after = yield* look(fake)
      assert.strictEqual(after.invoice.status, "paid")
      assert.deepStrictEqual(
        after.taken.map(([, amount]) => amount),
        [1_200n],
      )
      assert.deepStrictEqual(after.booked, after.taken)
      assert.lengthOf(fake.payments, 2)
    }).pipe(withProvider(fake))
  })

  it.effect("is not charged after it was voided or written off", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(1))
      yield* (yield* Invoices).markUncollectible((yield* look(fake)).invoice.id)
      yield* advanceTo(inHours(24 * 10))
      const { invoice } = yield* look(fake)
      assert.deepInclude(invoice, { status: "uncollectible", collection: "stopped", amountPaid: 0n })
      assert.isTrue(fake.payments[0]?.isClosed)
    }).pipe(withProvider(fake))
  })

  it.effect("books the money that comes although nobody asks for it any more", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes({ status: "processing" }) })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(1))
      const { invoice } = yield* look(fake)
      yield* (yield* Payments).record({ invoiceId: invoice.id })
      fake.settle(fake.payments[0]!.reference, "succeeded")
      yield* advanceTo(inHours(26))
      const { booked, payments, taken } = yield* look(fake)
      assert.deepStrictEqual(booked, taken)
      assert.deepInclude(
        payments.find(({ provider }) => provider === "fake"),
        {
          status: "succeeded",
          applied: 0n,
          overpaid: 2_000n,
        },
      )
      assert.deepStrictEqual((yield* typesOf).slice(-2), ["payment.succeeded", "payment.overpaid"])
    }).pipe(withProvider(fake))
  })
})

/** A test clock, and a customer of it with a subscription. `advance` gives how many calls it took. */
const onClock = Effect.gen(function* () {
  const clocks = yield* TestClocks
  const clock = yield* clocks.create({})
  const { id: customerId } = yield* (yield* Customers).create({
    name: "Ada",
    email: "ada@example.com",
    testClockId: clock.id,
  })
  yield* subscribe
  yield* (yield* Subscriptions).create({ customerId, plan: PLAN.key })
  const advance = Effect.fnUntraced(function* (hours: number) {
    for (let calls = 1; calls < MAX_ADVANCES; calls++) {
      const { status } = yield* clocks.advance(clock.id, { to: inHours(hours) })
      if (status === "ready") return calls
    }
    return assert.fail("the clock does not arrive")
  })
  return { advance, customerId }
})

describe("a customer of a test clock", () => {
  it.effect("is charged, and charged again, by that clock", () => {
    const fake = new FakeProvider({ outcomeOf: outcomes(declined("insufficient_funds")) })
    return Effect.gen(function* () {
      const { advance, customerId } = yield* onClock
      yield* advance(24 * 2)
      const { data } = yield* (yield* Invoices).list({ customerId })
      assert.strictEqual(data.at(-1)?.status, "paid")
      const [payment] = (yield* (yield* Payments).list({ customerId })).data
      assert.strictEqual(new Date(payment!.paidAt!).toISOString(), "2026-11-22T09:00:00.000Z")
      assert.lengthOf(fake.payments[0]!.attempts, 2)
    }).pipe(as(acmeTest), withProvider(fake))
  })
})

describe("the provider of a customer of a test clock", () => {
  it.effect("is called in real time, because its limits are of real time", () => {
    const fake = new FakeProvider({ outcomeOf: () => ({ status: "requires_action" }) })
    const times: Array<number> = []
    const readPayment: typeof fake.readPayment = (reference) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        times.push(now)
        return fake.readPayment(reference)
      })
    const provider: PaymentProvider = {
      name: fake.name,
      methods: undefined,
      chargeable: (money) => fake.chargeable(money),
      openPayment: (input) => fake.openPayment(input),
      attemptPayment: (input) => fake.attemptPayment(input),
      closePayment: (reference) => fake.closePayment(reference),
      refund: (input) => fake.refund(input),
      readRefund: (query) => fake.readRefund(query),
      readDispute: (reference) => fake.readDispute(reference),
      receive: (request, now) => fake.receive(request, now),
      readPayment,
    }
    return Effect.gen(function* () {
      const { advance, customerId } = yield* onClock
      yield* advance(24)
      times.length = 0
      const { data } = yield* (yield* Invoices).list({ customerId })
      times.length = 0
      const { pay, refresh } = yield* Payments
      yield* refresh(data[0]!.id)
      yield* pay(data[0]!.id)
      const now = yield* Clock.currentTimeMillis
      assert.deepStrictEqual(times, [now, now])
    }).pipe(as(acmeTest), withProvider(provider))
  })
})

describe("a payment of a test clock", () => {
  it.effect("that the storage fails keeps no clock, and is made when the storage works", () => {
    const fake = new FakeProvider()
    const { logged, logger } = listen()
    let isDown = true
    let failures = 0
    const failing = Layer.effect(
      PaymentStore,
      Effect.map(PaymentStore, (store) =>
        PaymentStore.of({
          ...store,
          find: (id) =>
            Effect.suspend(() => {
              if (!isDown) return store.find(id)
              failures++
              return Effect.fail(new StorageError({ operation: "PaymentStore.find", retryable: true }))
            }),
        }),
      ),
    )
    return Effect.gen(function* () {
      const { advance, customerId } = yield* onClock
      const invoice = Effect.map(
        Effect.flatMap(Invoices, ({ list }) => list({ customerId })),
        ({ data }) => data[0]?.status,
      )
      // Tried after 1, 2, 4, … minutes, and then every 6 hours.
      assert.isAtMost(yield* advance(24 * 10), 2)
      assert.isAbove(failures, 40)
      assert.isBelow(failures, 60)
      assert.include(logged, "billing a payment failed on a test clock")
      assert.strictEqual(yield* invoice, "open")
      isDown = false
      yield* advance(24 * 10 + 6)
      assert.strictEqual(yield* invoice, "paid")
      assert.lengthOf(fake.payments, 1)
    }).pipe(
      Effect.provide(Layer.fresh(TestClocks.layer).pipe(Layer.provide(failing))),
      as(acmeTest),
      withProvider(fake),
      Effect.provide(logger),
    )
  })
})

/** A source of numbers from 0 to 1 that repeats for a seed. */
const randomOf = (seed: number) => {
  let state = seed + 0x9e3779b9
  return () => {
    state = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35)
    state ^= state >>> 16
    return (state >>> 0) / 2 ** 32
  }
}

const FAULTS: ReadonlyArray<ProviderFault> = ["lose_request", "lose_reply", "refuse", "twice", "late"]
const OUTCOMES: ReadonlyArray<FakeOutcome> = [
  { status: "succeeded" },
  { status: "succeeded" },
  { status: "processing" },
  { status: "requires_action" },
  declined("insufficient_funds"),
  declined("expired_card"),
  { status: "declined", code: "do_not_honor", advice: "stop", notBefore: null },
]
const SEEDS = numRuns(80)

describe("J6", () => {
  it.effect(
    "nobody is charged twice and no money is lost, whatever breaks",
    () =>
      Effect.gen(function* () {
        const ends = new Set<string>()
        for (let seed = 1; seed <= SEEDS; seed++) {
          const random = randomOf(seed)
          const pick = <A>(all: ReadonlyArray<A>): A => all[Math.floor(random() * all.length)]!
          const fake = new FakeProvider({
            faultOf: () => (random() < 0.35 ? pick(FAULTS) : undefined),
            outcomeOf: () => pick(OUTCOMES),
          })
          const process = new Mortal()
          const provider = mortal(fake, process, () => random() < 0.1)
          const end = yield* Effect.gen(function* () {
            yield* subscribe
            yield* survive(process, inHours(30))
            const waiting = fake.payments.find(
              ({ state }) => state.status === "processing" || state.status === "requires_action",
            )
            if (waiting !== undefined) {
              fake.settle(waiting.reference, random() < 0.5 ? "succeeded" : { code: "insufficient_funds" })
            }
            const { invoice } = yield* look(fake)
            if (random() < 0.2 && invoice.status === "open") {
              yield* (yield* Payments).record({
                invoiceId: invoice.id,
                amount: random() < 0.5 ? 700n : 2_000n,
              })
            }
            yield* survive(process, inHours(24 * 25))
            const { booked, invoice: after, taken } = yield* look(fake)
            assert.deepStrictEqual(booked, taken, `seed ${seed}`)
            return after.collection
          }).pipe(withProvider(provider))
          ends.add(end)
        }
        assert.includeMembers([...ends], ["paid", "exhausted", "awaiting_method"])
        assert.notInclude([...ends], "collecting")
        assert.notInclude([...ends], "unresolved")
        yield* TestClock.setTime(NOON.epochMilliseconds)
      }),
    { timeout: 60_000 },
  )
})
