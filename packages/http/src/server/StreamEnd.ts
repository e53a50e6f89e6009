/**
 * Ends streams when their server stops. Those of events never end by themselves: the client then reconnects and continues after the
 * last event that it received. Others, such as exports, are broken off.
 */
import { Effect } from "effect"
import type { HttpResponse } from "./HttpExchange.ts"

/** How often to check whether a server still listens. Servers have no event for it. */
const CHECK_MILLIS = 1_000

/** A server of Node. */
interface Listener {
  readonly listening: boolean
}

/** The part of a Node request that is used. */
export interface Incoming {
  readonly httpVersionMajor?: unknown
  readonly socket?: unknown
}

/** Headers of a stream. In HTTP/1, keeping the connection alive afterwards would prevent its server from closing. */
export const headersFor = (incoming: Incoming | undefined): Readonly<Record<string, string>> =>
  incoming?.httpVersionMajor === 1 ? { connection: "close" } : {}

/** The server of a request; `undefined` when it isn't listening, because then it can't stop listening. */
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

/** A stream was broken off, because its server has stopped. */
class BrokenOff extends Error {
  override readonly name = "BrokenOff"

  constructor() {
    super("the server has stopped before the answer was complete")
  }
}

/**
 * Waits until the server of a request has stopped listening, or the signal aborts. Then it completes for an answer that may end there,
 * and dies for any other.
 */
export const ended = (
  { isEndless = false }: Pick<HttpResponse, "isEndless">,
  incoming: Incoming | undefined,
  closing: AbortSignal | undefined,
): Effect.Effect<void> => {
  const listener = listenerOf(incoming)
  const hasStopped = Effect.raceAllFirst([
    ...(listener === undefined ? [] : [stopped(listener)]),
    ...(closing === undefined ? [] : [aborted(closing)]),
    Effect.never,
  ])
  return isEndless ? hasStopped : Effect.andThen(hasStopped, Effect.die(new BrokenOff()))
}
