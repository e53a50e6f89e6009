/**
 * The contract of keeping thresholds in `UsageStore`.
 */
import { type Customer, type Page, Threshold, UsageStore } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Generators from "../Generators.ts"
import { forAll } from "../Property.ts"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, Effort, otherTenants, same, times, together } from "./ContractTest.ts"
import { pagingContract } from "./PagingContract.ts"
import { newCustomer } from "./UsageProbe.ts"

/** Stores a threshold of a customer. */
export const insertThreshold = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  fields: Partial<Threshold.Threshold> = {},
) {
  const threshold = yield* Sample.threshold(customerId, fields)
  assert.isTrue(yield* (yield* UsageStore).insertThreshold(threshold))
  return threshold
})

const keeping = (test: ContractTest): void => {
  test(
    "gives back what was inserted, in every field",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const effort = yield* Effort
      yield* forAll(Generators.threshold, effort, (generated) =>
        Effect.gen(function* () {
          const threshold = yield* insertThreshold(customerId, {
            ...generated,
            id: yield* Sample.thresholdId,
            customerId,
          })
          same(yield* store.findThreshold(threshold.id), Option.some(threshold))
        }),
      )
    }),
  )

  test(
    "deletes once",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const threshold = yield* insertThreshold(yield* newCustomer)
      same(yield* store.deleteThreshold(threshold.id), true)
      same(yield* store.deleteThreshold(threshold.id), false)
      same(yield* store.findThreshold(threshold.id), Option.none())
      same(yield* store.deleteThreshold(yield* Sample.thresholdId), false)
    }),
  )

  test(
    "keeps tenants apart",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const threshold = yield* insertThreshold(yield* newCustomer)
      for (const tenant of yield* otherTenants) {
        yield* Effect.gen(function* () {
          same(yield* store.findThreshold(threshold.id), Option.none())
          same(yield* store.deleteThreshold(threshold.id), false)
          const page = { limit: 9, cursor: undefined }
          same(yield* store.listThresholds({ customerId: undefined }, page), { data: [], hasMore: false })
        }).pipe(asTenant(tenant))
      }
      same(yield* store.findThreshold(threshold.id), Option.some(threshold))
    }),
  )

  test(
    "lets a meter have so many and no more, also at once",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const limit = Threshold.MAX_THRESHOLDS_PER_METER
      const made = yield* Effect.forEach(
        times(limit + 20, (index) => index),
        () => Sample.threshold(customerId),
      )
      const results = yield* together(made.map((threshold) => store.insertThreshold(threshold)))
      assert.strictEqual(results.filter(Boolean).length, limit)
      same(
        yield* Effect.forEach(made, ({ id }) => Effect.map(store.findThreshold(id), Option.isSome)),
        results,
      )
      // Other meters have their own, and a deleted one makes room.
      yield* insertThreshold(customerId, { unit: "byte" })
      yield* insertThreshold(customerId, { productId: "storage" })
      yield* insertThreshold(yield* newCustomer)
      same(yield* store.insertThreshold(yield* Sample.threshold(customerId)), false)
      yield* store.deleteThreshold(made[results.indexOf(true)]!.id)
      yield* insertThreshold(customerId)
      same(yield* store.insertThreshold(yield* Sample.threshold(customerId)), false)
    }),
  )

  const paged = (isOfOne: boolean) =>
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const list = (page: Page.PageQuery) =>
        Effect.map(
          store.listThresholds({ customerId: isOfOne ? customerId : undefined }, page),
          ({ data, hasMore }) => ({ data: data.map(({ id }) => id), hasMore }),
        )
      const add = Effect.fnUntraced(function* (count: number) {
        const bystander = isOfOne ? yield* newCustomer : customerId
        const ids: Array<string> = []
        for (const index of times(count, (n) => n)) {
          ids.push((yield* insertThreshold(customerId, { unit: `unit ${index}` })).id)
          if (isOfOne) yield* insertThreshold(bystander)
        }
        return ids
      })
      return { add, list, unknownId: Sample.thresholdId }
    })
  test.section("list of a customer", () => pagingContract(test, paged(true)))
  test.section("list of all", () => pagingContract(test, paged(false)))
}

export const thresholdContract = (test: ContractTest): void => {
  test.section("thresholds", () => keeping(test))
}
