import { Generators } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { ExactSum } from "../src/ExactSum.ts"

describe("ExactSum", () => {
  it("equals the sum in bigint, after any additions and subtractions", () => {
    const step = fc.record({ quantity: Generators.quantity, isTakenBack: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { size: "medium" }), fc.array(Generators.quantity), (steps, others) => {
        const sum = new ExactSum()
        for (const { quantity } of steps) sum.add(quantity)
        for (const { isTakenBack, quantity } of steps) if (isTakenBack) sum.subtract(quantity)
        const other = new ExactSum()
        for (const quantity of others) other.add(quantity)
        sum.addAll(other)
        const kept = [
          ...steps.filter(({ isTakenBack }) => !isTakenBack).map(({ quantity }) => quantity),
          ...others,
        ]
        assert.strictEqual(
          sum.quantity,
          kept.reduce((total, quantity) => total + BigInt(quantity), 0n),
        )
        assert.strictEqual(sum.count, kept.length)
      }),
    )
  })
})
