/**
 * Sends events to an address that the user gives, signed like webhooks of the dispatcher.
 */
import { Signature } from "@billwright/core"
import { Clock, Effect, type Redacted } from "effect"
import type { StreamedEvent } from "./EventStream.ts"

/** How long the receiver may take to answer, in milliseconds. */
const TIMEOUT_MILLIS = 15_000

/** The result of one request. */
export interface Forwarded {
  /** The status of the answer. `null` if there was no answer. */
  readonly status: number | null
  readonly durationMillis: number
  /** Why there was no answer. `null` if there was one. */
  readonly error: string | null
}

/** Sends one event and waits for the answer. Never fails: a failure of the receiver is part of the result. */
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
      // The body is not read. The receiver can log it.
      await response.body?.cancel()
      return response.status
    },
    catch: reasonOf,
  })

/** Makes a forwarder that signs with this secret (`whsec_…`). */
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
