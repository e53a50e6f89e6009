/**
 * The rules of a charge. All problems are found at once, each with its path.
 */
import { DECIMAL_PATTERN } from "../money/Exact.ts"
import * as Exact from "../money/Exact.ts"
import type { Charge, ChargeModel, ConvertRounding } from "./Charge.ts"
import {
  checkChoice,
  checkKey,
  checkKnown,
  checkPrices,
  checkStorable,
  checkText,
  type Currencies,
  decimalOf,
  type Fields,
  isFields,
  KEY_PATTERN,
  oneOf,
  positiveOf,
} from "./FieldRules.ts"
import type { Problems } from "./Problem.ts"

/**
 * Most tiers of a charge; most dimensions in `where`, and values of each; longest value and key of a dimension, and
 * longest name of a charge, in characters.
 */
export const CHARGE_LIMITS = {
  tiers: 100,
  whereDimensions: 4,
  whereValues: 100,
  dimensionValue: 100,
  dimensionKey: 40,
  name: 200,
} as const

export const ROUNDINGS: ReadonlyArray<ConvertRounding> = ["up", "down", "half_up", "none"]
export const TIMINGS: ReadonlyArray<NonNullable<Charge["timing"]>> = ["advance", "arrears"]

/** The fields of each model, in addition to those of every charge. */
const MODEL_FIELDS: Readonly<Record<ChargeModel, ReadonlyArray<string>>> = {
  flat: ["price"],
  unit: ["price"],
  package: ["price", "size"],
  graduated: ["tiers"],
  volume: ["tiers"],
  graduated_package: ["tiers"],
  percentage: ["rate", "flat", "minimum_per_record", "maximum_per_record"],
  graduated_percentage: ["tiers"],
}

const CHARGE_FIELDS = ["key", "name", "model", "timing", "minimum", "maximum"]
/** The fields of charges with a quantity: of all models but `flat`. */
const QUANTITY_FIELDS = ["meter", "quantity", "free", "convert", "where", "by"]
/** Models whose quantity is money already: they burn no credits. */
const PERCENTAGES: ReadonlyArray<ChargeModel> = ["percentage", "graduated_percentage"]

const TIER_FIELDS: Readonly<Partial<Record<ChargeModel, ReadonlyArray<string>>>> = {
  graduated: ["up_to", "price", "flat"],
  volume: ["up_to", "price", "flat"],
  graduated_package: ["up_to", "price", "flat", "size"],
  graduated_percentage: ["up_to", "rate", "flat"],
}

const isKey = (value: unknown): value is string => typeof value === "string" && KEY_PATTERN.test(value)

const isModel = (value: unknown): value is ChargeModel =>
  typeof value === "string" && Object.hasOwn(MODEL_FIELDS, value)

const checkConvert = (at: Problems, value: unknown): void => {
  if (!isFields(value)) {
    at.add(`must be an object, such as {"divide_by": "1000", "round": "up"}`)
    return
  }
  checkKnown(at, value, ["divide_by", "round"])
  positiveOf(at.in("divide_by"), value["divide_by"])
  if (value["round"] !== undefined) checkChoice(at.in("round"), value["round"], ROUNDINGS)
}

const checkDimensionKey = (at: Problems, value: unknown): void => {
  if (typeof value !== "string" || value.length === 0 || value.length > CHARGE_LIMITS.dimensionKey) {
    at.add(`must be the key of a dimension, 1 to ${CHARGE_LIMITS.dimensionKey} characters`)
  } else checkStorable(at, value)
}

const checkWhere = (at: Problems, value: unknown): void => {
  if (!isFields(value)) {
    at.add(`must give values for each dimension, such as {"region": ["eu"]}`)
    return
  }
  if (Object.keys(value).length > CHARGE_LIMITS.whereDimensions) {
    at.add(`must have at most ${CHARGE_LIMITS.whereDimensions} dimensions`)
  }
  for (const [dimension, values] of Object.entries(value)) {
    const here = at.in(dimension)
    checkDimensionKey(here, dimension)
    if (!Array.isArray(values) || values.length === 0 || values.length > CHARGE_LIMITS.whereValues) {
      here.add(`must be a list of 1 to ${CHARGE_LIMITS.whereValues} values`)
      continue
    }
    for (const [index, one] of values.entries()) {
      const isValue = typeof one === "string" && one.length > 0 && one.length <= CHARGE_LIMITS.dimensionValue
      if (!isValue) here.in(index).add(`must be a text of 1 to ${CHARGE_LIMITS.dimensionValue} characters`)
      else if (values.indexOf(one) !== index) here.in(index).add(`is listed twice: ${JSON.stringify(one)}`)
      else checkStorable(here.in(index), one)
    }
  }
}

const checkTier = (at: Problems, tier: Fields, model: ChargeModel, currencies: Currencies): void => {
  checkKnown(at, tier, TIER_FIELDS[model] ?? [])
  if (tier["price"] !== undefined) checkPrices(at.in("price"), tier["price"], currencies)
  if (tier["flat"] !== undefined) checkPrices(at.in("flat"), tier["flat"], currencies)
  if (model === "graduated_package") positiveOf(at.in("size"), tier["size"])
  if (model === "graduated_percentage" && tier["rate"] !== undefined) decimalOf(at.in("rate"), tier["rate"])
}

/** Every tier but the last must have an end, which must be greater than that of the tier before. */
const checkTiers = (at: Problems, value: unknown, model: ChargeModel, currencies: Currencies): void => {
  if (!Array.isArray(value) || value.length === 0 || value.length > CHARGE_LIMITS.tiers) {
    at.add(value === undefined ? "is required" : `must be a list of 1 to ${CHARGE_LIMITS.tiers} tiers`)
    return
  }
  let end = Exact.zero
  for (const [index, tier] of (value as ReadonlyArray<unknown>).entries()) {
    const here = at.in(index)
    if (!isFields(tier)) {
      here.add("must be an object")
      continue
    }
    checkTier(here, tier, model, currencies)
    const upTo = tier["up_to"]
    if (index === value.length - 1) {
      if (upTo !== undefined) here.in("up_to").add("must be left out: the last tier has no end")
    } else if (upTo === undefined) {
      here.in("up_to").add("is required: only the last tier has no end")
    } else {
      const bound = decimalOf(here.in("up_to"), upTo)
      if (bound === undefined) continue
      if (Exact.compare(bound, end) <= 0) here.in("up_to").add(`must be greater than ${Exact.text(end)}`)
      else end = bound
    }
  }
}

/** The minimum must not be greater than the maximum. */
const checkBounds = (at: Problems, charge: Fields, least: string, most: string): void => {
  const [low, high] = [charge[least], charge[most]]
  if (!isFields(low) || !isFields(high)) return
  for (const [currency, price] of Object.entries(low)) {
    const other = high[currency]
    const isBoth = [price, other].every((one) => typeof one === "string" && DECIMAL_PATTERN.test(one))
    if (isBoth && Exact.compare(Exact.ofDecimal(String(price)), Exact.ofDecimal(String(other))) > 0) {
      at.in(least)
        .in(currency)
        .add(`must not be greater than ${most}, ${String(other)}`)
    }
  }
}

const checkModel = (at: Problems, charge: Fields, model: ChargeModel, currencies: Currencies): void => {
  switch (model) {
    case "flat":
    case "unit":
      checkPrices(at.in("price"), charge["price"], currencies)
      break
    case "package":
      checkPrices(at.in("price"), charge["price"], currencies)
      positiveOf(at.in("size"), charge["size"])
      break
    case "percentage":
      decimalOf(at.in("rate"), charge["rate"])
      for (const field of ["flat", "minimum_per_record", "maximum_per_record"]) {
        if (charge[field] !== undefined) checkPrices(at.in(field), charge[field], currencies)
      }
      checkBounds(at, charge, "minimum_per_record", "maximum_per_record")
      break
    default:
      checkTiers(at.in("tiers"), charge["tiers"], model, currencies)
  }
}

/** Checks the fields that change a quantity before it is priced. */
const checkPricedQuantity = (at: Problems, charge: Fields): void => {
  if (charge["free"] !== undefined) decimalOf(at.in("free"), charge["free"])
  if (charge["convert"] !== undefined) checkConvert(at.in("convert"), charge["convert"])
}

/** Checks the fields that say where a quantity comes from. */
const checkSource = (at: Problems, charge: Fields): void => {
  if (charge["meter"] !== undefined) checkKey(at.in("meter"), charge["meter"])
  if (charge["quantity"] !== undefined) checkKey(at.in("quantity"), charge["quantity"])
  if ((charge["meter"] === undefined) === (charge["quantity"] === undefined)) {
    if (charge["meter"] === undefined)
      at.in("meter").add("is required (or quantity): a charge needs one of them")
    else at.in("quantity").add("must be left out: a charge has either a meter or a quantity")
  }
  for (const field of ["where", "by"]) {
    if (charge[field] !== undefined && charge["meter"] === undefined) {
      at.in(field).add("needs a meter: it uses the dimensions of a meter")
    }
  }
  if (charge["where"] !== undefined) checkWhere(at.in("where"), charge["where"])
  if (charge["by"] !== undefined) checkDimensionKey(at.in("by"), charge["by"])
  if (charge["burns"] !== undefined && charge["meter"] === undefined)
    at.in("burns").add("needs a meter: only usage burns credits")
}

/** In what the prices of a charge are: in the currencies of the plan, or in the unit that it burns alone. */
const pricesOf = (burns: unknown, currencies: Currencies): Currencies => {
  if (burns === undefined) return currencies
  return isKey(burns)
    ? { required: [burns], areAll: true, what: "the unit that the charge burns" }
    : { required: [], areAll: false }
}

const checkTiming = (at: Problems, charge: Fields): void => {
  const timing = charge["timing"]
  if (timing === undefined) return
  checkChoice(at.in("timing"), timing, TIMINGS)
  if (timing === "advance" && charge["meter"] !== undefined) {
    at.in("timing").add("must be arrears: usage is known after its period")
  }
}

/**
 * Reports problems of the fields that a price is computed from: the model with its parameters, free units, conversion,
 * minimum and maximum. A minimum above the maximum can be priced: it comes last, so it wins. Plans don't allow it.
 */
export const checkPricing = (at: Problems, value: unknown, currencies: Currencies): value is Charge => {
  const before = at.found.length
  if (!isFields(value)) {
    at.add("must be an object")
    return false
  }
  const model = value["model"]
  if (!isModel(model)) {
    at.in("model").add(model === undefined ? "is required" : oneOf(Object.keys(MODEL_FIELDS)))
    return false
  }
  checkKnown(at, value, [
    ...CHARGE_FIELDS,
    ...(model === "flat" ? [] : QUANTITY_FIELDS),
    ...(model === "flat" || PERCENTAGES.includes(model) ? [] : ["burns"]),
    ...MODEL_FIELDS[model],
  ])
  if (model !== "flat") checkPricedQuantity(at, value)
  const { burns } = value
  if (burns !== undefined) checkKey(at.in("burns"), burns)
  const prices = pricesOf(burns, currencies)
  checkModel(at, value, model, prices)
  for (const bound of ["minimum", "maximum"]) {
    if (value[bound] !== undefined) checkPrices(at.in(bound), value[bound], prices)
  }
  return at.found.length === before
}

/** Reports all problems of a charge of a plan with these currencies. */
export const checkCharge = (at: Problems, value: unknown, currencies: Currencies): value is Charge => {
  const isPriced = checkPricing(at, value, currencies)
  if (!isFields(value)) return false
  const before = at.found.length
  checkBounds(at, value, "minimum", "maximum")
  checkKey(at.in("key"), value["key"])
  if (value["name"] !== undefined) checkText(at.in("name"), value["name"], CHARGE_LIMITS.name)
  checkTiming(at, value)
  if (isModel(value["model"]) && value["model"] !== "flat") checkSource(at, value)
  return isPriced && at.found.length === before
}
