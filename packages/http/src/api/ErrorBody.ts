/**
 * The body of every error answer, and the error code of each status.
 */
import { Plan } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** All error codes, with the HTTP status and the meaning of each. */
export const ERRORS = {
  invalid_request: {
    status: 400,
    when: "The request is malformed or breaks a rule. The message names the field.",
  },
  unauthorized: { status: 401, when: "The API key is missing or not valid." },
  forbidden: { status: 403, when: "The API key lacks the required scope." },
  not_found: { status: 404, when: "Nothing has this id in the account and mode of the API key." },
  method_not_allowed: {
    status: 405,
    when: "The path exists, but not with this method. `Allow` lists its methods.",
  },
  request_timeout: { status: 408, when: "The request took too long to arrive. The connection is closed." },
  conflict: {
    status: 409,
    when: "The request conflicts with stored data, or a request with the same Idempotency-Key is still running.",
  },
  payload_too_large: { status: 413, when: "The body is larger than 1 MiB." },
  unsupported_media_type: { status: 415, when: "The body is not application/json in UTF-8." },
  idempotency_key_reused: {
    status: 422,
    when: "The Idempotency-Key was already used for a different request.",
  },
  rate_limited: { status: 429, when: "Too many requests. `Retry-After` says how long to wait." },
  internal_error: {
    status: 500,
    when: "A bug in the server. The `Request-Id` identifies the request in its log.",
  },
  unavailable: {
    status: 503,
    when: "The database or the payment provider can't be reached, or too many streams are open. If there is a `Retry-After`, it says how long to wait.",
  },
} as const

/** A machine-readable error code. */
export type ErrorCode = keyof typeof ERRORS

/** The longest message of an error, in code points. */
export const MAX_MESSAGE_LENGTH = 2000

/** A broken rule. */
const ProblemBody = Schema.Struct({
  field: Schema.String.check(Schema.isMaxCodePoints(MAX_MESSAGE_LENGTH)).annotate({
    description: "The path of the field: `plans.pro.charges.calls.tiers[2].up_to`.",
  }),
  problem: Schema.String.check(Schema.isMaxCodePoints(MAX_MESSAGE_LENGTH)).annotate({
    description: "What is wrong with it, worded to follow the field: `must be greater than 1000`.",
  }),
}).annotate({ identifier: "FieldProblem", description: "A rule that the request breaks, and where." })

const problems = Schema.optionalKey(
  Schema.Array(ProblemBody)
    .check(Schema.isMaxLength(Plan.MAX_PROBLEMS + 1))
    .annotate({
      description:
        "All problems, where the request is checked as a whole, as for plans, coupons and subscriptions.",
    }),
)

const makeErrorBody = (code: ErrorCode) =>
  Schema.Struct({
    error: Schema.Literal(code).annotate({ description: "What went wrong, for programs." }),
    message: Schema.String.check(Schema.isMaxCodePoints(MAX_MESSAGE_LENGTH)).annotate({
      description: "What went wrong, for people. It names the field or parameter.",
    }),
    ...(code === "invalid_request" ? { problems } : {}),
  })
    .annotate({ identifier: schemaName(code), description: ERRORS[code].when })
    .pipe(HttpApiSchema.status(ERRORS[code].status))

const schemaName = (code: string): string => {
  const name = code.replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())
  return name.endsWith("Error") ? name : `${name}Error`
}

const bodies = new Map<ErrorCode, ReturnType<typeof makeErrorBody>>()

/** The schema of an error's body with this code. */
export const errorBody = (code: ErrorCode): ReturnType<typeof makeErrorBody> => {
  const body = bodies.get(code) ?? makeErrorBody(code)
  bodies.set(code, body)
  return body
}

const always = ["unauthorized", "forbidden", "rate_limited", "internal_error", "unavailable"] as const
const withBody = ["request_timeout", "payload_too_large", "unsupported_media_type"] as const
const withKey = ["conflict", "idempotency_key_reused"] as const

const all = (codes: ReadonlyArray<ErrorCode>) => [...new Set(codes)].map(errorBody)

/** The errors that an operation that reads can answer with. */
export const readErrors = (...codes: ReadonlyArray<ErrorCode>) =>
  all([...always, "invalid_request", ...codes])

/** The errors that an operation that writes can answer with. */
export const writeErrors = (...codes: ReadonlyArray<ErrorCode>) =>
  all([...always, "invalid_request", ...withBody, ...withKey, ...codes])
