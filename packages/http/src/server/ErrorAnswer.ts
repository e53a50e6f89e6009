/**
 * From an error of the library to the answer that a client gets: one table.
 *
 * The message names the field by its wire name and never holds a secret, SQL or a stack.
 */
import type {
  ApiKey,
  Event,
  IdempotencyKeyReused,
  InvalidInput,
  RequestInProgress,
  SecretUnavailable,
  StorageError,
  UsageRecord,
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
 * What the domain's services can fail with. The class of an error says its status where it is defined
 * (`httpApiStatus`), and the answer follows from it.
 */
export interface DomainError {
  readonly _tag: string
  readonly message: string
  /** The part of the input that it is about, if it is about one. */
  readonly field?: string | undefined
}

/** No path, or nothing behind it. */
export class NoSuchPath extends Schema.TaggedError<NoSuchPath>()("NoSuchPath", { path: Schema.String }) {}

/** The path has other methods. */
export class WrongMethod extends Schema.TaggedError<WrongMethod>()("WrongMethod", {
  method: Schema.String,
  allow: Schema.String,
}) {}

/** The body is not what `Content-Type` must say. */
export class WrongMediaType extends Schema.TaggedError<WrongMediaType>()("WrongMediaType", {
  problem: Schema.String,
}) {}

/** Too many requests of a key. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  retryAfterSeconds: Schema.Int,
}) {}

/** Too many streams are open at once. */
export class TooManyStreams extends Schema.TaggedError<TooManyStreams>()("TooManyStreams", {
  /** Whose limit it is. */
  of: Schema.Literals(["key", "server"]),
  limit: Schema.Int,
}) {}

/** Errors whose answers have headers, or say it otherwise than their messages do. */
type KnownError =
  | InvalidInput
  | StorageError
  | UsageRecord.UsageKeyConflict
  | Event.EventKeyConflict
  | ApiKey.Unauthorized
  | IdempotencyKeyReused
  | RequestInProgress
  | BodyTooLarge
  | BodyTooSlow
  | BodyUnreadable
  | NoSuchPath
  | WrongMethod
  | WrongMediaType
  | RateLimited
  | SecretUnavailable
  | TooManyStreams

/** Everything that ends a request other than its answer. */
export type ServerError = KnownError | DomainError

/** Seconds after which to try again when the storage is out of reach, or the same request is running. */
const RETRY_AFTER_SECONDS = 1
/** Seconds after which to try to open another stream. */
const STREAM_RETRY_AFTER_SECONDS = 10

/** What the library says of a field that it doesn't know. */
export const UNKNOWN_FIELD = "is not a known field"
/** What is said of a query parameter that comes twice. */
export const GIVEN_TWICE = "is given twice"

/** Fields that hold names of the caller's own. */
const FOREIGN_NAMES = /^(?:metadata|headers|data)(?:[.[]|$)/

/** `records[3].customerId` → `records[3].customer_id`; keys of metadata are the caller's own text. */
const wireField = (field: string): string =>
  FOREIGN_NAMES.test(field)
    ? field
    : field.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The name of what is wrong: as it was sent where it is the caller's, otherwise that of the definition. */
const fieldName = ({ field, problem }: InvalidInput): string =>
  problem === UNKNOWN_FIELD || problem === GIVEN_TWICE ? field : wireField(field)

/** Takes API keys and webhook secrets out of a text: one that was sent in an address is not echoed, and not logged. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(/(sk_(?:live|test)_|wh(?:sec|sk)_)[0-9A-Za-z+/=%]+/g, "$1…")

/** Keeps both ends of a message that the caller's own text made too long. */
const bounded = (message: string): string =>
  message.length <= MAX_MESSAGE_LENGTH
    ? message
    : `${message.slice(0, MAX_MESSAGE_LENGTH / 2 - 1)}…${message.slice(-MAX_MESSAGE_LENGTH / 2)}`.toWellFormed()

/** The answer with an error code. */
export const answer = (
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
): HttpResponse => ({
  status: ERRORS[code].status,
  headers,
  body: JSON.stringify({ error: code, message: bounded(withoutSecrets(message)) }),
})

/** The status that the class of an error says. */
const statusOf = (error: object): number | undefined => {
  const { ast } = error.constructor as { readonly ast?: Schema.Top["ast"] }
  const status = ast?.annotations?.["httpApiStatus"]
  return typeof status === "number" ? status : undefined
}

/** The code that goes with a status. */
const codeOf = (status: number | undefined): ErrorCode | undefined =>
  (Object.keys(ERRORS) as ReadonlyArray<ErrorCode>).find((code) => ERRORS[code].status === status)

/** The answer that follows from the definition of an error. One without a status is a bug. */
const derived = (error: DomainError): HttpResponse => {
  const { field, message } = error
  const code = codeOf(statusOf(error))
  if (code === undefined) throw new TypeError(`the error ${error._tag} has no status`)
  return answer(code, field === undefined ? message : `${wireField(field)}: ${message}`)
}

const tooManyStreams = ({ limit, of }: TooManyStreams): HttpResponse => {
  const headers = { "retry-after": String(STREAM_RETRY_AFTER_SECONDS) }
  return of === "key"
    ? answer("rate_limited", `this API key has ${limit} streams open already`, headers)
    : answer("unavailable", "too many streams are open, try again in a moment", headers)
}

type Answers = {
  readonly [Tag in KnownError["_tag"]]: (error: Extract<KnownError, { readonly _tag: Tag }>) => HttpResponse
}

const answers: Answers = {
  InvalidInput: (error) => answer("invalid_request", `${fieldName(error)} ${error.problem}`),
  BodyUnreadable: ({ problem }) => answer("invalid_request", `the body ${problem}`),
  Unauthorized: ({ message }) => answer("unauthorized", message, { "www-authenticate": "Bearer" }),
  NoSuchPath: ({ path }) => answer("not_found", `there is nothing ${path === "" ? "here" : `at ${path}`}`),
  WrongMethod: ({ allow, method }) =>
    answer("method_not_allowed", `${method} is not one of its methods: ${allow}`, { allow }),
  UsageKeyConflict: ({ field, recordId }) =>
    answer("conflict", `${wireField(field)} was already used with other content, by ${recordId}`),
  EventKeyConflict: ({ eventId }) =>
    answer("conflict", `idempotency_key was already used with other content, by ${eventId}`),
  SecretUnavailable: () =>
    answer("conflict", "the first answer was encrypted with a key that is not at hand any more"),
  RequestInProgress: ({ message }) =>
    answer("conflict", message, { "retry-after": String(RETRY_AFTER_SECONDS) }),
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
  TooManyStreams: tooManyStreams,
  StorageError: () =>
    answer("unavailable", "the storage is out of reach, try again in a moment", {
      "retry-after": String(RETRY_AFTER_SECONDS),
    }),
}

const isKnown = (error: ServerError): error is KnownError => Object.hasOwn(answers, error._tag)

/** The answer to an error. */
export const fromError = (error: ServerError): HttpResponse => {
  if (!isKnown(error)) return derived(error)
  const make = answers[error._tag] as (error: KnownError) => HttpResponse
  return make(error)
}

/** The answer to a bug. */
export const internalError = (requestId: string): HttpResponse =>
  answer("internal_error", `something went wrong on this side; quote ${requestId} when you report it`)
