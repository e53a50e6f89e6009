/**
 * Plans as code, with keys that the compiler checks.
 */
import type { Charge } from "./Charge.ts"
import { without } from "./FieldRules.ts"
import type {
  BooleanFeature,
  ConfigFeature,
  MeteredFeature,
  PlanDefinition,
  PlanNames,
  PlanTerms,
} from "./Plan.ts"

/** A plan as code. `meters` and `quantities` declare the keys that its charges and features may use. */
export interface PlanInput<
  Meter extends string,
  Quantity extends string,
  ChargeKey extends string,
  FeatureKey extends string,
>
  extends PlanNames, Omit<PlanTerms, "charges" | "features"> {
  /** The meters that charges and metered features of the plan may use. */
  readonly meters?: ReadonlyArray<Meter>
  /** The quantities of a subscription that charges of the plan may use, such as `seats`. */
  readonly quantities?: ReadonlyArray<Quantity>
  readonly charges: ReadonlyArray<
    Charge & {
      readonly key: ChargeKey
      readonly meter?: NoInfer<Meter>
      readonly quantity?: NoInfer<Quantity>
    }
  >
  readonly features?: {
    readonly [Key in FeatureKey]:
      | BooleanFeature
      | ConfigFeature
      | (MeteredFeature & { readonly meter: NoInfer<Meter> })
  }
}

/** A plan whose keys the compiler knows. It is plain data, which can be pushed, previewed and written as JSON. */
export interface DefinedPlan<
  Key extends string = string,
  ChargeKey extends string = string,
  FeatureKey extends string = string,
> extends PlanDefinition {
  readonly key: Key
  readonly charges: ReadonlyArray<Charge & { readonly key: ChargeKey }>
  readonly features?: Readonly<Record<FeatureKey, BooleanFeature | ConfigFeature | MeteredFeature>>
}

/** The keys of a plan's charges: `"base" | "seats"`. `string` for a plan that is not made by `definePlan`. */
export type ChargeKeyOf<Plan> = Plan extends DefinedPlan<string, infer ChargeKey, string> ? ChargeKey : string

/** The keys of a plan's features. `string` for a plan that is not made by `definePlan`. */
export type FeatureKeyOf<Plan> =
  Plan extends DefinedPlan<string, string, infer FeatureKey> ? FeatureKey : string

/**
 * Defines a plan as code:
 *
 * ```ts
 * export const pro = definePlan("pro", {
 *   name: "Pro",
 *   currencies: ["EUR"],
 *   interval: { unit: "month", count: 1 },
 *   meters: ["api_calls"],
 *   charges: [{ key: "calls", model: "unit", meter: "api_calls", price: { EUR: "0.01" } }],
 * })
 * ```
 *
 * A charge or a feature with a meter that `meters` doesn't declare does not compile, nor does one with a quantity that
 * `quantities` doesn't declare. The result is the plan as plain data, without these two lists. All other rules are
 * checked when the plan is pushed. Throws a `TypeError` without a key and an object.
 */
export const definePlan = <
  const Key extends string,
  const Meter extends string = never,
  const Quantity extends string = never,
  const ChargeKey extends string = never,
  const FeatureKey extends string = never,
>(
  key: Key,
  plan: PlanInput<Meter, Quantity, ChargeKey, FeatureKey>,
): DefinedPlan<Key, ChargeKey, FeatureKey> => {
  // Without types, the key is easily written into the plan.
  if (typeof key !== "string" || typeof plan !== "object" || plan === null)
    throw new TypeError(
      'definePlan needs the key of a plan and the plan: definePlan("pro", { name: "Pro", … })',
    )
  return { key, ...without(plan, "meters", "quantities") }
}
