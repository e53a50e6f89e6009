import { Customer, Resource, Threshold } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"

describe("Resource", () => {
  it("gives null to the fields that nobody gives at creation", () => {
    const unset: { readonly lastFiredAt: null } = Resource.unset(Threshold.thresholds)
    assert.deepStrictEqual(unset, { lastFiredAt: null })
    assert.deepStrictEqual(Resource.unset(Customer.customers), {})
  })
})
