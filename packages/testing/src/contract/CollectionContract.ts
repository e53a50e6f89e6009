/**
 * The contract of `Collections`, for any resource.
 */
import { Page, type Resource, StorageError } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import type * as fc from "fast-check"
import * as Generators from "../Generators.ts"
import { forAll } from "../Property.ts"
import * as Collected from "./Collected.ts"
import { asTenant, type ContractTest, Effort, otherTenants, same, times, together } from "./ContractTest.ts"
import { pagingContract } from "./PagingContract.ts"

const FIRST_PAGE: Page.PageQuery = { limit: 9, cursor: undefined }

/** Registers the tests of a resource's collection. */
export const collectionContract = (test: ContractTest, resource: Resource.Resource): void => {
  const opened = Collected.opened(resource)
  const make = () => Collected.make(resource)
  const generated: fc.Arbitrary<object> = Generators.resource(resource)
  const { changed, stepOf } = Collected.steps(resource)
  const insert = Effect.fnUntraced(function* () {
    const value = yield* make()
    yield* (yield* opened).insert(value)
    return value
  })

  test(
    "returns every field of an inserted value",
    Effect.gen(function* () {
      const collection = yield* opened
      const effort = yield* Effort
      yield* forAll(generated, effort, (fields) =>
        Effect.gen(function* () {
          const { id, ...belonging } = yield* make()
          const owner = resource.customer === undefined ? {} : pick(belonging, resource.customer)
          const value = { ...fields, ...owner, id }
          yield* collection.insert(value)
          same(yield* collection.find(value.id), Option.some(value))
        }),
      )
    }),
  )

  test(
    "finds nothing for an unknown id",
    Effect.gen(function* () {
      const collection = yield* opened
      const { id } = yield* make()
      same(yield* collection.find(id), Option.none())
      same(yield* collection.modify(id, () => Effect.die("called")), Option.none())
      same(yield* collection.remove(id), false)
    }),
  )

  test(
    "refuses an id that already exists",
    Effect.gen(function* () {
      const collection = yield* opened
      const value = yield* insert()
      const error = yield* Effect.flip(collection.insert(changed(value, 1)))
      assert.instanceOf(error, StorageError)
      same(yield* collection.find(value.id), Option.some(value))
    }),
  )

  test(
    "replaces a value by the result of the change, or writes nothing",
    Effect.gen(function* () {
      const collection = yield* opened
      const value = yield* insert()
      const bystander = yield* insert()
      const next = changed(value, 1)
      const result = yield* collection.modify(value.id, (found) => {
        same(found, value)
        return Effect.succeed(next)
      })
      same(result, Option.some(next))
      same(yield* collection.find(value.id), Option.some(next))
      same(yield* collection.find(bystander.id), Option.some(bystander))
      const exits = [
        yield* Effect.exit(collection.modify(value.id, () => Effect.fail("no"))),
        yield* Effect.exit(collection.modify(value.id, () => Effect.die("broken"))),
      ]
      assert.deepStrictEqual(exits, [Exit.fail("no"), Exit.die("broken")])
      same(yield* collection.find(value.id), Option.some(next))
    }),
  )

  test(
    "loses none of many concurrent changes",
    Effect.gen(function* () {
      const collection = yield* opened
      const value = yield* insert()
      const start = stepOf(value)
      yield* together(
        times(10, () =>
          collection.modify(value.id, (found) =>
            Effect.as(Effect.yieldNow, changed(found, stepOf(found) + 1)),
          ),
        ),
      )
      same(
        Option.map(yield* collection.find(value.id), (found) => stepOf(found)),
        Option.some(start + 10),
      )
    }),
  )

  test(
    "removes once",
    Effect.gen(function* () {
      const collection = yield* opened
      const value = yield* insert()
      const bystander = yield* insert()
      const told = yield* together(times(5, () => collection.remove(value.id)))
      same(told.filter(Boolean).length, 1)
      same(yield* collection.find(value.id), Option.none())
      same(yield* collection.modify(value.id, () => Effect.die("called")), Option.none())
      same(yield* collection.find(bystander.id), Option.some(bystander))
    }),
  )

  test(
    "keeps tenants apart in every method",
    Effect.gen(function* () {
      const collection = yield* opened
      const value = yield* insert()
      for (const tenant of yield* otherTenants) {
        yield* Effect.gen(function* () {
          same(yield* collection.find(value.id), Option.none())
          same(yield* collection.modify(value.id, () => Effect.die("called")), Option.none())
          same(yield* collection.remove(value.id), false)
          same(yield* collection.list({}, FIRST_PAGE), { data: [], hasMore: false })
          const cursor = { direction: "older", id: value.id } as const
          const error = yield* Effect.flip(collection.list({}, { limit: 1, cursor }))
          same(error, new Page.CursorNotFound({ id: value.id }))
        }).pipe(asTenant(tenant))
      }
      same(yield* collection.find(value.id), Option.some(value))
    }),
  )

  test(
    "shares no objects with its callers",
    Effect.gen(function* () {
      const collection = yield* opened
      const value = yield* make()
      const given = { ...value }
      yield* collection.insert(given)
      scribble(given)
      for (const found of [
        yield* collection.find(value.id),
        yield* collection.modify(value.id, Effect.succeed),
        Option.fromUndefinedOr((yield* collection.list({}, FIRST_PAGE)).data[0]),
      ])
        scribble(Option.getOrThrow(found) as object)
      same(yield* collection.find(value.id), Option.some(value))
    }),
  )

  for (const field of resource.indexed) {
    test(
      `lists those with one ${field}, in pages`,
      Effect.gen(function* () {
        const collection = yield* opened
        const [first, , second] = yield* Effect.all([insert(), insert(), insert()])
        const filter = pick(first!, field)
        const isSame = JSON.stringify(pick(second!, field)) === JSON.stringify(filter)
        const all = (yield* collection.list({}, FIRST_PAGE)).data
        const wanted = all.filter((value) => JSON.stringify(pick(value, field)) === JSON.stringify(filter))
        assert.isAtLeast(wanted.length, isSame ? 2 : 1)
        same(yield* collection.list(filter, FIRST_PAGE), { data: wanted, hasMore: false })
        same(yield* collection.list(filter, { limit: 1, cursor: undefined }), {
          data: wanted.slice(0, 1),
          hasMore: wanted.length > 1,
        })
      }),
    )
  }

  test.section("list", () =>
    pagingContract(
      test,
      Effect.gen(function* () {
        const collection = yield* opened
        return {
          add: (count: number) =>
            Effect.all(times(count, () => Effect.map(insert(), ({ id }): string => id))),
          list: (page: Page.PageQuery) =>
            Effect.map(collection.list({}, page), ({ data, hasMore }) => ({
              data: data.map((value) => value.id as string),
              hasMore,
            })),
          unknownId: Effect.map(Effect.orDie(make()), ({ id }): string => id),
        }
      }),
    ),
  )
}

const pick = (value: object, name: string): object =>
  Object.fromEntries(Object.entries(value).filter(([field]) => field === name))

/** Changes every field of an object, and the contents of the fields. */
const scribble = (value: object): void => {
  for (const [name, field] of Object.entries(value)) {
    if (typeof field === "object" && field !== null && Object.getPrototypeOf(field) === Object.prototype) {
      scribble(field as object)
    }
    Object.assign(value, { [name]: "overwritten" })
  }
}
