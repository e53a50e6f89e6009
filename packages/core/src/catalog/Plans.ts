/**
 * The use cases of plans.
 */
import {
  type CreditUnits,
  isKey,
  type PlanDefinition,
  type PlanPreview,
  type PlanTerms,
  previewPlan,
  RatingError,
  termsOf,
} from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput, ofProblems } from "../shared/InvalidInput.ts"
import { countWithinBytes, nameCursor, type Page, type PageQuery, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { CreditSettings } from "./CreditSettings.ts"
import { ArchivedMeters, metersOf } from "./MeterUse.ts"
import {
  changeOf,
  hashOf,
  ListPlans,
  type Plan,
  PLAN_ID_PREFIX,
  PLAN_VERSION_ID_PREFIX,
  type PlanChange,
  PlanId,
  PlanNotFound,
  type PlanVersion,
  PlanVersionId,
  type PreviewPlan,
  type PushPlans,
  VersionNumber,
} from "./Plan.ts"
import { PlanStore } from "./PlanStore.ts"
import * as PushedPlans from "./PushedPlans.ts"

const decodeList = decoder(ListPlans)
const isVersion = Schema.is(VersionNumber)
const decodePreview = decoder(
  Schema.Struct({
    plan: Schema.Unknown,
    version: Schema.optionalKey(VersionNumber),
    currency: Schema.optionalKey(Schema.String),
    quantities: Schema.optionalKey(Schema.Unknown),
  }),
)

/** A preview of a plan, and which version it is of. */
export interface Preview extends PlanPreview {
  /** The key of the plan. */
  readonly plan: string
  /** The version that was rated. `null` for a plan that was given and not read. */
  readonly version: number | null
}

/** A pushed plan, and what pushing it does. */
interface Compared {
  readonly plan: PlanDefinition
  readonly change: PlanChange
}

/** Pushes, compares, reads and previews the plans of the current tenant. */
export class Plans extends Context.Service<
  Plans,
  {
    /**
     * Stores plans: all of them, or none when one is wrong. A plan with new terms gets the next version. New names
     * change the plan without a version. An equal plan changes nothing. Concurrent pushes of a tenant wait for each
     * other, so versions have no gaps. `InvalidInput` has all problems of all plans.
     */
    readonly push: (
      input: PushPlans,
    ) => Effect.Effect<ReadonlyArray<PlanChange>, InvalidInput | StorageError, CurrentTenant>

    /** What `push` would do. Writes nothing. */
    readonly diff: (
      input: PushPlans,
    ) => Effect.Effect<ReadonlyArray<PlanChange>, InvalidInput | StorageError, CurrentTenant>

    readonly get: (key: string) => Effect.Effect<Plan, PlanNotFound | StorageError, CurrentTenant>

    /** Newest first. A page ends early, with `hasMore`, before a plan that would make its terms larger than 4 MiB. */
    readonly list: (
      query?: ListPlans,
    ) => Effect.Effect<Page<Plan>, InvalidInput | StorageError, CurrentTenant>

    readonly getVersion: (
      key: string,
      version: number,
    ) => Effect.Effect<PlanVersion, PlanNotFound | StorageError, CurrentTenant>

    /** The versions of a plan, newest first, in pages like those of `list`. */
    readonly listVersions: (
      key: string,
      query?: ListPlans,
    ) => Effect.Effect<Page<PlanVersion>, InvalidInput | PlanNotFound | StorageError, CurrentTenant>

    /**
     * What a plan costs for the quantities of a full period, with every step of the computation. It rates as invoices
     * do. `InvalidInput` has all problems of the plan or of the quantities. Writes nothing.
     */
    readonly preview: (
      input: PreviewPlan,
    ) => Effect.Effect<Preview, InvalidInput | PlanNotFound | StorageError, CurrentTenant>
  }
>()("@billwright/core/catalog/Plans") {
  static readonly layer = Layer.effect(
    Plans,
    Effect.gen(function* () {
      const store = yield* PlanStore
      const transactor = yield* Transactor
      const ids = yield* IdGenerator
      const units = yield* CreditSettings
      const archivedOf = yield* ArchivedMeters

      /** Each pushed plan with the stored one. */
      const compared = Effect.fnUntraced(function* (pushed: ReadonlyArray<PlanDefinition>) {
        const stored = yield* store.findAll(pushed.map(({ key }) => key))
        const byKey = new Map(stored.map((plan) => [plan.key, plan]))
        return pushed.map((plan) => {
          const before = byKey.get(plan.key)
          return { plan, before, change: changeOf(before, plan) }
        })
      })

      const write = Effect.fnUntraced(function* (
        pushed: PlanDefinition,
        before: Plan | undefined,
        change: PlanChange,
      ) {
        if (change.status === "unchanged") return
        const { description = null, key, name } = pushed
        const updatedAt = yield* DateTime.now
        if (change.version === change.previousVersion) {
          return yield* store.rename({ key, name, description, updatedAt })
        }
        const terms = termsOf(pushed)
        yield* store.publish({
          id: before?.id ?? PlanId.make(yield* ids.next(PLAN_ID_PREFIX)),
          key,
          name,
          description,
          version: change.version,
          versionId: PlanVersionId.make(yield* ids.next(PLAN_VERSION_ID_PREFIX)),
          hash: hashOf(terms),
          terms,
          createdAt: before?.createdAt ?? updatedAt,
          updatedAt,
        })
      })

      /** Refuses new versions that name a meter that is archived: nothing could be billed by them. */
      const refuseArchived = Effect.fnUntraced(function* (all: ReadonlyArray<Compared>) {
        const named = all.flatMap(({ change, plan }, index) =>
          change.version === change.previousVersion
            ? []
            : metersOf(termsOf(plan)).map(([meter, path]) => ({ meter, field: `plans[${index}].${path}` })),
        )
        const archived = new Set(yield* archivedOf([...new Set(named.map(({ meter }) => meter))]))
        const [first, ...others] = named
          .filter(({ meter }) => archived.has(meter))
          .map(({ field, meter }) => ({
            field,
            problem: `is ${JSON.stringify(meter)}, a meter that is archived`,
          }))
        if (first !== undefined) return yield* ofProblems([first, ...others])
      })

      const push = Effect.fn("Plans.push")(function* (input: PushPlans) {
        const pushed = yield* PushedPlans.check(input)
        return yield* transactor.atomically(
          Effect.gen(function* () {
            yield* store.lock
            const all = yield* compared(pushed)
            yield* refuseArchived(all)
            yield* Effect.forEach(all, ({ before, change, plan }) => write(plan, before, change), {
              discard: true,
            })
            return all.map(({ change }) => change)
          }),
        )
      })

      const diff = Effect.fn("Plans.diff")(function* (input: PushPlans) {
        const all = yield* compared(yield* PushedPlans.check(input))
        yield* refuseArchived(all)
        return all.map(({ change }) => change)
      })

      const find = Effect.fnUntraced(function* (key: string, field?: string) {
        const [found] = isKey(key) ? yield* store.findAll([key]) : []
        return found ?? (yield* new PlanNotFound({ id: key, ...(field === undefined ? {} : { field }) }))
      })

      const get = Effect.fn("Plans.get")((key: string) => find(key))

      const list = Effect.fn("Plans.list")(function* (query: ListPlans = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        return withinBytes(yield* store.list(page).pipe(nameCursor(request)), page)
      })

      const getVersion = Effect.fn("Plans.getVersion")(function* (key: string, version: number) {
        const found =
          isKey(key) && isVersion(version)
            ? yield* store.findVersion(key, version)
            : Option.none<PlanVersion>()
        if (Option.isSome(found)) return found.value
        yield* find(key)
        return yield* new PlanNotFound({ id: key, version })
      })

      const listVersions = Effect.fn("Plans.listVersions")(function* (key: string, query: ListPlans = {}) {
        const request = yield* decodeList(query)
        const page = yield* toQuery(request)
        yield* find(key)
        return withinBytes(yield* store.listVersions(key, page).pipe(nameCursor(request)), page)
      })

      /** The plan to preview: a stored one, or the given one. */
      const previewed = Effect.fnUntraced(function* (plan: unknown, version: number | undefined) {
        if (typeof plan !== "string") {
          if (version !== undefined) {
            const problem = "must be left out: only stored plans have versions"
            return yield* new InvalidInput({ field: "version", problem })
          }
          const given = yield* PushedPlans.checkOne("plan", plan)
          return { key: given.key, version: null, terms: termsOf(given) }
        }
        const stored = yield* find(plan, "plan")
        if (version === undefined) return stored
        const found = yield* store.findVersion(plan, version)
        if (Option.isNone(found)) return yield* new PlanNotFound({ id: plan, version, field: "version" })
        return { key: plan, ...found.value }
      })

      const preview = Effect.fn("Plans.preview")(function* (input: PreviewPlan) {
        const { currency, plan, quantities, version } = yield* decodePreview(input)
        const found = yield* previewed(plan, version)
        const rated = yield* rateAll(found.terms, units, { currency, quantities })
        return { plan: found.key, version: found.version, ...rated }
      })

      return Plans.of({ push, diff, get, list, getVersion, listVersions, preview })
    }),
  )
}

const encoder = new TextEncoder()
const bytesOf = ({ terms }: { readonly terms: PlanTerms }): number =>
  encoder.encode(JSON.stringify(terms)).length

/** A page with at most `MAX_PAGE_BYTES` of terms: the part of it that is nearest to the cursor. */
const withinBytes = <A extends { readonly terms: PlanTerms }>(
  { data, hasMore }: Page<A>,
  { cursor }: PageQuery,
): Page<A> => {
  const isNewer = cursor?.direction === "newer"
  const fit = countWithinBytes(isNewer ? data.toReversed() : data, bytesOf)
  if (fit === data.length) return { data, hasMore }
  return { data: isNewer ? data.slice(-fit) : data.slice(0, fit), hasMore: true }
}

/** Rates a plan, and turns the problems of its quantities into those of the input. */
const rateAll = (
  terms: PlanTerms,
  units: CreditUnits,
  { currency, quantities }: { readonly currency: string | undefined; readonly quantities: unknown },
): Effect.Effect<PlanPreview, InvalidInput> =>
  Effect.try({
    try: () =>
      previewPlan(terms, {
        units,
        ...(currency === undefined ? {} : { currency }),
        // It is checked there, with all its problems at once.
        ...(quantities === undefined
          ? {}
          : { quantities: quantities as NonNullable<PreviewPlan["quantities"]> }),
      }),
    catch: (error) => error,
  }).pipe(
    Effect.catch((error) => {
      if (!(error instanceof RatingError)) return Effect.die(error)
      return PushedPlans.refuse(
        "quantities",
        error.problems.map(({ path, problem }) => ({ field: path, problem })),
      )
    }),
  )
