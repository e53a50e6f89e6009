/**
 * Paid credits that begin and end: a runner writes it at its instant, also of customers who do nothing any more.
 */
import { BillingRuns, Credits, type Customer, Customers, Holds } from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import type { InvoicingTest } from "../contract/InvoicingProbe.ts"
import { at, newCustomer, scenario, told, until } from "./Scenario.ts"

const DAY_SECONDS = 86_400

const bought = { unit: "EUR", kind: "paid", amount: 2_000n } as const

/** The entries of a customer, oldest first: when, what, and by how much what is available changed. */
const entriesOf = Effect.fnUntraced(function* (customerId: Customer.CustomerId) {
  const { data } = yield* (yield* Credits).listEntries({ customerId, unit: "EUR", limit: 100 })
  return data
    .toReversed()
    .map((entry) => `${DateTime.formatIsoDateUtc(entry.at)} ${entry.kind} ${entry.available}`)
})

/** Whether a runner waits for something. Other tests have left leases that end after centuries. */
const isWaiting = Effect.gen(function* () {
  const next = yield* (yield* BillingRuns).nextDueAt
  return Option.exists(next, (instant) => DateTime.isLessThan(instant, at("2030-01-01")))
})

const nothingIsDue = Effect.map(isWaiting, (waits) => assert.isFalse(waits))

const alone = (test: InvoicingTest): void => {
  scenario(
    test,
    "paid credits that nobody touches any more begin and end in the ledger at their instants",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const span = { effectiveAt: at("2026-02-01"), expiresAt: at("2026-03-01") }
      yield* (yield* Credits).grant({ customerId, ...bought, ...span })
      yield* until("2026-02-15")
      assert.deepStrictEqual(yield* entriesOf(customerId), ["2026-02-01 grant 2000"])
      yield* until("2026-03-02")
      assert.deepStrictEqual(yield* entriesOf(customerId), [
        "2026-02-01 grant 2000",
        "2026-03-01 expire -2000",
      ])
      assert.deepStrictEqual(yield* told, ["2026-02-01 credit.granted", "2026-03-01 credit.expired"])
      yield* nothingIsDue
    }),
  )

  scenario(
    test,
    "a runner that is late writes when credits ended, and only once",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const credits = yield* Credits
      yield* credits.grant({ customerId, ...bought, expiresAt: at("2026-02-01") })
      yield* credits.grant({ customerId, ...bought, expiresAt: at("2026-02-03") })
      yield* credits.consume({ customerId, unit: "EUR", amount: 500n })
      const { runDue } = yield* BillingRuns
      yield* until("2026-01-31")
      yield* TestClock.setTime(at("2026-02-10").epochMilliseconds)
      yield* runDue()
      yield* runDue()
      assert.deepStrictEqual((yield* entriesOf(customerId)).slice(3), [
        "2026-02-01 expire -1500",
        "2026-02-03 expire -2000",
      ])
      yield* nothingIsDue
    }),
  )

  scenario(
    test,
    "credits that are used up, voided, of another kind or without an end are not waited for in vain",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      const credits = yield* Credits
      yield* credits.grant({ customerId, ...bought })
      yield* credits.grant({ customerId, ...bought, kind: "promotional", expiresAt: at("2026-02-01") })
      yield* nothingIsDue
      const { id } = yield* credits.grant({ customerId, ...bought, expiresAt: at("2026-02-01") })
      assert.isTrue(yield* isWaiting)
      yield* credits.voidGrant(id)
      yield* nothingIsDue
      yield* credits.grant({ customerId, ...bought, expiresAt: at("2026-01-20") })
      yield* credits.consume({ customerId, unit: "EUR", amount: 6_000n })
      yield* until("2026-01-21")
      yield* nothingIsDue
    }),
  )
}

const held = (test: InvoicingTest): void => {
  scenario(
    test,
    "credits that a hold keeps entirely when they end are gone when it lapses",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      yield* (yield* Credits).grant({ customerId, ...bought, expiresAt: at("2026-02-01") })
      yield* until("2026-01-31")
      const hold = { customerId, unit: "EUR", amount: 2_000n, ttlSeconds: 2 * DAY_SECONDS }
      yield* (yield* Holds).reserve(hold)
      yield* until("2026-02-03")
      assert.deepStrictEqual((yield* entriesOf(customerId)).slice(1), [
        "2026-01-31 reserve -2000",
        "2026-02-02 lapse 2000",
        "2026-02-02 expire -2000",
      ])
      yield* nothingIsDue
    }).pipe(Effect.provide(Holds.layer)),
  )

  scenario(
    test,
    "what a hold keeps of credits that have ended ends when the hold lapses",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      yield* (yield* Credits).grant({ customerId, ...bought, expiresAt: at("2026-02-01") })
      yield* until("2026-01-31")
      const hold = { customerId, unit: "EUR", amount: 800n, ttlSeconds: 2 * DAY_SECONDS }
      yield* (yield* Holds).reserve(hold)
      yield* until("2026-02-03")
      assert.deepStrictEqual((yield* entriesOf(customerId)).slice(1), [
        "2026-01-31 reserve -800",
        "2026-02-01 expire -1200",
        "2026-02-02 lapse 800",
        "2026-02-02 expire -800",
      ])
      yield* nothingIsDue
    }).pipe(Effect.provide(Holds.layer)),
  )

  scenario(
    test,
    "somebody else writes that they have ended, or voids them: what is held of them still ends with the hold",
    Effect.gen(function* () {
      const credits = yield* Credits
      const account = { unit: "EUR", ttlSeconds: 2 * DAY_SECONDS } as const
      const holding = Effect.fnUntraced(function* (count: number) {
        const { id: customerId } = yield* newCustomer
        for (let made = 0; made < count; made++) {
          yield* credits.grant({ customerId, ...bought, expiresAt: at("2026-02-01") })
        }
        return customerId
      })
      const [first, second, third] = [yield* holding(1), yield* holding(2), yield* holding(0)]
      const { id: endless } = yield* credits.grant({ customerId: third, ...bought })
      yield* until("2026-01-31")
      const { reserve } = yield* Holds
      yield* reserve({ customerId: first, ...account, amount: 800n })
      yield* reserve({ customerId: second, ...account, amount: 2_300n })
      yield* reserve({ customerId: third, ...account, amount: 800n })
      yield* credits.voidGrant(endless)
      yield* TestClock.setTime(at("2026-02-01T06:00").epochMilliseconds)
      // A change of the account comes before the runner.
      yield* credits.grant({ customerId: first, ...bought, kind: "promotional" })
      yield* until("2026-02-03")
      assert.deepStrictEqual((yield* entriesOf(first)).slice(-2), [
        "2026-02-02 lapse 800",
        "2026-02-02 expire -800",
      ])
      assert.deepStrictEqual((yield* entriesOf(second)).slice(-4).toSorted(), [
        "2026-02-02 expire -2000",
        "2026-02-02 expire -300",
        "2026-02-02 lapse 2000",
        "2026-02-02 lapse 300",
      ])
      assert.deepStrictEqual((yield* entriesOf(third)).slice(-2), [
        "2026-02-02 lapse 800",
        "2026-02-02 void -800",
      ])
      yield* nothingIsDue
    }).pipe(Effect.provide(Holds.layer)),
  )

  scenario(
    test,
    "credits of a customer who is erased are waited for no more",
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer
      yield* (yield* Credits).grant({ customerId, ...bought, expiresAt: at("2026-02-01") })
      yield* (yield* Customers).erase(customerId)
      yield* until("2026-02-02")
      yield* nothingIsDue
    }),
  )
}

export const paidCreditScenarios = (test: InvoicingTest): void => {
  alone(test)
  held(test)
}
