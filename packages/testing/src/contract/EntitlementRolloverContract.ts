/** The contract of features whose rest rolls over into the next period. */
import { Entitlements, Plans, Subscriptions, Usage } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  type Asked,
  askedOf,
  CALLERS,
  consume,
  entitled,
  exportsOf,
  type Features,
  limitEvents,
  planOf,
  recordCall,
  subscribe,
} from "../scenarios/EntitlementScenes.ts"
import { at, newCustomer, scenario, until } from "../scenarios/Scenario.ts"
import { same, times, together } from "./ContractTest.ts"
import type { InvoicingTest } from "./InvoicingProbe.ts"

/** What is left of the feature, and how it comes about. */
const rolled = Effect.fnUntraced(function* (asked: Asked, fields: object = {}) {
  const { check } = yield* Entitlements
  const { balance, limit, rolledOver, used } = yield* check({ ...askedOf(asked), ...fields })
  return [limit, rolledOver, used, balance]
})

const rolling = (included: string, rollover: object, limit: "hard" | "soft" = "hard"): Features => ({
  exports: { type: "metered", meter: "calls", included, limit, rollover } as Features[string],
})

const threeMonths = { unit: "month", count: 3 } as const

export const entitlementRolloverContract = (test: InvoicingTest): void => {
  scenario(
    test,
    "entitlements: what is left of a period rolls over into the next, and late usage takes from it",
    Effect.gen(function* () {
      const asked = yield* entitled(rolling("10", { maximum: "6" }))
      const { customerId } = asked
      const record = yield* recordCall(customerId, 3)
      same(yield* rolled(asked), [10n, 0n, 3n, 7n])
      // Nobody has billed the month that is over.
      yield* TestClock.setTime(at("2026-02-01").epochMilliseconds)
      same(yield* rolled(asked), [16n, 6n, 0n, 16n])
      yield* until("2026-02-03")
      same(yield* rolled(asked), [16n, 6n, 0n, 16n])
      const late = { customerId, productId: "api", unit: "call", timestamp: at("2026-01-20") }
      yield* (yield* Usage).record({ ...late, quantity: 5 })
      same(yield* rolled(asked), [12n, 2n, 0n, 12n])
      yield* (yield* Usage).voidRecord(record.id)
      same(yield* rolled(asked), [15n, 5n, 0n, 15n])
      assert.deepInclude(yield* consume(asked, 7), { limit: 15n, used: 7n, balance: 8n })
      // Of the 7, 5 were of January. Of February, 8 are left, and 6 of them stay.
      yield* until("2026-03-02")
      same(yield* rolled(asked), [16n, 6n, 0n, 16n])
      const listed = yield* (yield* Entitlements).list({ customerId })
      same(
        listed.map(({ limit, rolledOver }) => [limit, rolledOver]),
        [[16n, 6n]],
      )
      yield* until("2026-07-02")
      same(yield* rolled(asked), [16n, 6n, 0n, 16n])
    }),
  )

  scenario(
    test,
    "entitlements: what rolled over keeps its time when the plan changes, and ends with a plan without rollover",
    Effect.gen(function* () {
      const asked = yield* entitled(rolling("10", { maximum: "10", expires_after: threeMonths }))
      const smaller = { ...rolling("5", { maximum: "2" }), reports: exportsOf("1", "hard")["exports"]! }
      yield* (yield* Plans).push({
        plans: [planOf("smaller", smaller), planOf("none", exportsOf("5", "hard"))],
      })
      yield* recordCall(asked.customerId, 4)
      const { change } = yield* Subscriptions
      yield* until("2026-02-10")
      same(yield* rolled(asked), [16n, 6n, 0n, 16n])
      yield* change(asked.subscriptionId, { plan: "smaller", at: "now" })
      same(yield* rolled(asked), [11n, 6n, 0n, 11n])
      yield* recordCall(asked.customerId, 2)
      yield* TestClock.setTime(at("2026-04-10").epochMilliseconds)
      // 4 are left of January, and 2 stay of March. Those of February were for March only.
      same(yield* rolled(asked), [11n, 6n, 0n, 11n])
      same(yield* rolled({ ...asked, feature: "reports" }), [1n, 0n, 0n, 1n])
      yield* until("2026-04-11")
      same(yield* rolled(asked), [11n, 6n, 0n, 11n])
      yield* change(asked.subscriptionId, { plan: "none", at: "now" })
      same(yield* rolled(asked), [5n, 0n, 0n, 5n])
      yield* change(asked.subscriptionId, { plan: "smaller", at: "period_end" })
      yield* until("2026-05-02")
      same(yield* rolled(asked), [5n, 0n, 0n, 5n])
      yield* until("2026-06-02")
      same(yield* rolled(asked), [7n, 2n, 0n, 7n])
    }),
  )

  scenario(
    test,
    "entitlements: of many callers at once, those are allowed for whom a limit with what rolled over has room",
    Effect.gen(function* () {
      const asked = yield* entitled(rolling("50", { maximum: "30", expires_after: threeMonths }))
      yield* recordCall(asked.customerId, 20)
      yield* until("2026-02-02")
      same(yield* rolled(asked), [80n, 30n, 0n, 80n])
      const late = { customerId: asked.customerId, productId: "api", unit: "call", quantity: 5 }
      yield* (yield* Usage).record({ ...late, timestamp: at("2026-01-20") })
      const answers = yield* together(times(CALLERS, () => consume(asked, 3)))
      const allowed = answers.filter((answer) => answer.allowed)
      assert.lengthOf(allowed, 25)
      assert.lengthOf(new Set(allowed.map(({ used }) => used)), 25)
      same(yield* rolled(asked), [75n, 25n, 75n, 0n])
      same(yield* limitEvents(asked.customerId), [
        ["exports", "hard", 75, 75, "2026-02-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"],
      ])
    }),
  )

  scenario(
    test,
    "entitlements: of many checks at once and of remembered ones, each has what rolled over for its customer",
    Effect.gen(function* () {
      const first = yield* entitled(rolling("10", { maximum: "6" }, "soft"))
      yield* (yield* Plans).push({
        plans: [planOf("long", rolling("20", { maximum: "15", expires_after: threeMonths }))],
      })
      const { customerId: second } = yield* subscribe((yield* newCustomer).id, "long")
      const { customerId: bare } = yield* subscribe((yield* newCustomer).id, "exporter")
      const all = [first.customerId, second, bare].map((customerId) => ({ customerId, feature: "exports" }))
      for (const [index, { customerId }] of all.entries()) yield* recordCall(customerId, 3 * (index + 1))
      yield* until("2026-02-02")
      yield* recordCall(second, 4)
      yield* TestClock.setTime(at("2026-03-02").epochMilliseconds)
      const expected = [
        [16n, 6n, 0n, 16n],
        // 14 − 4 of January, and 15 of February.
        [45n, 25n, 0n, 45n],
        [16n, 6n, 0n, 16n],
      ]
      for (const fields of [{}, { maxStalenessMillis: 60_000 }, { maxStalenessMillis: 60_000 }]) {
        const atOnce = yield* together(times(CALLERS, (n) => rolled(all[n % all.length]!, fields)))
        same(
          atOnce,
          times(CALLERS, (n) => expected[n % all.length]),
        )
      }
    }),
  )
}
