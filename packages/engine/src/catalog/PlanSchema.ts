/**
 * The JSON Schemas of plans, for documents of APIs. They are made of the limits and words of the rules, and the compiler
 * compares their fields with the types.
 *
 * The rules say more than a JSON Schema can, such as that tiers rise. Every plan that follows the rules matches the
 * schemas.
 */
import { DECIMAL_PATTERN } from "../money/Exact.ts"
import type {
  Charge,
  ChargeModel,
  Convert,
  FlatCharge,
  PackageTier,
  PercentageCharge,
  PercentageTier,
  Tier,
  UnitCharge,
} from "./Charge.ts"
import { CHARGE_LIMITS, ROUNDINGS, TIMINGS } from "./ChargeRules.ts"
import { KEY_PATTERN } from "./FieldRules.ts"
import {
  type FieldSchemas,
  integerOf,
  type JsonSchema,
  listOf,
  mapOf,
  objectOf,
  optional,
  reference,
  textOf,
  unionOf,
  wordOf,
} from "./ObjectSchema.ts"
import type {
  BooleanFeature,
  ConfigFeature,
  Feature,
  Grant,
  Interval,
  MeteredFeature,
  PlanDefinition,
  PlanTerms,
  Policy,
  Rollover,
} from "./Plan.ts"
import { FEATURE_LIMITS, MAX_COUNT, PLAN_LIMITS, POLICY_CHOICES } from "./PlanRules.ts"

const CURRENCY_PATTERN = "^[A-Z]{3}$"
const UNIT_PATTERN = `${KEY_PATTERN.source}|${CURRENCY_PATTERN}`

const decimal = (description: string): JsonSchema => ({
  type: "string",
  pattern: DECIMAL_PATTERN.source,
  description,
})
const keyOf = (description: string): JsonSchema => ({
  type: "string",
  pattern: KEY_PATTERN.source,
  description,
})
const currencyOf = (description: string): JsonSchema => ({
  type: "string",
  pattern: CURRENCY_PATTERN,
  description,
})
/** The description of a reference to prices stands beside it, because each use has its own. */
const prices = (description: string): JsonSchema => ({ ...reference("PlanPrices"), description })

/** The fields of charges of every model. */
const anyCharge = {
  key: keyOf("Identifies the charge in its plan."),
  name: optional(textOf("The name on the invoice. Default: the key.", 1, CHARGE_LIMITS.name)),
  timing: optional(
    wordOf(
      "Billed before the period (`advance`) or after it (`arrears`). Default: `advance` for flat fees and quantities, `arrears` for usage.",
      ...TIMINGS,
    ),
  ),
  minimum: optional(prices("The lowest cost of the charge in a full period.")),
  maximum: optional(prices("The highest cost of the charge in a full period.")),
}

/** The fields of charges with a quantity: of all models but `flat`. */
const quantityCharge = {
  ...anyCharge,
  meter: optional(keyOf("The meter that gives the quantity. A charge has either this or `quantity`.")),
  quantity: optional(
    keyOf("The key in the subscription's `quantities` that gives the quantity, such as `seats`."),
  ),
  free: optional(decimal("How many units of each period are free, after `convert`.")),
  convert: optional(reference("PlanConvert")),
  where: optional(
    mapOf(
      "Which usage of the meter counts: for each dimension, the values that count.",
      textOf("The key of a dimension.", 1, CHARGE_LIMITS.dimensionKey),
      listOf(
        "The values that count.",
        textOf("A value.", 1, CHARGE_LIMITS.dimensionValue),
        1,
        CHARGE_LIMITS.whereValues,
      ),
      CHARGE_LIMITS.whereDimensions,
    ),
  ),
  by: optional(
    textOf("A dimension: the invoice has a line for each of its values.", 1, CHARGE_LIMITS.dimensionKey),
  ),
}

/** The fields of charges whose quantity is no money. */
const burningCharge = {
  ...quantityCharge,
  burns: optional(
    keyOf(
      "Usage burns credits of this unit instead of costing money, and the prices are in it. Needs a `meter`.",
    ),
  ),
}

const modelIs = (model: ChargeModel): JsonSchema => wordOf("The price model.", model)
const tiersOf = (name: string): JsonSchema =>
  listOf("The tiers, in rising order. The last has no `up_to`.", reference(name), 1, CHARGE_LIMITS.tiers)
const perRecord = (which: string): JsonSchema =>
  prices(`${which} of each record, for the percentage and \`flat\` together.`)

const tier: FieldSchemas<Tier> = {
  up_to: optional(decimal("The end of the tier, which is part of it. The last tier has none.")),
  price: optional(prices("The price of a unit, or of a package. Default 0.")),
  flat: optional(prices("Due once the quantity reaches the tier. That of the first is always due.")),
}

type ChargeOf<Model extends ChargeModel> = Extract<Charge, { readonly model: Model }>
/** A charge of a model without a quantity has none of the fields that need one. */
type Fee = Omit<FlatCharge, Exclude<keyof typeof burningCharge, keyof typeof anyCharge>>

const chargeNames: Readonly<Record<ChargeModel, string>> = {
  flat: "FlatCharge",
  unit: "UnitCharge",
  package: "PackageCharge",
  graduated: "GraduatedCharge",
  volume: "VolumeCharge",
  graduated_package: "GraduatedPackageCharge",
  percentage: "PercentageCharge",
  graduated_percentage: "GraduatedPercentageCharge",
}

const charges: Readonly<Record<string, JsonSchema>> = {
  FlatCharge: objectOf<Fee>("A fee for the period that does not depend on usage.", {
    ...anyCharge,
    model: modelIs("flat"),
    price: prices("The fee of a full period."),
  }),
  UnitCharge: objectOf<UnitCharge>("Each unit has the same price.", {
    ...burningCharge,
    model: modelIs("unit"),
    price: prices("The price of a unit."),
  }),
  PackageCharge: objectOf<ChargeOf<"package">>("Whole packages of `size` units are paid.", {
    ...burningCharge,
    model: modelIs("package"),
    price: prices("The price of a package."),
    size: decimal("The units of a package. Greater than 0."),
  }),
  GraduatedCharge: objectOf<ChargeOf<"graduated">>(
    "Each tier prices the part of the quantity in its range.",
    {
      ...burningCharge,
      model: modelIs("graduated"),
      tiers: tiersOf("PriceTier"),
    },
  ),
  VolumeCharge: objectOf<ChargeOf<"volume">>("The tier that contains the quantity prices all of it.", {
    ...burningCharge,
    model: modelIs("volume"),
    tiers: tiersOf("PriceTier"),
  }),
  GraduatedPackageCharge: objectOf<ChargeOf<"graduated_package">>(
    "Each tier prices the part of the quantity in its range, in whole packages.",
    { ...burningCharge, model: modelIs("graduated_package"), tiers: tiersOf("PackagePriceTier") },
  ),
  PercentageCharge: objectOf<Omit<PercentageCharge, "burns">>(
    "A percentage of amounts of money. Quantities are integers of the minor unit.",
    {
      ...quantityCharge,
      model: modelIs("percentage"),
      rate: decimal("The rate in percent, such as `2.9`."),
      flat: optional(prices("A fee for each record.")),
      minimum_per_record: optional(perRecord("The lowest price")),
      maximum_per_record: optional(perRecord("The highest price")),
    },
  ),
  GraduatedPercentageCharge: objectOf<Omit<ChargeOf<"graduated_percentage">, "burns">>(
    "Each tier takes its percentage of the part of the amount in its range.",
    { ...quantityCharge, model: modelIs("graduated_percentage"), tiers: tiersOf("PercentagePriceTier") },
  ),
}

const featureNames: Readonly<Record<Feature["type"], string>> = {
  boolean: "BooleanFeature",
  config: "ConfigFeature",
  metered: "MeteredFeature",
}

const features: Readonly<Record<string, JsonSchema>> = {
  BooleanFeature: objectOf<BooleanFeature>("A feature that a customer has or does not have.", {
    type: wordOf("The kind of feature.", "boolean"),
  }),
  ConfigFeature: objectOf<ConfigFeature>("A setting of the plan that the host reads.", {
    type: wordOf("The kind of feature.", "config"),
    value: textOf("The setting.", 1, FEATURE_LIMITS.config),
  }),
  MeteredFeature: objectOf<MeteredFeature>("A number of units of a meter that each period includes.", {
    type: wordOf("The kind of feature.", "metered"),
    meter: keyOf("The meter."),
    included: decimal("The units that are included. 0 or more."),
    limit: wordOf("Whether further usage is refused (`hard`) or priced (`soft`).", ...FEATURE_LIMITS.limits),
    rollover: optional(reference("PlanRollover")),
  }),
}

const terms: FieldSchemas<PlanTerms> = {
  currencies: listOf(
    "ISO 4217 codes. Every price of the plan is given in each of them.",
    currencyOf("An ISO 4217 code."),
    1,
    PLAN_LIMITS.currencies,
  ),
  interval: reference("PlanInterval"),
  trial: optional(reference("PlanTrial")),
  charges: listOf("What the plan costs.", reference("PlanCharge"), 0, PLAN_LIMITS.charges),
  features: optional(
    mapOf(
      "What the plan includes, by the keys of the features.",
      keyOf("The key of a feature."),
      reference("PlanFeature"),
      PLAN_LIMITS.features,
    ),
  ),
  grants: optional(
    listOf("Credits that the customer gets in each period.", reference("PlanGrant"), 0, PLAN_LIMITS.grants),
  ),
  minimum: optional(prices("The lowest cost of all usage charges together in a full period.")),
  policy: optional(reference("PlanPolicy")),
}

/** The schemas of plans and their parts, by name. */
export const planSchemas: Readonly<Record<string, JsonSchema>> = {
  ...charges,
  ...features,
  PlanPrices: mapOf(
    "A price for each currency, as a decimal in the currency's unit. Of a charge that burns credits, one price, in their unit.",
    {
      type: "string",
      pattern: UNIT_PATTERN,
      maxLength: 64,
      description: "An ISO 4217 code, or a unit of credits.",
    },
    decimal("A price. 0 or more."),
    PLAN_LIMITS.currencies,
  ),
  PlanConvert: objectOf<Convert>("Converts metered units to priced units, such as bytes to gigabytes.", {
    divide_by: decimal("Divides the quantity. Greater than 0."),
    round: optional(
      wordOf(
        "How the converted quantity is rounded to an integer. Default `none`, which keeps fractions.",
        ...ROUNDINGS,
      ),
    ),
  }),
  PriceTier: objectOf<Tier>("A range of quantities with its own price.", tier),
  PackagePriceTier: objectOf<PackageTier>("A tier that is priced in whole packages.", {
    ...tier,
    size: decimal("The units of a package. Greater than 0."),
  }),
  PercentagePriceTier: objectOf<PercentageTier>("A range of amounts with its own rate.", {
    up_to: tier.up_to,
    rate: optional(decimal("The rate in percent. Default 0.")),
    flat: tier.flat,
  }),
  PlanCharge: unionOf("What a plan costs for one thing. `model` says how.", "model", chargeNames),
  PlanFeature: unionOf("What a plan includes. `type` says which kind.", "type", featureNames),
  PlanInterval: objectOf<Interval>("The length of a period: `count` units, at most about three years.", {
    unit: wordOf("The unit.", ...Object.keys(MAX_COUNT)),
    count: integerOf("The number of units.", 1, Math.max(...Object.values(MAX_COUNT))),
  }),
  PlanTrial: objectOf<NonNullable<PlanTerms["trial"]>>("A trial.", {
    days: integerOf("Its length in days.", 1, PLAN_LIMITS.trialDays),
  }),
  PlanRollover: objectOf<Rollover>("Units left at the end of a period that stay usable.", {
    maximum: decimal("The most units that stay. 0 or more."),
    expires_after: optional(reference("PlanInterval")),
  }),
  PlanGrant: objectOf<Grant>("Credits that the customer gets in each period.", {
    unit: {
      type: "string",
      pattern: UNIT_PATTERN,
      maxLength: 64,
      description: "A unit that you define, such as `credits`, or a currency of the plan.",
    },
    amount: decimal("The number of units. Greater than 0."),
    rollover: optional(reference("PlanRollover")),
  }),
  PlanPolicy: objectOf<Policy>("How the plan is billed.", {
    proration: optional(
      wordOf(
        "How a part of a period is measured: in local days (`day`, the default), in milliseconds (`time`), or not (`none`). For all parts of a period, the plan says it that was served first.",
        ...POLICY_CHOICES.proration,
      ),
    ),
    usage_on_change: optional(
      wordOf(
        "Whether the tiers of a meter continue (the default) or start again when the plan changes.",
        ...POLICY_CHOICES.usage_on_change,
      ),
    ),
    grace_hours: optional(
      integerOf(
        "How many hours an invoice waits for late usage after its period. Default 1 for plans with usage.",
        0,
        PLAN_LIMITS.graceHours,
      ),
    ),
    past_due_grace_days: optional(
      integerOf(
        "How many days of 24 hours the features stay while the payment of an invoice of the subscription is late. Default: until the subscription is paused or ends.",
        0,
        PLAN_LIMITS.pastDueGraceDays,
      ),
    ),
  }),
  PlanTerms: objectOf<PlanTerms>("What a version of a plan fixes for good.", terms),
  PlanDefinition: objectOf<PlanDefinition>("A plan with the terms of one version.", {
    key: keyOf("Identifies the plan. It never changes."),
    name: textOf("The name of the plan.", 1, PLAN_LIMITS.name),
    description: optional(textOf("A description of the plan.", 1, PLAN_LIMITS.description)),
    ...terms,
  }),
}
