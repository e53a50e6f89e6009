/**
 * The one shape of every error answer, and the codes that go with each status.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** Every error code, its status, and when it is sent. */
export const ERRORS = {
  invalid_request: {
    status: 400,
    when: "The request is malformed or breaks a rule; the message names the field.",
  },
  unauthorized: { status: 401, when: "There is no valid API key." },
  forbidden: { status: 403, when: "The API key lacks the scope." },
  not_found: { status: 404, when: "There is no such thing, or it belongs to another mode or account." },
  method_not_allowed: { status: 405, when: "The path exists, with the methods that `Allow` names." },
  request_timeout: { status: 408, when: "The request took too long to arrive; the connection ends." },
  conflict: {
    status: 409,
    when: "The request clashes with the state of things, or the same one is running.",
  },
  payload_too_large: { status: 413, when: "The body is larger than 1 MiB." },
  unsupported_media_type: { status: 415, when: "The body is not application/json in UTF-8." },
  idempotency_key_reused: { status: 422, when: "The Idempotency-Key was used for another request." },
  rate_limited: { status: 429, when: "Too many requests; `Retry-After` says when to come back." },
  internal_error: { status: 500, when: "A bug on this side. The Request-Id finds it in the log." },
  unavailable: { status: 503, when: "The storage is out of reach; `Retry-After` says when to come back." },
} as const

/** A machine-readable error code. */
export type ErrorCode = keyof typeof ERRORS

/** Longest message of an error, in code points. */
export const MAX_MESSAGE_LENGTH = 2000

const makeErrorBody = (code: ErrorCode) =>
  Schema.Struct({
    error: Schema.Literal(code).annotate({ description: "What went wrong, for programs." }),
    message: Schema.String.check(Schema.isMaxCodePoints(MAX_MESSAGE_LENGTH)).annotate({
      description: "What went wrong, for people. Names the field or parameter.",
    }),
  })
    .annotate({ identifier: schemaName(code), description: ERRORS[code].when })
    .pipe(HttpApiSchema.status(ERRORS[code].status))

const schemaName = (code: string): string => {
  const name = code.replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())
  return name.endsWith("Error") ? name : `${name}Error`
}

const bodies = new Map<ErrorCode, ReturnType<typeof makeErrorBody>>()

/** The body of an error with a given code. */
export const errorBody = (code: ErrorCode): ReturnType<typeof makeErrorBody> => {
  const body = bodies.get(code) ?? makeErrorBody(code)
  bodies.set(code, body)
  return body
}

const always = ["unauthorized", "forbidden", "rate_limited", "internal_error", "unavailable"] as const
const withBody = ["request_timeout", "payload_too_large", "unsupported_media_type"] as const
const withKey = ["conflict", "idempotency_key_reused"] as const

const all = (codes: ReadonlyArray<ErrorCode>) => [...new Set(codes)].map(errorBody)

/** What a reading operation can answer besides its result. */
export const readErrors = (...codes: ReadonlyArray<ErrorCode>) =>
  all([...always, "invalid_request", ...codes])

/** What a writing operation can answer besides its result. */
export const writeErrors = (...codes: ReadonlyArray<ErrorCode>) =>
  all([...always, "invalid_request", ...withBody, ...withKey, ...codes])
