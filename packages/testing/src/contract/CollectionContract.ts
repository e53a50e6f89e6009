/**
 * The contract of `Collections`, for any resource.
 */
import { Id, Page, type Resource, StorageError, Transactor } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import type * as fc from "fast-check"
import * as Generators from "../Generators.ts"
import { forAll } from "../Property.ts"
import * as Collected from "./Collected.ts"
import { collectionFilterContract } from "./CollectionFilterContract.ts"
import { asTenant, type ContractTest, Effort, otherTenants, same, times, together } from "./ContractTest.ts"
import { pagingContract } from "./PagingContract.ts"

/** Registers the tests of a resource's collection. */
export const collectionContract = (test: ContractTest, resource: Resource.Resource): void => {
  const opened = Collected.opened(resource)
  const make = () => Collected.make(resource)
  /** The tests of changes and removals. Nothing changes or removes a value of an append-only resource. */
  const changing: (name: string, body: Parameters<ContractTest>[1]) => void =
    resource.isAppendOnly === true ? () => undefined : (name, body) => test(name, body)
  const generated: fc.Arbitrary<object> = Generators.resource(resource)
  const afterRemoval = resource.keepsId === true ? "removed" : "unknown"
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
      const check = Effect.fnUntraced(function* (fields: object) {
        const { id, ...belonging } = yield* make()
        const value = { ...belonging, ...fields, ...Collected.ownersOf(resource, belonging), id }
        same(yield* collection.insert(value), true)
        same(yield* collection.find(value.id), Option.some(value))
      })
      yield* forAll(generated, effort, (fields) =>
        Effect.flatMap(make(), (fresh) => check({ ...fields, ...Collected.uniqueOf(resource, fresh) })),
      )
      yield* check(Generators.longest(resource))
    }),
  )

  test(
    "finds nothing for an unknown id",
    Effect.gen(function* () {
      const collection = yield* opened
      const { id } = yield* make()
      same(yield* collection.find(id), Option.none())
      same(yield* collection.status(id), "unknown")
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

  changing(
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
      const other = yield* make()
      const exits = [
        yield* Effect.exit(collection.modify(value.id, () => Effect.fail("no"))),
        yield* Effect.exit(collection.modify(value.id, () => Effect.die("broken"))),
        yield* Effect.exit(
          collection.modify(value.id, () => Effect.andThen(collection.insert(other), Effect.fail("late"))),
        ),
      ]
      assert.deepStrictEqual(exits, [Exit.fail("no"), Exit.die("broken"), Exit.fail("late")])
      same(yield* collection.find(value.id), Option.some(next))
      same(yield* collection.status(other.id), "unknown")
    }),
  )

  changing(
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

  changing(
    "removes once",
    Effect.gen(function* () {
      const collection = yield* opened
      const value = yield* insert()
      const bystander = yield* insert()
      const told = yield* together(times(5, () => collection.remove(value.id)))
      // The id of a removed value can be removed again.
      same(told.filter(Boolean).length, resource.keepsId === true ? 5 : 1)
      same(yield* collection.find(value.id), Option.none())
      same(yield* collection.status(value.id), afterRemoval)
      same(yield* collection.modify(value.id, () => Effect.die("called")), Option.none())
      same(yield* collection.list({}, Collected.FIRST_PAGE), { data: [bystander], hasMore: false })
      same(yield* collection.find(bystander.id), Option.some(bystander))
      same(yield* collection.status(bystander.id), "active")
    }),
  )

  changing(
    "is removed after a concurrent change and removal",
    Effect.gen(function* () {
      const collection = yield* opened
      const values = yield* Effect.all(times(10, () => insert()))
      yield* together(
        values.flatMap(({ id }) => [
          Effect.asVoid(
            collection.modify(id, (found) => Effect.as(Effect.yieldNow, changed(found, stepOf(found) + 1))),
          ),
          Effect.asVoid(collection.remove(id)),
        ]),
      )
      same(
        yield* Effect.forEach(values, ({ id }) => collection.status(id)),
        times(10, () => afterRemoval),
      )
      same(yield* collection.list({}, Collected.FIRST_PAGE), { data: [], hasMore: false })
    }),
  )

  if (resource.isAppendOnly === true) appendOnlyContract(test, resource)
  for (const field of resource.unique ?? []) uniqueContract(test, resource, field)

  if (resource.keepsId === true) {
    test(
      "accepts a removed id as cursor, and does not allow it again",
      Effect.gen(function* () {
        const collection = yield* opened
        const [a, b, c, d] = yield* Effect.all([insert(), insert(), insert(), insert()])
        yield* collection.remove(c.id)
        const older = { limit: 9, cursor: { direction: "older", id: c.id } } as const
        const newer = { limit: 9, cursor: { direction: "newer", id: c.id } } as const
        same(yield* collection.list({}, older), { data: [b, a], hasMore: false })
        same(yield* collection.list({}, newer), { data: [d], hasMore: false })
        assert.instanceOf(yield* Effect.flip(collection.insert(c)), StorageError)
        same(yield* collection.status(c.id), "removed")
      }),
    )
  }

  test(
    "keeps tenants apart in every method",
    Effect.gen(function* () {
      const collection = yield* opened
      const value = yield* insert()
      for (const tenant of yield* otherTenants) {
        yield* Effect.gen(function* () {
          same(yield* collection.find(value.id), Option.none())
          same(yield* collection.status(value.id), "unknown")
          same(yield* collection.modify(value.id, () => Effect.die("called")), Option.none())
          same(yield* collection.remove(value.id), false)
          same(yield* collection.list({}, Collected.FIRST_PAGE), { data: [], hasMore: false })
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
      const given = copyOf(value)
      yield* collection.insert(given)
      scribble(given)
      for (const found of [
        yield* collection.find(value.id),
        yield* collection.modify(value.id, Effect.succeed),
        Option.fromUndefinedOr((yield* collection.list({}, Collected.FIRST_PAGE)).data[0]),
      ])
        scribble(Option.getOrThrow(found) as object)
      same(yield* collection.find(value.id), Option.some(value))
    }),
  )

  collectionFilterContract(test, resource)

  test(
    "orders by id, in any order of insertion",
    Effect.gen(function* () {
      const collection = yield* opened
      const [a, b, c] = yield* Effect.all([make(), make(), make()])
      for (const value of [c, a, b]) yield* collection.insert(value)
      same((yield* collection.list({}, Collected.FIRST_PAGE)).data, [c, b, a])
    }),
  )

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

/** A resource whose values are only added. */
const appendOnlyContract = (test: ContractTest, resource: Resource.Resource): void => {
  const { changed } = Collected.steps(resource)

  test(
    "neither changes nor removes a value",
    Effect.gen(function* () {
      const collection = yield* Collected.opened(resource)
      const value = yield* Collected.insertWith(resource, {})
      const change = collection.modify(value.id, (found) => Effect.succeed(changed(found, 1)))
      assert.instanceOf(yield* Effect.flip(change), StorageError)
      assert.instanceOf(yield* Effect.flip(collection.remove(value.id)), StorageError)
      same(yield* collection.find(value.id), Option.some(value))
    }),
  )

  test(
    "lists the values between two instants, in pages",
    Effect.gen(function* () {
      const collection = yield* Collected.opened(resource)
      const made = yield* Effect.all(times(4, () => Collected.make(resource)))
      // The first 48 bits of an id are its instant.
      const values = made.map((value, index) => ({ ...value, id: idAt(resource, 1_000 * (index + 1)) }))
      for (const value of values) yield* collection.insert(value)
      const [a, b, c, d] = values
      const between = (madeFrom?: number, madeBefore?: number, limit = 9) =>
        collection.list({ madeFrom, madeBefore }, { limit, cursor: undefined })
      same(yield* between(2_000, 4_000), { data: [c, b], hasMore: false })
      same(yield* between(2_000, 4_000, 1), { data: [c], hasMore: true })
      same(yield* between(3_999), { data: [d], hasMore: false })
      same(yield* between(undefined, 1_001), { data: [a], hasMore: false })
      same(yield* between(4_001), { data: [], hasMore: false })
    }),
  )

  test(
    "inserts several values at once, or none of them",
    Effect.gen(function* () {
      const collection = yield* Collected.opened(resource)
      if (collection.insertAll === undefined) return
      const [a, b, c] = yield* Effect.all(times(3, () => Collected.make(resource)))
      yield* collection.insertAll([a!, b!])
      same((yield* collection.list({}, Collected.FIRST_PAGE)).data, [b, a])
      const { atomically } = yield* Transactor
      assert.instanceOf(yield* Effect.flip(atomically(collection.insertAll([c!, a!]))), StorageError)
      same((yield* collection.list({}, Collected.FIRST_PAGE)).data, [b, a])
    }),
  )
}

/** An id that was made at an instant. */
const idAt = ({ prefix }: Resource.Definition, millis: number): string =>
  Id.offset(prefix, Id.firstAt(prefix, millis), Math.floor(millis / 2))

/** A field whose value no other value of the tenant may have. */
const uniqueContract = (test: ContractTest, resource: Resource.Resource, field: string): void => {
  test(
    `inserts one value with the same ${field} in each tenant`,
    Effect.gen(function* () {
      const collection = yield* Collected.opened(resource)
      const first = yield* Collected.insertWith(resource, {})
      const other = { ...(yield* Collected.make(resource)), ...Collected.pick(first, field) }
      same(yield* collection.insert(other), false)
      same(yield* collection.status(other.id), "unknown")
      same((yield* collection.list({}, Collected.FIRST_PAGE)).data, [first])
      for (const tenant of yield* otherTenants) {
        const own = { ...(yield* Collected.make(resource)), ...Collected.pick(first, field) }
        same(yield* collection.insert(own).pipe(asTenant(tenant)), true)
      }
      const { atomically } = yield* Transactor
      const second = yield* Collected.make(resource)
      yield* Effect.ignore(atomically(Effect.andThen(collection.insert(second), Effect.fail("undone"))))
      const third = { ...(yield* Collected.make(resource)), ...Collected.pick(second, field) }
      same(yield* collection.insert(third), true)
    }),
  )

  // An empty value is no value. It may occur any number of times.
  if (resource.fields[field]?.isNullable === true) {
    test(
      `inserts any number of values without a ${field}`,
      Effect.gen(function* () {
        const collection = yield* Collected.opened(resource)
        for (const value of yield* Effect.all(times(2, () => Collected.make(resource)))) {
          const without = { ...value, [field]: null }
          same(yield* collection.insert(without), true)
          same(yield* collection.find(without.id), Option.some(without))
        }
      }),
    )
  }

  test(
    `inserts one of several concurrent values with the same ${field}`,
    Effect.gen(function* () {
      const collection = yield* Collected.opened(resource)
      const { atomically } = yield* Transactor
      const shared = Collected.pick(yield* Collected.make(resource), field)
      const values = yield* Effect.all(
        times(6, () => Effect.map(Collected.make(resource), (value) => ({ ...value, ...shared }))),
      )
      const told = yield* together(
        values.map((value) => atomically(Effect.tap(collection.insert(value), () => Effect.yieldNow))),
      )
      same(told.filter(Boolean).length, 1)
      const winner = values[told.indexOf(true)]
      same((yield* collection.list({}, Collected.FIRST_PAGE)).data, [winner])
    }),
  )
}

/** A copy of a plain object and of the plain objects in it. */
const copyOf = <A extends object>(value: A): A =>
  Object.fromEntries(
    Object.entries(value).map(([name, field]: readonly [string, unknown]) => [
      name,
      isPlain(field) ? copyOf(field) : field,
    ]),
  ) as A

const isPlain = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Changes every field of an object, and the contents of the fields. */
const scribble = (value: object): void => {
  for (const [name, field] of Object.entries(value)) {
    if (isPlain(field)) scribble(field)
    Object.assign(value, { [name]: "overwritten" })
  }
}
