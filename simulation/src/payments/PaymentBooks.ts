/**
 * What a run of payments leaves behind: the books of the library, and those of the bank. Checkers see only this.
 */
import type { CreditNote, Dispute, Event, Invoice, Payment, Refund, Tenant } from "@billwright/core"
import type { BankFact } from "./Bank.ts"

interface OfTenant {
  readonly tenant: Tenant.Tenant
}

/** Money that the host recorded. `outcome` is what it was told. */
export interface Recorded {
  readonly invoiceId: string
  readonly reference: string
  readonly amount: bigint
  readonly outcome: "booked" | "refused" | "unknown"
}

export interface PaymentBooks {
  readonly invoices: ReadonlyArray<OfTenant & { readonly invoice: Invoice.StoredInvoice }>
  readonly payments: ReadonlyArray<OfTenant & { readonly payment: Payment.StoredPayment }>
  readonly creditNotes: ReadonlyArray<OfTenant & { readonly note: CreditNote.CreditNote }>
  readonly refunds: ReadonlyArray<OfTenant & { readonly refund: Refund.Refund }>
  readonly disputes: ReadonlyArray<OfTenant & { readonly dispute: Dispute.Dispute }>
  /** Those of a tenant in the order of their commits. */
  readonly events: ReadonlyArray<OfTenant & { readonly event: Event.Event }>
  readonly recorded: ReadonlyArray<Recorded>
  /** Everything that the bank knows, in order. */
  readonly facts: ReadonlyArray<BankFact>
  /**
   * The customers with test clocks, and what those show. They go faster than the bank: a person has to look where it is still
   * at work, and it may ask for patience until an instant that a clock has not come to.
   */
  readonly clocked?: ReadonlyMap<string, number>
  /** When the run ended. */
  readonly now: number
}

/** The books, and the bugs that fibers died of. */
export interface PaymentHistory extends PaymentBooks {
  readonly defects: ReadonlyArray<string>
}
