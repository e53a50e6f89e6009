/**
 * Implements `billing.plans`.
 */
import { type Plan as Core, Plans as PlansService } from "@billwright/core"
import type { PlanDefinition } from "@billwright/engine"
import type { Calls } from "../runtime/Calls.ts"
import * as Ids from "../runtime/Ids.ts"
import { toInput, toOptionalInput } from "../runtime/Input.ts"
import { makeListing } from "../runtime/ListingPages.ts"
import type { Plan, Plans, PlanVersion } from "./Plans.ts"

/** The plans to push, given as one or as a list. */
const toPushed = (
  plans: PlanDefinition | ReadonlyArray<PlanDefinition>,
): { readonly plans: ReadonlyArray<PlanDefinition> } => ({
  plans: Array.isArray(plans) ? (plans as ReadonlyArray<PlanDefinition>) : [plans as PlanDefinition],
})

export const makePlans = (calls: Calls): Plans => {
  const plans = calls.service(PlansService)
  return {
    push: (input, options) => calls.run(() => plans.push(toPushed(input)), options),
    diff: (input, options) => calls.run(() => plans.diff(toPushed(input)), options),
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
