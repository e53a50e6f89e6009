/** Iterations over lists, page by page. */
import { assert, describe, it } from "vitest"
import { makeListing } from "../src/runtime/ListingPages.ts"
import { rejection } from "./Rejection.ts"

interface Query {
  readonly limit?: number | undefined
  readonly startingAfter?: string | undefined
}

/** A list of `count` items. It keeps the cursors that it was asked for, and can refuse one of them. */
const listOf = (count: number, refused?: string) => {
  const asked: Array<string | undefined> = []
  const items = Array.from({ length: count }, (_, index) => ({ id: String(index) }))
  const listing = makeListing<Query, { readonly id: string }>({ limit: 2 }, async ({ startingAfter }) => {
    asked.push(startingAfter)
    if (startingAfter !== undefined && startingAfter === refused) throw new Error("refused")
    const start = items.findIndex(({ id }) => id === startingAfter) + 1
    if (start === 0 && startingAfter !== undefined) throw new Error("no item of this list")
    return { data: items.slice(start, start + 2), hasMore: start + 2 < items.length }
  })
  const remove = (removed: string) =>
    items.splice(
      items.findIndex(({ id }) => id === removed),
      1,
    )
  return { asked, listing, remove }
}

describe("an iteration over a list", () => {
  it.each([0, 1, 2, 3, 4, 5])("goes on when the loop deletes each of %d items", async (count) => {
    const { listing, remove } = listOf(count)
    const seen: Array<string> = []
    for await (const { id } of listing) {
      seen.push(id)
      remove(id)
    }
    assert.deepStrictEqual(seen, ["0", "1", "2", "3", "4"].slice(0, count))
  })

  it("reads no other page for the first items of one", async () => {
    const { asked, listing } = listOf(4)
    for await (const _ of listing) break
    assert.deepStrictEqual(asked, [undefined])
  })

  it("fails with the next page after all items of the one before", async () => {
    const { listing } = listOf(4, "1")
    const seen: Array<string> = []
    const read = async () => {
      for await (const { id } of listing) seen.push(id)
    }
    assert.strictEqual((await rejection(read())).message, "refused")
    assert.deepStrictEqual(seen, ["0", "1"])
  })
})
