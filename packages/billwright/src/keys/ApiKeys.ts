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

/** What a key may do: read or write one kind of resource, or `*` for both. Writing does not include reading. */
export type ApiKeyScope = `${Resource}:${"read" | "write" | "*"}`

/** An API key, without its secret. */
export interface ApiKey {
  /** `key_…`. This is not the secret. */
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  readonly name: string
  /** An empty list means everything. */
  readonly scopes: ReadonlyArray<ApiKeyScope>
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
  /** From this instant on, the key is refused. Default: it doesn't expire. */
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
  /** Makes a new key with the same name and scopes, and lets the old one expire. */
  roll(id: string, input?: RollApiKey, options?: CallOptions): Promise<IssuedApiKey>
  /** Revokes a key for good: at once in this process, within 3 seconds in others. */
  revoke(id: string, options?: CallOptions): Promise<ApiKey>
  /**
   * Returns the key that a secret belongs to, in any account and mode. Use `billing.forAccount(…)` to act for its
   * account.
   */
  verify(secret: string, options?: CallOptions): Promise<ApiKey>
}
