/**
 * Follows the events of a server. It reconnects after lost connections, and neither misses nor repeats an event.
 *
 * The stream's order is not that of the ids. A transaction may begin early and publish late. So no id says "from now on": only
 * the server can begin there, when it is asked for no event in particular. Until the stream has sent an event, what it may have
 * missed is read from the list instead.
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

/** The events of a page of the list, and of the page that is read at the start. */
const PAGE = "100"

const StoredIds = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String })),
  has_more: Schema.Boolean,
})

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

/**
 * The stored events from this id on, or all of them, oldest first. As in the stream, events for a single endpoint are left out.
 */
const listFrom = Effect.fnUntraced(function* (oldest: string | undefined, types: ReadonlyArray<string>) {
  const api = yield* ApiClient
  const found: Array<StreamedEvent> = []
  // The list takes one type only. Of several, the caller picks.
  const filter = { limit: PAGE, type: types.length === 1 ? types[0] : undefined }
  let after: string | undefined
  for (;;) {
    const query = { ...filter, starting_after: after }
    const { text, value } = yield* api.get("/events", ListedEvents, query)
    // Rendering the exact values gives the same bytes as the payload of a webhook.
    const exact = ExactJson.parse(text) as { readonly data: ReadonlyArray<{ readonly data: unknown }> }
    for (const [index, { endpoint_id, id, livemode, timestamp, type }] of value.data.entries()) {
      if (oldest !== undefined && id < oldest) return found.reverse()
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
  /**
   * The last event that the stream sent. Everything before it in the stream's order has come, which is not true of an event
   * from the list.
   */
  lastId: string | undefined
  /** The oldest event of the page that was read at the start. Undefined: the page had all events, or there were none. */
  oldest: string | undefined
  /**
   * Events that are not handled any more: those of that page, and those that were handled from the list. The server may send them
   * after a reconnect, because an id says less than where the first stream began. One before that page could still come: its
   * transaction would have to be newer than that of the last event.
   */
  readonly known: Set<string>
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

  const progress: Progress = {
    lastId: undefined,
    oldest: undefined,
    known: new Set(),
    pauseMillis: FIRST_PAUSE_MILLIS,
  }

  /** Notes which events are stored. "From now on" means all others. */
  const begin = Effect.fnUntraced(function* () {
    const { value } = yield* api.get("/events", StoredIds, { limit: PAGE })
    progress.lastId = undefined
    progress.oldest = value.has_more ? value.data.at(-1)?.id : undefined
    for (const { id } of value.data) progress.known.add(id)
  })

  const once = Effect.fnUntraced(function* (event: StreamedEvent) {
    if (!progress.known.delete(event.id)) yield* handle(event)
    progress.lastId = event.id
  })

  /**
   * Handles what was stored since the start, before a stream that begins anew. It lists the events only after the stream is
   * open, so that no event is missed in between.
   */
  const catchUp = Effect.fnUntraced(function* () {
    for (const event of yield* listFrom(progress.oldest, types)) {
      if (progress.known.has(event.id)) continue
      if (types.length === 0 || types.includes(event.type)) yield* handle(event)
      progress.known.add(event.id)
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
      return yield* begin()
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

  yield* begin()
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
