/**
 * Converts a failure of the domain to the error that the caller gets. A table has the errors with fields of their own.
 * The others follow a rule.
 */
import {
  type ActionUnavailable,
  type ApiKey,
  type Credit,
  type Customer,
  type EncryptionKeyRequired,
  type Endpoint,
  type Event,
  EventType,
  type InvalidInput,
  type InvoicingUnsupported,
  type PaymentMethod,
  type SecretUnavailable,
  type StorageError,
  type UsageRecord,
} from "@billwright/core"
import { Cause } from "effect"
import * as Errors from "../errors/index.ts"

type DomainError =
  | InvalidInput
  | StorageError
  | SecretUnavailable
  | EncryptionKeyRequired
  | UsageRecord.UsageKeyConflict
  | Event.EventKeyConflict
  | Credit.CreditKeyConflict
  | Credit.InsufficientCredits
  | Customer.CustomerHasSubscription
  | ActionUnavailable
  | InvoicingUnsupported
  | Endpoint.EndpointIsDisabled
  | Endpoint.EventNotAdmitted
  | ApiKey.Unauthorized
  | PaymentMethod.PaymentProviderUnavailable

/** What to do about an event type that is not in the catalogue. */
const DEFINE_EVENT = "define your own with defineEvent, and pass it to createBilling in events"

type Table = {
  readonly [Tag in DomainError["_tag"]]: (
    error: Extract<DomainError, { readonly _tag: Tag }>,
    options: ErrorOptions,
  ) => Errors.BillingError
}

const table: Table = {
  InvalidInput: ({ field, problem, problems }, options) =>
    new Errors.InvalidInputError(
      field,
      EventType.isUnknownProblem(problem) ? `${problem} (${DEFINE_EVENT})` : problem,
      { ...options, problems },
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
  UsageKeyConflict: ({ field, message, recordId }, options) =>
    new Errors.UsageKeyConflictError(field, recordId, message, options),
  EventKeyConflict: ({ eventId, message }, options) =>
    new Errors.EventKeyConflictError(eventId, message, options),
  CreditKeyConflict: ({ id, message }, options) => new Errors.CreditKeyConflictError(id, message, options),
  InsufficientCredits: (error, options) => new Errors.InsufficientCreditsError(error, error.message, options),
  CustomerHasSubscription: ({ id, message }, options) =>
    new Errors.CustomerHasSubscriptionError(id, message, options),
  ActionUnavailable: ({ id, message, object }, options) =>
    new Errors.ActionUnavailableError(object, id, message, options),
  InvoicingUnsupported: ({ message }, options) => new Errors.InvoicingUnsupportedError(message, options),
  EndpointIsDisabled: ({ id, message }, options) => new Errors.EndpointDisabledError(id, message, options),
  EventNotAdmitted: ({ id, message, type }, options) =>
    new Errors.EventNotAdmittedError(id, type, message, options),
  PaymentProviderUnavailable: ({ message, provider, reason }, options) =>
    new Errors.PaymentProviderUnavailableError(message, { ...options, provider, reason }),
  Unauthorized: (_, options) => new Errors.UnauthorizedError(options),
}

/** An error of the domain without a class of its own in this package. Its code is made from its tag. */
interface OtherFailure {
  readonly _tag: string
  readonly message: string
  readonly id?: string
  /** The field of the input that held the id. */
  readonly field?: string
}

const isOtherFailure = (error: unknown): error is OtherFailure =>
  error instanceof Error && "_tag" in error && typeof error._tag === "string"

/** `PlanNotFound` → `plan_not_found` */
const codeOf = (tag: string): Errors.BillingErrorCode =>
  tag.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase() as Errors.BillingErrorCode

type NotFoundClass = new (
  id: string,
  message: string,
  options: Errors.NotFoundOptions,
) => Errors.NotFoundError

const isNotFoundClass = (value: unknown): value is NotFoundClass =>
  typeof value === "function" && value.prototype instanceof Errors.NotFoundError

/**
 * The classes of errors for unknown ids, by name. A class is named like the domain's error, with `Error` at the
 * end.
 */
const NOT_FOUND: ReadonlyMap<string, NotFoundClass> = new Map(
  Object.entries<unknown>(Errors).flatMap(([name, value]): Array<[string, NotFoundClass]> =>
    isNotFoundClass(value) ? [[name, value]] : [],
  ),
)

/** Makes the error of a domain error that the table lacks: the class from its status, the code from its tag. */
const derived = (error: OtherFailure, options: ErrorOptions): Errors.BillingError => {
  const { ast } = error.constructor as {
    readonly ast?: { readonly annotations?: Readonly<Record<string, unknown>> }
  }
  const code = codeOf(error._tag)
  switch (ast?.annotations?.["httpApiStatus"]) {
    case 404: {
      const Own = NOT_FOUND.get(`${error._tag}Error`)
      const { field, id = "", message } = error
      return Own === undefined
        ? new Errors.NotFoundError(code, id, message, { ...options, field })
        : new Own(id, message, { ...options, field })
    }
    case 409:
      return error._tag.startsWith("TooMany")
        ? new Errors.LimitReachedError(code, error.message, options)
        : new Errors.ConflictError(code, error.message, options)
    default:
      return new Errors.InternalError(options)
  }
}

const isDomainError = (error: unknown): error is DomainError =>
  typeof error === "object" &&
  error !== null &&
  "_tag" in error &&
  typeof error._tag === "string" &&
  Object.hasOwn(table, error._tag)

/**
 * Wraps what the function of a transaction threw. It is the caller's own error, so the caller gets it back
 * unchanged.
 */
export class Thrown {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/** The first failure of a cause, or else its first defect; `undefined` when it was only interrupted. */
export const firstProblem = (cause: Cause.Cause<unknown>): unknown => {
  const failed = cause.reasons.find(Cause.isFailReason)
  if (failed !== undefined) return failed.error
  const died = cause.reasons.find(Cause.isDieReason)
  return died?.defect
}

/** Converts a failure of the domain to an error of the library. */
export const toBillingError = (error: unknown): Errors.BillingError => {
  if (error instanceof Errors.BillingError) return error
  const options: ErrorOptions = { cause: error }
  if (!isDomainError(error)) {
    return isOtherFailure(error) ? derived(error, options) : new Errors.InternalError(options)
  }
  const convert = table[error._tag] as (error: DomainError, options: ErrorOptions) => Errors.BillingError
  return convert(error, options)
}

/**
 * The reason that a call rejects with. An interruption that the signal didn't cause means that billing was closed.
 */
export const toRejection = (cause: Cause.Cause<unknown>, signal: AbortSignal | undefined): unknown => {
  if (Cause.hasInterruptsOnly(cause)) {
    return signal?.aborted === true ? signal.reason : new Errors.ClosedError()
  }
  const problem = firstProblem(cause)
  return problem instanceof Thrown ? problem.error : toBillingError(problem)
}
