/**
 * The storage port for customers.
 */
import { Context, type Effect, type Option } from "effect"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { Customer, CustomerId } from "./Customer.ts"

/** The state of a customer's id. Of an `erased` customer only the id and the usage remain. */
export type CustomerStatus = "active" | "erased" | "unknown"

/** Which customers to list. */
export interface CustomerFilterQuery {
  /** Customers with exactly this address. */
  readonly email: string | undefined
  /** Customers whose `Customer.searchText` contains this text. At least `Customer.MIN_SEARCH_LENGTH` code points. */
  readonly search: string | undefined
}

/**
 * Every verb acts for the current tenant only and joins the current transaction, if there is one.
 * Only `status` finds erased customers.
 */
export class CustomerStore extends Context.Service<
  CustomerStore,
  {
    /** Stores a new customer. The caller ensures that its id was never used. */
    readonly insert: (customer: Customer) => Effect.Effect<void, StorageError, CurrentTenant>

    readonly find: (id: CustomerId) => Effect.Effect<Option.Option<Customer>, StorageError, CurrentTenant>

    readonly status: (id: CustomerId) => Effect.Effect<CustomerStatus, StorageError, CurrentTenant>

    /**
     * Replaces the customer by the result of `change`, and gives the new value; `none` when there is no such customer.
     * The customer can't be changed by others between the read and the write. When `change` fails, nothing is written.
     */
    readonly modify: <E, R>(
      id: CustomerId,
      change: (customer: Customer) => Effect.Effect<Customer, E, R>,
    ) => Effect.Effect<Option.Option<Customer>, E | StorageError, CurrentTenant | R>

    /**
     * Removes name, e-mail and metadata for good, and keeps the id. Gives true when the customer exists or was erased
     * before. Usage that is appended after the commit finds the customer `erased`.
     */
    readonly erase: (id: CustomerId) => Effect.Effect<boolean, StorageError, CurrentTenant>

    /** Newest first. The cursor can be the id of an erased customer, so that an erasure does not break paging. */
    readonly list: (
      filter: CustomerFilterQuery,
      page: PageQuery,
    ) => Effect.Effect<Page<Customer>, CursorNotFound | StorageError, CurrentTenant>
  }
>()("@billwright/core/customers/CustomerStore") {}
