import { BillingRuns, PlanCosts, Plans, Subscriptions } from "@billwright/core"
import type { PlanDefinition } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { inWorld, newCustomer } from "../world.ts"

const seats = { key: "seats", model: "unit", quantity: "seats", price: { EUR: "5.00" } } as const
const users = { key: "users", model: "unit", quantity: "users", price: { EUR: "7.00" } } as const

/** 20.00 a month, and what is priced beside it. */
const plan = (key: string, ...others: ReadonlyArray<PlanDefinition["charges"][number]>): PlanDefinition => ({
  key,
  name: key,
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }, ...others],
})

/** A new customer with a subscription of two seats. */
const subscribed = Effect.fnUntraced(function* (key: string) {
  const { id: customerId } = yield* newCustomer()
  return yield* (yield* Subscriptions).create({ customerId, plan: key, quantities: { seats: "2" } })
})

describe("PlanCosts.compare", () => {
  it.effect("does not rate a subscription that lacks a quantity which the new terms price", () =>
    Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [plan("lacking", seats), plan("having", seats)] })
      const lacking = yield* subscribed("lacking")
      yield* subscribed("having")
      yield* TestClock.adjust("40 days")
      yield* (yield* BillingRuns).runDue()
      const compared = yield* (yield* PlanCosts).compare({
        plans: [plan("lacking", seats, users), plan("having", { ...seats, price: { EUR: "6.00" } })],
      })
      assert.strictEqual(compared.unrated, 1)
      assert.deepStrictEqual(
        compared.problems.map(({ problem, subscriptionId }) => [subscriptionId, problem]),
        [[lacking.id, 'quantities.users is required: the charge "users" uses it']],
      )
      // The other one is rated: 20.00 and two seats.
      assert.deepStrictEqual(
        compared.currencies.map(({ after, before, customers }) => ({ after, before, customers })),
        [{ before: 3_000n, after: 3_200n, customers: 1 }],
      )
    }).pipe(inWorld()),
  )
})
