/**
 * Exact rating with an explanation, for browsers and servers: no Effect, no Node, no storage.
 */
export type {
  Charge,
  ChargeModel,
  Convert,
  ConvertRounding,
  FlatCharge,
  GraduatedCharge,
  GraduatedPackageCharge,
  GraduatedPercentageCharge,
  PackageCharge,
  PackageTier,
  PercentageCharge,
  PercentageTier,
  Prices,
  Tier,
  UnitCharge,
  VolumeCharge,
  Where,
} from "../catalog/Charge.ts"
export type { Problem } from "../catalog/Problem.ts"
export type { Quantity } from "./Quantity.ts"
export {
  type Billed,
  creditRater,
  rate,
  type RateContext,
  type Rated,
  type Rater,
  rater,
  type RaterContext,
} from "./Rate.ts"
export { RatingError } from "./RatingError.ts"
export { type CreditUnits, type CreditUnitSettings, MAX_UNIT_DECIMALS } from "./Units.ts"
export { ExplanationError, fold } from "./Step.ts"
export type {
  AggregateStep,
  AlreadyBilledStep,
  BoundStep,
  BurnStep,
  ConvertStep,
  DiscountStep,
  FlatStep,
  FreeStep,
  PackageStep,
  PackageTierStep,
  PercentStep,
  PercentTierStep,
  RecordBoundStep,
  RoundStep,
  ShareStep,
  Step,
  TierStep,
  UnitStep,
} from "./Step.ts"
