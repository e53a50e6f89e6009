/**
 * Webhook endpoints: the URLs that events are sent to, and the event types that each one gets.
 */
import type { CallOptions, Instant, Metadata, MetadataPatch } from "../Call.ts"
import type { EventOfAny } from "../events/Events.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** Whether events are sent to an endpoint. */
export type EndpointStatus = "enabled" | "disabled"

/** A webhook endpoint, without its secret. */
export interface Endpoint {
  /** `whe_…` */
  readonly id: string
  readonly url: string
  /** `["*"]` for all types, or a list of types. */
  readonly eventTypes: ReadonlyArray<string>
  readonly description: string | null
  /**
   * Headers that are sent with every attempt, by lower-case name. Their values are stored encrypted. The REST API masks
   * them. In your process they are readable, or `***` when their key is missing.
   */
  readonly headers: Readonly<Record<string, string>>
  readonly metadata: Metadata
  /**
   * `hmac` signs with a shared secret. `ed25519` signs with a private key, and receivers verify with the public
   * key.
   */
  readonly signature: "hmac" | "ed25519"
  /** The public key (`whpk_…`) with `ed25519`, otherwise `null`. */
  readonly publicKey: string | null
  readonly status: EndpointStatus
  /**
   * Why the endpoint is disabled. `manual`: by a call. `gone`: it answered 410. `failing`: all attempts failed for
   * 5 days.
   */
  readonly disabledReason: "manual" | "gone" | "failing" | null
  /** When the endpoint was disabled. */
  readonly disabledAt: Date | null
  /** Since when all attempts have failed. */
  readonly failingSince: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** An endpoint with its new secret. Store the secret now: no other call returns it. */
export interface EndpointWithSecret extends Endpoint {
  /** The secret (`whsec_…`) that receivers verify with, see `billwright/verify`. `null` with `ed25519`. */
  readonly secret: string | null
}

/** A new endpoint. It gets the events that are published from then on. */
export interface CreateEndpoint<Type extends string> {
  /**
   * In live mode: https, port 443 or 8443, and a public address. Test mode also allows http, any port, and this
   * machine if `network.allowLoopback` is set. At most 2,048 characters.
   */
  readonly url: string
  /** A list of types, or `["*"]` for all types, including those that are added later. */
  readonly eventTypes: ReadonlyArray<Type | "*">
  /** At most 500 characters. */
  readonly description?: string | undefined
  /**
   * Headers that are sent with every attempt: at most 20, with names of at most 100 and values of at most 1,024
   * characters.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly metadata?: Metadata | undefined
  /** Default `hmac`. */
  readonly signature?: "hmac" | "ed25519" | undefined
}

/** A change of an endpoint. Fields that are left out stay as they are. */
export interface UpdateEndpoint<Type extends string> {
  /**
   * If the new URL has another origin (scheme, host, port) and the endpoint has headers, you must give `headers`
   * too.
   */
  readonly url?: string | undefined
  readonly eventTypes?: ReadonlyArray<Type | "*"> | undefined
  readonly description?: string | null | undefined
  /** Replaces all headers. `null` removes them. */
  readonly headers?: Readonly<Record<string, string>> | null | undefined
  readonly metadata?: MetadataPatch | null | undefined
  /**
   * `disabled` ends the endpoint's pending deliveries. `enabled` does not send missed events again: use `replay`
   * for that.
   */
  readonly status?: EndpointStatus | undefined
}

/** Selects endpoints, newest first. Deleted endpoints are not listed. */
export interface ListEndpoints extends PageQuery {
  readonly status?: EndpointStatus | undefined
}

/** Options for rotating a secret. */
export interface RotateSecret {
  /** How long webhooks are signed with the previous secret too, in seconds: 0 to 604,800, default 86,400 (a day). */
  readonly expirePreviousAfterSeconds?: number | undefined
}

/**
 * Selects the events to send to an endpoint again. Events that have a pending delivery to the endpoint are left
 * out.
 */
export interface ReplayEvents<Type extends string> {
  /** Events published at this instant or later. */
  readonly since: Instant
  /** Events published before this instant. Default: now. */
  readonly until?: Instant | undefined
  /**
   * `Failed` (default): events whose newest delivery to the endpoint failed. `all`: all events of the types that it
   * subscribes to.
   */
  readonly status?: "Failed" | "all" | undefined
  readonly types?: ReadonlyArray<Type> | undefined
  /** Sends nothing, and returns how many events it would send. */
  readonly dryRun?: boolean | undefined
}

/**
 * Errors: `InvalidInputError`, `EndpointNotFoundError`, `EndpointDisabledError`, `LimitReachedError` (500 endpoints
 * for an account and mode), `EncryptionKeyRequiredError` (live, without `encryptionKeys`).
 */
export interface Endpoints<Map> {
  /**
   * Creates an endpoint. The result has its secret, which no other call returns. Events that were published before
   * are not sent to it.
   */
  create(input: CreateEndpoint<keyof Map & string>, options?: CallOptions): Promise<EndpointWithSecret>
  get(id: string, options?: CallOptions): Promise<Endpoint>
  list(query?: ListEndpoints, options?: CallOptions): Listing<Endpoint>
  update(id: string, input: UpdateEndpoint<keyof Map & string>, options?: CallOptions): Promise<Endpoint>
  /** Deletes an endpoint and ends its pending deliveries. Its history is kept. */
  delete(id: string, options?: CallOptions): Promise<void>
  /** Makes a new secret. For a while, webhooks are signed with both the new and the previous one. */
  rotateSecret(id: string, input?: RotateSecret, options?: CallOptions): Promise<EndpointWithSecret>
  /**
   * Sends the example of an event type to this endpoint. The test event has the endpoint's id as `endpointId`, and
   * is never sent to another one, not even by a replay.
   */
  test(
    id: string,
    input: { readonly type: keyof Map & string },
    options?: CallOptions,
  ): Promise<EventOfAny<Map>>
  /** Sends past events again, in one transaction, and returns how many. More than 20,000 are refused. */
  replay(id: string, input: ReplayEvents<keyof Map & string>, options?: CallOptions): Promise<number>
}
