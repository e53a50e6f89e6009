/**
 * Customers: whom usage and events belong to.
 */
import type { CallOptions, Metadata, MetadataPatch } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** Whom usage and events belong to. Several may have the same e-mail address. */
export interface Customer {
  /** `cus_…` */
  readonly id: string
  readonly name: string
  readonly email: string
  readonly metadata: Metadata
  readonly createdAt: Date
  /** When name, e-mail or metadata last changed; at first the same as `createdAt`. */
  readonly updatedAt: Date
}

/** A new customer. */
export interface CreateCustomer {
  /** 1 to 256 characters. */
  readonly name: string
  /** At most 254 characters, one `@`, no spaces. Kept as given. */
  readonly email: string
  readonly metadata?: Metadata | undefined
}

/** A change: what is left out stays. */
export interface UpdateCustomer {
  readonly name?: string | undefined
  readonly email?: string | undefined
  /** `null` removes all of it. */
  readonly metadata?: MetadataPatch | null | undefined
}

/** Which customers, newest first. Erased ones are in no list. */
export interface ListCustomers extends PageQuery {
  /** Only customers with exactly this e-mail address. */
  readonly email?: string | undefined
  /** Only customers with this text in their name or e-mail address, whatever the case: 3 to 100 characters. */
  readonly search?: string | undefined
}

/** Errors: `InvalidInputError`, `CustomerNotFoundError`. */
export interface Customers {
  /** Creates one each time: it takes no idempotency key. Keep its id. */
  create(input: CreateCustomer, options?: CallOptions): Promise<Customer>
  /** An erased customer is not found. */
  get(id: string, options?: CallOptions): Promise<Customer>
  /** Merges: a metadata key that is `null` is removed. */
  update(id: string, input: UpdateCustomer, options?: CallOptions): Promise<Customer>
  /**
   * Erases name, e-mail and metadata for good. Id and usage stay, so that totals stay true; new usage for it fails.
   * Erasing again changes nothing.
   */
  erase(id: string, options?: CallOptions): Promise<void>
  list(query?: ListCustomers, options?: CallOptions): Listing<Customer>
}
