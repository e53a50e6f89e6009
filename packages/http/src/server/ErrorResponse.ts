/**
 * Converts an error of the library to the response that a client gets.
 *
 * The message names the field by its wire name. It never contains a secret, SQL or a stack.
 */
import {
  type ApiKey,
  type Event,
  type AnswerErased,
  type IdempotencyKeyReused,
  Input,
  type InvalidInput,
  type RequestInProgress,
  type SecretUnavailable,
  type StorageError,
  type UsageRecord,
} from "@billwright/core"
import { Schema } from "effect"
import { ERRORS, type ErrorCode, MAX_MESSAGE_LENGTH } from "../api/ErrorBody.ts"
import {
  type BodyTooLarge,
  type BodyTooSlow,
  type BodyUnreadable,
  type HttpResponse,
  MAX_BODY_BYTES,
  MAX_BODY_MILLIS,
} from "./HttpExchange.ts"

/**
 * An error of the domain's services. The definition of its class has the status (`httpApiStatus`), from which the
 * response is made.
 */
export interface DomainError {
  readonly _tag: string
  readonly message: string
  /** The path of the field that the error is about, if there is one. */
  readonly field?: string | undefined
}

/** There is nothing at this path. */
export class NoSuchPath extends Schema.TaggedError<NoSuchPath>()("NoSuchPath", { path: Schema.String }) {}

/** The path exists, but not with this method. */
export class WrongMethod extends Schema.TaggedError<WrongMethod>()("WrongMethod", {
  method: Schema.String,
  allow: Schema.String,
}) {}

/** The body has the wrong media type or encoding. */
export class WrongMediaType extends Schema.TaggedError<WrongMediaType>()("WrongMediaType", {
  problem: Schema.String,
}) {}

/** A key has sent too many requests. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  retryAfterSeconds: Schema.Int,
}) {}

/** Too many streams are open at once. */
export class TooManyStreams extends Schema.TaggedError<TooManyStreams>()("TooManyStreams", {
  /** Whether the limit of the key or of the whole server is reached. */
  of: Schema.Literals(["key", "server"]),
  limit: Schema.Int,
}) {}

/** An account has too many heavy reads under way, or they wait for too long. */
export class TooManyReads extends Schema.TaggedError<TooManyReads>()("TooManyReads", {}) {}

/** An account has sent too many requests. */
export class AccountRateLimited extends Schema.TaggedError<AccountRateLimited>()("AccountRateLimited", {
  retryAfterSeconds: Schema.Int,
}) {}

/** Errors whose responses have headers of their own, or another text than the error's message. */
type KnownError =
  | InvalidInput
  | StorageError
  | UsageRecord.UsageKeyConflict
  | Event.EventKeyConflict
  | ApiKey.Unauthorized
  | AnswerErased
  | IdempotencyKeyReused
  | RequestInProgress
  | BodyTooLarge
  | BodyTooSlow
  | BodyUnreadable
  | NoSuchPath
  | WrongMethod
  | WrongMediaType
  | AccountRateLimited
  | RateLimited
  | SecretUnavailable
  | TooManyReads
  | TooManyStreams

/** All errors that a request can end with. */
export type ServerError = KnownError | DomainError

/**
 * How long a client should wait before it retries, in seconds: when the storage can't be reached, or the same
 * request is still running.
 */
const RETRY_AFTER_SECONDS = 1
/** How long a client should wait before it opens another stream, in seconds. */
const STREAM_RETRY_AFTER_SECONDS = 10

/** The problem of an unknown field. */
export const UNKNOWN_FIELD = "is not a known field"
/** The problem of a query parameter that is given twice. */
export const GIVEN_TWICE = "is given twice"

/** Fields whose inner names are the caller's own. */
const FOREIGN_NAMES =
  /^(?:records\[\d+\]\.)?(?:metadata|headers|data|plans|plan|quantities|dimensions|where)(?:[.[]|$)/

/** `records[3].customerId` → `records[3].customer_id`; keys of metadata and dimensions are the caller's own text. */
const wireField = (field: string): string =>
  FOREIGN_NAMES.test(field)
    ? field
    : field.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The name of the wrong field. An unknown field is named as it was sent, a known one by its wire name. */
const fieldName = ({ field, problem }: Input.FieldProblem): string =>
  problem === UNKNOWN_FIELD || problem === GIVEN_TWICE ? field : wireField(field)

/** Masks API keys and webhook secrets in a text, so that a secret in a URL is neither echoed nor logged. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(/(sk_(?:live|test)_|wh(?:sec|sk)_)[0-9A-Za-z+/=%]+/g, "$1…")

/** Shortens a message that is too long because it quotes the caller. It keeps both ends. */
const bounded = (message: string): string =>
  message.length <= MAX_MESSAGE_LENGTH
    ? message
    : `${message.slice(0, MAX_MESSAGE_LENGTH / 2 - 1)}…${message.slice(-MAX_MESSAGE_LENGTH / 2)}`.toWellFormed()

/** The response with an error code. */
export const answer = (
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
  more: object = {},
): HttpResponse => ({
  status: ERRORS[code].status,
  headers,
  body: JSON.stringify({ error: code, message: quotable(message), ...more }),
})

/** A message as it may be sent. */
const quotable = (message: string): string => bounded(withoutSecrets(message))

/** The response to input that breaks rules. `problems` lists all of them where the input is checked as a whole. */
const invalid = (error: InvalidInput): HttpResponse => {
  const { problem, problems } = error
  const message = `${fieldName(error)} ${problem}${Input.andMore(problems)}`
  return answer(
    "invalid_request",
    message,
    {},
    problems === undefined ? {} : { problems: problems.map(toWire) },
  )
}

const toWire = (one: Input.FieldProblem): object => ({
  field: quotable(fieldName(one)),
  problem: quotable(one.problem),
})

/** The status in the definition of an error's class. */
const statusOf = (error: object): number | undefined => {
  const { ast } = error.constructor as { readonly ast?: Schema.Top["ast"] }
  const status = ast?.annotations?.["httpApiStatus"]
  return typeof status === "number" ? status : undefined
}

/** The error code of a status. */
const codeOf = (status: number | undefined): ErrorCode | undefined =>
  (Object.keys(ERRORS) as ReadonlyArray<ErrorCode>).find((code) => ERRORS[code].status === status)

/** The response that is made from an error's definition. An error without a status is a bug. */
const derived = (error: DomainError): HttpResponse => {
  const { field, message } = error
  const code = codeOf(statusOf(error))
  if (code === undefined) throw new TypeError(`the error ${error._tag} has no status`)
  return answer(code, field === undefined ? message : `${wireField(field)}: ${message}`)
}

const tooManyStreams = ({ limit, of }: TooManyStreams): HttpResponse => {
  const headers = { "retry-after": String(STREAM_RETRY_AFTER_SECONDS) }
  return of === "key"
    ? answer("rate_limited", `this API key has reached its limit of open streams: ${limit}`, headers)
    : answer("unavailable", "too many streams are open, try again in a moment", headers)
}

type Answers = {
  readonly [Tag in KnownError["_tag"]]: (error: Extract<KnownError, { readonly _tag: Tag }>) => HttpResponse
}

const answers: Answers = {
  InvalidInput: invalid,
  BodyUnreadable: ({ problem }) => answer("invalid_request", `the body ${problem}`),
  Unauthorized: ({ message }) => answer("unauthorized", message, { "www-authenticate": "Bearer" }),
  NoSuchPath: ({ path }) => answer("not_found", `there is nothing at ${path === "" ? "this path" : path}`),
  WrongMethod: ({ allow, method }) =>
    answer("method_not_allowed", `${method} is not allowed on this path, only ${allow}`, { allow }),
  UsageKeyConflict: ({ field, recordId }) =>
    answer("conflict", `${wireField(field)} was already used with other content, by ${recordId}`),
  EventKeyConflict: ({ eventId }) =>
    answer("conflict", `idempotency_key was already used with other content, by ${eventId}`),
  SecretUnavailable: () =>
    answer(
      "conflict",
      "the first answer can't be decrypted any more, because its encryption key was removed",
    ),
  RequestInProgress: ({ message }) =>
    answer("conflict", message, { "retry-after": String(RETRY_AFTER_SECONDS) }),
  AnswerErased: ({ message }) => answer("conflict", message),
  BodyTooLarge: () =>
    answer("payload_too_large", `the body is larger than ${MAX_BODY_BYTES} bytes`, { connection: "close" }),
  BodyTooSlow: () =>
    answer("request_timeout", `the body took longer than ${MAX_BODY_MILLIS / 1000} s`, {
      connection: "close",
    }),
  WrongMediaType: ({ problem }) => answer("unsupported_media_type", problem),
  IdempotencyKeyReused: ({ message }) => answer("idempotency_key_reused", message),
  RateLimited: ({ retryAfterSeconds }) =>
    answer("rate_limited", "this API key has sent too many requests", {
      "retry-after": String(retryAfterSeconds),
    }),
  AccountRateLimited: ({ retryAfterSeconds }) =>
    answer("rate_limited", "this account has sent too many requests", {
      "retry-after": String(retryAfterSeconds),
    }),
  TooManyReads: () =>
    answer("rate_limited", "this account has too many large reads under way", {
      "retry-after": String(RETRY_AFTER_SECONDS),
    }),
  TooManyStreams: tooManyStreams,
  StorageError: () =>
    answer("unavailable", "the storage is out of reach, try again in a moment", {
      "retry-after": String(RETRY_AFTER_SECONDS),
    }),
}

const isKnown = (error: ServerError): error is KnownError => Object.hasOwn(answers, error._tag)

/** The response to an error. */
export const fromError = (error: ServerError): HttpResponse => {
  if (!isKnown(error)) return derived(error)
  const make = answers[error._tag] as (error: KnownError) => HttpResponse
  return make(error)
}

/** The response to a bug. */
export const internalError = (requestId: string): HttpResponse =>
  answer("internal_error", `something went wrong on the server: quote ${requestId} when you report it`)
