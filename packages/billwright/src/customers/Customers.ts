/**
 * Customers. Usage belongs to a customer, and events can be about one.
 */
import type { CallOptions, Metadata, MetadataPatch } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** A customer of yours. Several customers may have the same e-mail address. */
export interface Customer {
  /** `cus_…` */
  readonly id: string
  readonly name: string
  readonly email: string
  readonly metadata: Metadata
  readonly createdAt: Date
  /** When name, e-mail or metadata last changed. At first the same as `createdAt`. */
  readonly updatedAt: Date
}

/** A new customer. */
export interface CreateCustomer {
  /** 1 to 256 characters. */
  readonly name: string
  /** At most 254 characters, one `@`, no spaces. It is stored unchanged. */
  readonly email: string
  readonly metadata?: Metadata | undefined
}

/** A change of a customer. Fields that are left out stay as they are. */
export interface UpdateCustomer {
  readonly name?: string | undefined
  readonly email?: string | undefined
  /** `null` removes all metadata. */
  readonly metadata?: MetadataPatch | null | undefined
}

/** Selects customers, newest first. Erased customers are not listed. */
export interface ListCustomers extends PageQuery {
  /** Only customers with exactly this e-mail address. */
  readonly email?: string | undefined
  /** Only customers with this text in their name or e-mail address, in any case: 3 to 100 characters. */
  readonly search?: string | undefined
}

/** Errors: `InvalidInputError`, `CustomerNotFoundError`. */
export interface Customers {
  /** Creates a customer. Each call creates another one, because it takes no idempotency key. Store the id. */
  create(input: CreateCustomer, options?: CallOptions): Promise<Customer>
  /** Returns a customer. An erased customer is not found. */
  get(id: string, options?: CallOptions): Promise<Customer>
  /** Changes the given fields. A metadata key with the value `null` is removed. */
  update(id: string, input: UpdateCustomer, options?: CallOptions): Promise<Customer>
  /**
   * Erases name, e-mail and metadata for good. The id and the usage stay, so that totals stay correct. New usage for the
   * customer fails. Erasing again changes nothing.
   */
  erase(id: string, options?: CallOptions): Promise<void>
  list(query?: ListCustomers, options?: CallOptions): Listing<Customer>
}
