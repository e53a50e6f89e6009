/**
 * Amounts as Stripe counts them. Billwright counts in the minor unit of ISO 4217; Stripe has other units for some
 * currencies, and does not take every amount.
 */
import type { Chargeable, Money } from "@billwright/core"

/** The currencies that Stripe takes payments in. */
const CURRENCIES =
  "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY " +
  "COP CRC CVE CZK DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD " +
  "JOD JPY KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD " +
  "NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD STN SZL " +
  "THB TJS TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW"

/** Stripe's units of one unit of ISO 4217: these have no minor unit there, and two digits at Stripe. */
const TIMES_100 = "ISK UGX"
/** The other way round: two digits there, and none at Stripe. */
const DIVIDED_BY_100 = "MGA"
/** Three digits, of which the last one has to be 0. */
const THREE_DIGITS = "BHD JOD KWD OMR TND"

/** The largest amount, in Stripe's units: eight digits, and twelve where a unit is worth that little. */
const MAXIMUM = 99_999_999n
const MAXIMUMS: Readonly<Record<string, bigint>> = { IDR: 999_999_999_999n }

/**
 * The smallest amounts that Stripe documents, in its units. For another currency it depends on the account, and Stripe
 * refuses the payment when it is opened.
 */
const MINIMUMS: Readonly<Record<string, bigint>> = {
  AED: 200n,
  AUD: 50n,
  BGN: 100n,
  BRL: 50n,
  CAD: 50n,
  CHF: 50n,
  CZK: 1_500n,
  DKK: 250n,
  EUR: 50n,
  GBP: 30n,
  HKD: 400n,
  HUF: 17_500n,
  INR: 50n,
  JPY: 50n,
  MXN: 1_000n,
  MYR: 200n,
  NOK: 300n,
  NZD: 50n,
  PLN: 200n,
  RON: 200n,
  SEK: 300n,
  SGD: 50n,
  THB: 1_000n,
  USD: 50n,
}

const among = (codes: string): ReadonlySet<string> => new Set(codes.split(" "))

const supported = among(CURRENCIES)
const multiplied = among(TIMES_100)
const divided = among(DIVIDED_BY_100)
const threeDigits = among(THREE_DIGITS)

/** Amounts of the currency are multiples of this, in its minor unit. */
const stepOf = (currency: string): bigint => {
  if (divided.has(currency)) return 100n
  return threeDigits.has(currency) ? 10n : 1n
}

/** Whether an amount can be said to Stripe, to be taken or given back. */
export const isRepresentable = ({ amount, currency }: Money): boolean => amount % stepOf(currency) === 0n

/** An amount in Stripe's units. It must be one that is representable. */
export const toStripe = ({ amount, currency }: Money): number =>
  Number(multiplied.has(currency) ? amount * 100n : divided.has(currency) ? amount / 100n : amount)

/** An amount of Stripe in the minor unit of ISO 4217. A part of a unit that Stripe should not have is left out. */
export const fromStripe = (amount: number, stripeCurrency: string): Money => {
  const currency = stripeCurrency.toUpperCase()
  const units = BigInt(amount)
  if (multiplied.has(currency)) return { amount: units / 100n, currency }
  return { amount: divided.has(currency) ? units * 100n : units, currency }
}

/** Whether Stripe can take an amount. */
export const chargeable = ({ amount, currency }: Money): Chargeable => {
  if (!supported.has(currency)) return { status: "unsupported_currency" }
  const multipleOf = stepOf(currency)
  if (amount % multipleOf !== 0n) return { status: "not_representable", multipleOf }
  const minimum = within(MINIMUMS[currency] ?? 1n, currency, multipleOf)
  if (amount < minimum) return { status: "below_minimum", minimum }
  const maximum = within(MAXIMUMS[currency] ?? MAXIMUM, currency, multipleOf)
  return amount > maximum ? { status: "above_maximum", maximum } : { status: "ok" }
}

/** A bound of Stripe as an amount that it takes: rounded down, and at least one step. */
const within = (bound: bigint, currency: string, step: bigint): bigint => {
  const units = fromStripe(Number(bound), currency).amount
  const rounded = units - (units % step)
  return rounded < step ? step : rounded
}
