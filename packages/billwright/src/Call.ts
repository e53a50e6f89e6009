/**
 * Types that many calls share.
 */

/** Options of a call: its last argument. Any other field is an `InvalidInputError`. */
export interface CallOptions {
  /**
   * Cancels the call: it rejects with the signal's reason. A write that is under way then either completes or
   * leaves nothing behind. In your own transaction, the running call is completed first, for up to a second.
   */
  readonly signal?: AbortSignal | undefined
}

/** An instant: a `Date`, or RFC 3339 text with an offset such as `2026-11-21T09:30:00Z`. */
export type Instant = Date | string

/** `live` is for real money, `test` for development. The data of the two modes is fully separate. */
export type Mode = "live" | "test"

/** Free-form key/value pairs: at most 50, keys of 1 to 40 characters, values of at most 500. */
export type Metadata = Readonly<Record<string, string>>

/**
 * A change of metadata: `null` removes a key, any other value sets it, and keys that are left out stay as they are.
 */
export type MetadataPatch = Readonly<Record<string, string | null>>
