/**
 * Payment providers that come with the library.
 */

/** Made by `stripe()` of `billwright/stripe`, for the option `payments` of `createBilling`. */
export interface BuiltInProvider {
  /** Who takes the money. */
  readonly kind: "stripe"
  /** The name by which payments remember it. */
  readonly name: string
}
