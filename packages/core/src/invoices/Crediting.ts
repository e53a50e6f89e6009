/**
 * The credits of customers that invoices use, and that invoices and credit notes give. Credits provide it.
 */
import type { InvoiceCredits, LineInput } from "@billwright/engine"
import { Context, Effect } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { StoredInvoice } from "./Invoice.ts"

/** `issue`: an invoice is issued in the current transaction. `read`: nobody waits for it, and it waits for nobody. */
export type Purpose = "issue" | "read"

/** Whose credits, and of which currency. */
export interface MoneyAccount {
  readonly customerId: CustomerId
  readonly currency: string
}

/** The credits that an invoice can use: those of its currency, and those of the units that its lines burn. */
export interface InvoiceAccounts extends MoneyAccount {
  readonly lines: ReadonlyArray<Pick<LineInput, "origin">>
}

/** The document that gives credits. Each gives them once. */
export interface GivenBy {
  readonly type: "credit_note" | "invoice"
  readonly id: string
}

type Written = Effect.Effect<void, InvalidInput | StorageError, CurrentTenant>

/** The credits that an invoice can use, as they are at an instant. */
export interface OpenCredits extends InvoiceCredits {
  /**
   * Uses and burns those that an invoice states, which the current transaction has just issued. Only of credits that were opened to
   * `issue`: they stay as they are until the transaction ends.
   */
  readonly apply: (issued: StoredInvoice) => Written
}

/** Uses and gives credits, in the current transaction and in the time of the customer. */
export interface Creditor {
  readonly open: (
    accounts: InvoiceAccounts,
    purpose: Purpose,
  ) => Effect.Effect<OpenCredits, StorageError, CurrentTenant>

  /** Gives back what a voided invoice has used and burnt. */
  readonly restore: (voided: StoredInvoice) => Written

  /** Gives a customer paid credits. 0 gives nothing. */
  readonly give: (account: MoneyAccount, amount: bigint, by: GivenBy) => Written

  /** Gives the credits that an invoice bills, when it is paid. When it is void, takes note that nobody pays it. */
  readonly settleTopUp: (changed: StoredInvoice) => Written

  /** Takes note that a payment of an invoice was declined. */
  readonly noteDeclined: (invoice: StoredInvoice) => Written

  /** Takes note that a customer has a new payment method. */
  readonly noteMethod: (customerId: CustomerId) => Written
}

const nothing = () => Effect.void

/** There is nothing that an invoice can use. */
export const NO_CREDITS: OpenCredits = { promotional: [], paid: [], apply: nothing }

/** Nobody has credits. */
const NOBODY: Creditor = {
  open: () => Effect.succeed(NO_CREDITS),
  restore: nothing,
  give: nothing,
  settleTopUp: nothing,
  noteDeclined: nothing,
  noteMethod: nothing,
}

/** Without it, invoices use and give no credits. */
export class Crediting extends Context.Reference<Creditor>("@billwright/core/invoices/Crediting", {
  defaultValue: () => NOBODY,
}) {}
