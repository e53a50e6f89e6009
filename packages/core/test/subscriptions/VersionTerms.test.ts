import { type Plan, PlanStore, Plans } from "@billwright/core"
import type { Period, PlanVersionRef } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { VersionTerms } from "../../src/subscriptions/VersionTerms.ts"
import { acme, as, inWorld } from "../world.ts"

const plan = (price: string) =>
  ({
    key: "pro",
    name: "Pro",
    currencies: ["EUR"],
    interval: { unit: "month", count: 1 },
    charges: [{ key: "base", model: "flat", price: { EUR: price } }],
  }) as const

const periodOf = (number: number, ...versions: ReadonlyArray<number>): Period => {
  const [first, ...others] = versions.map((version) => ({
    start: number,
    end: number + 1,
    plan: { key: "pro", version },
    quantities: {},
    snap: "down" as const,
    unused: "prorate" as const,
  }))
  return { number, start: number, end: number + 1, trial: null, segments: [first!, ...others] }
}

const copied = (version: Plan.PlanVersion) => ({ ...version, terms: structuredClone(version.terms) })

/** The terms of plans, and the versions that are read. The store gives out other objects at each read. */
const counting = Effect.gen(function* () {
  const store = yield* PlanStore
  const asked: Array<PlanVersionRef> = []
  const terms = new VersionTerms({
    ...store,
    findVersion: (key, version) => {
      asked.push({ key, version })
      return Effect.map(store.findVersion(key, version), Option.map(copied))
    },
  })
  return { asked, terms }
})

describe("terms of the versions of periods", () => {
  it.effect("are read once for each version, however many periods and segments have it", () =>
    Effect.gen(function* () {
      const plans = yield* Plans
      for (const price of ["20", "30"]) yield* plans.push({ plans: [plan(price)] })
      const { asked, terms } = yield* counting
      const termsOf = yield* terms.of([periodOf(0, 1), periodOf(1, 1, 2, 1), periodOf(2, 2)])
      assert.deepStrictEqual(asked, [
        { key: "pro", version: 1 },
        { key: "pro", version: 2 },
      ])
      for (const [version, price] of [
        [1, "20"],
        [2, "30"],
      ] as const) {
        const [charge] = termsOf({ key: "pro", version }).charges
        assert.deepStrictEqual(charge, plan(price).charges[0])
      }
    }).pipe(as(acme), inWorld()),
  )

  it.effect("are one object at each read, so that the engine prepares their charges once", () =>
    Effect.gen(function* () {
      yield* (yield* Plans).push({ plans: [plan("20")] })
      const { terms } = yield* counting
      const [first, again] = [yield* terms.of([periodOf(0, 1)]), yield* terms.of([periodOf(1, 1)])]
      assert.strictEqual(first({ key: "pro", version: 1 }), again({ key: "pro", version: 1 }))
    }).pipe(as(acme), inWorld()),
  )

  it.effect("of a version that there is not are refused", () =>
    Effect.gen(function* () {
      const { terms } = yield* counting
      const termsOf = yield* terms.of([periodOf(0, 1)])
      assert.throws(() => termsOf({ key: "pro", version: 1 }), "the plan pro has no version 1")
    }).pipe(as(acme), inWorld()),
  )
})
