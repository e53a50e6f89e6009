/**
 * The options of `createBilling`.
 */
import type { Mode } from "./Call.ts"
import type { EventDefinition } from "./events/EventDefinition.ts"
import type { PayerPagesOptions } from "./handlers/PayerPageHandlers.ts"
import type { Seller } from "./invoices/Invoices.ts"
import type { TaxService, TaxTable } from "./invoices/Taxes.ts"
import type { BuiltInProvider } from "./payments/BuiltInProvider.ts"
import type { PaymentProvider } from "./payments/PaymentProvider.ts"
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
  /** The share by which a delay varies at random, from 0 to 1: 0.2 is ±20 %. */
  readonly jitter: number
}

/** How requests to endpoints leave this process. */
export interface SendingOptions {
  /** Certificates of authorities to trust in addition to Node's own, in PEM. */
  readonly certificateAuthorities?: ReadonlyArray<string>
  /**
   * An HTTP proxy that all webhooks go through (CONNECT), for a fixed address that they come from:
   * `http://user:password@host:port`, or `https` for TLS with the proxy. Addresses are still looked up and checked by this
   * process, and `https` is with the receiver. Default: none.
   */
  readonly proxy?: string
  /**
   * A certificate that is presented to receivers that ask for one (mutual TLS). It is checked at the start. When less than
   * 30 days of it are left, a warning is logged each day. Default: none.
   */
  readonly clientCertificate?: {
    /** The certificate in PEM, followed by those of its chain. */
    readonly certificate: string
    /** Its private key in PEM. */
    readonly key: string
    /** Opens the key if it is encrypted. */
    readonly passphrase?: string
  }
}

/** How webhooks are sent. */
export interface DispatcherOptions extends SendingOptions {
  /** Attempts under way in all. Default 64. */
  readonly maxInFlight?: number
  /** Attempts under way to one endpoint. Default 8. */
  readonly maxInFlightPerEndpoint?: number
  /** Attempts under way in all that wait for a slow receiver, more than a second. Default 448. */
  readonly maxStalled?: number
  /** Default: 10 attempts in 54 hours for live mode, 5 in 15 seconds for test mode. */
  readonly retries?: Readonly<Record<Mode, RetryPolicy>>
  /** The `user-agent` header of each request. */
  readonly userAgent?: string
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

/** A key management service, such as AWS KMS, Google Cloud KMS, Azure Key Vault or the transit engine of Vault. */
export interface KeyManagement {
  /**
   * Decrypts a key that the service has encrypted, and gives its 32 bytes. `keyId` is the id of the entry.
   *
   * Called once for each wrapped key when `createBilling` starts, for all of them at the same time. When it throws, takes
   * longer than 10 s or gives anything else, `createBilling` rejects with a `ConfigurationError`. The keys stay in memory,
   * so nothing more is asked of the service.
   */
  readonly decrypt: (wrapped: Uint8Array, keyId: string) => Promise<Uint8Array>
}

/** The options of `createBilling`. Only `store` is required. */
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
   * Your own event types, made by `defineEvent`. Each name may occur once. A definition with the name of a built-in
   * type replaces that type, and a warning is logged. `usage.threshold` can't be replaced.
   */
  readonly events?: Definitions
  /**
   * The keys that encrypt the secrets of webhook endpoints. `generateEncryptionKey()` makes one.
   *
   * - One key or several, each `<id>:<base64 of 32 bytes>`: the first key encrypts, all of them decrypt. With
   *   `keyManagement`, a key may be `<id>:wrapped:<base64>`.
   * - `{ file }`: the key is read from this file. The file is created when it doesn't exist.
   * - `"none"`: secrets are stored in plain text.
   * - Left out: secrets of test mode are stored in plain text, and live endpoints can't be created.
   *
   * A process that sends webhooks doesn't start unless it has the keys of all stored secrets.
   */
  readonly encryptionKeys?: string | ReadonlyArray<string> | { readonly file: string }
  /**
   * The key management service that has encrypted keys of `encryptionKeys` and `payerPages.keys`. Such a key is an entry
   * `<id>:wrapped:<base64>`.
   */
  readonly keyManagement?: KeyManagement
  /**
   * Whether this process sends webhooks, bills what is due and builds meters. Default: it does, in the background, until
   * `close()`. `false`: another process does. `"manual"`: webhooks only when `deliverDue()` is called, billing only when
   * `runDue()` is called, meters only when `meters.rebuild(id)` is called.
   */
  readonly dispatcher?: boolean | "manual" | DispatcherOptions
  /**
   * Which addresses webhooks may be sent to, besides public ones. Metadata services of clouds are always forbidden.
   */
  readonly network?: {
    /** Networks, for both modes, such as `["10.20.0.0/16"]`. Default: none. */
    readonly allow?: ReadonlyArray<string>
    /**
     * Whether webhooks of test mode may go to this machine: `127.0.0.0/8`, `::1` and `localhost`. Default `false`.
     * Use it for development only: anyone who may create endpoints can then reach services on this machine and read
     * their answers, because deliveries record them.
     */
    readonly allowLoopback?: boolean
    /**
     * Whether NAT64 addresses (`64:ff9b::/96`) are checked by the IPv4 address inside them. Default `false`: they
     * are forbidden.
     */
    readonly decodeNat64?: boolean
  }
  /**
   * Whether endpoints are asked if they want webhooks, before one is created and before its URL is changed, by the handshake
   * of CloudEvents: docs/webhooks.md says what they have to answer. `origin` is a host name by which they know the sender,
   * such as `billing.example.com`; each webhook has it as `webhook-request-origin`. The other options are for asking, and
   * by default those of `dispatcher`. Every process that creates endpoints needs this. Default: endpoints are not asked.
   */
  readonly verifyEndpoints?: { readonly origin: string } & SendingOptions
  /**
   * Whether each night (by UTC, from 2 o'clock on) the books of every account are checked: all invoices and balances of credits
   * are derived again, by a process that bills in the background. A difference is published as `book_check.failed`. See
   * `bookChecks`. Default `false`.
   */
  readonly nightlyBookChecks?: boolean
  readonly keys?: {
    /** A secret that is mixed into the digests of API keys. Existing keys stop working when it changes or is lost. */
    readonly pepper?: string
    /**
     * How long a key may be valid at most, in milliseconds: a minute or more. Older keys are refused, also those that were
     * issued before. Default: no limit.
     */
    readonly maxAgeMillis?: number
    /** How long the result of a key look-up is cached, in milliseconds: 0 to 3,000. Default 3,000. */
    readonly cacheMillis?: number
  }
  readonly usage?: {
    /** How far back a record's timestamp may lie, in milliseconds. Default: no limit. */
    readonly maxPastMillis?: number
  }
  readonly credits?: {
    /**
     * Units of credits of yours, and how many decimals each has: 0 to 6, by default 0. At most 100 units. With
     * `{ credits: { decimals: 2 } }`, the amount 150 is 1.50 credits, and usage burns hundredths of a credit.
     * Don't change the decimals of a unit that is in use: balances are integers of the smallest part.
     */
    readonly units?: Readonly<Record<string, { readonly decimals?: number }>>
  }
  readonly invoices?: {
    /**
     * The format of the numbers, with `{number:4}` and optionally `{year}`. Default `{year}-{number:4}`.
     * A changed format has to write other numbers than those before: an invoice whose number is taken is not issued.
     */
    readonly numberFormat?: string
    /** The same for the numbers of credit notes. Default `CN-{year}-{number:4}`. */
    readonly creditNoteFormat?: string
    /** The time zone whose years and days count: the seller's. Default `UTC`. */
    readonly timezone?: string
    /**
     * How many days after it was issued an invoice has to be paid, unless the customer has its own `netDays`: 0 to 365.
     * Default 14.
     */
    readonly netDays?: number
    /**
     * What happens when the payment of an open invoice is not attempted any more by itself
     * (`invoice.collection_exhausted`). `leave`, the default: nothing. `pause`, `cancel`: the subscriptions of the invoice
     * are paused or end at once, and what was charged in advance is not credited. `uncollectible`: the invoice is written
     * off.
     */
    readonly whenExhausted?: "leave" | "pause" | "cancel" | "uncollectible"
    /** The table by which invoices are taxed, or a tax service. Default: nothing is taxed. */
    readonly tax?: TaxTable | TaxService
    /** Who sends the invoices, as their pages show it. Default: pages name no seller. */
    readonly seller?: Seller
    /** The language of pages for customers without a `locale`: `de`, `en`, `es` or `fr`, with a region if you like. Default `en`. */
    readonly locale?: string
  }
  /**
   * The key that signs a proof of each invoice when it is issued. `generateProofKey()` makes one. Default: invoices have no
   * proofs. Every process that issues invoices needs the key: an invoice that is issued without it is missing among the proofs.
   */
  readonly proofKey?: string
  /**
   * Who takes the money of invoices, from when they are issued: `stripe({ client })` of `billwright/stripe`, or a provider
   * of yours. Default: nobody is charged, and payments are recorded.
   * Invoices that were issued before are not collected.
   */
  readonly payments?: BuiltInProvider | PaymentProvider
  /** Where the pages for payers are, and which keys sign links to them. Default: there are no links. */
  readonly payerPages?: PayerPagesOptions
  readonly http?: {
    /**
     * The request rate of one API key, and of one invoice or customer on pages for payers: the sustained number per second,
     * and how many may come at once. Default: no limit.
     */
    readonly rateLimit?: { readonly requestsPerSecond: number; readonly burst?: number }
    /**
     * Limits for each account, its test mode included, in this process. `rateLimit`: its request rate, as above. Default: no
     * limit. `heavyReads`: most of its lists, sums, exports, documents and previews at once while other accounts send
     * requests, too, and as many eighths of the time. Others of it wait, up to 10 seconds. Default 1. An account that is
     * alone has 16, and all of the time.
     */
    readonly accounts?: {
      readonly rateLimit?: { readonly requestsPerSecond: number; readonly burst?: number }
      readonly heavyReads?: number
    }
    /**
     * The networks of your own proxies, such as `["10.20.0.0/16"]`. The client's address is then read from
     * `x-forwarded-for`, for API keys with `networks`. Default: none, and the header is not read.
     */
    readonly trustedProxies?: ReadonlyArray<string>
    /** How long the answers to requests with an `Idempotency-Key` are kept, in milliseconds. Default 7 days. */
    readonly idempotencyMillis?: number
  }
  /** Receives the log entries. `false`: nothing is logged. Default: the console. */
  readonly log?: ((entry: LogEntry) => void) | false
}
