/**
 * Errors that are not caused by a call's input.
 */
import { BillingError } from "./BillingError.ts"

/** The storage could not answer: unreachable, saturated, read-only, out of space. */
export class StorageUnavailableError extends BillingError {
  override readonly name = "StorageUnavailableError"
  /**
   * True when nothing was stored and the same call may succeed later. The library has already retried where that is
   * safe.
   */
  readonly isRetryable: boolean
  /**
   * True when it is unknown whether the call was carried out, because the database's answer was lost or came too
   * late. Repeat the call with the same idempotency key, or read what is stored.
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

/** The payment provider did not do what it was asked for. */
export class PaymentProviderUnavailableError extends BillingError {
  override readonly name = "PaymentProviderUnavailableError"
  /** The name of the provider. */
  readonly provider: string
  /** As of `PaymentProviderError`. `permanent`: a person has to change something. */
  readonly reason: "transient" | "permanent" | "unknown"

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly provider: string
      readonly reason: "transient" | "permanent" | "unknown"
    },
  ) {
    super("payment_provider_unavailable", message, options)
    this.provider = options.provider
    this.reason = options.reason
  }
}

/** The setup is wrong: a wrong option, or a database that isn't migrated. The message says what to do. */
export class ConfigurationError extends BillingError {
  override readonly name = "ConfigurationError"

  constructor(message: string, options?: ErrorOptions) {
    super("invalid_configuration", message, options)
  }
}

/** A stored secret can't be decrypted, because its key is missing from `encryptionKeys`. */
export class SecretUnavailableError extends BillingError {
  override readonly name = "SecretUnavailableError"
  /** The id of the key that encrypted it. */
  readonly keyId: string

  constructor(keyId: string, message: string, options?: ErrorOptions) {
    super("secret_unavailable", message, options)
    this.keyId = keyId
  }
}

/** The call came after `close()`. */
export class ClosedError extends BillingError {
  override readonly name = "ClosedError"

  constructor(options?: ErrorOptions) {
    super(
      "closed",
      "this billing was closed: call before close(), or start a new one with createBilling()",
      options,
    )
  }
}

/**
 * A call on a transaction's `tx` was not awaited: it was made after the transaction had ended, or the transaction's
 * function ended before the call did. A call that was made too late did nothing. Or the transaction was given up while the call
 * waited or ran: its signal aborted, or it took too long.
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

/** A bug in the library. `cause` is the error that was thrown. */
export class InternalError extends BillingError {
  override readonly name = "InternalError"

  constructor(options: ErrorOptions) {
    super("internal_error", "something went wrong inside Billwright: see `cause`", options)
  }
}
