/**
 * The use cases of the whole catalogue: plans and rate cards that are pushed together.
 */
import type { CreditUnits } from "@billwright/engine"
import { Context, Effect, Layer } from "effect"
import { type InvalidInput, ofProblems } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { CreditSettings } from "./CreditSettings.ts"
import type { PlanChange, PushPlans } from "./Plan.ts"
import { Plans } from "./Plans.ts"
import * as PushedPlans from "./PushedPlans.ts"
import type { PushRateCards, RateCardChange } from "./RateCard.ts"
import { RateCards } from "./RateCards.ts"

/** What to push: plans, rate cards or both. */
export interface PushCatalog extends Partial<PushPlans>, Partial<PushRateCards> {}

/** What a push does, or would do, in the order of the input. */
export interface CatalogChanges {
  readonly plans: ReadonlyArray<PlanChange>
  readonly rateCards: ReadonlyArray<RateCardChange>
}

type Changes = Effect.Effect<CatalogChanges, InvalidInput | StorageError, CurrentTenant>

/** Pushes and compares plans and rate cards of the current tenant together. */
export class Catalog extends Context.Service<
  Catalog,
  {
    /**
     * Stores plans and rate cards as `Plans.push` and `RateCards.push` do: all of them, or none when one is wrong.
     * `InvalidInput` has all problems of all of them.
     */
    readonly push: (input: PushCatalog) => Changes

    /** What `push` would do. Writes nothing. */
    readonly diff: (input: PushCatalog) => Changes
  }
>()("@billwright/core/catalog/Catalog") {
  static readonly layer = Layer.effect(
    Catalog,
    Effect.gen(function* () {
      const [plans, cards, transactor] = [yield* Plans, yield* RateCards, yield* Transactor]
      const units = yield* CreditSettings

      const apply = (verb: "push" | "diff") => (input: PushCatalog) =>
        Effect.gen(function* () {
          yield* checkAll(input, units)
          return {
            plans: input.plans === undefined ? [] : yield* plans[verb]({ plans: input.plans }),
            rateCards:
              input.rateCards === undefined ? [] : yield* cards[verb]({ rateCards: input.rateCards }),
          }
        })

      return Catalog.of({
        push: Effect.fn("Catalog.push")((input: PushCatalog) => transactor.atomically(apply("push")(input))),
        diff: Effect.fn("Catalog.diff")(apply("diff")),
      })
    }),
  )
}

/** Checks both parts, so that the problems of both are found at once. */
const checkAll = Effect.fnUntraced(function* ({ plans, rateCards }: PushCatalog, units: CreditUnits) {
  const checks: ReadonlyArray<Effect.Effect<unknown, InvalidInput>> = [
    ...(plans === undefined ? [] : [PushedPlans.check({ plans })]),
    ...(rateCards === undefined ? [] : [PushedPlans.checkCards({ rateCards }, units)]),
  ]
  const refused = yield* Effect.forEach(checks, (check) =>
    Effect.match(check, { onSuccess: () => [], onFailure: problemsOf }),
  )
  const found = checks.length === 0 ? [NOTHING] : refused.flat()
  const [first, ...others] = found
  if (first !== undefined) return yield* ofProblems([first, ...others])
})

const NOTHING = { field: "plans", problem: "is required, unless there are rate cards" }

const problemsOf = ({ field, problem, problems }: InvalidInput) => problems ?? [{ field, problem }]
