/**
 * Which plans need a meter. A meter that a version of a plan names is not archived: subscriptions may still be billed by that
 * version, and the periods before are rated again. And a plan that names an archived meter is not pushed.
 */
import type { PlanTerms } from "@billwright/engine"
import { Context, Effect } from "effect"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { PlanVersion } from "./Plan.ts"
import type { PlanStore } from "./PlanStore.ts"

type Read<A> = Effect.Effect<A, StorageError, CurrentTenant>
type Pages<A> = (page: PageQuery) => Effect.Effect<Page<A>, CursorNotFound | StorageError, CurrentTenant>

const PAGE = 100

/** Gives those of some keys whose meters are archived. Meters say it. Without them, none is. */
export class ArchivedMeters extends Context.Reference<
  (keys: ReadonlyArray<string>) => Read<ReadonlyArray<string>>
>("@billwright/core/catalog/ArchivedMeters", { defaultValue: () => () => Effect.succeed([]) }) {}

/** The keys of the meters that terms name, with the places where they do. */
export const metersOf = ({ charges, features = {} }: PlanTerms): ReadonlyArray<readonly [string, string]> => [
  ...charges.flatMap(({ meter }, index) =>
    meter === undefined ? [] : [[meter, `charges[${index}].meter`] as const],
  ),
  ...Object.entries(features).flatMap(([key, feature]) =>
    feature.type === "metered" ? [[feature.meter, `features.${key}.meter`] as const] : [],
  ),
]

/** The first value, page by page, that something is found for. */
const firstOf = <A extends { readonly id: string }, B>(
  pages: Pages<A>,
  find: (value: A) => Read<B | undefined>,
): Read<B | undefined> =>
  Effect.gen(function* () {
    let after: string | undefined
    for (;;) {
      const cursor = after === undefined ? undefined : ({ direction: "older", id: after } as const)
      const page = pages({ limit: PAGE, cursor })
      const { data, hasMore } = yield* Effect.catchTag(page, "CursorNotFound", Effect.die)
      for (const value of data) {
        const found = yield* find(value)
        if (found !== undefined) return found
      }
      after = data.at(-1)?.id
      if (!hasMore || after === undefined) return undefined
    }
  })

/** A version of a plan that names a meter. It looks at all versions of all plans. */
const versionNaming = (store: PlanStore["Service"], meter: string) =>
  firstOf(store.list, ({ key }) =>
    firstOf(
      (page) => store.listVersions(key, page),
      (version): Read<(Pick<PlanVersion, "version"> & { readonly key: string }) | undefined> => {
        const isNamed = metersOf(version.terms).some(([one]) => one === meter)
        return Effect.succeed(isNamed ? { key, version: version.version } : undefined)
      },
    ),
  )

/**
 * Why a meter can't be archived: a plan names it. `undefined` if none does. It holds the catalogue, so that no plan is pushed
 * before the current transaction ends.
 */
export const needOf = (store: PlanStore["Service"], meter: string): Read<string | undefined> =>
  Effect.map(Effect.andThen(store.lock, versionNaming(store, meter)), (found) =>
    found === undefined
      ? undefined
      : `the plan ${JSON.stringify(found.key)} (version ${found.version}) names the meter`,
  )
