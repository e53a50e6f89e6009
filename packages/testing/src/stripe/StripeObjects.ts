/**
 * The objects of Stripe's API, with the fields that payments need. Instants are in seconds.
 */

export type Metadata = Record<string, string>

export interface StripeObject {
  readonly id: string
  readonly created: number
  readonly livemode: boolean
}

export interface StripeCustomer extends StripeObject {
  readonly object: "customer"
  name: string | null
  email: string | null
  metadata: Metadata
  invoice_settings: { default_payment_method: string | null }
}

export interface StripePaymentMethod extends StripeObject {
  readonly object: "payment_method"
  readonly type: "card" | "us_bank_account"
  readonly billing_details: { readonly name: null; readonly email: null }
  customer: string | null
  metadata: Metadata
  card?: {
    readonly brand: string
    readonly exp_month: number
    readonly exp_year: number
    readonly funding: string
    readonly last4: string
    readonly fingerprint: string
  }
  us_bank_account?: { readonly bank_name: string; readonly last4: string }
}

/** Why the last attempt failed. */
export interface StripeFailure {
  readonly type: "card_error"
  readonly code: string
  readonly message: string
  readonly decline_code?: string
  readonly advice_code?: string
  readonly network_advice_code?: string
  readonly charge?: string
  readonly payment_method: StripePaymentMethod
}

export type IntentStatus =
  | "requires_payment_method"
  | "requires_confirmation"
  | "requires_action"
  | "processing"
  | "succeeded"
  | "canceled"

interface NextAction {
  readonly type: "use_stripe_sdk"
  readonly use_stripe_sdk: { readonly type: "three_d_secure_redirect" }
}

export interface StripePaymentIntent extends StripeObject {
  readonly object: "payment_intent"
  readonly amount: number
  readonly currency: string
  readonly client_secret: string
  readonly capture_method: "automatic"
  readonly confirmation_method: "automatic"
  readonly payment_method_types: ReadonlyArray<string>
  readonly customer: string | null
  readonly description: string | null
  amount_received: number
  status: IntentStatus
  metadata: Metadata
  payment_method: string | null
  latest_charge: string | null
  last_payment_error: StripeFailure | null
  next_action: NextAction | null
  canceled_at: number | null
  cancellation_reason: string | null
}

export interface StripeSetupIntent extends StripeObject {
  readonly object: "setup_intent"
  readonly client_secret: string
  readonly payment_method_types: ReadonlyArray<string>
  readonly usage: string
  readonly customer: string | null
  status: IntentStatus
  metadata: Metadata
  payment_method: string | null
  last_setup_error: StripeFailure | null
  next_action: NextAction | null
  cancellation_reason: string | null
}

/** A page of Stripe on which a customer saves a card. */
export interface StripeCheckoutSession extends StripeObject {
  readonly object: "checkout.session"
  readonly mode: "setup"
  readonly automatic_tax: { readonly enabled: boolean }
  readonly custom_fields: ReadonlyArray<never>
  readonly custom_text: object
  readonly customer: string | null
  readonly expires_at: number
  readonly metadata: Metadata
  readonly allowed_payment_method_types: ReadonlyArray<string>
  readonly payment_method_types: ReadonlyArray<string>
  readonly payment_status: "no_payment_required"
  readonly setup_intent: string
  readonly shipping_options: ReadonlyArray<never>
  readonly success_url: string
  readonly cancel_url: string | null
  status: "open" | "complete" | "expired"
  url: string | null
}

export interface StripeCharge extends StripeObject {
  readonly object: "charge"
  readonly amount: number
  readonly currency: string
  readonly customer: string | null
  readonly payment_intent: string
  readonly payment_method: string
  readonly metadata: Metadata
  readonly billing_details: StripePaymentMethod["billing_details"]
  failure_code: string | null
  failure_message: string | null
  outcome: {
    readonly type: string
    readonly advice_code?: string
    readonly network_advice_code?: string
  }
  status: "succeeded" | "pending" | "failed"
  paid: boolean
  captured: boolean
  amount_captured: number
  amount_refunded: number
  refunded: boolean
  disputed: boolean
}

export interface StripeRefund extends StripeObject {
  readonly object: "refund"
  readonly amount: number
  readonly currency: string
  readonly charge: string
  readonly payment_intent: string
  readonly reason: string | null
  metadata: Metadata
  status: "pending" | "succeeded" | "failed" | "canceled"
  failure_reason?: string
}

/** Money that goes from the account. */
export interface StripeWithdrawal {
  readonly id: string
  readonly object: "balance_transaction"
  readonly amount: number
  readonly available_on: number
  readonly created: number
  readonly currency: string
  readonly description: null
  readonly exchange_rate: null
  readonly fee: number
  readonly fee_details: ReadonlyArray<never>
  readonly net: number
  readonly reporting_category: "dispute"
  readonly source: string
  readonly status: "available"
  readonly type: "adjustment"
}

export interface StripeDispute extends StripeObject {
  readonly object: "dispute"
  readonly amount: number
  readonly currency: string
  readonly charge: string
  readonly payment_intent: string
  readonly reason: string
  balance_transactions: ReadonlyArray<StripeWithdrawal>
  readonly enhanced_eligibility_types: ReadonlyArray<never>
  readonly evidence: { readonly enhanced_evidence: object }
  readonly evidence_details: {
    readonly due_by: number | null
    readonly enhanced_eligibility: object
    readonly has_evidence: boolean
    readonly past_due: boolean
    readonly submission_count: number
  }
  is_charge_refundable: boolean
  metadata: Metadata
  status: "needs_response" | "won" | "lost" | "prevented"
}

export interface StripeEvent extends StripeObject {
  readonly object: "event"
  readonly type: string
  readonly api_version: string
  readonly pending_webhooks: number
  readonly data: { readonly object: object }
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null }
}

/** All kinds, by the name that errors call them. */
export interface StripeKinds {
  readonly customer: StripeCustomer
  readonly payment_method: StripePaymentMethod
  readonly payment_intent: StripePaymentIntent
  readonly setup_intent: StripeSetupIntent
  readonly "checkout.session": StripeCheckoutSession
  readonly charge: StripeCharge
  readonly refund: StripeRefund
  readonly dispute: StripeDispute
  readonly event: StripeEvent
}
