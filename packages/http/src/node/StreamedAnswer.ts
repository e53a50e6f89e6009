import type { ServerResponse } from "node:http"
/**
 * Sends an answer in pieces, as fast as its client reads.
 */
import { Cause, Effect, Stream } from "effect"
import type { HttpResponse } from "../server/HttpExchange.ts"
import * as StreamEnd from "../server/StreamEnd.ts"

/** How long a client may read nothing before its connection is closed, in milliseconds. */
const MAX_STALL_MILLIS = 60_000
/** How long a client may take to read the rest after the stream has ended, in milliseconds. */
const MAX_END_MILLIS = 5_000

/** Answers that may end anywhere. */
const endless = new WeakSet<ServerResponse>()

/** Ends an answer that may end anywhere. Others are not touched. */
export const endIfEndless = (response: ServerResponse, onEnd: () => void): void => {
  if (endless.has(response)) response.end(onEnd)
}

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

/** Writes a piece, and waits until the client has read enough of what was written. */
const write = (response: ServerResponse, piece: string): Effect.Effect<void> =>
  Effect.suspend(() =>
    // When our own server is stopping, it has already ended the response, and interrupts this effect soon.
    response.writableEnded || response.write(piece) ? Effect.void : drained(response),
  )

/** Ends the answer, so that the client knows that it is complete. */
const end = (response: ServerResponse): Effect.Effect<void> =>
  Effect.callback<void>((resume) => void response.end(() => resume(Effect.void))).pipe(
    Effect.timeoutOrElse({
      duration: MAX_END_MILLIS,
      orElse: () => Effect.sync(() => void response.destroy()),
    }),
  )

/**
 * Sends an answer with the pieces of its stream. The answer ends when the stream or `ended` completes, and is broken off when one of
 * them fails. Interrupt the effect when the client disconnects.
 */
export const send = (
  response: ServerResponse,
  { headers, isEndless, status }: HttpResponse,
  stream: Stream.Stream<string>,
  ended: Effect.Effect<void>,
): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (response.headersSent || response.destroyed) return Effect.void
    if (isEndless === true) endless.add(response)
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
