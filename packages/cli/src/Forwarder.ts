/**
 * Sends events to an address of this machine's user, signed as the dispatcher signs them.
 */
import { Signature } from "@billwright/core"
import { Clock, Effect, type Redacted } from "effect"
import type { StreamedEvent } from "./EventStream.ts"

/** How long the receiver may take. */
const TIMEOUT_MILLIS = 15_000

/** What came of one request. */
export interface Forwarded {
  /** The status of the answer; `null` when there was none. */
  readonly status: number | null
  readonly durationMillis: number
  /** Why there was no answer. */
  readonly error: string | null
}

/** Sends one event and waits for the answer. Never fails: a receiver that does is what is to be told. */
export type Forward = (event: StreamedEvent) => Effect.Effect<Forwarded>

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error.name === "TimeoutError") return `no answer within ${TIMEOUT_MILLIS / 1_000} s`
  const { code } = (error.cause ?? error) as { readonly code?: unknown }
  return typeof code === "string" ? code : error.message
}

const post = (url: URL, headers: Readonly<Record<string, string>>, body: string) =>
  Effect.tryPromise({
    try: async (interrupted) => {
      const response = await fetch(url, {
        method: "POST",
        headers,
        body,
        redirect: "manual",
        signal: AbortSignal.any([interrupted, AbortSignal.timeout(TIMEOUT_MILLIS)]),
      })
      // What it says is the receiver's to log.
      await response.body?.cancel()
      return response.status
    },
    catch: reasonOf,
  })

/** Signs with the secret, which must be one of ours (`whsec_…`). */
export const make = (url: URL, secret: Redacted.Redacted<string>): Effect.Effect<Forward> =>
  Effect.map(Signature.signer(secret), (signer) =>
    Effect.fnUntraced(function* ({ id, payload }: StreamedEvent) {
      const startedAt = yield* Clock.currentTimeMillis
      const timestamp = Math.floor(startedAt / 1_000)
      const signature = yield* Signature.header([signer], { id, timestamp, body: payload })
      const headers = {
        "content-type": "application/json",
        "user-agent": "Billwright-Webhooks/1",
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": signature,
      }
      const outcome = yield* Effect.match(post(url, headers, payload), {
        onSuccess: (status) => ({ status, error: null }),
        onFailure: (error) => ({ status: null, error }),
      })
      const forwarded: Forwarded = {
        ...outcome,
        durationMillis: (yield* Clock.currentTimeMillis) - startedAt,
      }
      return forwarded
    }),
  )
