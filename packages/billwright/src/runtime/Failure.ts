/**
 * From a failure of the domain to the error that the caller gets: one table.
 */
import {
  type ApiKey,
  type Customer,
  type Delivery,
  type EncryptionKeyRequired,
  type Endpoint,
  type Event,
  EventType,
  type InvalidInput,
  type SecretUnavailable,
  type StorageError,
  type Threshold,
  type UsageRecord,
} from "@billwright/core"
import { Cause } from "effect"
import * as Errors from "../errors/index.ts"

type DomainError =
  | InvalidInput
  | StorageError
  | SecretUnavailable
  | EncryptionKeyRequired
  | Customer.CustomerNotFound
  | UsageRecord.UsageRecordNotFound
  | UsageRecord.UsageKeyConflict
  | Threshold.ThresholdNotFound
  | Threshold.TooManyThresholds
  | Event.EventNotFound
  | Event.EventKeyConflict
  | Endpoint.EndpointNotFound
  | Endpoint.EndpointIsDisabled
  | Endpoint.EventNotAdmitted
  | Endpoint.TooManyEndpoints
  | Delivery.DeliveryNotFound
  | ApiKey.ApiKeyNotFound
  | ApiKey.Unauthorized

/** What a host does about a type that the catalogue doesn't have. */
const DEFINE_EVENT = "define your own by defineEvent, and pass it in events of createBilling"

type Table = {
  readonly [Tag in DomainError["_tag"]]: (
    error: Extract<DomainError, { readonly _tag: Tag }>,
    options: ErrorOptions,
  ) => Errors.BillingError
}

const table: Table = {
  InvalidInput: ({ field, problem }, options) =>
    new Errors.InvalidInputError(
      field,
      EventType.isUnknownProblem(problem) ? `${problem} (${DEFINE_EVENT})` : problem,
      options,
    ),
  StorageError: (error, options) =>
    new Errors.StorageUnavailableError(error.message, {
      ...options,
      operation: error.operation,
      isRetryable: error.retryable,
      isOutcomeUnknown: error.isOutcomeUnknown ?? false,
    }),
  SecretUnavailable: ({ keyId, message }, options) =>
    new Errors.SecretUnavailableError(keyId, message, options),
  EncryptionKeyRequired: (_, options) => new Errors.EncryptionKeyRequiredError(options),
  CustomerNotFound: ({ field, id, message }, options) =>
    new Errors.CustomerNotFoundError(id, message, { ...options, field }),
  UsageRecordNotFound: ({ id, message }, options) =>
    new Errors.UsageRecordNotFoundError(id, message, options),
  UsageKeyConflict: ({ field, message, recordId }, options) =>
    new Errors.UsageKeyConflictError(field, recordId, message, options),
  ThresholdNotFound: ({ id, message }, options) => new Errors.ThresholdNotFoundError(id, message, options),
  TooManyThresholds: ({ message }, options) =>
    new Errors.LimitReachedError("too_many_thresholds", message, options),
  EventNotFound: ({ id, message }, options) => new Errors.EventNotFoundError(id, message, options),
  EventKeyConflict: ({ eventId, message }, options) =>
    new Errors.EventKeyConflictError(eventId, message, options),
  EndpointNotFound: ({ id, message }, options) => new Errors.EndpointNotFoundError(id, message, options),
  EndpointIsDisabled: ({ id, message }, options) => new Errors.EndpointDisabledError(id, message, options),
  EventNotAdmitted: ({ id, message, type }, options) =>
    new Errors.EventNotAdmittedError(id, type, message, options),
  TooManyEndpoints: ({ message }, options) =>
    new Errors.LimitReachedError("too_many_endpoints", message, options),
  DeliveryNotFound: ({ id, message }, options) => new Errors.DeliveryNotFoundError(id, message, options),
  ApiKeyNotFound: ({ id, message }, options) => new Errors.ApiKeyNotFoundError(id, message, options),
  Unauthorized: (_, options) => new Errors.UnauthorizedError(options),
}

const isDomainError = (error: unknown): error is DomainError =>
  typeof error === "object" &&
  error !== null &&
  "_tag" in error &&
  typeof error._tag === "string" &&
  Object.hasOwn(table, error._tag)

/** What the function of a transaction threw: it is the caller's and goes back to it as it is. */
export class Thrown {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/** The first thing that a cause fails with or dies of; `undefined` when it was interrupted. */
export const firstProblem = (cause: Cause.Cause<unknown>): unknown => {
  const failed = cause.reasons.find(Cause.isFailReason)
  if (failed !== undefined) return failed.error
  const died = cause.reasons.find(Cause.isDieReason)
  return died?.defect
}

/** The error of the library that a failure of the domain is. */
export const toBillingError = (error: unknown): Errors.BillingError => {
  if (error instanceof Errors.BillingError) return error
  const options: ErrorOptions = { cause: error }
  if (!isDomainError(error)) return new Errors.InternalError(options)
  const convert = table[error._tag] as (error: DomainError, options: ErrorOptions) => Errors.BillingError
  return convert(error, options)
}

/** What a call rejects with. An interruption without a signal that asks for it is the end of billing. */
export const toRejection = (cause: Cause.Cause<unknown>, signal: AbortSignal | undefined): unknown => {
  if (Cause.hasInterruptsOnly(cause)) {
    return signal?.aborted === true ? signal.reason : new Errors.ClosedError()
  }
  const problem = firstProblem(cause)
  return problem instanceof Thrown ? problem.error : toBillingError(problem)
}
