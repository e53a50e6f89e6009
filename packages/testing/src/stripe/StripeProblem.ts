/**
 * Errors as Stripe answers them.
 */

/** The body of an error. */
export interface StripeErrorBody {
  readonly type: "api_error" | "card_error" | "idempotency_error" | "invalid_request_error"
  readonly message: string
  readonly code?: string
  readonly param?: string
  readonly decline_code?: string
  readonly advice_code?: string
  readonly network_advice_code?: string
  readonly charge?: string
  readonly payment_intent?: object
  readonly payment_method?: object
  readonly setup_intent?: object
}

/** An answer that is an error. */
export class StripeProblem extends Error {
  readonly status: number
  readonly body: StripeErrorBody
  /** Whether it is kept with the idempotency key: only if the work of the call had begun. */
  readonly isKept: boolean

  constructor(status: number, body: StripeErrorBody, isKept: boolean) {
    super(body.message)
    this.status = status
    this.body = body
    this.isKept = isKept
  }

  /** Parameters that are refused before anything is done. */
  static invalid(code: string, message: string, param?: string): StripeProblem {
    const body = { type: "invalid_request_error", code, message } as const
    return new StripeProblem(400, param === undefined ? body : { ...body, param }, false)
  }

  static missing(kind: string, id: string, param: string): StripeProblem {
    const message = `No such ${kind}: '${id}'`
    const body = { type: "invalid_request_error", code: "resource_missing", message, param } as const
    return new StripeProblem(404, body, false)
  }

  /** The state of an object does not allow the call. */
  static refused(code: string, message: string, about: Partial<StripeErrorBody> = {}): StripeProblem {
    return new StripeProblem(400, { type: "invalid_request_error", code, message, ...about }, true)
  }
}
