/**
 * An error answer of the API, or a missing answer.
 */
import * as ExactJson from "./ExactJson.ts"

export class ApiError extends Error {
  /** 0 when there was no answer. */
  readonly status: number
  /** The API's `error`, or `no_answer`. */
  readonly code: string
  /** The id of the request in the server's log. */
  readonly requestId: string | undefined
  /** Whether the API refused the request for good. After any other error, it may have been carried out, or may still be. */
  readonly isRefusal: boolean

  constructor(
    status: number,
    code: string,
    message: string,
    requestId: string | undefined,
    { isRefusal = false, ...options }: ErrorOptions & { readonly isRefusal?: boolean } = {},
  ) {
    super(message, options)
    this.name = "ApiError"
    this.status = status
    this.code = code
    this.requestId = requestId
    this.isRefusal = isRefusal
  }
}

/** The request got no answer. */
export const noAnswer = (cause: unknown): ApiError => {
  const isTimeout = cause instanceof DOMException && cause.name === "TimeoutError"
  const message = isTimeout ? "The API took too long to answer." : "The API can't be reached."
  return new ApiError(0, "no_answer", message, undefined, { cause })
}

const readBody = (text: string): { readonly error?: unknown; readonly message?: unknown } => {
  try {
    return (ExactJson.parse(text) ?? {}) as { readonly error?: unknown; readonly message?: unknown }
  } catch {
    return {}
  }
}

/** Not carried out yet: the request came too slowly, or there were too many. */
const TO_REPEAT: ReadonlySet<number> = new Set([408, 429])

/** A 409 says when to send again if a request with the same idempotency key is still running. */
const isRefusal = ({ headers, status }: Response): boolean =>
  status >= 400 && status < 500 && !TO_REPEAT.has(status) && !(status === 409 && headers.has("retry-after"))

const FORBIDDEN = 403

/**
 * Reads an error answer. It may come from a proxy and have another form. What the operator may not do is said in words of the
 * page, because operators of a host have no API key.
 */
export const fromResponse = (response: Response, text: string, whyForbidden?: string): ApiError => {
  const { error, message } = readBody(text)
  return new ApiError(
    response.status,
    typeof error === "string" ? error : "unknown",
    (response.status === FORBIDDEN ? whyForbidden : undefined) ??
      (typeof message === "string" ? message : `The answer was HTTP ${response.status}.`),
    response.headers.get("request-id") ?? undefined,
    { isRefusal: isRefusal(response) },
  )
}
