/**
 * The engine: exact money, charges of plans, and rating with an explanation.
 */
export * as Allocate from "./money/Allocate.ts"
export * as Currency from "./money/Currency.ts"
export * as Exact from "./money/Exact.ts"
export type {
  BooleanFeature,
  ConfigFeature,
  Feature,
  Grant,
  Interval,
  MeteredFeature,
  PlanVersion,
  Policy,
  Rollover,
} from "./catalog/Plan.ts"
export { isPlan, problemsOfPlan } from "./catalog/PlanRules.ts"
export * from "./rating/index.ts"
