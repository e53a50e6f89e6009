/**
 * What every error of the library has in common.
 */

import type { ResourceCalls } from "../Resources.ts"

/** `usageRecords` → `usage_record` */
type Singular<Name extends string> = Name extends `${infer Noun}s` ? Snake<Noun> : never
type Snake<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : Name

/** What went wrong, for programs. For the id of a resource, such as a customer: `customer_not_found`. */
export type BillingErrorCode =
  | `${Singular<keyof ResourceCalls>}_not_found`
  | "invalid_input"
  | "usage_record_not_found"
  | "plan_not_found"
  | "subscription_not_found"
  | "snapshot_too_large"
  | "invoice_not_found"
  | "credit_note_not_found"
  | "payment_not_found"
  | "credit_grant_not_found"
  | "hold_not_found"
  | "event_not_found"
  | "endpoint_not_found"
  | "delivery_not_found"
  | "api_key_not_found"
  | "usage_key_conflict"
  | "event_key_conflict"
  | "credit_key_conflict"
  | "insufficient_credits"
  | "too_many_credit_grants"
  | "too_many_holds"
  | "too_many_meters"
  | "too_many_meters_of_product"
  | "customer_has_subscription"
  | "test_clock_has_customers"
  | "test_clocks_are_for_tests"
  | "too_many_test_clocks"
  | "action_unavailable"
  | "invoicing_unsupported"
  | "pdf_unavailable"
  | "einvoice_incomplete"
  | "payer_pages_unavailable"
  | "too_many_spend_alerts"
  | "too_many_credit_alerts"
  | "too_many_auto_top_ups"
  | "too_many_thresholds"
  | "too_many_endpoints"
  | "endpoint_disabled"
  | "event_not_admitted"
  | "encryption_key_required"
  | "secret_unavailable"
  | "unauthorized"
  | "storage_unavailable"
  | "payment_provider_unavailable"
  | "invalid_configuration"
  | "closed"
  | "transaction_ended"
  | "internal_error"

/**
 * The base of all errors that the library rejects with. Two kinds of errors are passed on unchanged: errors that
 * your own function throws in a transaction, and the reason of an `AbortSignal`.
 *
 * `message` is for people and `code` for programs. `cause` is the underlying error. The stack is that of your call.
 */
export class BillingError extends Error {
  override readonly name: string = "BillingError"
  readonly code: BillingErrorCode

  constructor(code: BillingErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** A broken rule: the path of the field, and what is wrong with it. */
export interface FieldProblem {
  readonly field: string
  readonly problem: string
}

/** The input breaks a rule. Nothing was stored. */
export class InvalidInputError extends BillingError {
  override readonly name = "InvalidInputError"
  /** The path of the field: `customerId`, `records[3].quantity`. */
  readonly field: string
  /** What is wrong with it, worded to follow the field's name: "must be an integer from 0 to 9007199254740991". */
  readonly problem: string
  /** All problems, this one first. More than one where the input is checked as a whole: for plans. */
  readonly problems: ReadonlyArray<FieldProblem>

  constructor(
    field: string,
    problem: string,
    options?: ErrorOptions & { readonly problems?: ReadonlyArray<FieldProblem> | undefined },
  ) {
    const problems = options?.problems ?? [{ field, problem }]
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ""
    super("invalid_input", `${field} ${problem}${more}`, options)
    this.field = field
    this.problem = problem
    this.problems = problems
  }
}

/** The API key is missing, malformed, unknown, revoked or expired. The error doesn't say which. */
export class UnauthorizedError extends BillingError {
  override readonly name = "UnauthorizedError"

  constructor(options?: ErrorOptions) {
    super("unauthorized", "the API key is not valid", options)
  }
}
