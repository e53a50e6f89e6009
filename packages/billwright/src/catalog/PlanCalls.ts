/**
 * Implements `billing.plans`, and the pushes of rate cards.
 */
import {
  type Plan as Core,
  PlanCosts,
  Plans as PlansService,
  RateCards as RateCardsService,
} from "@billwright/core"
import type { PlanDefinition, RateCard } from "@billwright/engine"
import { Effect } from "effect"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toInput, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { Plan, Plans, PlanVersion } from "./Plans.ts"
import type { RateCards } from "./RateCards.ts"

/** What to push, given as one or as a list. */
const toList = <A extends object>(given: A | ReadonlyArray<A>): ReadonlyArray<A> =>
  Array.isArray(given) ? (given as ReadonlyArray<A>) : [given as A]

const toPushed = (plans: PlanDefinition | ReadonlyArray<PlanDefinition>) => ({ plans: toList(plans) })
const toPushedCards = (cards: RateCard | ReadonlyArray<RateCard>) => ({ rateCards: toList(cards) })

/** The calls that only rate cards have. */
export const makeCardCalls = (calls: Calls): Pick<RateCards, "push" | "diff"> => {
  const cards = calls.service(RateCardsService)
  return {
    push: (input, options) => calls.run(() => cards.push(toPushedCards(input)), options),
    diff: (input, options) => calls.run(() => cards.diff(toPushedCards(input)), options),
  }
}

export const makePlans = (calls: Calls): Plans => {
  const plans = calls.service(PlansService)
  return {
    push: (input, options) => calls.run(() => plans.push(toPushed(input)), options),
    diff: (input, options) => calls.run(() => plans.diff(toPushed(input)), options),
    compare: (input, { months, onProgress } = {}, options) =>
      calls.run(
        () =>
          calls
            .service(PlanCosts)
            .compare({ ...toPushed(input), ...(months === undefined ? {} : { months }) }, (soFar) =>
              Effect.sync(() => onProgress?.(soFar)),
            ),
        options,
      ),
    get: (key, options): Promise<Plan> => calls.run(() => plans.get(Ids.planKey(key)), options),
    list: (query, options) =>
      makeListing(query, (page) => calls.run(() => plans.list(toOptionalInput(page)), options)),
    getVersion: (key, version, options): Promise<PlanVersion> =>
      calls.run(() => plans.getVersion(Ids.planKey(key), version), options),
    listVersions: (key, query, options) =>
      makeListing(query, (page) =>
        calls.run(() => plans.listVersions(Ids.planKey(key), toOptionalInput(page)), options),
      ),
    preview: (input, options) => calls.run(() => plans.preview(toInput<Core.PreviewPlan>(input)), options),
  }
}
