/**
 * What `createBilling` is told.
 */
import type { Mode } from "./Call.ts"
import type { EventDefinition } from "./events/EventDefinition.ts"
import type { Store } from "./Store.ts"

/** When a delivery that failed is tried again: after `base × factor^(n − 1)`, at most `cap`, spread by the jitter. */
export interface RetryPolicy {
  /** The delay after the first attempt that failed, in milliseconds. */
  readonly baseMillis: number
  /** How many times longer each delay is than the one before. */
  readonly factor: number
  /** The longest delay, in milliseconds. */
  readonly capMillis: number
  /** Attempts in all. */
  readonly maxAttempts: number
  /** 0.2 is ±20 %. 0 to 1. */
  readonly jitter: number
}

/** How webhooks are sent. */
export interface DispatcherOptions {
  /** Attempts under way in all. Default 64. */
  readonly maxInFlight?: number
  /** Attempts under way to one endpoint. Default 8. */
  readonly maxInFlightPerEndpoint?: number
  /** Default: 10 attempts in 54 hours for live mode, 5 in 15 seconds for test mode. */
  readonly retries?: Readonly<Record<Mode, RetryPolicy>>
  /** What requests call themselves. */
  readonly userAgent?: string
  /** Certificates in PEM that are trusted beside Node's own. */
  readonly certificateAuthorities?: ReadonlyArray<string>
}

/** A line of the log. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error"
  /** What happened, without keys and secrets. */
  readonly message: string
  readonly at: Date
  /** Errors and whatever else was logged with the message. */
  readonly details: ReadonlyArray<unknown>
}

/** What `createBilling` is told: `store`, and what is to differ from the defaults. */
export interface BillingOptions<
  Definitions extends ReadonlyArray<EventDefinition> = ReadonlyArray<EventDefinition>,
> {
  /** `memory()` or `postgres({ pool })`. */
  readonly store: Store
  /** The account that calls act for, unless `forAccount` says otherwise: 1 to 64 letters, digits, `-` or `_`. Default `default`. */
  readonly accountId?: string
  /** The mode that calls act in, unless `test` or `live` say otherwise. Default `live`. */
  readonly mode?: Mode
  /**
   * Event types of your own, made by `defineEvent`, each name once. One of the name of a built-in type takes its place,
   * which is logged; `usage.threshold` can't be defined.
   */
  readonly events?: Definitions
  /**
   * The keys that secrets of webhook endpoints are encrypted with: `<id>:<base64 of 32 bytes>`, one or several,
   * the first of which encrypts; `{ file }`: kept in a file, which is made when there is none; `"none"`: secrets
   * are stored as they are. Left out, those of test mode are, and live endpoints can't be created.
   * `generateEncryptionKey()` makes one. A process that sends webhooks doesn't start without the keys of all secrets
   * that are stored.
   */
  readonly encryptionKeys?: string | ReadonlyArray<string> | { readonly file: string }
  /**
   * Whether this process sends webhooks. Default: in the background, until `close()`. `false`: others do.
   * `"manual"`: when `deliverDue()` is called.
   */
  readonly dispatcher?: boolean | "manual" | DispatcherOptions
  /** Where webhooks may be sent to beside public addresses. Metadata services of clouds are never among them. */
  readonly network?: {
    /** Networks, for both modes, such as `["10.20.0.0/16"]`. Default: none. */
    readonly allow?: ReadonlyArray<string>
    /**
     * Whether webhooks of test mode may go to this machine: `127.0.0.0/8`, `::1` and `localhost`. For development:
     * whoever may create endpoints can then read what listens there, by the answers that deliveries record.
     * Default `false`.
     */
    readonly allowLoopback?: boolean
    /** Judges addresses of NAT64 (`64:ff9b::/96`) by the IPv4 address inside. Default `false`: they are forbidden. */
    readonly decodeNat64?: boolean
  }
  readonly keys?: {
    /** Mixed into the digests of API keys. Keep it for ever. */
    readonly pepper?: string
    /** How long a look-up is reused, in milliseconds: 0 to 3,000 (default). */
    readonly cacheMillis?: number
  }
  readonly usage?: {
    /** How far back a record's timestamp may lie, in milliseconds. Default: no limit. */
    readonly maxPastMillis?: number
  }
  readonly http?: {
    /** Requests of an API key: how many a second for long, and how many at once. Default: no limit. */
    readonly rateLimit?: { readonly requestsPerSecond: number; readonly burst?: number }
    /** How long the answers to requests with an `Idempotency-Key` are kept, in milliseconds. Default 7 days. */
    readonly idempotencyMillis?: number
  }
  /** What is logged goes here; `false`: nowhere. Default: the console. */
  readonly log?: ((entry: LogEntry) => void) | false
}
