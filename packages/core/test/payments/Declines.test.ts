/**
 * Declines of a customer's method, over all invoices.
 */
import { FakeProvider, Plans, Subscriptions } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { newCustomer } from "../world.ts"
import { advanceTo, declined, events, inHours, PLAN, withProvider } from "./collecting.ts"

describe("a method that is always declined", () => {
  it.effect(
    "is attempted 15 times in 30 days, however many invoices there are",
    () => {
      const provider = new FakeProvider({ outcomeOf: () => declined("insufficient_funds") })
      return Effect.gen(function* () {
        const daily = { ...PLAN, interval: { unit: "day", count: 1 } } as const
        yield* (yield* Plans).push({ plans: [daily] })
        const customer = yield* newCustomer({ timezone: "Europe/Berlin" })
        yield* (yield* Subscriptions).create({ customerId: customer.id, plan: PLAN.key })
        yield* advanceTo(inHours(24 * 29))
        const attempts = provider.payments.flatMap((payment) => payment.attempts)
        assert.lengthOf(attempts, 15)
        const failed = (yield* events).filter(({ type }) => type === "payment.failed")
        assert.lengthOf(failed, 15)
        // With the last one they are used up, which is said of it.
        assert.deepInclude(failed.at(-1)!.data, { will_retry: false, next_attempt_at: null })
      }).pipe(withProvider(provider))
    },
    { timeout: 30_000 },
  )
})
