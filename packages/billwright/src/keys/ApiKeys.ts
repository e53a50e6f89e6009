/**
 * API keys, which give access to the REST API for one account and mode.
 */
import type { CallOptions, Instant, Mode } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

type Resource =
  | "customers"
  | "catalog"
  | "subscriptions"
  | "invoices"
  | "payments"
  | "credits"
  | "entitlements"
  | "usage"
  | "events"
  | "webhooks"
  | "audit"

/**
 * What a key may do: read or write one kind of resource, or `*` for both. Writing does not include reading.
 * `events:replay` and `webhooks:replay` only send again. `credits:grant` only grants promotional credits, up to the limits of the key.
 */
export type ApiKeyScope =
  | `${Resource}:${"read" | "write" | "*"}`
  | "events:replay"
  | "webhooks:replay"
  | "credits:grant"

/**
 * A name for a set of scopes. `viewer` reads everything. `support` also sends deliveries again, and grants promotional
 * credits up to its limits. `finance` also changes customers, subscriptions, invoices, payments and credits. `admin` may do
 * everything.
 */
export type ApiKeyRole = "viewer" | "support" | "finance" | "admin"

/** How much may be granted of each unit, in its smallest unit: `{ EUR: 5000n, token: 100000n }`. At most 20 units. */
export type CreditLimits = Readonly<Record<string, bigint>>

/** An API key, without its secret. */
export interface ApiKey {
  /** `key_…`. This is not the secret. */
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  readonly name: string
  /** An empty list means everything. */
  readonly scopes: ReadonlyArray<ApiKeyScope>
  /** Where requests may come from. An empty list means everywhere. */
  readonly networks: ReadonlyArray<string>
  /**
   * How much a key with the scope `credits:grant` may grant to a customer. Promotional credits that were granted to the
   * customer by calls in the last 24 hours count, whoever granted them. Of a unit without a limit it may grant nothing.
   */
  readonly creditLimits: CreditLimits
  /** The last 4 characters of the secret. */
  readonly hint: string
  readonly createdAt: Date
  /** From this instant on, the key is refused. */
  readonly expiresAt: Date | null
  /** Since when the key is revoked for good. */
  readonly revokedAt: Date | null
  /** When the key was last used, to the minute. */
  readonly lastUsedAt: Date | null
}

/** A key with its secret. Store the secret now: Billwright keeps only its digest and can't show it again. */
export interface IssuedApiKey extends ApiKey {
  /** `sk_live_…` or `sk_test_…` */
  readonly secret: string
}

/** A new API key, for the account and mode that the call acts in. */
export interface CreateApiKey {
  /** 1 to 128 characters. */
  readonly name: string
  /** At least one scope. Left out: everything. */
  readonly scopes?: ReadonlyArray<ApiKeyScope> | undefined
  /** Instead of `scopes`: those that the role has now. A later release that changes the role doesn't change the key. */
  readonly role?: ApiKeyRole | undefined
  /** Where requests may come from, such as `["203.0.113.0/24"]`. At most 50. Default: from everywhere. */
  readonly networks?: ReadonlyArray<string> | undefined
  /** For a key with `credits:grant`. Default: it may grant nothing. */
  readonly creditLimits?: CreditLimits | undefined
  /** From this instant on, the key is refused. Default: after the maximum age of keys, if there is one. */
  readonly expiresAt?: Instant | undefined
}

/** Options for rolling an API key. */
export interface RollApiKey {
  /** How long the old key stays valid, in milliseconds: 0 (default) to 7 days. */
  readonly graceMillis?: number | undefined
}

/** Errors: `InvalidInputError`, `ApiKeyNotFoundError`; of `verify`, `UnauthorizedError`. */
export interface ApiKeys {
  /** Creates a key. Only this result has its secret. */
  create(input: CreateApiKey, options?: CallOptions): Promise<IssuedApiKey>
  get(id: string, options?: CallOptions): Promise<ApiKey>
  /** Lists keys, including revoked and expired ones. */
  list(query?: PageQuery, options?: CallOptions): Listing<ApiKey>
  /**
   * Makes a new key like the old one, valid for as long as that was when it was issued, and lets the old one expire.
   */
  roll(id: string, input?: RollApiKey, options?: CallOptions): Promise<IssuedApiKey>
  /** Revokes a key for good: at once in this process, within 3 seconds in others. */
  revoke(id: string, options?: CallOptions): Promise<ApiKey>
  /**
   * Returns the key that a secret belongs to, in any account and mode. Use `billing.forAccount(…)` to act for its
   * account. A key with `networks` is refused unless `address`, the IP address that the request comes from, is in one.
   */
  verify(secret: string, options?: CallOptions & { readonly address?: string }): Promise<ApiKey>
}
