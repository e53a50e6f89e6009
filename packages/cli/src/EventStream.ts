/**
 * Follows the events of a server. It reconnects after lost connections, and neither misses nor repeats an event.
 */
import { Event, EventId, ExactJson } from "@billwright/core"
import { Console, DateTime, Effect, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { ApiClient, type ApiFailure, ServerRefused, ServerUnreachable } from "./ApiClient.ts"

/** An event as a receiver gets it. */
export interface StreamedEvent {
  readonly id: string
  readonly type: string
  /** The body, byte for byte. */
  readonly payload: string
}

/** The server sends a comment regularly. If nothing arrives for this long, the connection is dead. */
const SILENCE_MILLIS = 60_000
const FIRST_PAUSE_MILLIS = 250
const MAX_PAUSE_MILLIS = 5_000

const NewestEvent = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

const ListedEvents = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      id: EventId,
      type: Schema.String,
      timestamp: Schema.DateTimeUtcFromString,
      livemode: Schema.Boolean,
      // Missing in the answers of older servers.
      endpoint_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
      data: Schema.Unknown,
    }),
  ),
  has_more: Schema.Boolean,
})

/** All stored events, oldest first. As in the stream, events for a single endpoint are left out. */
const listAll = Effect.fnUntraced(function* () {
  const api = yield* ApiClient
  const found: Array<StreamedEvent> = []
  let after: string | undefined
  for (;;) {
    const { text, value } = yield* api.get("/events", ListedEvents, { limit: "100", starting_after: after })
    // Rendering the exact values gives the same bytes as the payload of a webhook.
    const exact = ExactJson.parse(text) as { readonly data: ReadonlyArray<{ readonly data: unknown }> }
    for (const [index, { endpoint_id, id, livemode, timestamp, type }] of value.data.entries()) {
      if (typeof endpoint_id === "string") continue
      const fields = { id, type, timestamp: DateTime.toUtc(timestamp) }
      const payload = Event.render(fields, livemode ? "live" : "test", exact.data[index]!.data)
      found.push({ id, type, payload })
    }
    after = value.data.at(-1)?.id
    if (!value.has_more || after === undefined) return found.reverse()
  }
})

const isTransient = (error: ApiFailure): boolean =>
  error._tag === "ServerUnreachable" || error.status === 429 || error.status >= 500

const cut = (cause: unknown) =>
  new ServerUnreachable({ message: `The connection was cut (${String(cause)})` })

/** The progress of the stream. */
interface Progress {
  /** The last event that was handled. */
  lastId: string | undefined
  /** The ids of events that were handled from the list. The stream may send them again. */
  readonly handled: Set<string>
  /** How long to wait after the next failure. */
  pauseMillis: number
}

/**
 * Calls `handle` for each event from now on, one after the other, without end. Fails when the server can't be reached
 * at the start, or when it refuses the key or the types. When the connection is lost later, it connects again.
 */
export const follow = Effect.fnUntraced(function* <R>(
  types: ReadonlyArray<string>,
  onOpen: Effect.Effect<void>,
  handle: (event: StreamedEvent) => Effect.Effect<void, never, R>,
) {
  const api = yield* ApiClient

  const newest = Effect.map(api.get("/events", NewestEvent, { limit: "1" }), ({ value }) => value.data[0]?.id)

  const progress: Progress = {
    lastId: yield* newest,
    handled: new Set(),
    pauseMillis: FIRST_PAUSE_MILLIS,
  }

  const once = Effect.fnUntraced(function* (event: StreamedEvent) {
    if (!progress.handled.delete(event.id)) yield* handle(event)
    progress.lastId = event.id
  })

  /**
   * Handles the stored events when the store had no events at the start: all of them were published since. It lists
   * them only after the stream is open, so that no event is missed in between.
   */
  const catchUp = Effect.fnUntraced(function* () {
    for (const event of yield* listAll()) {
      progress.handled.add(event.id)
      if (types.length === 0 || types.includes(event.type)) yield* handle(event)
      progress.lastId = event.id
    }
  })

  const connection = Effect.gen(function* () {
    const { lastId } = progress
    const headers: Record<string, string> = { accept: "text/event-stream" }
    if (lastId !== undefined) headers["last-event-id"] = lastId
    const query = { types: types.length === 0 ? undefined : types.join(",") }
    const body = yield* api.open("/events/stream", query, headers)
    progress.pauseMillis = FIRST_PAUSE_MILLIS
    yield* onOpen
    if (lastId === undefined) yield* catchUp()
    yield* Stream.runForEach(eventsOf(body), once)
  }).pipe(Effect.scoped)

  const recover = Effect.fnUntraced(function* (error: ApiFailure) {
    if (error instanceof ServerRefused && error.status === 400 && progress.lastId !== undefined) {
      const isKnown = yield* isStillThere(progress.lastId)
      if (isKnown) return yield* error
      yield* Console.error("The server no longer has the last event. Continuing with new events.")
      progress.lastId = yield* newest
      return
    }
    if (!isTransient(error)) return yield* error
    if (progress.pauseMillis === FIRST_PAUSE_MILLIS) yield* Console.error(`${error.message}. Trying again.`)
    yield* Effect.sleep(progress.pauseMillis)
    progress.pauseMillis = Math.min(progress.pauseMillis * 2, MAX_PAUSE_MILLIS)
  })

  const isStillThere = (id: string) =>
    api.get(`/events/${encodeURIComponent(id)}`, Schema.Unknown).pipe(
      Effect.as(true),
      Effect.catchTag("ServerRefused", (error) =>
        error.status === 404 ? Effect.succeed(false) : Effect.fail(error),
      ),
    )

  // The server ends the stream when it stops. This is handled like a lost connection.
  const round = Effect.andThen(connection, Effect.fail(cut("the server ended it"))).pipe(
    Effect.catch((error) => Effect.catchIf(recover(error), isTransient, () => Effect.void)),
  )
  return yield* Effect.forever(round)
})

/** The events of a body, until it ends or is silent for too long. */
const eventsOf = (body: ReadableStream<Uint8Array>): Stream.Stream<StreamedEvent, ApiFailure> => {
  const parsed: Array<StreamedEvent> = []
  const parser = Sse.makeParser((message) => {
    if (message._tag === "Event" && message.id !== undefined) {
      parsed.push({ id: message.id, type: message.event, payload: message.data })
    }
  })
  return Stream.fromReadableStream({ evaluate: () => body, onError: cut }).pipe(
    Stream.timeout(SILENCE_MILLIS),
    Stream.decodeText,
    Stream.flatMap((chunk) => {
      const error = parser.feed(chunk)
      return error === undefined ? Stream.fromIterable(parsed.splice(0)) : Stream.fail(cut(error))
    }),
  )
}
