/**
 * A request and its answer, reduced to what the server needs. Any runtime can make such a request and send such an
 * answer.
 */
import { type Effect, Schema, type Stream } from "effect"

/** The largest body of a request: 1 MiB. */
export const MAX_BODY_BYTES = 1024 * 1024
/** The longest time that a body may take to arrive, in milliseconds. */
export const MAX_BODY_MILLIS = 30_000
/** The longest path and query together, in characters. */
export const MAX_TARGET_LENGTH = 8192

/** The body is larger than `MAX_BODY_BYTES`. */
export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", {}) {}

/** The body took longer than `MAX_BODY_MILLIS`. */
export class BodyTooSlow extends Schema.TaggedError<BodyTooSlow>()("BodyTooSlow", {}) {}

/** The body ended early, or other code has read it already. `problem` is worded to follow "the body". */
export class BodyUnreadable extends Schema.TaggedError<BodyUnreadable>()("BodyUnreadable", {
  problem: Schema.String,
}) {}

export interface HttpRequest {
  readonly method: string
  /** The path without the base path, as it was sent (percent-encoded). Starts with `/`. */
  readonly path: string
  /** The query string without `?`. */
  readonly query: string
  /** Returns a header by its lower-case name. */
  readonly header: (name: string) => string | undefined
  /** Returns all headers by lower-case name. */
  readonly headers: () => Readonly<Record<string, string>>
  /**
   * The connection of the request: the same object for all its requests. `undefined` when the runtime doesn't know
   * it.
   */
  readonly connection?: object | undefined
  /** The IP address at the other end of the connection. `undefined` when the runtime doesn't know it. */
  readonly remoteAddress?: string | undefined
  /** Reads the whole body, within the limits. */
  readonly body: Effect.Effect<Uint8Array, BodyTooLarge | BodyTooSlow | BodyUnreadable>
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Replaces `body` with bytes that are not text. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /**
   * Replaces `body` with pieces that are sent one by one, until the stream ends or the client disconnects. Each is
   * sent when the client has read the ones before. The stream takes resources only when it is run, and releases
   * them when it is interrupted.
   */
  readonly stream?: Stream.Stream<string>
  /**
   * Whether the stream may end anywhere, as one of events may: its client asks for the rest. Any other stream is broken off when its
   * server stops, because what has been sent would look complete.
   */
  readonly isEndless?: boolean
}

type FileContent = string | Uint8Array<ArrayBuffer> | Stream.Stream<string>

/** A body that is not JSON. */
export class FileBody {
  /** Text, bytes, or pieces of text that are sent one by one. */
  readonly content: FileContent
  readonly headers: Readonly<Record<string, string>>

  constructor(content: FileContent, headers: Readonly<Record<string, string>>) {
    this.content = content
    this.headers = headers
  }
}

/** The answer of an operation. Its body is written as JSON, unless it is a `FileBody`, which only a GET answers with. */
export interface Answer {
  readonly status: number
  readonly body: object
  /** The id of the customer that the body is. Erasing the customer removes the stored answer. */
  readonly subject?: string
}

export const ok = (body: object): Answer => ({ status: 200, body })
export const created = (body: object): Answer => ({ status: 201, body })
