/**
 * Where customers are kept: the storage port.
 */
import { Context, type Effect, type Option } from "effect"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { Customer, CustomerId } from "./Customer.ts"

/** `erased`: the customer was deleted; its id and its usage remain, its name, e-mail and metadata don't. */
export type CustomerStatus = "active" | "erased" | "unknown"

/** Which customers to list. */
export interface CustomerFilterQuery {
  /** Exactly. */
  readonly email: string | undefined
  /** Part of `Customer.searchText`; at least `Customer.MIN_SEARCH_LENGTH` code points. */
  readonly search: string | undefined
}

/**
 * Every verb acts for the current tenant alone and joins the current transaction, if there is one.
 * Erased customers are found by no verb but `status`.
 */
export class CustomerStore extends Context.Service<
  CustomerStore,
  {
    /** Stores a new customer. Its id has never been used. */
    readonly insert: (customer: Customer) => Effect.Effect<void, StorageError, CurrentTenant>

    readonly find: (id: CustomerId) => Effect.Effect<Option.Option<Customer>, StorageError, CurrentTenant>

    readonly status: (id: CustomerId) => Effect.Effect<CustomerStatus, StorageError, CurrentTenant>

    /**
     * Replaces the customer by what `change` makes of it, and gives the new value; `none` when there is none.
     * No other change of the same customer happens between reading and writing. When `change` fails, nothing
     * is written.
     */
    readonly modify: <E, R>(
      id: CustomerId,
      change: (customer: Customer) => Effect.Effect<Customer, E, R>,
    ) => Effect.Effect<Option.Option<Customer>, E | StorageError, CurrentTenant | R>

    /**
     * Removes name, e-mail and metadata for good and keeps the id. True when the customer exists or was erased
     * before. Usage appended after this commits finds the customer `erased`.
     */
    readonly erase: (id: CustomerId) => Effect.Effect<boolean, StorageError, CurrentTenant>

    /** Newest first. A cursor may be an erased customer's id, so that paging survives an erasure. */
    readonly list: (
      filter: CustomerFilterQuery,
      page: PageQuery,
    ) => Effect.Effect<Page<Customer>, CursorNotFound | StorageError, CurrentTenant>
  }
>()("@billwright/core/customers/CustomerStore") {}
