/** Billing what is due, when the host says so. */
import { createBilling, InvalidInputError } from "billwright"
import { memory } from "billwright/memory"
import { assert, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

describe("runDue", () => {
  it.each(["manual", false] as const)("works with dispatcher: %s", async (dispatcher) => {
    await using billing = await createBilling({ store: memory(), dispatcher, log: false })
    const nothing = { subscriptions: 0, invoices: 0, failed: 0, hasMore: false }
    assert.deepStrictEqual(await billing.runDue(), nothing)
    assert.deepStrictEqual(await billing.runDue({ limit: 5, until: new Date(0) }), nothing)
    assert.deepStrictEqual(await billing.runDue({ pace: "background" }), nothing)
  })

  it("refuses limits and instants that are wrong", async () => {
    await using billing = await createBilling({ store: memory(), dispatcher: "manual", log: false })
    for (const [field, input] of [
      ["limit", { limit: 0 }],
      ["limit", { limit: 1_000_001 }],
      ["until", { until: "soon" }],
      ["until", { until: new Date("2100-01-01") }],
      ["pace", { pace: "slow" }],
      ["unknown", { unknown: 1 }],
    ] as const) {
      const error = await rejection(billing.runDue(input as never))
      assert.instanceOf(error, InvalidInputError)
      assert.strictEqual(error.field, field)
    }
  })
})
