/**
 * Errors of calls that conflict with what is stored. Nothing was changed.
 */
import { BillingError } from "./BillingError.ts"

/** The base of all errors for calls that conflict with stored data. */
export class ConflictError extends BillingError {
  override readonly name: string = "ConflictError"
}

/** The idempotency key of a usage record was used before with different content. */
export class UsageKeyConflictError extends ConflictError {
  override readonly name = "UsageKeyConflictError"
  /** The path of the field that holds the key: `idempotencyKey` or `records[3].idempotencyKey`. */
  readonly field: string
  /** The id of the record that has the key. */
  readonly recordId: string

  constructor(field: string, recordId: string, message: string, options?: ErrorOptions) {
    super("usage_key_conflict", message, options)
    this.field = field
    this.recordId = recordId
  }
}

/** The idempotency key of an event was used before with different content. */
export class EventKeyConflictError extends ConflictError {
  override readonly name = "EventKeyConflictError"
  /** The id of the event that has the key. */
  readonly eventId: string

  constructor(eventId: string, message: string, options?: ErrorOptions) {
    super("event_key_conflict", message, options)
    this.eventId = eventId
  }
}

/** The idempotency key of a grant, a consumption or a hold was used before with different content. */
export class CreditKeyConflictError extends ConflictError {
  override readonly name = "CreditKeyConflictError"
  /** The id of the grant, the consumption or the hold that has the key. */
  readonly id: string

  constructor(id: string, message: string, options?: ErrorOptions) {
    super("credit_key_conflict", message, options)
    this.id = id
  }
}

/** The customer has less than was asked for. Nothing was used or held. */
export class InsufficientCreditsError extends ConflictError {
  override readonly name = "InsufficientCreditsError"
  /** What is available, in the smallest unit. For a hold, with what it holds. */
  readonly available: bigint
  /** What was asked for. */
  readonly amount: bigint
  readonly unit: string

  constructor(
    asked: { readonly available: bigint; readonly amount: bigint; readonly unit: string },
    message: string,
    options?: ErrorOptions,
  ) {
    super("insufficient_credits", message, options)
    this.available = asked.available
    this.amount = asked.amount
    this.unit = asked.unit
  }
}

/**
 * A limit is reached: 100 thresholds for a customer, product and unit; 1,000 meters for an account and mode, or 10 for a
 * product and unit; 500 webhook endpoints for an account and mode; 100 credit grants with something left, or 1,000 open
 * holds, for a customer and unit.
 */
export class LimitReachedError extends ConflictError {
  override readonly name = "LimitReachedError"
}

/** The customer has a subscription that has not ended, so that it can't be erased. Cancel the subscription first. */
export class CustomerHasSubscriptionError extends ConflictError {
  override readonly name = "CustomerHasSubscriptionError"
  readonly customerId: string

  constructor(customerId: string, message: string, options?: ErrorOptions) {
    super("customer_has_subscription", message, options)
    this.customerId = customerId
  }
}

/**
 * The subscription, invoice, invoice item, payment, payment method, payment provider, refund, credit grant, hold, token usage or
 * meter does not allow the action as it is. The `availableActions` of the first two are those that they allow. Nothing has changed.
 */
export class ActionUnavailableError extends ConflictError {
  override readonly name = "ActionUnavailableError"
  readonly object:
    | "subscription"
    | "invoice"
    | "invoice item"
    | "payment"
    | "payment method"
    | "payment provider"
    | "refund"
    | "credit grant"
    | "hold"
    | "token usage"
    | "meter"
  readonly id: string

  constructor(object: ActionUnavailableError["object"], id: string, message: string, options?: ErrorOptions) {
    super("action_unavailable", message, options)
    this.object = object
    this.id = id
  }
}

/** The store has no subscriptions and invoices: its adapter provides only what usage and webhooks need. */
export class InvoicingUnsupportedError extends ConflictError {
  override readonly name = "InvoicingUnsupportedError"

  constructor(message: string, options?: ErrorOptions) {
    super("invoicing_unsupported", message, options)
  }
}

/** The webhook endpoint is disabled, so nothing can be sent to it. Enable it first. */
export class EndpointDisabledError extends ConflictError {
  override readonly name = "EndpointDisabledError"
  readonly endpointId: string

  constructor(endpointId: string, message: string, options?: ErrorOptions) {
    super("endpoint_disabled", message, options)
    this.endpointId = endpointId
  }
}

/** The webhook endpoint does not subscribe to events of this type. */
export class EventNotAdmittedError extends ConflictError {
  override readonly name = "EventNotAdmittedError"
  readonly endpointId: string
  readonly type: string

  constructor(endpointId: string, type: string, message: string, options?: ErrorOptions) {
    super("event_not_admitted", message, options)
    this.endpointId = endpointId
    this.type = type
  }
}

/** A live webhook endpoint needs `encryptionKeys`, and `createBilling` was given none. */
export class EncryptionKeyRequiredError extends ConflictError {
  override readonly name = "EncryptionKeyRequiredError"

  constructor(options?: ErrorOptions) {
    super(
      "encryption_key_required",
      "live webhook endpoints need a key for their secrets: pass encryptionKeys to createBilling (generateEncryptionKey() makes one)",
      options,
    )
  }
}
