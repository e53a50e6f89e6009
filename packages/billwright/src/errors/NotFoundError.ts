/**
 * Errors for ids that don't exist: never created, removed, or in another account or mode.
 */
import { BillingError, type BillingErrorCode } from "./BillingError.ts"

/** Options of an error for an id that doesn't exist. */
export interface NotFoundOptions extends ErrorOptions {
  /** The path of the field that held the id, when it was in the input: `records[3].customerId`. */
  readonly field?: string | undefined
}

/** The base of all errors for ids that don't exist. */
export class NotFoundError extends BillingError {
  override readonly name: string = "NotFoundError"
  /** The id that was asked for. */
  readonly id: string
  /** The path of the field that held the id, when it was in the input: `records[3].customerId`. */
  declare readonly field?: string | undefined

  constructor(code: BillingErrorCode, id: string, message: string, options?: NotFoundOptions) {
    super(code, message, options)
    this.id = id
    if (options?.field !== undefined) this.field = options.field
  }
}

/** No customer has the id, or it was erased. */
export class CustomerNotFoundError extends NotFoundError {
  override readonly name = "CustomerNotFoundError"
  /** The path of the field that held the id, when it was in the input: `records[3].customerId`. */
  override readonly field: string | undefined

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("customer_not_found", id, message, options)
    this.field = options?.field
  }
}

/** No usage record has the id. */
export class UsageRecordNotFoundError extends NotFoundError {
  override readonly name = "UsageRecordNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("usage_record_not_found", id, message, options)
  }
}

/** No threshold has the id, or it was deleted. */
export class ThresholdNotFoundError extends NotFoundError {
  override readonly name = "ThresholdNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("threshold_not_found", id, message, options)
  }
}

/** No test clock has the id. */
export class TestClockNotFoundError extends NotFoundError {
  override readonly name = "TestClockNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("test_clock_not_found", id, message, options)
  }
}

/** No meter has the id. Archived meters are found. */
export class MeterNotFoundError extends NotFoundError {
  override readonly name = "MeterNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("meter_not_found", id, message, options)
  }
}

/** No plan has the key, or the plan has no such version. `id` is the key. */
export class PlanNotFoundError extends NotFoundError {
  override readonly name = "PlanNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("plan_not_found", id, message, options)
  }
}

/** No subscription has the id. Ended ones are found. */
export class SubscriptionNotFoundError extends NotFoundError {
  override readonly name = "SubscriptionNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("subscription_not_found", id, message, options)
  }
}

/** No invoice has the id. */
export class InvoiceNotFoundError extends NotFoundError {
  override readonly name = "InvoiceNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("invoice_not_found", id, message, options)
  }
}

/** No credit note has the id. */
export class CreditNoteNotFoundError extends NotFoundError {
  override readonly name = "CreditNoteNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("credit_note_not_found", id, message, options)
  }
}

/** No payment has the id. */
export class PaymentNotFoundError extends NotFoundError {
  override readonly name = "PaymentNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("payment_not_found", id, message, options)
  }
}

/** No credit grant has the id. */
export class CreditGrantNotFoundError extends NotFoundError {
  override readonly name = "CreditGrantNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("credit_grant_not_found", id, message, options)
  }
}

/** No hold has the id. */
export class HoldNotFoundError extends NotFoundError {
  override readonly name = "HoldNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("hold_not_found", id, message, options)
  }
}

/** No payment method has the id. Detached ones are found. */
export class PaymentMethodNotFoundError extends NotFoundError {
  override readonly name = "PaymentMethodNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("payment_method_not_found", id, message, options)
  }
}

/** No coupon has the id or the code. */
export class CouponNotFoundError extends NotFoundError {
  override readonly name = "CouponNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("coupon_not_found", id, message, options)
  }
}

/** No redemption has the id. */
export class RedemptionNotFoundError extends NotFoundError {
  override readonly name = "RedemptionNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("redemption_not_found", id, message, options)
  }
}

/** No credit alert has the id, or it was deleted. */
export class CreditAlertNotFoundError extends NotFoundError {
  override readonly name = "CreditAlertNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("credit_alert_not_found", id, message, options)
  }
}

/** No token usage has the id. */
export class TokenUsageNotFoundError extends NotFoundError {
  override readonly name = "TokenUsageNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("token_usage_not_found", id, message, options)
  }
}

/** No top-up has the id. */
export class TopUpNotFoundError extends NotFoundError {
  override readonly name = "TopUpNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("top_up_not_found", id, message, options)
  }
}

/** No automatic top-up has the id, or it was deleted. */
export class AutoTopUpNotFoundError extends NotFoundError {
  override readonly name = "AutoTopUpNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("auto_top_up_not_found", id, message, options)
  }
}

/** No spend alert has the id, or it was deleted. */
export class SpendAlertNotFoundError extends NotFoundError {
  override readonly name = "SpendAlertNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("spend_alert_not_found", id, message, options)
  }
}

/** No version of a rate card has the id, or there is no rate card with the key. */
export class RateCardNotFoundError extends NotFoundError {
  override readonly name = "RateCardNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("rate_card_not_found", id, message, options)
  }
}

/** No book check has the id. */
export class BookCheckNotFoundError extends NotFoundError {
  override readonly name = "BookCheckNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("book_check_not_found", id, message, options)
  }
}

/** No plan migration has the id, or it was deleted. */
export class PlanMigrationNotFoundError extends NotFoundError {
  override readonly name = "PlanMigrationNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("plan_migration_not_found", id, message, options)
  }
}

/** No refund has the id. */
export class RefundNotFoundError extends NotFoundError {
  override readonly name = "RefundNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("refund_not_found", id, message, options)
  }
}

/** No proof of an invoice has the id. */
export class InvoiceProofNotFoundError extends NotFoundError {
  override readonly name = "InvoiceProofNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("invoice_proof_not_found", id, message, options)
  }
}

/** No audit record has the id. */
export class AuditRecordNotFoundError extends NotFoundError {
  override readonly name = "AuditRecordNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("audit_record_not_found", id, message, options)
  }
}

/** No dispute has the id. */
export class DisputeNotFoundError extends NotFoundError {
  override readonly name = "DisputeNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("dispute_not_found", id, message, options)
  }
}

/** No invoice item has the id, or it was deleted. */
export class InvoiceItemNotFoundError extends NotFoundError {
  override readonly name = "InvoiceItemNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("invoice_item_not_found", id, message, options)
  }
}

/** No event has the id, or it was pruned. */
export class EventNotFoundError extends NotFoundError {
  override readonly name = "EventNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("event_not_found", id, message, options)
  }
}

/** No webhook endpoint has the id, or it was deleted. */
export class EndpointNotFoundError extends NotFoundError {
  override readonly name = "EndpointNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("endpoint_not_found", id, message, options)
  }
}

/** No delivery has the id, or it was pruned with its event. */
export class DeliveryNotFoundError extends NotFoundError {
  override readonly name = "DeliveryNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("delivery_not_found", id, message, options)
  }
}

/** No API key has the id (`key_…`, not the secret). Revoked and expired keys are found. */
export class ApiKeyNotFoundError extends NotFoundError {
  override readonly name = "ApiKeyNotFoundError"

  constructor(id: string, message: string, options?: NotFoundOptions) {
    super("api_key_not_found", id, message, options)
  }
}
