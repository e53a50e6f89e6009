/**
 * A request and its answer, in the least that the server needs: any runtime can make the one and send the other.
 */
import { type Effect, Schema, type Stream } from "effect"

/** Largest body of a request: 1 MiB. */
export const MAX_BODY_BYTES = 1024 * 1024
/** Longest that a body may take to arrive, in milliseconds. */
export const MAX_BODY_MILLIS = 30_000
/** Longest path and query. */
export const MAX_TARGET_LENGTH = 8192

/** The body is larger than `MAX_BODY_BYTES`. */
export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", {}) {}

/** The body took longer than `MAX_BODY_MILLIS`. */
export class BodyTooSlow extends Schema.TaggedError<BodyTooSlow>()("BodyTooSlow", {}) {}

/** The body ended early, or was read by somebody else. `problem` reads on from "the body". */
export class BodyUnreadable extends Schema.TaggedError<BodyUnreadable>()("BodyUnreadable", {
  problem: Schema.String,
}) {}

export interface HttpRequest {
  readonly method: string
  /** Path as sent, percent-encoded, without the base path. Starts with `/`. */
  readonly path: string
  /** Query string without `?`. */
  readonly query: string
  /** One header by its lower-case name. */
  readonly header: (name: string) => string | undefined
  /** What it came by: the same object for requests of the same connection, where the runtime tells. */
  readonly connection?: object | undefined
  /** Reads the whole body, within the limits. */
  readonly body: Effect.Effect<Uint8Array, BodyTooLarge | BodyTooSlow | BodyUnreadable>
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /**
   * In place of a body: pieces that are sent one by one, each once the client has taken those before, until the
   * stream ends or the client goes away. It holds nothing until it is run, and gives all back when it is
   * interrupted.
   */
  readonly stream?: Stream.Stream<string>
}

/** What a handler answers: a value that is written as JSON. */
export interface Answer {
  readonly status: number
  readonly body: object
  /** The id of the customer whose personal data the body holds. */
  readonly subject?: string
}

export const ok = (body: object): Answer => ({ status: 200, body })
export const created = (body: object): Answer => ({ status: 201, body })
