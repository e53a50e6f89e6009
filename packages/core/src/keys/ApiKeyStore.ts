/**
 * The storage port for API keys.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { ApiKey, ApiKeyId } from "./ApiKey.ts"

/** A key as it is stored: with the digest of its secret, without the secret. */
export interface StoredApiKey {
  readonly key: ApiKey
  /** 64 hexadecimal digits; unique over all tenants. */
  readonly digest: string
}

/** Every verb but `findByDigest` and `touch` acts for the current tenant only. */
export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    /** Stores a new key. Its id and digest have never been used. */
    readonly insert: (stored: StoredApiKey) => Effect.Effect<void, StorageError, CurrentTenant>

    /** Finds a key of any tenant, also a revoked or expired one. The key tells the tenant of a request. */
    readonly findByDigest: (digest: string) => Effect.Effect<Option.Option<StoredApiKey>, StorageError>

    readonly find: (id: ApiKeyId) => Effect.Effect<Option.Option<ApiKey>, StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      page: PageQuery,
    ) => Effect.Effect<Page<ApiKey>, CursorNotFound | StorageError, CurrentTenant>

    /** Sets `revokedAt`, unless it is already set. Gives the key. */
    readonly revoke: (
      id: ApiKeyId,
      at: DateTime.Utc,
    ) => Effect.Effect<Option.Option<ApiKey>, StorageError, CurrentTenant>

    /**
     * Sets `expiresAt` of a key that was rolled, unless it expires earlier. Gives the key, or none if this was done before: of
     * several callers at once, one gets it.
     */
    readonly expire: (
      id: ApiKeyId,
      at: DateTime.Utc,
    ) => Effect.Effect<Option.Option<ApiKey>, StorageError, CurrentTenant>

    /** Sets `lastUsedAt` of a key of any tenant. Fails when the storage can't be written, also for an unknown key. */
    readonly touch: (id: ApiKeyId, at: DateTime.Utc) => Effect.Effect<void, StorageError>
  }
>()("@billwright/core/keys/ApiKeyStore") {}
