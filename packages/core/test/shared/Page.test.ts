import { InvalidInput, Page, StorageError } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

describe("Page.toQuery", () => {
  it.effect("has 20 items when the caller doesn't say", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Page.toQuery({}), { limit: 20, cursor: undefined })
      assert.deepStrictEqual(yield* Page.toQuery({ limit: 100 }), { limit: 100, cursor: undefined })
    }),
  )

  it.effect("goes to older items after a cursor and to newer ones before one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Page.toQuery({ startingAfter: "a", limit: 5 }), {
        limit: 5,
        cursor: { direction: "older", id: "a" },
      })
      assert.deepStrictEqual(yield* Page.toQuery({ endingBefore: "b" }), {
        limit: 20,
        cursor: { direction: "newer", id: "b" },
      })
    }),
  )

  it.effect("refuses both cursors", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Page.toQuery({ startingAfter: "a", endingBefore: "b" }))
      assert.strictEqual(error.message, "endingBefore cannot be combined with the other cursor")
    }),
  )
})

describe("Page.nameCursor", () => {
  const unknown = Effect.fail(new Page.CursorNotFound({ id: "x" }))

  it.effect("names the cursor that was given", () =>
    Effect.gen(function* () {
      for (const request of [{ startingAfter: "x" }, { endingBefore: "x" }]) {
        const error = yield* Effect.flip(Page.nameCursor(request)(unknown))
        assert.instanceOf(error, InvalidInput)
        assert.strictEqual(error.message, `${Object.keys(request)[0]} is not the id of an item of this list`)
      }
    }),
  )

  it.effect("leaves all else as it is", () =>
    Effect.gen(function* () {
      const failure = new StorageError({ operation: "x", retryable: true })
      assert.strictEqual(yield* Effect.flip(Page.nameCursor({})(Effect.fail(failure))), failure)
      assert.strictEqual(yield* Page.nameCursor({})(Effect.succeed(1)), 1)
    }),
  )
})
