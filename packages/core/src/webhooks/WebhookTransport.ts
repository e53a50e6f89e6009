/**
 * The port for outgoing HTTP: it sends the attempts.
 */
import { Context, type Effect } from "effect"
import type { Mode } from "../shared/Tenant.ts"

/** Longest time of an attempt, from the look-up of the host name to the last byte read. */
export const ATTEMPT_DEADLINE_MILLIS = 15_000
/** Most bytes of a response body that are read. */
export const MAX_RESPONSE_BYTES = 65_536
/** Most bytes of a response body that are kept with the attempt. */
export const MAX_KEPT_RESPONSE_BYTES = 4_096
/** Most response headers that are kept with the attempt. */
export const MAX_KEPT_RESPONSE_HEADERS = 64
/** Longest value of a response header that is kept, in characters. */
export const MAX_KEPT_HEADER_LENGTH = 1_024

/** One request to a receiver. */
export interface WebhookRequest {
  /** Default `POST`. `OPTIONS` asks whether the receiver wants webhooks, and has an empty body. */
  readonly method?: "OPTIONS" | "POST"
  /** Decides which addresses are allowed: `live` is strict (see `EndpointUrl`). */
  readonly mode: Mode
  readonly url: string
  /** The headers by lower-case name. The transport adds `content-length` and `host`. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent as UTF-8. */
  readonly body: string
}

/**
 * The reasons why there was no usable answer. They are codes and not messages of the network, because anyone who can
 * create an endpoint reads them, and messages could tell about hosts inside the network.
 */
export const transportErrors = [
  "dns_error",
  "blocked_address",
  "connection_refused",
  "tls_error",
  "timeout",
  "reset",
  "bad_response",
  /** The proxy of the sender failed. It says nothing about the receiver. */
  "proxy_error",
] as const
export type TransportError = (typeof transportErrors)[number]

/** The result of a request. `ReceivedText` shortens and cleans it before it is stored. */
export type WebhookResponse =
  | {
      readonly _tag: "Answered"
      /** 100 to 599. */
      readonly status: number
      /** The headers by lower-case name. `MAX_KEPT_RESPONSE_HEADERS` of them are stored. */
      readonly headers: Readonly<Record<string, string>>
      /** The body as text. Its first `MAX_KEPT_RESPONSE_BYTES` are stored. */
      readonly body: string
    }
  | { readonly _tag: "Failed"; readonly error: TransportError }

export class WebhookTransport extends Context.Service<
  WebhookTransport,
  {
    /**
     * Sends one request. It never fails: errors are results. It ends within `ATTEMPT_DEADLINE_MILLIS`, follows no
     * redirects, reads at most `MAX_RESPONSE_BYTES`, and connects only to addresses that the rules of the request's
     * mode allow. Interruption closes the connection.
     */
    readonly send: (request: WebhookRequest) => Effect.Effect<WebhookResponse>
  }
>()("@billwright/core/webhooks/WebhookTransport") {}
