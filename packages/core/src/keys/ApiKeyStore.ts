/**
 * Where API keys are kept: the storage port.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { ApiKey, ApiKeyId } from "./ApiKey.ts"

/** A key as stored: with the digest of its secret, never the secret. */
export interface StoredApiKey {
  readonly key: ApiKey
  /** 64 hexadecimal digits; unique over all tenants. */
  readonly digest: string
}

/** Every verb but `findByDigest` and `touch` acts for the current tenant alone. */
export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    /** Stores a new key. Its id and digest have never been used. */
    readonly insert: (stored: StoredApiKey) => Effect.Effect<void, StorageError, CurrentTenant>

    /** Finds a key of any tenant, revoked and expired ones included: this is what tells the tenant. */
    readonly findByDigest: (digest: string) => Effect.Effect<Option.Option<StoredApiKey>, StorageError>

    readonly find: (id: ApiKeyId) => Effect.Effect<Option.Option<ApiKey>, StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      page: PageQuery,
    ) => Effect.Effect<Page<ApiKey>, CursorNotFound | StorageError, CurrentTenant>

    /** Sets `revokedAt`, unless it is set. Gives the key. */
    readonly revoke: (
      id: ApiKeyId,
      at: DateTime.Utc,
    ) => Effect.Effect<Option.Option<ApiKey>, StorageError, CurrentTenant>

    /** Sets `expiresAt`, unless the key expires sooner. Gives the key. */
    readonly expire: (
      id: ApiKeyId,
      at: DateTime.Utc,
    ) => Effect.Effect<Option.Option<ApiKey>, StorageError, CurrentTenant>

    /** Sets `lastUsedAt`, for a key of any tenant. Of an unknown key, fails where nothing can be written, too. */
    readonly touch: (id: ApiKeyId, at: DateTime.Utc) => Effect.Effect<void, StorageError>
  }
>()("@billwright/core/keys/ApiKeyStore") {}
