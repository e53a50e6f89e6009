/**
 * Items: one-off charges and credits of a customer.
 */
import type { CallOptions, Metadata } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"

/** An item is `pending` until an invoice picks it up, and then `invoiced`. */
export type InvoiceItemStatus = "pending" | "invoiced"

/** A one-off charge or credit of a customer, which an invoice picks up. */
export interface InvoiceItem {
  /** `itm_…` */
  readonly id: string
  readonly customerId: string
  /**
   * The subscription whose next invoice has the item. `null`: the customer's next invoice in the currency. It becomes `null`
   * when the subscription ends and something of the item is left.
   */
  readonly subscriptionId: string | null
  readonly currency: string
  /** An integer of the minor unit. Below 0 it is a credit. */
  readonly amount: bigint
  readonly description: string
  /** The service period, if there is one. Its end is not part of it. */
  readonly periodStart: Date | null
  readonly periodEnd: Date | null
  /** What its tax rate depends on. `null`: `standard`. */
  readonly taxCode: string | null
  readonly metadata: Metadata
  readonly status: InvoiceItemStatus
  /** The invoice that picked it up. */
  readonly invoiceId: string | null
  readonly createdAt: Date
}

/** A new item. */
export interface CreateInvoiceItem {
  readonly customerId: string
  /** A subscription of the customer in this currency. */
  readonly subscriptionId?: string | null | undefined
  /** An ISO 4217 code, such as `EUR`. */
  readonly currency: string
  /** From -10^15 to 10^15, and not 0. Beyond 2^53 − 1 a `bigint`. */
  readonly amount: number | bigint
  /** 1 to 500 characters. */
  readonly description: string
  /** Only together with `periodEnd`, which is later. */
  readonly periodStart?: Date | null | undefined
  readonly periodEnd?: Date | null | undefined
  /** 1 to 64 lower-case letters, digits and `_`, a letter first. */
  readonly taxCode?: string | null | undefined
  readonly metadata?: Metadata | undefined
}

/** Selects items, newest first. */
export interface ListInvoiceItems extends PageQuery {
  readonly customerId?: string | undefined
  readonly status?: InvoiceItemStatus | undefined
  readonly invoiceId?: string | undefined
}

/** Errors: `InvalidInputError`, `InvoiceItemNotFoundError`, `CustomerNotFoundError`, `SubscriptionNotFoundError`, `ActionUnavailableError`, `InvoicingUnsupportedError`. */
export interface InvoiceItems {
  /**
   * Creates an item. The next invoice that is made for the customer in its currency has it. A credit never makes an
   * invoice less than 0: what is left of it is another item, which waits for the next invoice.
   */
  create(input: CreateInvoiceItem, options?: CallOptions): Promise<InvoiceItem>
  get(id: string, options?: CallOptions): Promise<InvoiceItem>
  /** Deletes an item, also from a draft. One of an issued invoice stays: issue a credit note. */
  delete(id: string, options?: CallOptions): Promise<void>
  list(query?: ListInvoiceItems, options?: CallOptions): Listing<InvoiceItem>
}
