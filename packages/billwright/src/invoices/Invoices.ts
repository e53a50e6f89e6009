/**
 * Invoices: what customers owe, line by line. Subscriptions make them, and one-off invoices are made by call.
 *
 * Amounts are integers of the currency's minor unit, in `bigint`: `4200n` is 42.00 EUR.
 */
import type {
  Applied,
  CollectionState,
  Discount,
  InvoiceAction,
  InvoiceStatus,
  LineKind,
  LineRef,
  Step,
  Tax,
  TaxBehavior,
  TaxRate,
} from "@billwright/engine"
import type { CallOptions } from "../Call.ts"
import type { Listing, PageQuery } from "../Listing.ts"
import type { CustomerAction } from "../payments/MethodProvider.ts"
import type { UsageRecord } from "../usage/Usage.ts"
import type { DueFailure, PlanRef } from "./Billed.ts"
import type { PayerLink, PayerLinkOptions } from "./PayerLinks.ts"

export type {
  Applied as InvoiceAppliedCredit,
  CollectionState as InvoiceCollection,
  Discount as InvoiceDiscount,
  InvoiceAction,
  InvoiceStatus,
  LineKind as InvoiceLineKind,
  LineRef as InvoiceLineRef,
  PostalAddress,
  Seller,
  Step as RatingStep,
  Tax as InvoiceTax,
  TaxBehavior,
  TaxRate as InvoiceLineTax,
} from "@billwright/engine"

/** The usage behind a line, as it was when the line was made. */
export interface UsageReceipt {
  /** The key of the meter. */
  readonly meter: string
  readonly where: Readonly<Record<string, ReadonlyArray<string>>>
  readonly periodStart: Date
  readonly periodEnd: Date
  /** An exact text: a decimal or a fraction. */
  readonly total: string
  readonly recordCount: number
}

/** Credits that usage burns instead of costing money. */
export interface BurntCredits {
  readonly unit: string
  /** How many decimals the unit has: with 2, 150n are 1.50. */
  readonly decimals: number
  /** An integer of the smallest part of the unit. Below 0: they are given back. */
  readonly amount: bigint
}

/** A line of an invoice. */
export interface InvoiceLine {
  /** Unique in its invoice. It stays when a draft is computed again. */
  readonly id: string
  readonly kind: LineKind
  /** The key of the charge. `null` for an item, and for the minimum of a plan. */
  readonly charge: string | null
  readonly description: string
  /** The subscription that the line bills. `null` for an item. */
  readonly subscriptionId: string | null
  /** The version of the plan that priced the line. */
  readonly plan: PlanRef | null
  /** The value of the dimension that the charge has a line for each of. */
  readonly group: string | null
  /** The service period. Its end is not part of it. */
  readonly periodStart: Date | null
  readonly periodEnd: Date | null
  /** An exact text: a decimal or a fraction. `null` for a line without one. */
  readonly quantity: string | null
  /** Before discounts. Negative for money back. */
  readonly amount: bigint
  /** The discounts of this line together: 0 or more. */
  readonly discount: bigint
  /** After discounts and without tax. */
  readonly net: bigint
  readonly tax: TaxRate
  /** The line of an earlier invoice that a credit gives money back of. */
  readonly creditOf: LineRef | null
  /** The credits that the usage burns when the invoice is issued: its `amount` is 0. `null` for all other lines. */
  readonly burns: BurntCredits | null
  /** The computation of `amount`, step by step. Names are those of REST: `up_to`. */
  readonly steps: ReadonlyArray<Step>
  /** `null` for a line that bills no usage. */
  readonly receipt: UsageReceipt | null
}

/** An invoice. Once it is issued, only its payments, its status and the amounts of its credit notes change. */
export interface Invoice {
  /** `inv_…` */
  readonly id: string
  /** Numbers have no gaps. `null` for a draft. */
  readonly number: string | null
  readonly status: InvoiceStatus
  readonly customerId: string
  /** The subscription that it bills. `null` for an invoice of several, and of none. */
  readonly subscriptionId: string | null
  /** The subscriptions that it bills: one, or those of an invoice group, or none. */
  readonly subscriptionIds: ReadonlyArray<string>
  /** The ISO 4217 code of the currency. */
  readonly currency: string
  /** The period that made the invoice. Its end is not part of it. */
  readonly periodStart: Date | null
  readonly periodEnd: Date | null
  readonly lines: ReadonlyArray<InvoiceLine>
  readonly discounts: ReadonlyArray<Discount>
  /** Whether amounts of lines are without tax (`exclusive`) or contain it (`inclusive`). */
  readonly taxBehavior: TaxBehavior
  /** The sum of the lines before discounts. */
  readonly subtotal: bigint
  readonly tax: bigint
  readonly taxes: ReadonlyArray<Tax>
  /** The sum of the lines after discounts, with tax. Below 0 when credits exceed charges. */
  readonly total: bigint
  readonly applied: ReadonlyArray<Applied>
  /** A total below 0, without its sign: the customer has it as credit. Otherwise 0. */
  readonly credited: bigint
  /** What payments paid. */
  readonly amountPaid: bigint
  /** The totals of its credit notes. */
  readonly amountCredited: bigint
  /** The part of `amountCredited` that lowered the amount due. */
  readonly amountWaived: bigint
  /** What is left to pay: 0 or more. */
  readonly amountDue: bigint
  /** `null` for a draft. */
  readonly issuedAt: Date | null
  /** The last instant by which it has to be paid: the end of a day. `null` for a draft. */
  readonly dueAt: Date | null
  /** When a draft is issued by itself. `null` once it is issued. */
  readonly finalizesAt: Date | null
  /** Why issuing it failed last. `null` unless it did. */
  readonly failure: DueFailure | null
  /**
   * Since when its payment is late: an attempt was declined, or its due date is over. `null`: it is not, or it is not open
   * any more.
   */
  readonly pastDueSince: Date | null
  /** How its payment fares. `idle` until payments begin. */
  readonly collection: CollectionState
  /** What can be done to it as it is. */
  readonly availableActions: ReadonlyArray<InvoiceAction>
  /** Rises with each change of the invoice. */
  readonly sequence: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Selects invoices, newest first, drafts included. */
export interface ListInvoices extends PageQuery {
  readonly customerId?: string | undefined
  /** Finds invoices that it shares with others, too. */
  readonly subscriptionId?: string | undefined
  readonly status?: InvoiceStatus | undefined
  /** The ISO 4217 code of a currency. */
  readonly currency?: string | undefined
  /** Only invoices that make this figure of `billing.money.overview`, as of now. */
  readonly figure?: InvoiceFigure | undefined
  /** Only invoices whose last billing run failed. `set_aside`: it is not tried again by itself. */
  readonly failure?: "any" | "set_aside" | undefined
}

/** A figure that invoices make. */
export type InvoiceFigure =
  | "invoiced"
  | "outstanding"
  | "not_due"
  | "late_thirty"
  | "late_sixty"
  | "late_more"
  | "to_retry"

/** A line of a one-off invoice. */
export interface GivenInvoiceLine {
  /** 1 to 500 characters. */
  readonly description: string
  /** In the minor unit, from -10^15 to 10^15, and not 0. Beyond 2^53 − 1 a `bigint`. */
  readonly amount: number | bigint
  /** Only together with `periodEnd`, which is later. */
  readonly periodStart?: Date | string | null | undefined
  readonly periodEnd?: Date | string | null | undefined
  /** What its tax rate depends on: 1 to 64 lower-case letters, digits and `_`, a letter first. Default: `standard`. */
  readonly taxCode?: string | null | undefined
}

/** A new invoice without a subscription. */
export interface CreateInvoice {
  readonly customerId: string
  /** An ISO 4217 code, such as `EUR`. Default: the currency of the customer. */
  readonly currency?: string | undefined
  /**
   * What is billed: 1 to 250 lines, which come to 0 or more. Default: the pending items of the customer in the currency.
   * With lines, items stay pending.
   */
  readonly lines?: ReadonlyArray<GivenInvoiceLine> | undefined
}

/** How the payment of an invoice is attempted. */
export interface PayInvoice {
  /** The payment method of the customer to attempt it with: `mtd_…`. Default: the customer's default method. */
  readonly paymentMethodId?: string | undefined
}

/** How the payment of an invoice is attempted while the customer is there. */
export interface StartInvoicePayment extends PayInvoice {
  /** Where a page of the provider sends the customer after the confirmation. Default: the customer stays on your page. */
  readonly returnUrl?: string | null | undefined
}

/**
 * How the customer confirms a payment. Hand it to the customer's browser; it is given out once, and not stored. Both are
 * `null` if nothing has to be confirmed.
 */
export interface InvoicePayment extends CustomerAction {
  /** The invoice afterwards. Unless its `collection` is `awaiting_customer`, there is nothing to confirm. */
  readonly invoice: Invoice
}

/**
 * Errors: `InvalidInputError`, `InvoiceNotFoundError`, `CustomerNotFoundError`, `SubscriptionNotFoundError`,
 * `PaymentMethodNotFoundError`,
 * `PaymentProviderUnavailableError` when the provider does not answer, `ActionUnavailableError` when the invoice does not allow it as it is, and `InvoicingUnsupportedError` on a store without
 * invoices.
 */
export interface Invoices {
  /** A draft has the lines and taxes that it would be issued with now. In lists it is as it was last stored. */
  get(id: string, options?: CallOptions): Promise<Invoice>
  /** A page with many lines may be shorter than `limit`: it has at most 4 MiB of lines. */
  list(query?: ListInvoices, options?: CallOptions): Listing<Invoice>
  /**
   * The invoice that a subscription gets after those that it has, with the usage that is recorded by now. `null` if it gets
   * none, as while it is paused. Nothing is stored: its id is of nothing.
   */
  upcoming(subscriptionId: string, options?: CallOptions): Promise<Invoice | null>
  /**
   * The usage records that a line is made of, newest first: those of its meter, filters and service period that count now.
   * Records that came after the invoice was issued are among them, and an adjustment on a later invoice bills them. A line
   * that bills no usage has none.
   */
  records(id: string, lineId: string, query?: PageQuery, options?: CallOptions): Listing<UsageRecord>
  /**
   * Makes a draft without a subscription, of pending items or of given lines. It stays a draft until it is finalized or
   * deleted. Without a charge there is no invoice: `InvalidInputError`.
   */
  create(input: CreateInvoice, options?: CallOptions): Promise<Invoice>
  /**
   * Issues a draft now, with its lines and taxes of now, also one that waits for late usage. Of the drafts of a
   * subscription, the oldest one comes first.
   *
   * In a transaction it only marks the draft as ready: its `finalizesAt` is now, and the next billing run issues it. Numbers
   * have no gaps, so a long transaction would keep everybody else from taking one. It does the same when a tax service has
   * to be asked.
   */
  finalize(id: string, options?: CallOptions): Promise<Invoice>
  /** Deletes a draft that bills no subscription. Its items are pending again. */
  delete(id: string, options?: CallOptions): Promise<void>
  /**
   * Voids an issued invoice of which nothing was paid. It keeps its number, and nothing of it is due. What it billed is
   * not billed again.
   */
  void(id: string, options?: CallOptions): Promise<Invoice>
  /**
   * Has the payment provider take what is due now: of an open invoice, or of one that was written off. The answer is the
   * invoice afterwards: its `collection` says what came of it.
   *
   * An invoice never has two attempts at once. While one is under way, or its outcome is unknown, this is refused. In
   * `needs_attention` the provider is asked first what came of the last attempt. When an attempt for an invoice that was
   * written off is declined, no other one follows by itself. An invoice that is paid is given as it is. Not in a
   * transaction.
   */
  pay(id: string, input?: PayInvoice, options?: CallOptions): Promise<Invoice>
  /**
   * The invoice as an HTML page for people, for screens and for paper, in the language of the customer. It has no script, and
   * needs no other file. What was paid and credited is as of now.
   */
  html(id: string, options?: CallOptions): Promise<string>
  /**
   * The same as `pay`, for a page on which the customer is: what the bank asks the customer to confirm is confirmed there
   * with the `clientSecret`, or, with a `returnUrl`, on a page of the provider. An attempt that waits for the customer is read
   * first, and attempted again if it still waits. Call it again when the customer has confirmed it, or wait for the webhook
   * of the provider.
   */
  startPayment(id: string, input?: StartInvoicePayment, options?: CallOptions): Promise<InvoicePayment>
  /**
   * The same as PDF, without the computation of usage. The same document always has the same bytes. Needs the package
   * `@billwright/pdf`: without it, it rejects with the code `pdf_unavailable`.
   */
  pdf(id: string, options?: CallOptions): Promise<Uint8Array<ArrayBuffer>>
  /**
   * The issued invoice as an e-invoice by EN 16931, in UBL 2.1 (XML): as it was issued, and always with the same bytes. When something
   * that the norm wants is missing, it rejects with the code `einvoice_incomplete`, and the message names all of it. A draft and a void invoice are refused.
   */
  ubl(id: string, options?: CallOptions): Promise<string>
  /** The same as a Cross Industry Invoice of UN/CEFACT (D16B), the XML of Factur-X and ZUGFeRD. */
  cii(id: string, options?: CallOptions): Promise<string>
  /**
   * The same as Factur-X or ZUGFeRD in the profile EN 16931: a PDF/A-3 with the CII as `factur-x.xml`. Needs the package
   * `@billwright/pdf`, as `pdf` does.
   */
  facturX(id: string, options?: CallOptions): Promise<Uint8Array<ArrayBuffer>>
  /**
   * A link for the payer of an issued invoice, without a login: it shows the invoice and its PDF, and how to pay it. Nothing
   * is stored. It needs `payerPages` in the options of `createBilling`: without it, it rejects with the code
   * `payer_pages_unavailable`. A draft has no link: `ActionUnavailableError`.
   */
  link(id: string, link?: PayerLinkOptions, options?: CallOptions): Promise<PayerLink>
  /** Writes an issued invoice off. It may still be paid. */
  markUncollectible(id: string, options?: CallOptions): Promise<Invoice>
}
