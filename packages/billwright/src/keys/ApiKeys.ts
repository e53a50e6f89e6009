/**
 * API keys: who may use the REST API, for which account and in which mode.
 */
import type { CallOptions, Instant, Mode } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

type Resource = "customers" | "usage" | "events" | "webhooks"

/** What a key may do: read or write one kind of resource, or `*` for both. Writing does not include reading. */
export type ApiKeyScope = `${Resource}:${"read" | "write" | "*"}`

/** An API key without its secret. It belongs to one account and mode. */
export interface ApiKey {
  /** `key_…`; not the secret. */
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  readonly name: string
  /** None: everything. */
  readonly scopes: ReadonlyArray<ApiKeyScope>
  /** The last 4 characters of the secret. */
  readonly hint: string
  readonly createdAt: Date
  /** From then on the key is refused. */
  readonly expiresAt: Date | null
  /** Since when it is refused for good. */
  readonly revokedAt: Date | null
  /** To the minute. */
  readonly lastUsedAt: Date | null
}

/** A key with its secret, which can't be had again: only a digest of it is stored. */
export interface IssuedApiKey extends ApiKey {
  /** `sk_live_…` or `sk_test_…` */
  readonly secret: string
}

/** A new API key, for the account and mode that the call acts in. */
export interface CreateApiKey {
  /** 1 to 128 characters. */
  readonly name: string
  /** At least one. Left out: everything. */
  readonly scopes?: ReadonlyArray<ApiKeyScope> | undefined
  /** From then on it is refused. Default: never. */
  readonly expiresAt?: Instant | undefined
}

/** How an API key is rolled. */
export interface RollApiKey {
  /** How long the old key stays valid, in milliseconds: 0 (default) to 7 days. */
  readonly graceMillis?: number | undefined
}

/** Errors: `InvalidInputError`, `ApiKeyNotFoundError`; of `verify`, `UnauthorizedError`. */
export interface ApiKeys {
  /** Its secret is in the answer, this once. */
  create(input: CreateApiKey, options?: CallOptions): Promise<IssuedApiKey>
  get(id: string, options?: CallOptions): Promise<ApiKey>
  /** Revoked and expired ones included. */
  list(query?: PageQuery, options?: CallOptions): Listing<ApiKey>
  /** Makes a key like the old one and lets the old one expire. */
  roll(id: string, input?: RollApiKey, options?: CallOptions): Promise<IssuedApiKey>
  /** Ends a key for good: at once in this process, within 5 seconds in others. */
  revoke(id: string, options?: CallOptions): Promise<ApiKey>
  /** The key that a secret belongs to, of whatever account and mode; `billing.forAccount(…)` acts for it. */
  verify(secret: string, options?: CallOptions): Promise<ApiKey>
}
