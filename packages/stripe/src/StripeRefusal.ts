/**
 * How calls of Stripe fail, and what that says about what has happened.
 */
import { ProviderFailure } from "@billwright/core"
import { Data } from "effect"

/** What an error of the SDK has. Its message is left out: it may name cards, keys and customers. */
interface SdkError {
  readonly statusCode?: unknown
  readonly rawType?: unknown
  readonly type?: unknown
  readonly code?: unknown
  readonly decline_code?: unknown
  readonly advice_code?: unknown
  readonly network_advice_code?: unknown
  readonly param?: unknown
  readonly requestId?: unknown
}

/** A code, and nothing that could be a secret. */
const codeOf = (value: unknown): string | null =>
  typeof value === "string" && /^[a-zA-Z0-9_.[\]]{1,80}$/.test(value) ? value : null

/**
 * A call that Stripe refused, or whose answer was lost.
 *
 * `unknown` is also an `idempotency_error`: it means that an earlier call with the same key ran. And it is every broken
 * connection, even one that was refused: the SDK sends a request again after a reset, so that the error is of the second
 * time, and the first one may have arrived.
 */
export class StripeRefusal extends Data.TaggedError("StripeRefusal")<{
  readonly reason: ProviderFailure["reason"]
  /** The status of the answer. `null`: there was none. */
  readonly status: number | null
  readonly code: string | null
  readonly declineCode: string | null
  readonly adviceCode: string | null
  readonly networkAdviceCode: string | null
  readonly param: string | null
  readonly message: string
}> {
  /** The same, where it is known that the call moves no money. */
  get asTransient(): StripeRefusal {
    return new StripeRefusal({ ...this, reason: "transient" })
  }

  /** The failure of the port. */
  get failure(): ProviderFailure {
    return new ProviderFailure({ reason: this.reason, message: this.message })
  }
}

const reasonOf = (status: number | null, type: string | null): StripeRefusal["reason"] => {
  if (status === null || status >= 500 || status === 409 || type === "idempotency_error") return "unknown"
  return status === 429 ? "transient" : "permanent"
}

/** Reads an error of the SDK, whichever it is. */
export const refusalOf = (error: unknown): StripeRefusal => {
  const given: SdkError = typeof error === "object" && error !== null ? error : {}
  const status = typeof given.statusCode === "number" ? given.statusCode : null
  const type = codeOf(given.rawType) ?? codeOf(given.type)
  const code = codeOf(given.code)
  const request = codeOf(given.requestId)
  const what = [status, code ?? type].filter((one) => one !== null).join(" ")
  return new StripeRefusal({
    reason: reasonOf(status, type),
    status,
    code,
    declineCode: codeOf(given.decline_code),
    adviceCode: codeOf(given.advice_code),
    networkAdviceCode: codeOf(given.network_advice_code),
    param: codeOf(given.param),
    message: `Stripe: ${what === "" ? "no answer" : what}${request === null ? "" : ` (request ${request})`}`,
  })
}

/** The call was never sent, because too many were. */
export const TOO_BUSY = new StripeRefusal({
  reason: "transient",
  status: null,
  code: null,
  declineCode: null,
  adviceCode: null,
  networkAdviceCode: null,
  param: null,
  message: "Stripe: more calls are waiting than the rate limit lets pass",
})
