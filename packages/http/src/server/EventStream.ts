/**
 * `GET /v1/events/stream`: events as they are published, as server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 *
 * Every event is read from storage, in the order of its tail, so no event is missed or sent twice, whichever
 * process published it. While a client doesn't read, nothing is read from storage for it.
 */
import {
  CurrentTenant,
  type Event,
  Events,
  EventType,
  InvalidInput,
  OutageLog,
  type Signal,
  type StorageError,
  type TailPosition,
  type Tenant,
  type VerifiedApiKey,
} from "@billwright/core"
import { Cause, Clock, Effect, Option, Stream } from "effect"
import type { Verify } from "./Bearer.ts"
import type { TooManyStreams } from "./ErrorResponse.ts"
import type { HttpResponse } from "./HttpExchange.ts"
import * as KeyCheck from "./KeyCheck.ts"
import { StreamPace } from "./StreamPace.ts"
import * as StreamSlots from "./StreamSlots.ts"

/** The id of this operation. */
export const STREAM_OPERATION = "streamEvents"
/** The longest time without sending anything. Proxies close silent connections. */
const HEARTBEAT_MILLIS = 15_000
/** How often the tail is read when no signal arrives. */
const POLL_MILLIS = 1_000
/** How long a client should wait before it reconnects, in milliseconds. */
const RETRY_MILLIS = 1_000

const HEADERS = {
  "content-type": "text/event-stream",
  // Compression, and proxies that buffer an answer, would delay events.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
}
const BEGINNING = `retry: ${RETRY_MILLIS}\n\n`
/** A comment. */
const HEARTBEAT = ":\n\n"

export interface StreamRequest {
  readonly verified: VerifiedApiKey
  /** Checks whether the key is still valid. */
  readonly verify: Verify
  readonly query: { readonly types?: string }
  /** The header `Last-Event-ID`. */
  readonly lastEventId: string | undefined
  /** Whether the answer has no body (HEAD). Then no stream is opened. */
  readonly isBodiless: boolean
}

export type OpenStream = (
  request: StreamRequest,
) => Effect.Effect<HttpResponse, InvalidInput | StorageError | TooManyStreams>

/** An event in the format of server-sent events. Its payload is JSON without line breaks. */
const frame = ({ id, payload, type }: Event.Event): string =>
  `id: ${id}\nevent: ${type}\ndata: ${payload}\n\n`

/** The state of a stream. */
interface Progress {
  position: TailPosition
  /** Events that were read and not yet sent. */
  pending: ReadonlyArray<Event.Event>
  /** Nothing is known to lie behind: what comes next, a signal tells of. */
  isUpToDate: boolean
  /** When something was last sent. */
  spokenAt: number
}

/** Makes the function that opens streams. */
export const make = (limits: StreamSlots.StreamLimits = {}): Effect.Effect<OpenStream, never, Events> =>
  Effect.gen(function* () {
    const events = yield* Events
    const slots = StreamSlots.make(limits)
    const outage = OutageLog.make("streams of events are read again")
    const known = new Set(events.types.map(({ name }) => name))

    const parseTypes = (text: string | undefined): Effect.Effect<ReadonlyArray<string>, InvalidInput> => {
      const types = text?.split(",") ?? []
      const unknown = types.findIndex((type) => !known.has(type))
      if (unknown === -1) return Effect.succeed([...new Set(types)])
      const problem = EventType.unknownProblem(types[unknown])
      return Effect.fail(new InvalidInput({ field: `types[${unknown}]`, problem }))
    }

    /** Refuses an id that doesn't exist, as lists do with cursors. Otherwise the client would miss events. */
    const startBehind = (lastEventId: string | undefined) =>
      Effect.catchTag(events.tailPosition(lastEventId), "EventNotFound", () =>
        Effect.fail(new InvalidInput({ field: "Last-Event-ID", problem: "is not the id of an event" })),
      )

    /**
     * Reads the next events. While the storage can't be reached, the stream stays open. Later it continues after
     * the last event that it sent.
     */
    const read = (progress: Progress, tenant: Tenant.Tenant, types: ReadonlyArray<string>) =>
      events.tail(progress.position, types).pipe(
        Effect.provideService(CurrentTenant, tenant),
        Effect.flatMap(({ events: found, hasMore, position }) => {
          progress.position = position
          progress.pending = found
          progress.isUpToDate = !hasMore
          return outage.worked
        }),
        Effect.catchTag("StorageError", (error) =>
          Effect.andThen(
            outage.failed("streams of events can't be read, and wait for the storage", error),
            Effect.sleep(POLL_MILLIS),
          ),
        ),
      )

    /** Waits for a commit, or until the next read without one is due. */
    const news = Effect.fnUntraced(function* (committed: Signal.Awaiting, pace: StreamPace) {
      const told = yield* Effect.timeoutOption(committed, POLL_MILLIS)
      if (Option.isNone(told)) return
      const delay = pace.delay(yield* Clock.currentTimeMillis, slots.taken())
      if (delay > 0) yield* Effect.sleep(delay)
    })

    /** Returns the pieces one by one. `undefined` is the end. */
    const follow = Effect.fnUntraced(function* (
      { verified, verify }: StreamRequest,
      position: TailPosition,
      types: ReadonlyArray<string>,
    ) {
      const committed = yield* events.committed
      const pace = new StreamPace()
      const now = yield* Clock.currentTimeMillis
      const progress: Progress = {
        position,
        pending: [],
        isUpToDate: false,
        spokenAt: now,
      }
      const isStillValid = KeyCheck.make(verify, now)
      return Effect.gen(function* () {
        for (;;) {
          const now = yield* Clock.currentTimeMillis
          if (!(yield* isStillValid(now))) return undefined
          const [event, ...rest] = progress.pending
          if (event !== undefined || now - progress.spokenAt >= HEARTBEAT_MILLIS) {
            progress.pending = rest
            progress.spokenAt = now
            return event === undefined ? HEARTBEAT : frame(event)
          }
          if (progress.isUpToDate) {
            progress.isUpToDate = false
            yield* news(committed, pace)
          } else yield* read(progress, verified.tenant, types)
        }
      }).pipe(Effect.onError(logDefect))
    })

    /**
     * If a stream is run so late that another one has its slot, it breaks off. It can't be refused any more, and a
     * normal end would look like a stream without events.
     */
    const streamOf = (
      request: StreamRequest,
      slot: StreamSlots.Slot,
      position: TailPosition,
      types: ReadonlyArray<string>,
    ) =>
      Stream.unwrap(
        Effect.gen(function* () {
          yield* Effect.orDie(slot)
          const next = yield* follow(request, position, types)
          const pieces = Stream.unfold(undefined, () =>
            Effect.map(next, (piece) => (piece === undefined ? undefined : ([piece, undefined] as const))),
          )
          return Stream.concat(Stream.make(BEGINNING), pieces)
        }),
      )

    return Effect.fnUntraced(function* (request: StreamRequest) {
      const { tenant } = request.verified
      const holder = StreamSlots.holderOf(request.verified)
      yield* slots.check(holder)
      const types = yield* parseTypes(request.query.types)
      const position = yield* Effect.provideService(startBehind(request.lastEventId), CurrentTenant, tenant)
      const answer = { status: 200, headers: HEADERS, body: "" }
      if (request.isBodiless) return answer
      const slot = yield* slots.reserve(holder)
      return { ...answer, stream: streamOf(request, slot, position, types), isEndless: true }
    })
  })

const logDefect = (cause: Cause.Cause<never>): Effect.Effect<void> =>
  Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("a stream of events broke off", cause)
