/**
 * What calls have in common.
 */

/** Options of a call, its last argument. An `InvalidInputError` when there are others. */
export interface CallOptions {
  /** Gives the call up: it rejects with the signal's reason. What is being written then is written, or not at all. */
  readonly signal?: AbortSignal | undefined
}

/** An instant: a `Date`, or RFC 3339 text with an offset such as `2026-11-21T09:30:00Z`. */
export type Instant = Date | string

/** `live` is real money; `test` is a world of its own for development. Nothing crosses between them. */
export type Mode = "live" | "test"

/** Free-form key/value pairs: at most 50, keys of 1 to 40 characters, values of at most 500. */
export type Metadata = Readonly<Record<string, string>>

/** A change of metadata: `null` removes a key, other keys are set, keys that are not named stay. */
export type MetadataPatch = Readonly<Record<string, string | null>>
