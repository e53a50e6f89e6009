/**
 * The errors that calls of the client reject with.
 */

import type { FieldProblem } from "../errors/BillingError.ts"

/** What went wrong, for programs. Each code belongs to one HTTP status. */
export type ApiErrorCode =
  | "invalid_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "conflict"
  | "payload_too_large"
  | "unsupported_media_type"
  | "idempotency_key_reused"
  | "rate_limited"
  | "internal_error"
  | "unavailable"

/** The API answered with an error. */
export class ApiError extends Error {
  override readonly name = "ApiError"
  /** When the answer did not come from the API but, say, from a proxy: the code that fits its status best. */
  readonly code: ApiErrorCode
  readonly status: number
  /** The request's id in the server's log; `undefined` when the answer had none. */
  readonly requestId: string | undefined
  /** All problems of a request that was checked as a whole, such as a push of plans. Else empty. */
  readonly problems: ReadonlyArray<FieldProblem>

  constructor(
    code: ApiErrorCode,
    message: string,
    status: number,
    requestId: string | undefined,
    problems: ReadonlyArray<FieldProblem> = [],
  ) {
    super(message)
    this.code = code
    this.status = status
    this.requestId = requestId
    this.problems = problems
  }
}

/** No readable answer came, even after all retries. It is unknown whether the request was carried out. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError"
  readonly code: "network_error" | "timeout"

  constructor(code: ConnectionError["code"], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

const CODES: Readonly<Record<number, ApiErrorCode>> = {
  400: "invalid_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  405: "method_not_allowed",
  408: "request_timeout",
  409: "conflict",
  413: "payload_too_large",
  415: "unsupported_media_type",
  422: "idempotency_key_reused",
  429: "rate_limited",
}

const isCode = (code: unknown): code is ApiErrorCode =>
  code === "internal_error" || code === "unavailable" || Object.values(CODES).some((known) => known === code)

/** The error for an answer. `body` is the parsed JSON body, or `undefined` when the body isn't JSON. */
export const toApiError = (response: Response, body: unknown): ApiError => {
  const { error, message, problems } = (typeof body === "object" && body !== null ? body : {}) as {
    readonly error?: unknown
    readonly message?: unknown
    readonly problems?: unknown
  }
  const { status } = response
  const fallback = CODES[status] ?? (status >= 502 ? "unavailable" : "internal_error")
  return new ApiError(
    isCode(error) ? error : fallback,
    typeof message === "string" ? message : `the server answered ${status} without an explanation`,
    status,
    response.headers.get("request-id") ?? undefined,
    Array.isArray(problems) ? (problems as ReadonlyArray<FieldProblem>) : [],
  )
}
