/**
 * `GET /v1/events/stream`: events as they are published, as server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 *
 * What is sent comes from storage alone, from place to place along its tail, so that nothing is missed and nothing
 * comes twice, whatever process published it. A client that doesn't read is not read for.
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
import type { TooManyStreams } from "./ErrorAnswer.ts"
import type { HttpResponse } from "./HttpExchange.ts"
import { StreamPace } from "./StreamPace.ts"
import * as StreamSlots from "./StreamSlots.ts"

/** The operation that this is. */
export const STREAM_OPERATION = "streamEvents"
/** The longest silence: proxies close connections that say nothing. */
const HEARTBEAT_MILLIS = 15_000
/** How often the tail is read when nothing tells of an event. */
const POLL_MILLIS = 1_000
/** How often it is looked at whether the key is still valid. With the time that a look-up is reused, it makes 4 s. */
const KEY_CHECK_MILLIS = 1_000
/** How long a client is to wait before it connects again, in milliseconds. */
const RETRY_MILLIS = 1_000

const HEADERS = {
  "content-type": "text/event-stream",
  // Compression and proxies that collect an answer would keep events back.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
}
const BEGINNING = `retry: ${RETRY_MILLIS}\n\n`
/** A comment. */
const HEARTBEAT = ":\n\n"

export interface StreamRequest {
  readonly verified: VerifiedApiKey
  /** Whether the key still counts. */
  readonly verify: Verify
  readonly query: { readonly types?: string }
  /** The header `Last-Event-ID`. */
  readonly lastEventId: string | undefined
  /** Whether the answer has no body, so that there is nothing to run. */
  readonly isBodiless: boolean
}

export type OpenStream = (
  request: StreamRequest,
) => Effect.Effect<HttpResponse, InvalidInput | StorageError | TooManyStreams>

/** An event as it is sent: its payload is JSON without line breaks. */
const frame = ({ id, payload, type }: Event.Event): string =>
  `id: ${id}\nevent: ${type}\ndata: ${payload}\n\n`

/** How far a stream has come. */
interface Progress {
  position: TailPosition
  /** What was read and not yet sent. */
  pending: ReadonlyArray<Event.Event>
  /** Nothing is known to lie behind: what comes next, a signal tells of. */
  isUpToDate: boolean
  /** When something was last sent, and when the key was last looked at. */
  spokenAt: number
  checkedAt: number
}

/** Makes what opens streams. */
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

    /** An id of no event is refused, as cursors of lists are: a client that went on without it would miss events. */
    const startBehind = (lastEventId: string | undefined) =>
      Effect.catchTag(events.tailPosition(lastEventId), "EventNotFound", () =>
        Effect.fail(new InvalidInput({ field: "Last-Event-ID", problem: "is not the id of an event" })),
      )

    /** Only a refusal says that a key ended: a storage that doesn't answer says nothing. */
    const isStillValid = (verify: Verify) =>
      verify.pipe(
        Effect.as(true),
        Effect.catchTag("Unauthorized", () => Effect.succeed(false)),
        Effect.orElseSucceed(() => true),
      )

    /** Reads on. While the storage is out of reach the stream stays, and goes on behind what it sent. */
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

    /** Waits for a commit, or for the time to look without one. */
    const news = Effect.fnUntraced(function* (committed: Signal.Awaiting, pace: StreamPace) {
      const told = yield* Effect.timeoutOption(committed, POLL_MILLIS)
      if (Option.isNone(told)) return
      const delay = pace.delay(yield* Clock.currentTimeMillis, slots.taken())
      if (delay > 0) yield* Effect.sleep(delay)
    })

    /** Gives the pieces one by one; `undefined` is the end. */
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
        checkedAt: now,
      }
      return Effect.gen(function* () {
        for (;;) {
          const now = yield* Clock.currentTimeMillis
          if (now - progress.checkedAt >= KEY_CHECK_MILLIS) {
            progress.checkedAt = now
            if (!(yield* isStillValid(verify))) return undefined
          }
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
     * A stream that is run so late that its slot is another's breaks off: it can't be refused any more, and one that
     * merely ended would look like one without events.
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
      const { key, tenant } = request.verified
      yield* slots.check(key.id)
      const types = yield* parseTypes(request.query.types)
      const position = yield* Effect.provideService(startBehind(request.lastEventId), CurrentTenant, tenant)
      const answer = { status: 200, headers: HEADERS, body: "" }
      if (request.isBodiless) return answer
      const slot = yield* slots.reserve(key.id)
      return { ...answer, stream: streamOf(request, slot, position, types) }
    })
  })

const logDefect = (cause: Cause.Cause<never>): Effect.Effect<void> =>
  Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("a stream of events broke off", cause)
