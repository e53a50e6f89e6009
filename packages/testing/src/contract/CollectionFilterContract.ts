/**
 * The contract of the lists of `Collections`: the filters of a resource, its search, and the bytes of a page.
 */
import { Page, Resource, Search } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Generators from "../Generators.ts"
import * as Collected from "./Collected.ts"
import { asTenant, type ContractTest, otherTenants, same, times } from "./ContractTest.ts"

/** Registers the tests of every filter that the collection of a resource has. */
export const collectionFilterContract = (test: ContractTest, resource: Resource.Resource): void => {
  for (const field of resource.indexed) filterContract(test, resource, field)
  for (const field of resource.searched ?? []) searchContract(test, resource, field)
  if (roomOf(resource, Generators.longest(resource)) < Page.MAX_PAGE_LIMIT) sizeContract(test, resource)
}

/** The filter by an indexed field. */
const filterContract = (test: ContractTest, resource: Resource.Resource, field: string): void => {
  const opened = Collected.opened(resource)

  test(
    `lists the values with one ${field}, in pages`,
    Effect.gen(function* () {
      const collection = yield* opened
      const [first, , second] = yield* Effect.all([
        Collected.insertWith(resource, {}),
        Collected.insertWith(resource, {}),
        Collected.insertWith(resource, {}),
      ])
      const filter = Collected.pick(first!, field)
      const isSame = JSON.stringify(Collected.pick(second!, field)) === JSON.stringify(filter)
      const all = (yield* collection.list({}, Collected.FIRST_PAGE)).data
      const wanted = all.filter(
        (value) => JSON.stringify(Collected.pick(value, field)) === JSON.stringify(filter),
      )
      assert.isAtLeast(wanted.length, isSame ? 2 : 1)
      same(yield* collection.list(filter, Collected.FIRST_PAGE), { data: wanted, hasMore: false })
      same(yield* collection.list(filter, { limit: 1, cursor: undefined }), {
        data: wanted.slice(0, 1),
        hasMore: wanted.length > 1,
      })
    }),
  )

  if (!Object.hasOwn(resource.update ?? {}, field)) return
  test(
    `lists the values with exactly one ${field}, also after it changes`,
    Effect.gen(function* () {
      const collection = yield* opened
      const example = String(Object.values(Collected.pick(yield* Collected.make(resource), field))[0])
      const [wanted, other] = [{ [field]: example }, { [field]: `other${example}` }]
      const [first, , second, third] = yield* Effect.all([
        Collected.insertWith(resource, wanted),
        Collected.insertWith(resource, { [field]: example.toUpperCase() }),
        Collected.insertWith(resource, wanted),
        Collected.insertWith(resource, other),
      ])
      same((yield* collection.list(wanted, Collected.FIRST_PAGE)).data, [second, first])
      const page = { limit: 1, cursor: { direction: "older", id: second.id } } as const
      same(yield* collection.list(wanted, page), { data: [first], hasMore: false })
      const moved = { ...third, ...wanted }
      yield* collection.modify(third.id, () => Effect.succeed(moved))
      yield* collection.modify(first.id, () => Effect.succeed({ ...first, ...other }))
      yield* collection.remove(second.id)
      same((yield* collection.list(wanted, Collected.FIRST_PAGE)).data, [moved])
      same(yield* collection.list({ [field]: `no${example}` }, Collected.FIRST_PAGE), {
        data: [],
        hasMore: false,
      })
    }),
  )
}

/** How many values like this one a page has room for. */
const roomOf = (resource: Resource.Resource, value: object): number => {
  const size = Resource.jsonFields(resource)
    .map((field) => JSON.stringify(Object.values(Collected.pick(value, field))[0] ?? null))
    .reduce((bytes, json) => bytes + new TextEncoder().encode(json).length, 0)
  return Math.floor(Page.MAX_PAGE_BYTES / size)
}

/** The bytes of JSON that a page may have, in lists by every filter. */
const sizeContract = (test: ContractTest, resource: Resource.Resource): void => {
  test(
    "ends a page early whose JSON would be too large, in both directions",
    Effect.gen(function* () {
      const collection = yield* Collected.opened(resource)
      const sample = yield* Collected.make(resource)
      const [searched] = resource.searched ?? []
      // Values can't share a unique field.
      const shared = resource.indexed.filter((field) => !(resource.unique ?? []).includes(field))
      const filters: ReadonlyArray<object> = [
        {},
        ...shared.map((field) => Collected.pick(sample, field)),
        ...(searched === undefined
          ? []
          : [{ search: Search.folded(String(Object.values(Collected.pick(sample, searched))[0])) }]),
      ]
      const longest = Generators.longest(resource)
      const fields = Object.assign(
        {},
        ...[...shared, ...(resource.searched ?? [])].map((field) => Collected.pick(sample, field)),
        ...Resource.jsonFields(resource).map((field) => Collected.pick(longest, field)),
      ) as object
      const first = yield* Collected.insertWith(resource, fields)
      const room = roomOf(resource, first)
      const count = room + 5
      assert.isBelow(count, Page.MAX_PAGE_LIMIT)
      const others = yield* Effect.all(times(count - 1, () => Collected.insertWith(resource, fields)))
      const ids = [first, ...others].map(({ id }): string => id).reverse()
      for (const filter of filters) {
        const list = (limit: number, cursor?: Page.PageQuery["cursor"]) =>
          Effect.map(
            collection.list(filter, { limit, cursor }),
            ({ data, hasMore }) => [data.map(({ id }): string => id), hasMore] as const,
          )
        same(yield* list(100), [ids.slice(0, room), true])
        same(yield* list(room - 1), [ids.slice(0, room - 1), true])
        same(yield* list(100, { direction: "older", id: ids[room - 1]! }), [ids.slice(room), false])
        const newer = ids.slice(count - 1 - room, count - 1)
        same(yield* list(100, { direction: "newer", id: ids[count - 1]! }), [newer, true])
      }
    }),
  )
}

/** The filter `search`, by the text of a field. */
const searchContract = (test: ContractTest, resource: Resource.Resource, field: string): void => {
  test(
    `searches a text in ${field}, in any case, in pages, also after it changes`,
    Effect.gen(function* () {
      const collection = yield* Collected.opened(resource)
      const others = Object.fromEntries((resource.searched ?? []).map((name) => [name, "-@-"]))
      const texts = ["ada@Analytical.example", "Zoë@100%_Analytic", "GRACE@Analytical.example"]
      const [ada, zoe, grace] = yield* Effect.forEach(texts, (text) =>
        Collected.insertWith(resource, { ...others, [field]: text }),
      )
      const search = (text: string, page = Collected.FIRST_PAGE, filter: object = {}) =>
        Effect.map(collection.list({ ...filter, search: Search.folded(text) }, page), ({ data }) => data)
      same(yield* search("ada@"), [ada])
      same(yield* search("ANALYTIC"), [grace, zoe, ada])
      same(yield* search("ana"), [grace, zoe, ada])
      same(yield* search("@analytical.example"), [grace, ada])
      same(yield* search("ZOË"), [zoe])
      // The two ways to write an accent count as one.
      same(yield* search("Zoe\u0308"), [zoe])
      same(yield* search("100%_a"), [zoe])
      same(yield* search("a%l"), [])
      same(yield* search("analytics"), [])
      same(yield* search("analytic", { limit: 1, cursor: { direction: "older", id: grace!.id } }), [zoe])
      same(yield* search("analytic", { limit: 1, cursor: { direction: "newer", id: ada!.id } }), [zoe])
      for (const indexed of resource.indexed) {
        same(yield* search("ada@", Collected.FIRST_PAGE, Collected.pick(ada!, indexed)), [ada])
        same(yield* search("hopper", Collected.FIRST_PAGE, Collected.pick(ada!, indexed)), [])
      }
      const married = { ...grace!, [field]: "murray@Analytical.example" }
      yield* collection.modify(grace!.id, () => Effect.succeed(married))
      same(yield* search("grace"), [])
      same(yield* search("murray"), [married])
      yield* collection.remove(ada!.id)
      same(yield* search("ada@"), [])
      for (const tenant of yield* otherTenants) same(yield* search("zoë").pipe(asTenant(tenant)), [])
    }),
  )
}
