/**
 * From a failure of the domain to the error that the caller gets: a table of those that carry more, and a rule.
 */
import {
  type ApiKey,
  type Customer,
  type EncryptionKeyRequired,
  type Endpoint,
  type Event,
  EventType,
  type InvalidInput,
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
  | Customer.CustomerNotFound
  | UsageRecord.UsageKeyConflict
  | Event.EventKeyConflict
  | Endpoint.EndpointIsDisabled
  | Endpoint.EventNotAdmitted
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
  UsageKeyConflict: ({ field, message, recordId }, options) =>
    new Errors.UsageKeyConflictError(field, recordId, message, options),
  EventKeyConflict: ({ eventId, message }, options) =>
    new Errors.EventKeyConflictError(eventId, message, options),
  EndpointIsDisabled: ({ id, message }, options) => new Errors.EndpointDisabledError(id, message, options),
  EventNotAdmitted: ({ id, message, type }, options) =>
    new Errors.EventNotAdmittedError(id, type, message, options),
  Unauthorized: (_, options) => new Errors.UnauthorizedError(options),
}

/** An error that has no class of its own outside: its code follows from its tag. */
interface OtherFailure {
  readonly _tag: string
  readonly message: string
  readonly id?: string
}

const isOtherFailure = (error: unknown): error is OtherFailure =>
  error instanceof Error && "_tag" in error && typeof error._tag === "string"

/** `PlanNotFound` → `plan_not_found` */
const codeOf = (tag: string): string =>
  tag.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

type NotFoundClass = new (id: string, message: string, options: ErrorOptions) => Errors.NotFoundError

const isNotFoundClass = (value: unknown): value is NotFoundClass =>
  typeof value === "function" && value.prototype instanceof Errors.NotFoundError

/** Classes of unknown ids, by their names: those of their errors in the domain, and `Error`. */
const NOT_FOUND: ReadonlyMap<string, NotFoundClass> = new Map(
  Object.entries<unknown>(Errors).flatMap(([name, value]): Array<[string, NotFoundClass]> =>
    isNotFoundClass(value) ? [[name, value]] : [],
  ),
)

/** What follows from the definition of an error: its class by its status, its code by its tag. */
const derived = (error: OtherFailure, options: ErrorOptions): Errors.BillingError => {
  const { ast } = error.constructor as {
    readonly ast?: { readonly annotations?: Readonly<Record<string, unknown>> }
  }
  const code = codeOf(error._tag) as Errors.BillingErrorCode
  switch (ast?.annotations?.["httpApiStatus"]) {
    case 404: {
      const Own = NOT_FOUND.get(`${error._tag}Error`)
      const id = error.id ?? ""
      return Own === undefined
        ? new Errors.NotFoundError(code, id, error.message, options)
        : new Own(id, error.message, options)
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
  if (!isDomainError(error)) {
    return isOtherFailure(error) ? derived(error, options) : new Errors.InternalError(options)
  }
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
