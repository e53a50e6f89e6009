/**
 * Webhook endpoints: where events are sent, and which.
 */
import type { CallOptions, Instant, Metadata, MetadataPatch } from "../Call.ts"
import type { EventOfAny } from "../events/Events.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** Whether anything is sent to an endpoint. */
export type EndpointStatus = "enabled" | "disabled"

/** A webhook endpoint without its secret. */
export interface Endpoint {
  /** `whe_…` */
  readonly id: string
  readonly url: string
  /** `["*"]` or a list of types. */
  readonly eventTypes: ReadonlyArray<string>
  readonly description: string | null
  /** Sent with every attempt, by lower-case name. Values are masked by the REST API, and whole in your process. */
  readonly headers: Readonly<Record<string, string>>
  readonly metadata: Metadata
  /** `hmac`: a shared secret. `ed25519`: a key pair, of which receivers have the public one. */
  readonly signature: "hmac" | "ed25519"
  /** `whpk_…`, with `ed25519`. */
  readonly publicKey: string | null
  readonly status: EndpointStatus
  /** `gone`: it answered 410. `failing`: nothing but failures for 5 days. */
  readonly disabledReason: "manual" | "gone" | "failing" | null
  /** Since when nothing is sent to it. */
  readonly disabledAt: Date | null
  /** Since when all attempts have failed. */
  readonly failingSince: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** An endpoint with its new secret, which can't be had again. */
export interface EndpointWithSecret extends Endpoint {
  /** `whsec_…`; `null` with `ed25519`. Receivers verify with it: see `billwright/verify`. */
  readonly secret: string | null
}

/** A new endpoint. It gets what is published from then on. */
export interface CreateEndpoint<Type extends string> {
  /**
   * Live: https, port 443 or 8443, a public address. Test: also http, any port, this machine. At most 2,048
   * characters.
   */
  readonly url: string
  /** `["*"]`: all types, those included that are added later. */
  readonly eventTypes: ReadonlyArray<Type | "*">
  /** At most 500 characters. */
  readonly description?: string | undefined
  /** Sent with every attempt: at most 20, names of at most 100 characters, values of at most 1,024. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly metadata?: Metadata | undefined
  /** Default `hmac`. */
  readonly signature?: "hmac" | "ed25519" | undefined
}

/** A change: what is left out stays. */
export interface UpdateEndpoint<Type extends string> {
  /** One of another origin (scheme, host, port) is refused without `headers`, while the endpoint has some. */
  readonly url?: string | undefined
  readonly eventTypes?: ReadonlyArray<Type | "*"> | undefined
  readonly description?: string | null | undefined
  /** Replaces all of them. */
  readonly headers?: Readonly<Record<string, string>> | null | undefined
  readonly metadata?: MetadataPatch | null | undefined
  /** `disabled` ends its pending deliveries; `enabled` sends nothing again by itself: `replay` does. */
  readonly status?: EndpointStatus | undefined
}

/** Which endpoints, newest first. Deleted ones are in no list. */
export interface ListEndpoints extends PageQuery {
  readonly status?: EndpointStatus | undefined
}

/** How a secret is rotated. */
export interface RotateSecret {
  /** How long the previous secret signs along with the new one, in seconds: 0 to 604,800, default 86,400 (a day). */
  readonly expirePreviousAfterSeconds?: number | undefined
}

/** Which events are sent to an endpoint again. Those with a pending delivery to it are left out. */
export interface ReplayEvents<Type extends string> {
  /** Events published at this instant or later … */
  readonly since: Instant
  /** … and before this one. Default: now. */
  readonly until?: Instant | undefined
  /** `Failed` (default): events whose newest delivery to the endpoint failed. `all`: all that it admits. */
  readonly status?: "Failed" | "all" | undefined
  readonly types?: ReadonlyArray<Type> | undefined
  /** Sends nothing, and gives how many it would send. */
  readonly dryRun?: boolean | undefined
}

/**
 * Errors: `InvalidInputError`, `EndpointNotFoundError`, `EndpointDisabledError`, `LimitReachedError` (500 of an
 * account and mode), `EncryptionKeyRequiredError` (live, without `encryptionKeys`).
 */
export interface Endpoints<Map> {
  /** Its secret is in the answer, this once. Nothing is sent to it that was published before. */
  create(input: CreateEndpoint<keyof Map & string>, options?: CallOptions): Promise<EndpointWithSecret>
  get(id: string, options?: CallOptions): Promise<Endpoint>
  list(query?: ListEndpoints, options?: CallOptions): Listing<Endpoint>
  update(id: string, input: UpdateEndpoint<keyof Map & string>, options?: CallOptions): Promise<Endpoint>
  /** Ends what is pending for it; its history stays. */
  delete(id: string, options?: CallOptions): Promise<void>
  /** A new secret; the previous one signs along with it for a while. */
  rotateSecret(id: string, input?: RotateSecret, options?: CallOptions): Promise<EndpointWithSecret>
  /** Sends the example of a type to this endpoint alone, now and whenever it is replayed: its `endpointId` says so. */
  test(
    id: string,
    input: { readonly type: keyof Map & string },
    options?: CallOptions,
  ): Promise<EventOfAny<Map>>
  /** Sends past events again, in one transaction; gives how many. At most 20,000. */
  replay(id: string, input: ReplayEvents<keyof Map & string>, options?: CallOptions): Promise<number>
}
