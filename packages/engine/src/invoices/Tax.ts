/**
 * Taxes: what a tax service is asked and answers, and the tax of lines by EN 16931.
 */
import { checkText, type Fields, isFields, oneOf } from "../catalog/FieldRules.ts"
import { type Problem, Problems } from "../catalog/Problem.ts"
import * as Exact from "../money/Exact.ts"
import { percentOf } from "./Amounts.ts"
import { refuse } from "./InvoiceError.ts"

/**
 * The VAT category of EN 16931 (UNCL 5305). `S`: a rate above 0. `Z`: a rate of 0. `E`: exempt. `AE`: reverse charge, the
 * customer owes the tax. `K`: goods to a business in another country of the EU. `G`: goods to a country outside. `O`:
 * not subject to VAT.
 */
export type TaxCategory = "S" | "Z" | "E" | "AE" | "K" | "G" | "O"

const TAX_CATEGORIES: ReadonlyArray<TaxCategory> = ["S", "Z", "E", "AE", "K", "G", "O"]

/** The rate that one line is taxed at. */
export interface TaxRate {
  readonly category: TaxCategory
  /** In percent, such as `"19"` or `"5.5"`. Above 0 for category `S`, and 0 for all others. */
  readonly rate: string
  /** The country that gets the tax, two upper-case letters. `null` where none does. */
  readonly country: string | null
  /** Why there is no tax: a text, or a code such as `VATEX-EU-AE`. `null` for `S` and `Z`. */
  readonly reason: string | null
}

/** `exclusive`: amounts are without tax, which is added. `inclusive`: amounts contain their tax. */
export type TaxBehavior = "exclusive" | "inclusive"

/**
 * How a customer stands to taxes. `taxable`: by the rules of its country. `exempt`: never taxed, such as an embassy.
 * `reverse_charge`: a business that owes the tax itself.
 */
export type TaxStatus = "taxable" | "exempt" | "reverse_charge"

/** What a tax service is told about the customer. */
export interface TaxCustomer {
  /** ISO 3166-1, two upper-case letters. */
  readonly country: string | null
  /** The tax id that the customer gave, checked by whoever stored it. */
  readonly taxId: string | null
  readonly taxStatus: TaxStatus
}

/** A line that a rate is asked for. */
export interface TaxLine {
  readonly id: string
  readonly taxCode: string | null
  /** The amount after discounts, in the minor unit. */
  readonly amount: bigint
}

/** What a tax service is asked. The same request always gets the same answer, so its canonical text identifies it. */
export interface TaxRequest {
  readonly currency: string
  /** The local date whose rates apply, such as `2026-11-22`. */
  readonly taxPoint: string
  readonly customer: TaxCustomer
  readonly lines: ReadonlyArray<TaxLine>
}

/** The answer: a rate for each line that was asked about, by the id of the line. */
export interface TaxQuote {
  readonly behavior: TaxBehavior
  readonly rates: Readonly<Record<string, TaxRate>>
}

/** Tax at one rate, on one document. */
export interface Tax extends TaxRate {
  /** The sum of the net amounts of the lines at this rate. */
  readonly taxable: bigint
  readonly amount: bigint
}

/** The form of a country's code. */
const COUNTRY_PATTERN = /^[A-Z]{2}$/
/** The form of a rate in percent. Nothing is taxed at more than 999.9999 percent. */
const RATE_PATTERN = /^\d{1,3}(?:\.\d{1,4})?$/
/** The reason of lines that nobody taxes, because the host has said nothing about taxes. */
export const NOT_TAXED = "Not subject to tax"
/** The reason of lines of drafts until their tax is known. */
export const TAX_NOT_KNOWN = "The tax is not known yet"
/** The reason of customers who are exempt. */
export const CUSTOMER_EXEMPT = "The customer is exempt from tax"

/** Longest reason why there is no tax, in characters. */
const MAX_REASON_LENGTH = 500

export const isCountry = (value: unknown): boolean => typeof value === "string" && COUNTRY_PATTERN.test(value)

/** Checks the fields of a rate: its form, and that only category `S` has a rate above 0. */
export const checkTaxRate = (at: Problems, fields: Fields): void => {
  const { category, country, rate, reason } = fields
  if (!TAX_CATEGORIES.some((one) => one === category)) at.in("category").add(oneOf(TAX_CATEGORIES))
  if (typeof rate !== "string" || !RATE_PATTERN.test(rate)) {
    at.in("rate").add(`must be a percentage in a string, such as "19", with at most 4 digits after the point`)
  } else if (category === "S" && Exact.isZero(Exact.ofDecimal(rate))) {
    at.in("rate").add("must be greater than 0 in category S: a rate of 0 is category Z")
  } else if (category !== "S" && !Exact.isZero(Exact.ofDecimal(rate))) {
    at.in("rate").add(`must be 0 in category ${String(category)}`)
  }
  if (country !== null && !isCountry(country)) at.in("country").add("must be two upper-case letters, or null")
  if (reason !== null) checkText(at.in("reason"), reason, MAX_REASON_LENGTH)
}

/** The problems of an answer to a request: a line without a rate, or a rate that breaks a rule. */
export const problemsOfQuote = (
  request: Pick<TaxRequest, "lines">,
  quote: TaxQuote,
): ReadonlyArray<Problem> => {
  const at = new Problems("rates")
  for (const { id } of request.lines) {
    const rate: unknown = Object.hasOwn(quote.rates, id) ? quote.rates[id] : undefined
    if (isFields(rate)) checkTaxRate(at.in(id), rate)
    else at.in(id).add("is required: the tax service gave no rate for this line")
  }
  return at.found
}

const BEHAVIORS: ReadonlyArray<unknown> = ["exclusive", "inclusive"]

/**
 * The answer of a tax service to a request, with the rates of its lines and nothing else. Throws an {@link InvoiceError}
 * when the answer is no quote, a line has no rate, or a rate breaks a rule.
 */
export const quoteOf = (request: Pick<TaxRequest, "lines">, answer: unknown): TaxQuote => {
  const at = new Problems()
  const { behavior, rates }: Fields = isFields(answer) ? answer : {}
  if (!BEHAVIORS.includes(behavior)) at.in("behavior").add("must be exclusive or inclusive")
  if (!isFields(rates)) at.in("rates").add("must be an object of rates, by the ids of the lines")
  refuse(at.found)
  const quote = { behavior, rates } as TaxQuote
  refuse(problemsOfQuote(request, quote))
  const rateOf = (id: string): TaxRate => {
    const { category, country, rate, reason } = quote.rates[id]!
    return { category, rate, country, reason }
  }
  return {
    behavior: quote.behavior,
    rates: Object.fromEntries(request.lines.map(({ id }) => [id, rateOf(id)])),
  }
}

/** Rates with the same key are taxed together: same category, same rate, same country. */
export const taxKey = ({ category, country, rate }: TaxRate): string =>
  `${category} ${Exact.text(Exact.ofDecimal(rate))} ${country ?? ""}`

const HUNDRED = Exact.ofInteger(100n)

/** The net amount of a gross amount that contains its tax: gross × 100 / (100 + rate), rounded once. */
export const netOfGross = (gross: bigint, rate: string): bigint =>
  Exact.roundTo(
    Exact.quotient(
      Exact.multiply(Exact.ofInteger(gross), HUNDRED),
      Exact.add(HUNDRED, Exact.ofDecimal(rate)),
    ),
    0,
  )

/** An amount with the rate that it is taxed at. The amount contains the tax if the behaviour is `inclusive`. */
export interface Taxed {
  readonly amount: bigint
  readonly tax: TaxRate
}

/** The sum of the amounts at one rate. */
interface RateGroup {
  readonly rate: TaxRate
  readonly amount: bigint
}

/** Adds the amounts up by rate, in the order in which the rates come first. */
const groupsOf = (amounts: ReadonlyArray<Taxed>): ReadonlyMap<string, RateGroup> => {
  const groups = new Map<string, RateGroup>()
  for (const { amount, tax } of amounts) {
    const key = taxKey(tax)
    const group = groups.get(key)
    groups.set(key, { rate: group?.rate ?? tax, amount: (group?.amount ?? 0n) + amount })
  }
  return groups
}

/** What an amount of one rate comes to. */
const taxOf = (amount: bigint, rate: TaxRate, behavior: TaxBehavior): Tax => {
  const taxable = behavior === "exclusive" ? amount : netOfGross(amount, rate.rate)
  return {
    ...rate,
    taxable,
    amount: behavior === "exclusive" ? percentOf(amount, rate.rate) : amount - taxable,
  }
}

/**
 * The taxes of amounts, one for each rate: the amounts are summed, then the tax is rounded once. Three amounts of 0.33
 * at 20 percent carry 0.20.
 */
export const taxesOf = (amounts: ReadonlyArray<Taxed>, behavior: TaxBehavior): ReadonlyArray<Tax> =>
  [...groupsOf(amounts).values()].map(({ amount, rate }) => taxOf(amount, rate, behavior))

/** The net amount and the tax of one amount. */
export interface TaxPart {
  readonly net: bigint
  readonly tax: bigint
}

/**
 * The net amount and the tax of each amount, in order. The parts of a rate sum to its {@link taxesOf}: a part is what
 * the amounts so far come to, less what those before it came to. So it is less than one unit from its exact value, and
 * it has the sign of its amount or is 0.
 */
export const taxParts = (amounts: ReadonlyArray<Taxed>, behavior: TaxBehavior): ReadonlyArray<TaxPart> => {
  const before = new Map<string, Tax & { readonly sum: bigint }>()
  return amounts.map(({ amount, tax }) => {
    const key = taxKey(tax)
    const last = before.get(key)
    const sum = (last?.sum ?? 0n) + amount
    const next = taxOf(sum, tax, behavior)
    before.set(key, { ...next, sum })
    return { net: next.taxable - (last?.taxable ?? 0n), tax: next.amount - (last?.amount ?? 0n) }
  })
}
