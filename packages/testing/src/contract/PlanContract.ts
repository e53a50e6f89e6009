/**
 * The contract of `PlanStore`.
 */
import { Page, type Plan, PlanStore, StorageError, Transactor } from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import * as Sample from "../Sample.ts"
import {
  asTenant,
  type ContractTest,
  otherTenants,
  pause,
  same,
  sameSet,
  times,
  together,
} from "./ContractTest.ts"
import { pagingContract } from "./PagingContract.ts"

const FIRST_PAGE: Page.PageQuery = { limit: 9, cursor: undefined }

const later = (minutes: number) => DateTime.add(Sample.CREATED_AT, { minutes })

/** Terms with everything that is hard to store: nesting, text of other scripts, names that objects inherit. */
const TERMS: Plan.Plan["terms"] = {
  currencies: ["EUR", "JPY"],
  interval: { unit: "year", count: 1 },
  charges: [
    {
      key: "calls",
      model: "graduated",
      meter: "api_calls",
      name: "Aufrufe – 呼び出し 🚀",
      where: {
        "re gion": ["eu", "ünïcode", "@bigint", `"quoted"\\`],
        ["constructor" as string]: ["@instant", "5"],
      },
      tiers: [
        { up_to: "999999999999999999", price: { EUR: "0.000000000001", JPY: "0" } },
        { flat: { EUR: "1", JPY: "100" } },
      ],
    },
  ],
  features: { ["constructor" as string]: { type: "boolean" }, seats: { type: "config", value: "10" } },
  grants: [{ unit: "credits", amount: "1000", rollover: { maximum: "2000" } }],
  policy: { grace_hours: 0, proration: "none" },
}

const publish = Effect.fnUntraced(function* (fields: Partial<Plan.Plan> = {}) {
  const plan = yield* Sample.plan(fields)
  yield* (yield* PlanStore).publish(plan)
  return plan
})

/** The plan with its next version. */
const nextOf = Effect.fnUntraced(function* (plan: Plan.Plan, fields: Partial<Plan.Plan> = {}) {
  const next: Plan.Plan = {
    ...plan,
    version: plan.version + 1,
    versionId: yield* Sample.planVersionId,
    updatedAt: later(plan.version),
    ...fields,
  }
  return next
})

const versionOf = ({ hash, key, terms, updatedAt, version, versionId }: Plan.Plan): Plan.PlanVersion => ({
  id: versionId,
  planKey: key,
  version,
  hash,
  terms,
  createdAt: updatedAt,
})

/** Everything that is stored of a plan. */
const stored = Effect.fnUntraced(function* (key: string) {
  const { findAll, listVersions } = yield* PlanStore
  return { plans: yield* findAll([key]), versions: yield* listVersions(key, FIRST_PAGE) }
})

export const planContract = (test: ContractTest): void => {
  test.section("PlanStore", () => {
    test(
      "gives back what was published, in every field",
      Effect.gen(function* () {
        const store = yield* PlanStore
        const plain = yield* publish()
        const full = yield* publish({ terms: TERMS, description: "For teams – 団体", name: "Pro 🚀" })
        for (const plan of [plain, full]) {
          same(yield* store.findAll([plan.key]), [plan])
          same(yield* store.findVersion(plan.key, 1), Option.some(versionOf(plan)))
          same(yield* store.listVersions(plan.key, FIRST_PAGE), { data: [versionOf(plan)], hasMore: false })
        }
        same(yield* store.list(FIRST_PAGE), { data: [full, plain], hasMore: false })
      }),
    )

    test(
      "finds plans by their keys, as many as exist",
      Effect.gen(function* () {
        const { findAll, findVersion, listVersions } = yield* PlanStore
        const [first, , third] = yield* Effect.all([publish(), publish(), publish()])
        const found = yield* findAll([third.key, "unknown", first.key, first.key])
        sameSet(found, [first, third], ({ key }) => key)
        same(yield* findAll([]), [])
        same(yield* findVersion("unknown", 1), Option.none())
        same(yield* findVersion(first.key, 2), Option.none())
        same(yield* listVersions("unknown", FIRST_PAGE), { data: [], hasMore: false })
      }),
    )

    test(
      "adds versions, and keeps each as it was published",
      Effect.gen(function* () {
        const store = yield* PlanStore
        const first = yield* publish()
        const bystander = yield* publish()
        const second = yield* nextOf(first, { terms: TERMS, hash: "a".repeat(64), name: "Pro 2" })
        yield* store.publish(second)
        const third = yield* nextOf(second, { terms: first.terms, hash: first.hash, description: "Back" })
        yield* store.publish(third)
        same(yield* store.findAll([first.key]), [third])
        const all = [third, second, first]
        same(yield* store.listVersions(first.key, FIRST_PAGE), { data: all.map(versionOf), hasMore: false })
        for (const plan of all) {
          same(yield* store.findVersion(first.key, plan.version), Option.some(versionOf(plan)))
        }
        same(yield* store.findAll([bystander.key]), [bystander])
      }),
    )

    test(
      "refuses a version that does not follow the stored ones, and changes nothing",
      Effect.gen(function* () {
        const store = yield* PlanStore
        const first = yield* publish()
        yield* store.publish(yield* nextOf(first))
        const before = yield* stored(first.key)
        const unknown = yield* Sample.plan()
        const other = { terms: TERMS, hash: "b".repeat(64), name: "Changed" }
        const refused = [
          // The versions that are published, with other terms.
          yield* nextOf(first, { ...other, version: 1 }),
          yield* nextOf(first, { ...other, version: 1, id: unknown.id }),
          { ...first, ...other },
          yield* nextOf(first, other),
          yield* nextOf(first, { ...other, version: 4 }),
          { ...unknown, version: 2 },
        ]
        for (const plan of refused) {
          assert.instanceOf(yield* Effect.flip(store.publish(plan)), StorageError)
        }
        same(yield* stored(first.key), before)
        same(yield* store.findAll([unknown.key]), [])
      }),
    )

    test(
      "renames a plan without a version",
      Effect.gen(function* () {
        const store = yield* PlanStore
        const plan = yield* publish({ description: "Old" })
        const bystander = yield* publish()
        const names = { name: "New", description: null, updatedAt: later(5) }
        yield* store.rename({ key: plan.key, ...names })
        yield* store.rename({ key: "unknown", ...names })
        same(yield* store.findAll([plan.key]), [{ ...plan, ...names }])
        same(yield* store.findVersion(plan.key, 1), Option.some(versionOf(plan)))
        same(yield* store.findAll([bystander.key]), [bystander])
        same(yield* store.findAll(["unknown"]), [])
      }),
    )

    test(
      "shares no objects with its callers",
      Effect.gen(function* () {
        const store = yield* PlanStore
        const plan = yield* Sample.plan({ terms: structuredClone(TERMS) })
        const given = { ...plan, terms: structuredClone(plan.terms) }
        yield* store.publish(given)
        const version = yield* store.findVersion(plan.key, 1)
        const [found] = yield* store.findAll([plan.key])
        for (const { terms } of [given, Option.getOrThrow(version), found!]) {
          // A storage may give out objects that refuse changes.
          Reflect.set(terms.charges[0]!, "key", "scribbled")
          Reflect.set(terms, "currencies", [])
        }
        same(yield* store.findAll([plan.key]), [plan])
        same(yield* store.findVersion(plan.key, 1), Option.some(versionOf(plan)))
      }),
    )

    test(
      "keeps tenants apart, also plans of one key",
      Effect.gen(function* () {
        const store = yield* PlanStore
        const plan = yield* publish({ key: "pro" })
        for (const tenant of yield* otherTenants) {
          yield* Effect.gen(function* () {
            same(yield* store.findAll(["pro"]), [])
            const own = yield* publish({ key: "pro", name: "Theirs" })
            yield* store.rename({ ...own, name: "Still theirs" })
            same(yield* store.list(FIRST_PAGE), { data: [{ ...own, name: "Still theirs" }], hasMore: false })
            const cursor = { direction: "older", id: plan.versionId } as const
            same(
              yield* Effect.flip(store.listVersions("pro", { limit: 1, cursor })),
              new Page.CursorNotFound({ id: plan.versionId }),
            )
          }).pipe(asTenant(tenant))
        }
        same(yield* store.list(FIRST_PAGE), { data: [plan], hasMore: false })
      }),
    )

    test(
      "lets one transaction at a time hold the catalogue",
      Effect.gen(function* () {
        const store = yield* PlanStore
        const transactor = yield* Transactor
        const plan = yield* publish()
        const push = transactor.atomically(
          Effect.gen(function* () {
            yield* store.lock
            const [current] = yield* store.findAll([plan.key])
            yield* pause
            yield* store.publish(yield* nextOf(current!))
          }),
        )
        yield* together(times(5, () => push))
        const { data } = yield* store.listVersions(plan.key, FIRST_PAGE)
        same(
          data.map(({ version }) => version),
          [6, 5, 4, 3, 2, 1],
        )
      }),
    )

    test.section("list", () =>
      pagingContract(
        test,
        Effect.gen(function* () {
          const store = yield* PlanStore
          return {
            add: (count: number) =>
              Effect.all(times(count, () => Effect.map(publish(), ({ id }): string => id))),
            list: (page: Page.PageQuery) =>
              Effect.map(store.list(page), ({ data, hasMore }) => ({
                data: data.map(({ id }): string => id),
                hasMore,
              })),
            unknownId: Effect.map(Sample.plan(), ({ id }): string => id),
          }
        }),
      ),
    )

    test.section("listVersions", () =>
      pagingContract(
        test,
        Effect.gen(function* () {
          const store = yield* PlanStore
          const { key } = yield* Sample.plan()
          const add = Effect.gen(function* () {
            const [current] = yield* store.findAll([key])
            const plan = current === undefined ? yield* Sample.plan({ key }) : yield* nextOf(current)
            yield* store.publish(plan)
            return plan.versionId as string
          })
          return {
            add: (count: number) => Effect.all(times(count, () => add)),
            list: (page: Page.PageQuery) =>
              Effect.map(store.listVersions(key, page), ({ data, hasMore }) => ({
                data: data.map(({ id }): string => id),
                hasMore,
              })),
            unknownId: Effect.map(Sample.planVersionId, (id): string => id),
          }
        }),
      ),
    )
  })
}
