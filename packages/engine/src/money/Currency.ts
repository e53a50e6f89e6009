/**
 * Currencies by ISO 4217: their codes, and how many digits their minor unit has.
 *
 * The table is our own and is tested against the npm package `currency-codes`. It is never `Intl`, whose digits are
 * those that people write, not those that ISO states: they differ for 29 codes.
 */

/** An ISO 4217 code, three upper-case letters. */
export type CurrencyCode = string

const NO_MINOR_UNIT = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
const THREE_DIGITS = "BHD IQD JOD KWD LYD OMR TND"
const FOUR_DIGITS = "CLF UYW"

/** Those with a minor unit of two digits. XCG took the place of ANG in 2025. */
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

/** All codes, in the order of the alphabet. */
export const codes = (): ReadonlyArray<CurrencyCode> => [...exponents.keys()].sort()

/** Whether it is the code of a currency: upper case, of ISO 4217, and of money (not of gold, tests or "no currency"). */
export const isCurrency = (code: string): boolean => exponents.has(code)

/** How many digits the minor unit has: 2 for EUR, 0 for JPY, 3 for KWD. `undefined` for an unknown code. */
export const exponentOf = (code: CurrencyCode): number | undefined => exponents.get(code)
