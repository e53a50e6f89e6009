/**
 * Exact amounts of money. The API has integers of the minor unit, and exact texts in the currency's unit.
 */
import type { WireInteger } from "./Quantity.ts"

const DEFAULT_DIGITS = 2
/** ISO 4217 codes whose minor unit doesn't have two digits. A test compares them with those of the engine. */
const OTHER_DIGITS: Readonly<Record<number, string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
}

const digits: ReadonlyMap<string, number> = new Map(
  Object.entries(OTHER_DIGITS).flatMap(([count, codes]) =>
    codes.split(" ").map((code) => [code, Number(count)] as const),
  ),
)

/** The number of digits of the minor unit: 2 for EUR, 0 for JPY. */
export const digitsOf = (currency: string): number => digits.get(currency) ?? DEFAULT_DIGITS

/** An integer of the smallest part as a decimal with so many digits after the point: `12.50`. */
export const decimalWith = (amount: WireInteger, count: number): string => {
  const value = BigInt(amount)
  const text = (value < 0n ? -value : value).toString().padStart(count + 1, "0")
  const whole = text.slice(0, text.length - count)
  return `${value < 0n ? "-" : ""}${whole}${count === 0 ? "" : `.${text.slice(-count)}`}`
}

/** An amount of the minor unit as a decimal: `12.50`. */
export const decimalOf = (amount: WireInteger, currency: string): string =>
  decimalWith(amount, digitsOf(currency))

const formats = new Map<string, Intl.NumberFormat>()

/** The digits are given, because those of `Intl` are not those of ISO 4217. */
const formatOf = (currency: string, count: number): Intl.NumberFormat => {
  const key = `${currency}${count}`
  const known = formats.get(key)
  if (known !== undefined) return known
  const made = new Intl.NumberFormat("en-GB", {
    style: "currency",
    currency,
    minimumFractionDigits: count,
    maximumFractionDigits: count,
  })
  formats.set(key, made)
  return made
}

/** A decimal is formatted exactly when it is a text, which the types of TypeScript don't say of every text. */
const formatExactly = (format: Intl.NumberFormat, decimal: string): string =>
  format.format(decimal as `${number}`)

/** An amount of the minor unit for people: `€1,234.50`, `-¥500`. */
export const format = (amount: WireInteger, currency: string): string =>
  formatExactly(formatOf(currency, digitsOf(currency)), decimalOf(amount, currency))

/** Anything else is a unit of credits. */
const CURRENCY = /^[A-Z]{3}$/
const DECIMAL = /^-?\d+(?:\.(\d+))?$/
/** The most digits after the point that `Intl` formats. */
const MAX_FORMATTED_DIGITS = 100

/**
 * An exact text in the currency's unit for people: `€0.002`. It has all its digits, and at least those of the minor unit.
 * A fraction stays as it is: `10/3 EUR`, and so do credits: `0.5 credits`.
 */
export const formatExact = (text: string, currency: string): string => {
  if (!CURRENCY.test(currency)) return `${text} ${currency}`
  const match = DECIMAL.exec(text)
  const count = match?.[1]?.length ?? 0
  if (match === null || count > MAX_FORMATTED_DIGITS) return `${text} ${currency}`
  return formatExactly(formatOf(currency, Math.max(digitsOf(currency), count)), text)
}

/** Commas may only stand between thousands. Elsewhere somebody may mean a point: `12,50` must not become 1250. */
const TYPED = /^(\d{1,30}|\d{1,3}(?:,\d{3}){1,9})(?:\.(\d*))?$/

/** Reads a number that somebody typed, with at most so many digits after the point, as an integer of the smallest part. */
export const parseWith = (text: string, count: number): bigint | undefined => {
  const match = TYPED.exec(text.trim())
  const fraction = (match?.[2] ?? "").replace(/0+$/, "")
  if (match === null || fraction.length > count) return undefined
  return BigInt(`${match[1]?.replaceAll(",", "")}${fraction.padEnd(count, "0")}`)
}

/** Reads an amount that somebody typed in the currency's unit, as an integer of the minor unit. */
export const parse = (text: string, currency: string): bigint | undefined =>
  parseWith(text, digitsOf(currency))

/** What an amount that somebody types is read as, to stand after a hint: ` = €1,234.00`. Empty while it can't be read. */
export const readAs = (text: string, currency: string): string => {
  const amount = CURRENCY.test(currency) ? parse(text, currency) : undefined
  return amount === undefined ? "" : ` = ${format(amount, currency)}`
}
