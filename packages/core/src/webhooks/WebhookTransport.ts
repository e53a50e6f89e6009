/**
 * How attempts leave the process: the outgoing HTTP port.
 */
import { Context, type Effect } from "effect"
import type { Mode } from "../shared/Tenant.ts"

/** How long an attempt may take in all, from the look-up of the name to the last byte read. */
export const ATTEMPT_DEADLINE_MILLIS = 15_000
/** Most bytes of a response body that are read. */
export const MAX_RESPONSE_BYTES = 65_536
/** Most bytes of a response body that are kept with the attempt. */
export const MAX_KEPT_RESPONSE_BYTES = 4_096
/** Most response headers that are kept with the attempt. */
export const MAX_KEPT_RESPONSE_HEADERS = 64
/** Longest value of a response header that is kept, in characters. */
export const MAX_KEPT_HEADER_LENGTH = 1_024

/** One POST to a receiver. */
export interface WebhookRequest {
  /** Decides which addresses may be spoken to: `live` is strict (see `EndpointUrl`). */
  readonly mode: Mode
  readonly url: string
  /** By lower-case name. `content-length` and `host` are the transport's. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent as UTF-8. */
  readonly body: string
}

/**
 * Why there was no usable answer. Codes and not messages: what the network said about hosts inside of it must
 * not be readable by whoever registers an endpoint.
 */
export const transportErrors = [
  "dns_error",
  "blocked_address",
  "connection_refused",
  "tls_error",
  "timeout",
  "reset",
  "bad_response",
] as const
export type TransportError = (typeof transportErrors)[number]

/** What came of a request. `ReceivedText` bounds and cleans it before anything of it is kept. */
export type WebhookResponse =
  | {
      readonly _tag: "Answered"
      /** 100 to 599. */
      readonly status: number
      /** By lower-case name. `MAX_KEPT_RESPONSE_HEADERS` of them are kept. */
      readonly headers: Readonly<Record<string, string>>
      /** As text. The first `MAX_KEPT_RESPONSE_BYTES` are kept. */
      readonly body: string
    }
  | { readonly _tag: "Failed"; readonly error: TransportError }

export class WebhookTransport extends Context.Service<
  WebhookTransport,
  {
    /**
     * Sends one request and never fails: what goes wrong is a result. It ends within `ATTEMPT_DEADLINE_MILLIS`,
     * follows no redirect, reads no more than `MAX_RESPONSE_BYTES`, and speaks to no address that the rules
     * of the request's mode forbid. Interruption closes the connection.
     */
    readonly send: (request: WebhookRequest) => Effect.Effect<WebhookResponse>
  }
>()("@billwright/core/webhooks/WebhookTransport") {}
