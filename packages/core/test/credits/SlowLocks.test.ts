/**
 * Locking an account may take long: another transaction has it. What the operation does then is done at the instant at which it
 * looked at the account, and not at a later one.
 */
import {
  BillingRuns,
  Credits,
  CreditStore,
  type Customer,
  Holds,
  Meters,
  Plans,
  RateCards,
  Subscriptions,
  TokenUsages,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { at, inWorld, newCustomer, recordUsage } from "../world.ts"

const SECOND = 1_000

/** A storage whose locks of accounts take so long, when the account has been found. */
const slowLocks = (took: { milliseconds: number }) =>
  Layer.effect(
    CreditStore,
    Effect.map(CreditStore, (store) =>
      CreditStore.of({
        ...store,
        lock: (...input) => Effect.tap(store.lock(...input), () => TestClock.adjust(took.milliseconds)),
      }),
    ),
  ).pipe(Layer.provideMerge(Memory.layer))

const burning = {
  key: "burning",
  name: "Burning",
  currencies: ["EUR"],
  interval: { unit: "month" as const, count: 1 },
  charges: [
    {
      key: "calls",
      model: "unit" as const,
      meter: "calls",
      burns: "credit",
      price: { credit: "1" },
    },
  ],
  policy: { grace_hours: 0 },
}

/** When the account is locked. */
const LOCKED = at("2026-12-21T12:00:00.000Z")

/**
 * Charges 5 credits of an account whose lock takes 4 seconds. Of its 40 credits, 10 are held until a second after the instant of
 * the lock, and all end two seconds after it. Gives the entries, when another operation has written what the clock did.
 */
const chargedSlowly = <E, R>(
  took: { milliseconds: number },
  charge: (customerId: Customer.CustomerId) => Effect.Effect<unknown, E, R>,
) =>
  Effect.gen(function* () {
    const credits = yield* Credits
    yield* (yield* Meters).create({ key: "calls", productId: "api", unit: "call" })
    yield* (yield* Plans).push({ plans: [burning] })
    yield* (yield* RateCards).push({
      rateCards: [{ key: "llm", unit: "credit", models: { large: { input: "1000000" } } }],
    })
    const customer = yield* newCustomer()
    yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "burning" })
    yield* recordUsage(customer, { quantity: 5 })
    const account = { customerId: customer.id, unit: "credit" }
    const expiresAt = DateTime.add(LOCKED, { seconds: 2 })
    yield* credits.grant({ ...account, kind: "promotional", amount: 40n, expiresAt })
    yield* TestClock.setTime(LOCKED.epochMilliseconds - SECOND)
    yield* (yield* Holds).reserve({ ...account, amount: 10n, ttlSeconds: 2 })
    yield* TestClock.setTime(LOCKED.epochMilliseconds)
    took.milliseconds = 4 * SECOND
    yield* charge(customer.id)
    took.milliseconds = 0
    yield* credits.grant({ ...account, kind: "paid", amount: 1n })
    const { data } = yield* credits.listEntries({ ...account, limit: 100 })
    return data.toReversed().map(({ available, debt, kind }) => `${kind} ${available} ${debt}`)
  })

const expected = (kind: string) => [
  "grant 40 0",
  "reserve -10 0",
  `${kind} -5 0`,
  "lapse 10 0",
  "expire -35 0",
  "grant 1 0",
]

describe("what happens to credits while their account is being locked", () => {
  const took = { milliseconds: 0 }

  it.effect("comes after what an invoice burns, and in its order", () =>
    Effect.gen(function* () {
      const { runDue } = yield* BillingRuns
      assert.deepStrictEqual(yield* chargedSlowly(took, () => runDue()), expected("burn"))
    }).pipe(inWorld({}, slowLocks(took))),
  )

  it.effect("comes after what tokens are charged, and in its order", () =>
    Effect.gen(function* () {
      const { create } = yield* TokenUsages
      const used = { rateCard: "llm", model: "large", tokens: { input: 5 } }
      const charge = (customerId: Customer.CustomerId) => create({ customerId, ...used })
      assert.deepStrictEqual(yield* chargedSlowly(took, charge), expected("consume"))
    }).pipe(inWorld({}, slowLocks(took))),
  )
})
