/**
 * The one error of every storage adapter.
 *
 * It means that the storage could not answer. It never means that a rule of the domain was broken:
 * a missing row is an `Option`, a duplicate is a value, and a broken rule has its own error.
 */
import { Schema } from "effect"

/**
 * Storage failed: unreachable, saturated, read-only, out of space, or a bug in an adapter.
 *
 * `retryable` is true when nothing of the call was stored and the same call may succeed later (connection lost
 * before COMMIT, deadlock, pool exhausted). Adapters have already retried what is safe to retry.
 */
export class StorageError extends Schema.TaggedError<StorageError>()(
  "StorageError",
  {
    /** The operation that failed, as `Port.verb`, for example `UsageStore.append`. */
    operation: Schema.String,
    retryable: Schema.Boolean,
    /**
     * True when it is unknown whether the call was carried out, because its answer was lost or came too late. Repeat
     * the call with the same idempotency key, which is safe, or read what is stored.
     */
    isOutcomeUnknown: Schema.optionalKey(Schema.Boolean),
    cause: Schema.optionalKey(Schema.Defect()),
  },
  { httpApiStatus: 503 },
) {
  override get message(): string {
    return `storage is unavailable (${this.operation})`
  }
}

/** The error of a call that failed after it had stored something: it must not claim that nothing was stored. */
export const afterStoring = (cause: StorageError): StorageError =>
  new StorageError({ operation: cause.operation, retryable: false, isOutcomeUnknown: true, cause })
