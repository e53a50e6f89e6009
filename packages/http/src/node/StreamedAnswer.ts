import type { ServerResponse } from "node:http"
/**
 * An answer that is sent piece by piece, as fast as its client reads.
 */
import { Cause, Effect, Stream } from "effect"
import type { HttpResponse } from "../server/HttpExchange.ts"
import * as StreamEnd from "../server/StreamEnd.ts"

/** How long a client may take none of what is waiting for it: then its connection is broken off. */
const MAX_STALL_MILLIS = 60_000
/** How long it may take for the rest when its stream has ended. */
const MAX_END_MILLIS = 5_000

const drained = (response: ServerResponse): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const onDrain = () => resume(Effect.void)
    response.once("drain", onDrain)
    return Effect.sync(() => response.off("drain", onDrain))
  }).pipe(
    Effect.timeoutOrElse({
      duration: MAX_STALL_MILLIS,
      orElse: () => Effect.sync(() => void response.destroy()),
    }),
  )

/** Writes a piece, and waits until the client has taken what was written. */
const write = (response: ServerResponse, piece: string): Effect.Effect<void> =>
  Effect.suspend(() =>
    // Ended by a server of ours, which stops: nothing more is written, and its end interrupts this.
    response.writableEnded || response.write(piece) ? Effect.void : drained(response),
  )

/** Ends the answer, so that its client can tell that nothing was cut off. */
const end = (response: ServerResponse): Effect.Effect<void> =>
  Effect.callback<void>((resume) => void response.end(() => resume(Effect.void))).pipe(
    Effect.timeoutOrElse({
      duration: MAX_END_MILLIS,
      orElse: () => Effect.sync(() => void response.destroy()),
    }),
  )

/**
 * Sends an answer with the pieces of its stream. It ends with the stream, or when `ended` does; interrupt it when the
 * client is gone.
 */
export const send = (
  response: ServerResponse,
  { headers, status }: HttpResponse,
  stream: Stream.Stream<string>,
  ended: Effect.Effect<void>,
): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (response.headersSent || response.destroyed) return Effect.void
    response.writeHead(status, { ...headers, ...StreamEnd.headersFor(response.req) })
    const sending = Stream.runForEach(stream, (piece) => write(response, piece))
    return Effect.raceFirst(sending, ended)
  }).pipe(
    Effect.matchCauseEffect({
      onSuccess: () => end(response),
      onFailure: (cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.sync(() => response.destroy()),
    }),
  )
