/**
 * When an event stream, which has no end of its own, is to end: with what serves it. Its client then connects again,
 * and goes on behind the last event that it has.
 */
import { Effect } from "effect"

/** How often it is looked at whether a server still listens. Servers don't tell that they have stopped to. */
const CHECK_MILLIS = 1_000

/** A server of Node. */
interface Listener {
  readonly listening: boolean
}

/** A request of Node, as far as it is looked at. */
export interface Incoming {
  readonly httpVersionMajor?: unknown
  readonly socket?: unknown
}

/** Headers of a stream: in HTTP/1, a connection that was kept behind it would keep its server from closing. */
export const headersFor = (incoming: Incoming | undefined): Readonly<Record<string, string>> =>
  incoming?.httpVersionMajor === 1 ? { connection: "close" } : {}

/** The server that a request came through. One that didn't listen in the first place won't stop to. */
const listenerOf = (incoming: Incoming | undefined): Listener | undefined => {
  const { server } = (incoming?.socket ?? {}) as { readonly server?: Listener | null }
  return server?.listening === true ? server : undefined
}

const stopped = (listener: Listener): Effect.Effect<void> =>
  Effect.whileLoop({
    while: () => listener.listening,
    body: () => Effect.sleep(CHECK_MILLIS),
    step: () => {},
  })

const aborted = (signal: AbortSignal): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const onAbort = () => resume(Effect.void)
    if (signal.aborted) return onAbort()
    signal.addEventListener("abort", onAbort, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", onAbort))
  })

/** Waits until the server that a request came through has stopped listening, or the signal aborts. */
export const ended = (
  incoming: Incoming | undefined,
  closing: AbortSignal | undefined,
): Effect.Effect<void> => {
  const listener = listenerOf(incoming)
  return Effect.raceAllFirst([
    ...(listener === undefined ? [] : [stopped(listener)]),
    ...(closing === undefined ? [] : [aborted(closing)]),
    Effect.never,
  ])
}
