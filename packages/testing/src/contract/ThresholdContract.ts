/**
 * The contract of keeping usage thresholds: that of `Collections`, and what `UsageStore` needs of it.
 */
import { type Customer, Threshold, Transactor } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Generators from "../Generators.ts"
import * as Sample from "../Sample.ts"
import { collectionContract } from "./CollectionContract.ts"
import { type ContractTest, same, times, together } from "./ContractTest.ts"
import { newCustomer, thresholds } from "./UsageProbe.ts"

/** Stores a threshold of a customer. */
export const insertThreshold = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  fields: Partial<Threshold.Threshold> = {},
) {
  const threshold = yield* Sample.threshold(customerId, fields)
  yield* (yield* thresholds).insert(threshold)
  return threshold
})

const counting = (test: ContractTest): void => {
  test(
    "shows insertions for a customer those before them, also at once",
    Effect.gen(function* () {
      const collection = yield* thresholds
      const { atomically } = yield* Transactor
      const customerId = yield* newCustomer
      const limit = 10
      const insert = Effect.fnUntraced(function* (threshold: Threshold.Threshold) {
        yield* collection.insert(threshold)
        const { productId, unit } = threshold
        const page = { limit, cursor: undefined }
        const { hasMore } = yield* collection.list({ customerId, productId, unit }, page)
        if (hasMore) return yield* Effect.fail("too many")
        return true
      })
      const made = yield* Effect.all(times(limit + 10, () => Sample.threshold(customerId)))
      const isStored = (threshold: Threshold.Threshold) =>
        Effect.match(atomically(insert(threshold)), { onSuccess: () => true, onFailure: () => false })
      const results = yield* together(made.map(isStored))
      assert.strictEqual(results.filter(Boolean).length, limit)
      same(yield* Effect.forEach(made, ({ id }) => Effect.map(collection.find(id), Option.isSome)), results)
      // Other meters have their own, and a removed one makes room.
      same(yield* isStored(yield* Sample.threshold(customerId, { unit: "byte" })), true)
      same(yield* isStored(yield* Sample.threshold(customerId)), false)
      yield* collection.remove(made[results.indexOf(true)]!.id)
      same(yield* isStored(yield* Sample.threshold(customerId)), true)
      same(yield* isStored(yield* Sample.threshold(customerId)), false)
    }),
  )
}

export const thresholdContract = (test: ContractTest): void => {
  test.section("thresholds", () => {
    collectionContract(test, {
      resource: Threshold.thresholds,
      make: (fields = {}) => Effect.flatMap(newCustomer, (id) => Sample.threshold(id, fields)),
      generated: Generators.threshold,
      changed: (threshold, step) => ({ ...threshold, quantity: BigInt(1000 + step) }),
      stepOf: ({ quantity }) => (quantity < 1000n ? 0 : Number(quantity) - 1000),
    })
    counting(test)
  })
}
