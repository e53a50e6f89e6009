/**
 * What calls of a payment provider reject with.
 */

/**
 * `transient`: surely nothing happened, and the same call may work later. `permanent`: surely nothing happened, and a person
 * has to change something. `unknown`: it may have happened.
 *
 * The message is for people, and must have no secret and no detail of a card.
 */
export class PaymentProviderError extends Error {
  override readonly name = "PaymentProviderError"
  readonly reason: "transient" | "permanent" | "unknown"

  constructor(reason: "transient" | "permanent" | "unknown", message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
