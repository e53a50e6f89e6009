/**
 * Taxes by a table that the host gives: rates by country, exemption, and reverse charge.
 */
import { checkKey, checkKnown, type Fields, isFields, oneOf } from "../catalog/FieldRules.ts"
import { type Problem, Problems } from "../catalog/Problem.ts"
import { InvoiceError } from "./InvoiceError.ts"
import {
  checkTaxRate,
  CUSTOMER_EXEMPT,
  isCountry,
  type TaxBehavior,
  type TaxCategory,
  type TaxCustomer,
  type TaxLine,
  type TaxQuote,
  type TaxRate,
  type TaxRequest,
} from "./Tax.ts"

/** The rate of a country for a tax code. */
export interface TaxTableRate {
  readonly country: string
  /** Default: `standard`. */
  readonly code?: string
  /** Default: `S` for a rate above 0, and `Z` for 0. */
  readonly category?: TaxCategory
  /** In percent, such as `"19"`. */
  readonly rate: string
  /** The first local date of the rate, such as `2025-07-01`. Default: since ever. Of several, the last applies. */
  readonly from?: string
  /** Why there is no tax. Required for the categories `E`, `AE`, `K`, `G` and `O`. */
  readonly reason?: string
}

/** A table of taxes. */
export interface TaxTable {
  readonly behavior: TaxBehavior
  /** The seller's country. */
  readonly seller: string
  readonly rates: ReadonlyArray<TaxTableRate>
  /** Countries whose businesses owe the tax themselves when the seller is in another of them, such as those of the EU. */
  readonly union?: ReadonlyArray<string>
  /** The tax codes of goods. All others are services. Across borders, goods have other categories than services. */
  readonly goods?: ReadonlyArray<string>
}

/** The tax code of lines that have none. */
export const STANDARD_TAX_CODE = "standard"

/** Most rates of a table. */
const MAX_TAX_RATES = 5_000

/** Texts and codes of reasons (VATEX list of the EU) for what the table decides by itself. */
const NO_TAX = {
  exempt: { category: "E", reason: CUSTOMER_EXEMPT },
  reverseCharge: { category: "AE", reason: "VATEX-EU-AE" },
  goodsInUnion: { category: "K", reason: "VATEX-EU-IC" },
  export: { category: "G", reason: "VATEX-EU-G" },
  outside: { category: "O", reason: "VATEX-EU-O" },
} as const

const noTax = (why: keyof typeof NO_TAX, country: string | null): TaxRate => ({
  ...NO_TAX[why],
  rate: "0",
  country,
})

const rowRate = ({ category, country, rate, reason }: TaxTableRate): TaxRate => ({
  category: category ?? (/^[0.]+$/.test(rate) ? "Z" : "S"),
  rate,
  country,
  reason: reason ?? null,
})

/** The rate of a country for a code on a date. `undefined` when the table has none. */
const rateIn = (table: TaxTable, country: string, code: string, date: string): TaxRate | undefined => {
  let found: TaxTableRate | undefined
  for (const row of table.rates) {
    if (row.country !== country || (row.code ?? STANDARD_TAX_CODE) !== code) continue
    const from = row.from ?? ""
    if (from <= date && (found === undefined || from > (found.from ?? ""))) found = row
  }
  return found === undefined ? undefined : rowRate(found)
}

/**
 * The rate of one line. Rules, in order: an exempt customer has no tax; a customer without a country counts as one in
 * the seller's; a customer with status `reverse_charge`, or with a tax id in another country of the union, owes the tax
 * itself; then the rate of the customer's country; a country outside of the union without a rate is not taxed.
 */
const rateOf = (
  table: TaxTable,
  { country: given, taxId, taxStatus }: TaxCustomer,
  line: TaxLine,
  date: string,
): TaxRate | undefined => {
  const country = given ?? table.seller
  const code = line.taxCode ?? STANDARD_TAX_CODE
  const isGoods = table.goods?.includes(code) === true
  const union = table.union ?? []
  const isAbroad = country !== table.seller
  const isBusinessInUnion =
    isAbroad && taxId !== null && union.includes(country) && union.includes(table.seller)
  if (taxStatus === "exempt") return noTax("exempt", country)
  if (isBusinessInUnion) return noTax(isGoods ? "goodsInUnion" : "reverseCharge", country)
  if (taxStatus === "reverse_charge") return noTax("reverseCharge", country)
  const rate = rateIn(table, country, code, date)
  if (rate !== undefined || !isAbroad || union.includes(country)) return rate
  return noTax(isGoods ? "export" : "outside", country)
}

/**
 * The rates of the lines of a request by a table. Throws an {@link InvoiceError} that names each line whose country and
 * tax code are not in the table.
 */
export const quoteByTable = (table: TaxTable, request: TaxRequest): TaxQuote => {
  const at = new Problems("lines")
  const rates: Array<readonly [id: string, rate: TaxRate]> = []
  for (const line of request.lines) {
    const rate = rateOf(table, request.customer, line, request.taxPoint)
    if (rate !== undefined) rates.push([line.id, rate])
    else {
      const country = request.customer.country ?? table.seller
      const code = JSON.stringify(line.taxCode ?? STANDARD_TAX_CODE)
      at.in(line.id).add(
        `has no tax rate: add one for ${country} and code ${code} on ${request.taxPoint} to the table`,
      )
    }
  }
  if (at.found.length > 0) throw new InvoiceError(at.found)
  return { behavior: table.behavior, rates: Object.fromEntries(rates) }
}

const DATE_PATTERN = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const BEHAVIORS: ReadonlyArray<TaxBehavior> = ["exclusive", "inclusive"]
/** Categories whose invoices must say why there is no tax. */
const NEED_REASON: ReadonlyArray<unknown> = ["E", "AE", "K", "G", "O"]

/** Checks one row, and that no other row is for the same country, code and date. */
const checkRow = (at: Problems, row: Fields, seen: Set<string>): void => {
  checkKnown(at, row, ["country", "code", "category", "rate", "from", "reason"])
  const { category, code, country, from, rate, reason } = row
  if (!isCountry(country)) at.in("country").add("must be two upper-case letters")
  if (code !== undefined) checkKey(at.in("code"), code)
  if (from !== undefined && (typeof from !== "string" || !DATE_PATTERN.test(from))) {
    at.in("from").add("must be a date, such as 2025-07-01")
  }
  const isZero = typeof rate === "string" && /^[0.]+$/.test(rate)
  const stated = { country: null, rate, reason: reason ?? null, category: category ?? (isZero ? "Z" : "S") }
  checkTaxRate(at, stated)
  if (NEED_REASON.includes(category) && reason === undefined) {
    at.in("reason").add(`is required in category ${String(category)}`)
  }
  const identity = JSON.stringify([country, code ?? STANDARD_TAX_CODE, from ?? null])
  if (seen.has(identity)) at.add("is for the same country, code and date as another rate")
  seen.add(identity)
}

const checkRows = (at: Problems, rows: unknown): void => {
  if (!Array.isArray(rows) || rows.length > MAX_TAX_RATES) {
    at.add(rows === undefined ? "is required" : `must be a list of at most ${MAX_TAX_RATES} rates`)
    return
  }
  const seen = new Set<string>()
  for (const [index, row] of (rows as ReadonlyArray<unknown>).entries()) {
    if (isFields(row)) checkRow(at.in(index), row, seen)
    else at.in(index).add("must be an object")
  }
}

const checkList = (at: Problems, list: unknown, isOne: (one: unknown) => boolean, rule: string): void => {
  if (list === undefined) return
  if (!Array.isArray(list) || list.length > MAX_TAX_RATES) {
    at.add(`must be a list of at most ${MAX_TAX_RATES}`)
    return
  }
  for (const [index, one] of (list as ReadonlyArray<unknown>).entries())
    if (!isOne(one)) at.in(index).add(rule)
}

const checkTable = (at: Problems, table: Fields): void => {
  checkKnown(at, table, ["behavior", "seller", "rates", "union", "goods"])
  if (!BEHAVIORS.some((one) => one === table["behavior"])) at.in("behavior").add(oneOf(BEHAVIORS))
  if (!isCountry(table["seller"])) at.in("seller").add("must be two upper-case letters")
  checkRows(at.in("rates"), table["rates"])
  checkList(at.in("union"), table["union"], isCountry, "must be two upper-case letters")
  checkList(at.in("goods"), table["goods"], (one) => typeof one === "string", "must be a tax code")
}

/** All problems of a table of taxes, each with its path. Empty when there are none. */
export const problemsOfTaxTable = (table: unknown): ReadonlyArray<Problem> => {
  const at = new Problems()
  if (isFields(table)) checkTable(at, table)
  else at.in("table").add("must be an object")
  return at.found
}
