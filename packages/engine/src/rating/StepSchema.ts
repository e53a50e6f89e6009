/**
 * The JSON Schemas of the steps of a rating, for documents of APIs. The compiler compares their fields with the types.
 */
import { ROUNDINGS } from "../catalog/ChargeRules.ts"
import {
  type FieldSchemas,
  integerOf,
  type JsonSchema,
  objectOf,
  textOf,
  unionOf,
  wordOf,
} from "../catalog/ObjectSchema.ts"
import type { Step } from "./Step.ts"

/** The longest exact text of a step, in characters. */
const MAX_TEXT_LENGTH = 2_000
/** The most digits of a minor unit, and the most decimals of a unit of credits. */
const MAX_DIGITS = 6
/** The longest id of an invoice or a line, in characters. */
const MAX_ID_LENGTH = 512

const exact = (description: string): JsonSchema => textOf(description, 1, MAX_TEXT_LENGTH)
const amount = exact("The amount, in the currency's unit.")
const amountSoFar = exact("The amount after this step, in the currency's unit.")
const quantity = exact("The quantity that is priced.")
const pricedQuantity = exact("The quantity after this step.")
const price = exact("The price, in the currency's unit.")
const flat = exact("The flat fee, in the currency's unit.")
const rate = exact("The rate in percent.")
const money = exact("The part of the quantity, as money in the currency's unit.")
const packages = exact("The number of packages.")
const size = exact("The units of a package.")
const records = exact("The number of records.")
const orNull = (schema: JsonSchema, description: string): JsonSchema => ({
  anyOf: [schema, { type: "null" }],
  description,
})
const id = (description: string): JsonSchema => textOf(description, 1, MAX_ID_LENGTH)
const range = {
  from: exact("The tier begins above this quantity. The first includes 0."),
  up_to: orNull(exact("A quantity."), "The end of the tier, which is part of it. `null` for the last tier."),
}

type Kind = Step["type"]
type StepOf<Type extends Kind> = Omit<Extract<Step, { readonly type: Type }>, "type">
type Kinds = { readonly [Type in Kind]: readonly [description: string, fields: FieldSchemas<StepOf<Type>>] }
type FieldsOfBound = FieldSchemas<Pick<Extract<Step, { per_period: string }>, "amount" | "per_period">>

const bound: FieldsOfBound = {
  per_period: exact("The bound of a full period, in the currency's unit."),
  amount: exact("The bound for the served part of the period, which replaces the amount so far."),
}
const recordBound = { records, price, amount }

/** What each kind of step does, and its fields. */
const kinds = {
  aggregate: ["The quantity of the meter or of the subscription.", { quantity: pricedQuantity }],
  convert: [
    "The quantity is divided, then rounded to an integer unless `round` is `none`.",
    {
      divide_by: exact("Divides the quantity."),
      round: wordOf("How it is rounded.", ...ROUNDINGS),
      quantity: pricedQuantity,
    },
  ],
  free: [
    "Free units are taken from the quantity.",
    { free: exact("The free units that were used."), quantity: pricedQuantity },
  ],
  flat: ["A flat fee.", { amount }],
  unit: ["The amount is `quantity × price`.", { quantity, price, amount }],
  package: ["The amount is `packages × price`.", { quantity, size, packages, price, amount }],
  tier: [
    "A tier's part of the quantity. The amount is `quantity × price + flat`.",
    { ...range, quantity, price, flat, amount },
  ],
  package_tier: [
    "A tier's part of the quantity, in packages. The amount is `packages × price + flat`.",
    { ...range, quantity, size, packages, price, flat, amount },
  ],
  percent: ["The amount is `money × rate / 100 + records × flat`.", { money, rate, records, flat, amount }],
  percent_tier: [
    "A tier's part of an amount of money. The amount is `money × rate / 100 + flat`.",
    { ...range, money, rate, flat, amount },
  ],
  record_minimum: ["Records below the minimum of a record. The amount is `records × price`.", recordBound],
  record_maximum: ["Records above the maximum of a record. The amount is `records × price`.", recordBound],
  share: [
    "The amount so far × `numerator / denominator`, the part of the period that was served.",
    {
      numerator: exact("The numerator of the part."),
      denominator: exact("The denominator of the part."),
      amount: amountSoFar,
    },
  ],
  discount: [
    "The amount so far minus a percentage of it.",
    { percent: exact("The percentage."), amount: amountSoFar },
  ],
  maximum: ["The amount so far was above the maximum of the charge.", bound],
  minimum: ["The amount so far was below the minimum of the charge.", bound],
  round: [
    "The amount so far, rounded to the minor unit, halves away from zero.",
    { digits: integerOf("The digits of the minor unit.", 0, MAX_DIGITS), amount: amountSoFar },
  ],
  already_billed: [
    "What an earlier document billed for the same period is subtracted, or what is not part of the line.",
    {
      invoice: orNull(
        id("Its id."),
        "The invoice. `null` for what is not part of the line, and when only a sum was given.",
      ),
      line: orNull(
        id("Its id."),
        "Its line. `null` for what is not part of the line, and when only a sum was given.",
      ),
      billed: exact("What is subtracted, in the currency's unit."),
      amount: exact("The amount that is left, in the currency's unit."),
    },
  ],
  burn: [
    "The amount so far is credits of a unit. They are burnt, and nothing of it is money: the amount is 0.",
    {
      unit: exact("The unit of the credits."),
      credits: exact("The credits, in the unit. Below 0: they are given back."),
      amount: exact("The amount of money that is left: 0."),
    },
  ],
} satisfies Kinds

const nameOf = (kind: string): string =>
  `${kind.replaceAll(/(?:^|_)[a-z]/g, (letter) => letter.replace("_", "").toUpperCase())}Step`

/** The schemas of steps, by name. */
export const stepSchemas: Readonly<Record<string, JsonSchema>> = {
  ...Object.fromEntries(
    Object.entries(kinds).map(([kind, [description, fields]]) => [
      nameOf(kind),
      objectOf<{ type: string }>(description, { type: wordOf("The kind of step.", kind), ...fields }),
    ]),
  ),
  RatingStep: unionOf(
    "A step of a computation. `type` says which. Numbers are exact texts: decimals, or fractions in lowest terms when no decimal is exact.",
    "type",
    Object.fromEntries(Object.keys(kinds).map((kind) => [kind, nameOf(kind)])),
  ),
}
