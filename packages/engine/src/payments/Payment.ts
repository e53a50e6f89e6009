/**
 * A payment of an invoice. Amounts are integers of the currency's minor unit, and instants are in epoch milliseconds.
 */
import { type Problem, Problems } from "../catalog/Problem.ts"
import { lesser, sumOf } from "../invoices/Amounts.ts"
import type { Invoice } from "../invoices/Invoice.ts"

/**
 * An `open` payment waits for its money. A `succeeded` one has it, and never changes again. A `closed` one is not waited
 * for any more.
 */
export type PaymentStatus = "open" | "succeeded" | "closed"

/** A payment of an invoice: what came, or what is asked for. */
export interface Payment {
  readonly id: string
  readonly invoiceId: string
  readonly customerId: string
  readonly currency: string
  /** Who takes the money. `manual`: nobody does, and a person records what came. */
  readonly provider: string
  /** How the provider names the payment; for a manual one, how the bank does. `null` if it has no name. */
  readonly reference: string | null
  readonly status: PaymentStatus
  /** Greater than 0. */
  readonly amount: bigint
  /** The part that paid the invoice. 0 until the payment has succeeded. */
  readonly applied: bigint
  /** The rest of it: more than was due. It is the customer's credit. */
  readonly overpaid: bigint
  /** When the money came. `null` until then. */
  readonly paidAt: number | null
  /** Rises with each change. */
  readonly sequence: number
}

/** What of a payment changes when its money comes. */
export type Success = Pick<Payment, "status" | "applied" | "overpaid" | "paidAt" | "sequence">

/** The payment once its money has come. The invoice takes what is due of it, and the customer has the rest as credit. */
export const successOf = (
  { amount, sequence }: Pick<Payment, "amount" | "sequence">,
  { amountDue }: Pick<Invoice, "amountDue">,
  paidAt: number,
): Success => {
  const applied = lesser(amount, amountDue)
  return { status: "succeeded", applied, overpaid: amount - applied, paidAt, sequence: sequence + 1 }
}

/**
 * J6, for one invoice: what payments brought, less what refunds and disputes reversed, is what the invoice says, once, and
 * at most one payment is open. Gives problems with their paths, and an empty list when the rules hold.
 */
export const problemsOfPayments = (
  invoice: Pick<Invoice, "id" | "currency" | "amountPaid">,
  payments: ReadonlyArray<Payment>,
  reversals: ReadonlyArray<{ readonly reversed: bigint }> = [],
): ReadonlyArray<Problem> => {
  const at = new Problems()
  for (const { amount, applied, currency, id, invoiceId, overpaid, paidAt, status } of payments) {
    const here = at.in("payments").in(id)
    if (invoiceId !== invoice.id) here.in("invoiceId").add(`is ${invoiceId}, which is another invoice`)
    if (currency !== invoice.currency)
      here.in("currency").add(`is ${currency}, but the invoice is in ${invoice.currency}`)
    if (amount <= 0n) here.in("amount").add("must be greater than 0")
    if (applied < 0n || overpaid < 0n) here.add("has a part below 0")
    const parts = status === "succeeded" ? amount : 0n
    if (applied + overpaid !== parts) here.add(`has parts of ${applied + overpaid}, but ${parts} came`)
    if ((paidAt === null) === (status === "succeeded")) here.in("paidAt").add(`does not fit ${status}`)
  }
  const reversed = reversals.map((one) => ({ amount: -one.reversed }))
  const paid = sumOf([...payments.map(({ applied }) => ({ amount: applied })), ...reversed])
  if (paid !== invoice.amountPaid)
    at.in("amountPaid").add(`is ${invoice.amountPaid}, but payments paid ${paid}`)
  const open = payments.filter(({ status }) => status === "open")
  if (open.length > 1) at.in("payments").add(`has ${open.length} open ones: at most one is allowed`)
  return at.found
}
