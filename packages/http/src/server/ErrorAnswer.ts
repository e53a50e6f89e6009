/**
 * From an error of the library to the answer that a client gets: one table.
 *
 * The message names the field by its wire name and never holds a secret, SQL or a stack.
 */
import type {
  ApiKey,
  Customer,
  Delivery,
  EncryptionKeyRequired,
  Endpoint,
  Event,
  IdempotencyKeyReused,
  InvalidInput,
  RequestInProgress,
  SecretUnavailable,
  StorageError,
  Threshold,
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

/** What the domain's services can fail with. */
export type DomainError =
  | InvalidInput
  | StorageError
  | Customer.CustomerNotFound
  | UsageRecord.UsageKeyConflict
  | UsageRecord.UsageRecordNotFound
  | Threshold.ThresholdNotFound
  | Threshold.TooManyThresholds
  | Event.EventNotFound
  | Event.EventKeyConflict
  | Delivery.DeliveryNotFound
  | Endpoint.EndpointNotFound
  | Endpoint.EndpointIsDisabled
  | Endpoint.EventNotAdmitted
  | Endpoint.TooManyEndpoints
  | EncryptionKeyRequired
  | ApiKey.ApiKeyNotFound

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

/** Everything that ends a request other than its answer. */
export type ServerError =
  | DomainError
  | ApiKey.Unauthorized
  | ApiKey.Forbidden
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

const notFound = (field: string | undefined, message: string): HttpResponse =>
  answer("not_found", field === undefined ? message : `${wireField(field)}: ${message}`)

const tooManyStreams = ({ limit, of }: TooManyStreams): HttpResponse => {
  const headers = { "retry-after": String(STREAM_RETRY_AFTER_SECONDS) }
  return of === "key"
    ? answer("rate_limited", `this API key has ${limit} streams open already`, headers)
    : answer("unavailable", "too many streams are open, try again in a moment", headers)
}

/** The answer to an error. */
export const fromError = (error: ServerError): HttpResponse => {
  switch (error._tag) {
    case "InvalidInput":
      return answer("invalid_request", `${fieldName(error)} ${error.problem}`)
    case "BodyUnreadable":
      return answer("invalid_request", `the body ${error.problem}`)
    case "Unauthorized":
      return answer("unauthorized", error.message, { "www-authenticate": "Bearer" })
    case "Forbidden":
      return answer("forbidden", error.message)
    case "NoSuchPath":
      return answer("not_found", `there is nothing ${error.path === "" ? "here" : `at ${error.path}`}`)
    case "CustomerNotFound":
      return notFound(error.field, error.message)
    case "UsageRecordNotFound":
    case "ThresholdNotFound":
    case "EventNotFound":
    case "DeliveryNotFound":
    case "EndpointNotFound":
    case "ApiKeyNotFound":
      return answer("not_found", error.message)
    case "WrongMethod":
      return answer("method_not_allowed", `${error.method} is not one of its methods: ${error.allow}`, {
        allow: error.allow,
      })
    case "UsageKeyConflict":
      return answer(
        "conflict",
        `${wireField(error.field)} was already used with other content, by ${error.recordId}`,
      )
    case "EventKeyConflict":
      return answer("conflict", `idempotency_key was already used with other content, by ${error.eventId}`)
    case "SecretUnavailable":
      return answer("conflict", "the first answer was encrypted with a key that is not at hand any more")
    case "TooManyThresholds":
    case "EndpointIsDisabled":
    case "EventNotAdmitted":
    case "TooManyEndpoints":
    case "EncryptionKeyRequired":
      return answer("conflict", error.message)
    case "RequestInProgress":
      return answer("conflict", error.message, { "retry-after": String(RETRY_AFTER_SECONDS) })
    case "BodyTooLarge":
      return answer("payload_too_large", `the body is larger than ${MAX_BODY_BYTES} bytes`, {
        connection: "close",
      })
    case "BodyTooSlow":
      return answer("request_timeout", `the body took longer than ${MAX_BODY_MILLIS / 1000} s`, {
        connection: "close",
      })
    case "WrongMediaType":
      return answer("unsupported_media_type", error.problem)
    case "IdempotencyKeyReused":
      return answer("idempotency_key_reused", error.message)
    case "RateLimited":
      return answer("rate_limited", "this API key has sent too many requests", {
        "retry-after": String(error.retryAfterSeconds),
      })
    case "TooManyStreams":
      return tooManyStreams(error)
    case "StorageError":
      return answer("unavailable", "the storage is out of reach, try again in a moment", {
        "retry-after": String(RETRY_AFTER_SECONDS),
      })
  }
}

/** The answer to a bug. */
export const internalError = (requestId: string): HttpResponse =>
  answer("internal_error", `something went wrong on this side; quote ${requestId} when you report it`)
