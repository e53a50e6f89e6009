/**
 * The storage port for webhook endpoints.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { type CurrentTenant, type Tenant, tenantKey } from "../shared/Tenant.ts"
import type { Endpoint, EndpointId, EndpointStatus, StoredEndpoint } from "./Endpoint.ts"
import type { SealedSecret } from "./Keyring.ts"

/** What the secrets of an endpoint are bound to by the keyring. */
export const endpointContext = (tenant: Tenant, id: EndpointId): string => `${tenantKey(tenant)}:${id}`

/** An endpoint of any tenant. */
export interface EndpointOfTenant {
  readonly tenant: Tenant
  readonly id: EndpointId
  /** Its secrets, without expired ones. */
  readonly sealed: ReadonlyArray<SealedSecret>
  /** The sealed values of its headers, by name. */
  readonly headers: Readonly<Record<string, SealedSecret>>
}

/**
 * Every verb but `listSealedByOtherKeys` acts for the current tenant alone and joins the current transaction, if there
 * is one. Deleted endpoints are found by no verb; what was delivered to them stays.
 */
export class EndpointStore extends Context.Service<
  EndpointStore,
  {
    /** Stores a new endpoint. Gives false when the tenant has `MAX_ENDPOINTS`; concurrent inserts keep the limit. */
    readonly insert: (stored: StoredEndpoint) => Effect.Effect<boolean, StorageError, CurrentTenant>

    /** Values of headers are sealed, here and in `list`. */
    readonly find: (id: EndpointId) => Effect.Effect<Option.Option<Endpoint>, StorageError, CurrentTenant>

    /** Newest first. The cursor can be the id of a deleted endpoint. */
    readonly list: (
      filter: { readonly status: EndpointStatus | undefined },
      page: PageQuery,
    ) => Effect.Effect<Page<Endpoint>, CursorNotFound | StorageError, CurrentTenant>

    /**
     * Replaces the endpoint by the result of `change`, and gives the new value; `none` when there is no such endpoint.
     * The endpoint can't be changed by others between the read and the write. When `change` fails, nothing is written.
     */
    readonly modify: <E, R>(
      id: EndpointId,
      change: (stored: StoredEndpoint) => Effect.Effect<StoredEndpoint, E, R>,
    ) => Effect.Effect<Option.Option<StoredEndpoint>, E | StorageError, CurrentTenant | R>

    /** Deletes the endpoint with its secrets and headers for good. Gives false when there is no such endpoint. */
    readonly delete: (id: EndpointId, at: DateTime.Utc) => Effect.Effect<boolean, StorageError, CurrentTenant>

    /**
     * Up to `limit` endpoints, of all tenants, that have a secret or the value of a header which none of these keys
     * sealed. Secrets that have expired at `now` don't count. The order is always the same. It starts behind `after`, the
     * last endpoint of the page before, also when that one has changed or was deleted.
     */
    readonly listSealedByOtherKeys: (
      keyIds: ReadonlyArray<string>,
      page: {
        readonly now: DateTime.Utc
        readonly limit: number
        readonly after: Pick<EndpointOfTenant, "tenant" | "id"> | undefined
      },
    ) => Effect.Effect<ReadonlyArray<EndpointOfTenant>, StorageError>
  }
>()("@billwright/core/webhooks/EndpointStore") {}
