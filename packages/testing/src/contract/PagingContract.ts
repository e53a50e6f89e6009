/**
 * The contract of every list: newest first, with cursors, without gaps or repeats.
 */
import { Page, type StorageError } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type ContractServices, type ContractTest, same } from "./ContractTest.ts"

type ListOf = (
  page: Page.PageQuery,
) => Effect.Effect<Page.Page<string>, Page.CursorNotFound | StorageError, ContractServices>

/** A list of one tenant, as the ids of its items. */
export interface PagedList {
  /** Adds items, each newer than the one before, and returns their ids. */
  readonly add: (count: number) => Effect.Effect<ReadonlyArray<string>, StorageError, ContractServices>
  readonly list: ListOf
  /** An id of the right kind that does not exist. */
  readonly unknownId: Effect.Effect<string, never, ContractServices>
}

const older = (id: string) => ({ direction: "older", id }) as const
const newer = (id: string) => ({ direction: "newer", id }) as const

/** Follows pages from one end to the other. */
const walk = Effect.fnUntraced(function* (
  list: ListOf,
  limit: number,
  direction: "older" | "newer",
  from?: string,
) {
  const pages: Array<ReadonlyArray<string>> = []
  let cursor: Page.PageQuery["cursor"] = from === undefined ? undefined : { direction, id: from }
  for (;;) {
    const page: Page.Page<string> = yield* list({ limit, cursor })
    if (page.data.length > 0) pages.push(page.data)
    const last = direction === "older" ? page.data.at(-1) : page.data[0]
    if (!page.hasMore) return pages
    assert.isDefined(last, "a page that has more is not empty")
    assert.strictEqual(page.data.length, limit, "a page that has more is full")
    cursor = { direction, id: last }
  }
})

/** Registers the tests of a list. `open` returns an empty list of the current tenant. */
export const pagingContract = (
  test: ContractTest,
  open: Effect.Effect<PagedList, StorageError, ContractServices>,
): void => {
  test(
    "returns an empty page when there are no items",
    Effect.gen(function* () {
      const { list } = yield* open
      same(yield* list({ limit: 10, cursor: undefined }), { data: [], hasMore: false })
    }),
  )

  test(
    "lists newest first, and tells whether there are more",
    Effect.gen(function* () {
      const { add, list } = yield* open
      const ids = [...(yield* add(4))].reverse()
      same(yield* list({ limit: 3, cursor: undefined }), { data: ids.slice(0, 3), hasMore: true })
      same(yield* list({ limit: 4, cursor: undefined }), { data: ids, hasMore: false })
      same(yield* list({ limit: 100, cursor: undefined }), { data: ids, hasMore: false })
    }),
  )

  test(
    "pages to older and to newer items without gaps or repeats",
    Effect.gen(function* () {
      const { add, list } = yield* open
      const ids = [...(yield* add(7))].reverse()
      for (const limit of [1, 2, 3, 7]) {
        same((yield* walk(list, limit, "older")).flat(), ids)
        const upwards = yield* walk(list, limit, "newer", ids.at(-1))
        same([...upwards].reverse().flat(), ids.slice(0, -1))
      }
      same(yield* list({ limit: 2, cursor: older(ids[2]!) }), { data: ids.slice(3, 5), hasMore: true })
      same(yield* list({ limit: 2, cursor: newer(ids[4]!) }), { data: ids.slice(2, 4), hasMore: true })
      same(yield* list({ limit: 4, cursor: newer(ids[4]!) }), { data: ids.slice(0, 4), hasMore: false })
      same(yield* list({ limit: 2, cursor: older(ids[6]!) }), { data: [], hasMore: false })
      same(yield* list({ limit: 2, cursor: newer(ids[0]!) }), { data: [], hasMore: false })
    }),
  )

  test(
    "keeps its pages while items are added",
    Effect.gen(function* () {
      const { add, list } = yield* open
      const ids = [...(yield* add(5))].reverse()
      const first = yield* list({ limit: 2, cursor: undefined })
      const added = [...(yield* add(3))].reverse()
      const second = yield* list({ limit: 2, cursor: older(first.data.at(-1)!) })
      same([...first.data, ...second.data], ids.slice(0, 4))
      same(yield* list({ limit: 9, cursor: newer(first.data[0]!) }), { data: added, hasMore: false })
    }),
  )

  test(
    "refuses a cursor that is not an item's id",
    Effect.gen(function* () {
      const { add, list, unknownId } = yield* open
      const [id] = yield* add(1)
      const unknown = yield* unknownId
      const cursors = [
        unknown,
        "",
        "nonsense",
        "' or true --",
        "\0",
        `${id}0`,
        id!.toUpperCase(),
        `xxx${id!.slice(3)}`,
      ]
      for (const cursor of [...cursors.map(older), ...cursors.map(newer)]) {
        const error = yield* Effect.flip(list({ limit: 10, cursor }))
        same(error, new Page.CursorNotFound({ id: cursor.id }))
      }
    }),
  )
}
