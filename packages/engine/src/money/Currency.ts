/**
 * Currencies of ISO 4217: their codes, and the number of digits of their minor unit.
 *
 * A test compares the table with the npm package `currency-codes`. The table does not come from `Intl`, because `Intl`
 * gives the digits that people write and not those of ISO 4217. They differ for 29 codes.
 */

/** An ISO 4217 code, three upper-case letters. */
export type CurrencyCode = string

const NO_MINOR_UNIT = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
const THREE_DIGITS = "BHD IQD JOD KWD LYD OMR TND"
const FOUR_DIGITS = "CLF UYW"

/** Codes with a minor unit of two digits. XCG replaced ANG in 2025. */
const TWO_DIGITS =
  "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF " +
  "CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG " +
  "HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK " +
  "MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE " +
  "SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG"

const exponents: ReadonlyMap<CurrencyCode, number> = new Map(
  [NO_MINOR_UNIT, "", TWO_DIGITS, THREE_DIGITS, FOUR_DIGITS].flatMap((codes, exponent) =>
    codes === "" ? [] : codes.split(" ").map((code) => [code, exponent] as const),
  ),
)

/** All codes, sorted. */
export const codes = (): ReadonlyArray<CurrencyCode> => [...exponents.keys()].sort()

/** Whether a text is the upper-case ISO 4217 code of a currency. The codes for gold, tests and "no currency" are not. */
export const isCurrency = (code: string): boolean => exponents.has(code)

/** The number of digits of the minor unit: 2 for EUR, 0 for JPY, 3 for KWD. `undefined` for an unknown code. */
export const exponentOf = (code: CurrencyCode): number | undefined => exponents.get(code)
