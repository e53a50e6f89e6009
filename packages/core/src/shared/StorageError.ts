/**
 * The one error of every storage adapter.
 *
 * It says that the storage could not answer, never that a rule of the domain was broken:
 * a missing row is an `Option`, a duplicate is a value, a broken rule has an error of its own.
 */
import { Schema } from "effect"

/**
 * Storage failed: unreachable, saturated, read-only, out of space, or a bug in an adapter.
 *
 * `retryable` is true when the same call may succeed later and nothing of it was stored (connection lost
 * before COMMIT, deadlock, pool exhausted). Adapters have already retried what is safe to retry.
 */
export class StorageError extends Schema.TaggedError<StorageError>()(
  "StorageError",
  {
    /** The operation that failed, as `Port.verb`, for example `UsageStore.append`. */
    operation: Schema.String,
    retryable: Schema.Boolean,
    /**
     * Whether nobody can say if the call was carried out: its answer was lost or came too late. Ask again with
     * the same key, which is safe, or read what is stored.
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
