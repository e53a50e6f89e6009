/**
 * Errors that no input is to blame for.
 */
import { BillingError } from "./BillingError.ts"

/** The storage could not answer: unreachable, saturated, read-only, out of space. */
export class StorageUnavailableError extends BillingError {
  override readonly name = "StorageUnavailableError"
  /** True when nothing was stored and the same call may succeed later. What is safe to try again was tried. */
  readonly isRetryable: boolean
  /**
   * True when nobody can say if the call was carried out: its answer was lost or came too late. Call again with
   * the same idempotency key, or read what is stored.
   */
  readonly isOutcomeUnknown: boolean
  /** What failed, as `Port.verb`: `UsageStore.append`. */
  readonly operation: string

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly operation: string
      readonly isRetryable: boolean
      readonly isOutcomeUnknown?: boolean
    },
  ) {
    super("storage_unavailable", message, options)
    this.operation = options.operation
    this.isRetryable = options.isRetryable
    this.isOutcomeUnknown = options.isOutcomeUnknown ?? false
  }
}

/** Billing can't be used as it is set up: wrong options, an unmigrated database. The sentence says what to do. */
export class ConfigurationError extends BillingError {
  override readonly name = "ConfigurationError"

  constructor(message: string, options?: ErrorOptions) {
    super("invalid_configuration", message, options)
  }
}

/** A secret that is stored can't be decrypted: its key is missing from `encryptionKeys`. */
export class SecretUnavailableError extends BillingError {
  override readonly name = "SecretUnavailableError"
  /** The id of the key that encrypted it. */
  readonly keyId: string

  constructor(keyId: string, message: string, options?: ErrorOptions) {
    super("secret_unavailable", message, options)
    this.keyId = keyId
  }
}

/** `close()` was called before. */
export class ClosedError extends BillingError {
  override readonly name = "ClosedError"

  constructor(options?: ErrorOptions) {
    super(
      "closed",
      "this billing was closed: make calls before close(), or make another by createBilling()",
      options,
    )
  }
}

/**
 * A call came when its transaction had ended, or its transaction's function ended before the call: somebody did not
 * await it. A call that came late did nothing.
 */
export class TransactionEndedError extends BillingError {
  override readonly name = "TransactionEndedError"

  constructor(
    message = "this transaction has ended: await every call on its handle before its function returns",
    options?: ErrorOptions,
  ) {
    super("transaction_ended", message, options)
  }
}

/** A bug of the library. `cause` has what it threw. */
export class InternalError extends BillingError {
  override readonly name = "InternalError"

  constructor(options: ErrorOptions) {
    super("internal_error", "something went wrong inside of Billwright: `cause` says what", options)
  }
}
