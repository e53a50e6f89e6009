/**
 * Which plans need a meter. A meter that a version of a plan names is not archived: subscriptions may still be billed by that
 * version, and the periods before are rated again. And a plan that names an archived meter is not pushed.
 */
import type { PlanTerms } from "@billwright/engine"
import { Effect, Layer } from "effect"
import type { Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { MeterNeed } from "../usage/MeterNeed.ts"
import { PlanStore } from "./PlanStore.ts"

type Read<A> = Effect.Effect<A, StorageError, CurrentTenant>
type Pages<A> =
  ReturnType<PlanStore["Service"]["list"]> extends Effect.Effect<unknown, infer E, infer R>
    ? (page: PageQuery) => Effect.Effect<Page<A>, E, R>
    : never

const PAGE = 100

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

/** Looks at all versions of all plans. It holds the catalogue, so that no plan is pushed meanwhile. */
export const layer = Layer.effect(
  MeterNeed,
  Effect.map(PlanStore, (store) => (meter: string) => {
    const named = firstOf(store.list, ({ key }) =>
      firstOf(
        (page) => store.listVersions(key, page),
        ({ terms, version }) =>
          Effect.succeed(
            metersOf(terms).some(([one]) => one === meter)
              ? `the plan ${JSON.stringify(key)} (version ${version}) names it`
              : undefined,
          ),
      ),
    )
    return Effect.andThen(store.lock, named)
  }),
)
