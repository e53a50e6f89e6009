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
  PlanDefinition,
  PlanNames,
  PlanTerms,
  Policy,
  Rollover,
} from "./catalog/Plan.ts"
export { termsOf } from "./catalog/Plan.ts"
export { canonicalJson } from "./catalog/CanonicalJson.ts"
export { definePlan } from "./catalog/DefinePlan.ts"
export type { ChargeKeyOf, DefinedPlan, FeatureKeyOf, PlanInput } from "./catalog/DefinePlan.ts"
export { changesOf } from "./catalog/PlanChanges.ts"
export type { FieldChange } from "./catalog/PlanChanges.ts"
export { isKey } from "./catalog/FieldRules.ts"
export { isPlan, problemsOfPlan } from "./catalog/PlanRules.ts"
export { pathTo } from "./catalog/Problem.ts"
export { previewPlan } from "./rating/Preview.ts"
export type { PlanPreview, PreviewInput, PreviewLine } from "./rating/Preview.ts"
export * from "./rating/index.ts"
export type {
  BillingEffect,
  BillingKind,
  Effect,
  EventEffect,
  SubscriptionEventType,
} from "./subscriptions/Effect.ts"
export type {
  Cancel,
  Change,
  Command,
  CommandTime,
  Create,
  Due,
  Pause,
  PlanVersion,
  Resume,
  Uncancel,
} from "./subscriptions/Input.ts"
export * as LocalTime from "./subscriptions/LocalTime.ts"
export {
  type Action,
  availableActions,
  type DueKind,
  isRejected,
  nextDue,
  type Rejected,
  step,
  type Stepped,
} from "./subscriptions/Machine.ts"
export * as Periods from "./subscriptions/Periods.ts"
export { type Measure, type Share, sharesOf } from "./subscriptions/Proration.ts"
export type {
  BillChange,
  CreditPolicy,
  PendingChange,
  Period,
  Phase,
  PlanChange,
  PlanVersionRef,
  Quantities,
  ResumeAnchor,
  Segment,
  Segments,
  Subscription,
  TrialUsage,
} from "./subscriptions/Subscription.ts"
