/**
 * Customers. Usage belongs to a customer, and events can be about one.
 */
import type { CallOptions, Metadata, MetadataPatch } from "../Call.ts"
import type { PayerLink, PayerLinkOptions } from "../invoices/PayerLinks.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** A customer of yours. Several customers may have the same e-mail address. */
export interface Customer {
  /** `cus_…` */
  readonly id: string
  readonly name: string
  readonly email: string
  /** The IANA time zone of new subscriptions, unless they name another. `null`: `UTC`. */
  readonly timezone: string | null
  /** The language of documents, such as `de-AT`. */
  readonly locale: string | null
  /** The currency of new subscriptions to plans that have it, unless they name another. */
  readonly currency: string | null
  /** The country whose taxes apply. `null`: the country of the seller. */
  readonly country: string | null
  /** The tax id of a business. */
  readonly taxId: string | null
  readonly taxStatus: TaxStatus
  readonly address: Address | null
  /** How many days after it was issued an invoice has to be paid. `null`: the option `invoices.netDays`. */
  readonly netDays: number | null
  readonly collectionMethod: CollectionMethod
  /** The test clock that its subscriptions and invoices go by. `null`: real time. */
  readonly testClockId: string | null
  readonly metadata: Metadata
  readonly createdAt: Date
  /** When a field last changed. At first the same as `createdAt`. */
  readonly updatedAt: Date
}

/**
 * How a customer stands to taxes. `taxable`: by the rules of its country. `exempt`: never taxed. `reverse_charge`: it owes
 * the tax itself.
 */
export type TaxStatus = "taxable" | "exempt" | "reverse_charge"

/**
 * How the invoices of a customer are paid. `charge_automatically`: the payment provider takes the money from when they are
 * issued. `send_invoice`: the customer pays by itself, and nothing is charged unless somebody asks for it.
 */
export type CollectionMethod = "charge_automatically" | "send_invoice"

/** A postal address without its country. Each line, city and region has 1 to 200 characters, the postcode at most 20. */
export interface Address {
  readonly line1?: string
  readonly line2?: string
  readonly city?: string
  readonly region?: string
  readonly postcode?: string
}

/** What subscriptions and invoices of a customer go by. */
export interface CustomerBilling {
  /** An IANA time zone, such as `Europe/Berlin`. */
  readonly timezone?: string | null | undefined
  /** A language tag of at most 35 characters, such as `de` or `de-AT`. */
  readonly locale?: string | null | undefined
  /** An ISO 4217 code, such as `EUR`. */
  readonly currency?: string | null | undefined
  /** An ISO 3166-1 code, such as `DE`. */
  readonly country?: string | null | undefined
  /** 1 to 50 characters. Check it before you store it. */
  readonly taxId?: string | null | undefined
  /** Default: `taxable`. */
  readonly taxStatus?: TaxStatus | undefined
  readonly address?: Address | null | undefined
  /** 0 to 365 days. */
  readonly netDays?: number | null | undefined
  /** Default: `charge_automatically`. A change counts for invoices that are issued from then on. */
  readonly collectionMethod?: CollectionMethod | undefined
}

/** A new customer. */
export interface CreateCustomer extends CustomerBilling {
  /** 1 to 256 characters. */
  readonly name: string
  /** At most 254 characters, one `@`, no spaces. It is stored unchanged. */
  readonly email: string
  /** Only in test mode. It can't be changed later. */
  readonly testClockId?: string | null | undefined
  readonly metadata?: Metadata | undefined
}

/** A change of a customer. Fields that are left out stay as they are. */
export interface UpdateCustomer extends CustomerBilling {
  readonly name?: string | undefined
  readonly email?: string | undefined
  /** `null` removes all metadata. */
  readonly metadata?: MetadataPatch | null | undefined
}

/** Selects customers, newest first. Erased customers are not listed. */
export interface ListCustomers extends PageQuery {
  /** Only customers with exactly this e-mail address. */
  readonly email?: string | undefined
  /** Only customers of this test clock. */
  readonly testClockId?: string | undefined
  /** Only customers with this text in their name or e-mail address, in any case: 3 to 100 characters. */
  readonly search?: string | undefined
}

/** An object of a customer, as the REST API shows it: names in snake_case, instants as text. */
export interface ExportedObject {
  /** What it is, such as `customer`, `invoice`, `usage_record`, `event` or `audit_record`. */
  readonly object: string
  readonly id: string
  /** Integers beyond 2^53 − 1 are `bigint`. */
  readonly [field: string]: unknown
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
   * Erases all fields for good, and takes personal data out of payment methods, events about the customer and what receivers
   * answered to them. Where that is much, billing runs do the rest. The id and the usage stay, so that totals stay correct.
   * Issued invoices stay as they are. New usage for the customer fails. Erasing again does what is left to do.
   */
  erase(id: string, options?: CallOptions): Promise<void>
  list(query?: ListCustomers, options?: CallOptions): Listing<Customer>
  /**
   * Everything that is stored about a customer, to give it to the customer: the customer, then its subscriptions, invoices,
   * payments, payment methods, credits, usage, events and all other objects, newest first of each kind, each followed by its audit
   * records. No secret is in it. They are read a page at a time while you iterate, so that an export of any size needs little
   * memory. It is not as of one instant: what changes meanwhile is as before or as after. To go on billing the customer
   * elsewhere, use `exportCustomer`.
   *
   * ```ts
   * for await (const object of billing.customers.export(customer.id)) file.write(`${JSON.stringify(object)}\n`)
   * ```
   */
  export(id: string, options?: CallOptions): AsyncIterable<ExportedObject>
  /**
   * A link to the pages of a customer, without a login: plan, usage, invoices, payment methods and cancellation. Give it to the
   * customer alone, after your own login. Nothing is stored. It needs `payerPages` in the options of `createBilling`: without
   * it, it rejects with the code `payer_pages_unavailable`.
   */
  portalLink(id: string, link?: PayerLinkOptions, options?: CallOptions): Promise<PayerLink>
}
