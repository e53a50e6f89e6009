/**
 * What amounts a payment provider takes.
 */

/** An amount of money to charge: an integer of the currency's minor unit, above 0. */
export interface Money {
  readonly amount: bigint
  /** An ISO 4217 code in capitals. */
  readonly currency: string
}

/**
 * Whether a provider can take an amount. The bounds are in the currency's minor unit, and are themselves amounts that it
 * takes.
 *
 * - `not_representable`: it takes only multiples of `multipleOf`, such as 10 for a currency with three decimals.
 * - `unsupported_currency`: it takes no amount of the currency.
 */
export type Chargeable =
  | { readonly status: "ok" }
  | { readonly status: "below_minimum"; readonly minimum: bigint }
  | { readonly status: "above_maximum"; readonly maximum: bigint }
  | { readonly status: "not_representable"; readonly multipleOf: bigint }
  | { readonly status: "unsupported_currency" }
