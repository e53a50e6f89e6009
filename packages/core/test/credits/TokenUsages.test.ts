/**
 * Token usage that is recorded again with its key, after the rate card has changed.
 */
import { RateCards, TokenUsages } from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inWorld, newCustomer } from "../world.ts"

const card = { key: "llm", unit: "credit", models: { large: { input: "1000000" } } }
const used = { rateCard: "llm", model: "large", tokens: { input: 5 } }

/** The units of the accounts that are there. */
const units = Effect.gen(function* () {
  const { credits } = yield* (yield* MemoryInspector).snapshot
  return credits.flatMap(({ accounts }) => accounts.map(({ unit }) => unit))
})

describe("token usage that is recorded again", () => {
  it.effect("opens no account in the unit that the card has by then", () =>
    Effect.gen(function* () {
      const { create } = yield* TokenUsages
      const { push } = yield* RateCards
      yield* push({ rateCards: [card] })
      const { id: customerId } = yield* newCustomer()
      const call = { ...used, customerId, idempotencyKey: "call" }
      const first = yield* create(call)
      yield* push({ rateCards: [{ ...card, unit: "token" }] })
      assert.deepStrictEqual(yield* create(call), first)
      const other = yield* Effect.flip(create({ ...call, model: "larger" }))
      assert.deepInclude(other, { _tag: "CreditKeyConflict", id: first.id })
      assert.deepStrictEqual(yield* units, ["credit"])
    }).pipe(inWorld()),
  )
})
