import { Catalog, InvalidInput, RateCards } from "@billwright/core"
import type { PlanDefinition, RateCard } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { acmeTest, as, globex, inWorld, NOON } from "../world.ts"

const llm: RateCard = {
  key: "llm",
  name: "Language models",
  unit: "credit",
  decimals: 4,
  models: { large: { input: "2.00", output: "8.00" } },
}
const dearer: RateCard = { ...llm, models: { large: { input: "2.50", output: "8.00" } } }

const push = (...cards: ReadonlyArray<unknown>) =>
  Effect.flatMap(RateCards, (service) => service.push({ rateCards: cards as ReadonlyArray<RateCard> }))
const current = (key: string) =>
  Effect.flatMap(RateCards, (service) => Effect.map(service.current(key), Option.getOrUndefined))
const versions = Effect.fnUntraced(function* (key: string) {
  const { data } = yield* (yield* RateCards).list({ key })
  return data.map(({ reference, status }) => `${reference} ${status}`)
})

describe("RateCards.push", () => {
  it.effect("stores a card with version 1", () =>
    Effect.gen(function* () {
      const change = {
        key: "llm",
        status: "created",
        version: 1,
        previousVersion: null,
        changes: [],
      } as const
      assert.deepStrictEqual(yield* (yield* RateCards).diff({ rateCards: [llm] }), [change])
      assert.isUndefined(yield* current("llm"))
      assert.deepStrictEqual(yield* push(llm), [change])
      const card = yield* current("llm")
      assert.match(card!.id, /^rtc_/)
      const { id, hash } = card!
      const stored = {
        version: 1,
        reference: "llm@1",
        markup: null,
        status: "current",
        createdAt: NOON,
      } as const
      assert.deepStrictEqual(card, { id, hash, ...llm, name: "Language models", decimals: 4, ...stored })
      assert.deepStrictEqual(yield* (yield* RateCards).get(id), card)
    }).pipe(inWorld()),
  )

  it.effect("makes the next version of other terms, and keeps the one before", () =>
    Effect.gen(function* () {
      yield* push(llm)
      const first = yield* current("llm")
      const [change] = yield* push(dearer)
      assert.deepStrictEqual(change, {
        key: "llm",
        status: "changed",
        version: 2,
        previousVersion: 1,
        changes: [{ path: "models.large.input", from: "2.00", to: "2.50" }],
      })
      assert.deepStrictEqual(yield* versions("llm"), ["llm@2 current", "llm@1 superseded"])
      assert.deepStrictEqual(yield* (yield* RateCards).get(first!.id), { ...first!, status: "superseded" })
      // What was sold before is a version of its own again.
      yield* push(llm)
      assert.deepStrictEqual(yield* versions("llm"), [
        "llm@3 current",
        "llm@2 superseded",
        "llm@1 superseded",
      ])
      assert.strictEqual((yield* current("llm"))?.hash, first!.hash)
    }).pipe(inWorld()),
  )

  it.effect("changes nothing for an equal card, and only the name for a new name", () =>
    Effect.gen(function* () {
      yield* push(llm)
      const [same] = yield* push(Object.fromEntries(Object.entries(llm).reverse()))
      assert.deepInclude(same, { status: "unchanged", version: 1 })
      const [renamed] = yield* push({ ...llm, name: "Models" })
      assert.deepInclude(renamed, { status: "changed", version: 1 })
      assert.strictEqual((yield* current("llm"))?.name, "Models")
      assert.deepStrictEqual(yield* versions("llm"), ["llm@1 current"])
    }).pipe(inWorld()),
  )

  it.effect("gives versions without gaps to pushes at once", () =>
    Effect.gen(function* () {
      const prices = ["1", "2", "3", "4", "5"]
      yield* Effect.forEach(prices, (input) => push({ ...llm, models: { large: { input } } }), {
        concurrency: "unbounded",
      })
      assert.lengthOf(yield* versions("llm"), 5)
      assert.lengthOf(
        (yield* versions("llm")).filter((one) => one.endsWith("current")),
        1,
      )
    }).pipe(inWorld()),
  )

  it.effect("keeps tenants apart", () =>
    Effect.gen(function* () {
      yield* push(llm)
      assert.isUndefined(yield* as(globex)(current("llm")))
      yield* as(globex)(push(dearer))
      assert.deepStrictEqual((yield* current("llm"))?.models, llm.models)
    }).pipe(as(acmeTest), inWorld()),
  )
})

describe("Catalog.push", () => {
  const plan: PlanDefinition = {
    key: "pro",
    name: "Pro",
    currencies: ["EUR"],
    interval: { unit: "month", count: 1 },
    charges: [],
  }

  it.effect("stores plans and rate cards together, or none", () =>
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const wrong = { ...llm, unit: "Credits!", models: { large: { input: 2, inptu: "1" } } }
      const error = yield* Effect.flip(
        catalog.push({ plans: [{ ...plan, name: "" }], rateCards: [wrong as object as RateCard, llm] }),
      )
      assert.instanceOf(error, InvalidInput)
      assert.deepStrictEqual(
        (error.problems ?? []).map(({ field }) => field),
        [
          "plans.pro.name",
          "rateCards.llm.unit",
          "rateCards.llm.models.large.inptu",
          "rateCards.llm.models.large.input",
        ],
      )
      const alone = yield* Effect.flip(catalog.push({ plans: [plan], rateCards: [llm, llm] }))
      assert.strictEqual(alone.message, 'rateCards[1].key is used twice: "llm"')
      assert.deepStrictEqual(yield* versions("llm"), [])
      const asked = { plans: [plan], rateCards: [llm] }
      const { plans, rateCards } = yield* catalog.push(asked)
      assert.deepStrictEqual([plans[0]?.status, rateCards[0]?.status], ["created", "created"])
      const again = yield* catalog.diff(asked)
      assert.deepStrictEqual([again.plans[0]?.status, again.rateCards[0]?.status], ["unchanged", "unchanged"])
      const nothing = yield* Effect.flip(catalog.push({}))
      assert.strictEqual((nothing as InvalidInput).message, "plans is required, unless there are rate cards")
    }).pipe(inWorld()),
  )
})
