/**
 * Money that goes back: refunds, and disputes that a customer's bank decides. Amounts are integers of the currency's minor
 * unit, and instants are in epoch milliseconds.
 *
 * A payment never changes once it has succeeded. What went back of it stands beside it: a refund or a dispute has an
 * `amount`, and the part of it that an invoice is not paid with any more (`reversed`). So the `amountPaid` of an invoice
 * is what its payments applied, less what was reversed.
 */
import { lesser } from "../invoices/Amounts.ts"
import { type CollectionState, dueOf, type Invoice } from "../invoices/Invoice.ts"
import { withActions } from "../invoices/Machine.ts"
import type { Payment } from "./Payment.ts"
import { UNRESOLVED_DELAYS } from "./Retry.ts"

/**
 * A `pending` refund is on its way. What came of an `unresolved` one is not known. A `failed` one gave nothing back, or it
 * came back.
 */
export type RefundStatus = "pending" | "unresolved" | "succeeded" | "failed"

/** `won`: the seller keeps the money. `lost`: the customer has it. */
export type DisputeStatus = "open" | "won" | "lost"

/** A refund, as far as the amounts of its payment depend on it. */
export interface RefundAmounts {
  readonly status: RefundStatus
  readonly amount: bigint
  readonly reversed: bigint
  /** Whether a credit note says why it is given back. Then the invoice stays paid. */
  readonly isCredited: boolean
}

/** The same of a dispute. */
export interface DisputeAmounts {
  readonly status: DisputeStatus
  readonly amount: bigint
  readonly reversed: bigint
}

/** All that went back of a payment, or may do so. */
export interface Returned {
  readonly refunds: ReadonlyArray<RefundAmounts>
  readonly disputes: ReadonlyArray<DisputeAmounts>
}

type Taken = Pick<Payment, "status" | "amount" | "applied" | "overpaid">

const total = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

const atLeastZero = (amount: bigint): bigint => (amount < 0n ? 0n : amount)

/**
 * The most that can be refunded of a payment now: its amount, less refunds that have not failed, and less disputes that
 * are open or lost.
 */
export const refundableOf = ({ amount, status }: Taken, { disputes, refunds }: Returned): bigint => {
  if (status !== "succeeded") return 0n
  const given = refunds.filter((one) => one.status !== "failed").map((one) => one.amount)
  const disputed = disputes.filter((one) => one.status !== "won").map((one) => one.amount)
  return atLeastZero(amount - total(given) - total(disputed))
}

/** What of a payment its invoice is paid with. */
const onInvoiceOf = ({ applied }: Taken, { disputes, refunds }: Returned): bigint =>
  applied - total([...refunds, ...disputes].map(({ reversed }) => reversed))

/** The most that a credit note can refund of a payment now: what the invoice is paid with, less what notes refunded. */
export const creditableOf = (payment: Taken, returned: Returned): bigint => {
  const credited = returned.refunds.filter(({ isCredited, status }) => isCredited && status !== "failed")
  const most = onInvoiceOf(payment, returned) - total(credited.map(({ amount }) => amount))
  return atLeastZero(lesser(most, refundableOf(payment, returned)))
}

/**
 * What of a payment is the customer's credit: what has not gone back, and what its invoice is not paid with. Below 0: more
 * has gone back than came, because a refund and a dispute took the same money.
 */
const creditOf = (payment: Taken, returned: Returned): bigint => {
  const refunded = returned.refunds.filter(({ isCredited, status }) => status === "succeeded" && !isCredited)
  const lost = returned.disputes.filter(({ status }) => status === "lost")
  const gone = total([...refunded, ...lost].map(({ amount }) => amount))
  return payment.amount - onInvoiceOf(payment, returned) - gone
}

/** What an invoice says of the money that it was paid with. */
export interface PaidInvoice {
  readonly amountPaid: bigint
  /** What its credit notes refund. That stays paid: the credit notes say why it goes back. */
  readonly creditedRefunds: bigint
}

/**
 * What an invoice is not paid with any more, when money of a payment has gone back without a credit note. The customer's
 * credit goes first. `returned` has what has just gone back, with what was reversed for it before.
 */
export const reversalOf = (
  payment: Taken,
  returned: Returned,
  { amountPaid, creditedRefunds }: PaidInvoice,
): bigint => {
  const most = lesser(onInvoiceOf(payment, returned), amountPaid - creditedRefunds)
  return atLeastZero(lesser(-creditOf(payment, returned), most))
}

/** Shares out what is reversed among those that went back, the first one first. None reverses more than went back by it. */
export const reversalsOf = (
  reversed: bigint,
  gone: ReadonlyArray<Pick<RefundAmounts, "amount" | "reversed">>,
): ReadonlyArray<bigint> => {
  let left = reversed
  return gone.map((one) => {
    const share = lesser(left, one.amount - one.reversed)
    left -= share
    return share
  })
}

/**
 * The invoice that is paid with less. What is due of it is not collected by itself. An invoice that was paid is open
 * again. `waiting` is the state of an open payment that may still take money: the invoice waits for it then, and can't be
 * voided.
 */
export const reverseInvoice = (
  invoice: Invoice,
  amount: bigint,
  waiting: CollectionState | null = null,
): Invoice => {
  const paid = { ...invoice, amountPaid: invoice.amountPaid - amount }
  const isPaid = invoice.status === "paid"
  const reversed: Invoice = {
    ...paid,
    status: isPaid ? "open" : invoice.status,
    amountDue: dueOf(paid),
    collection: isPaid || invoice.status === "open" ? (waiting ?? "stopped") : invoice.collection,
    sequence: invoice.sequence + 1,
  }
  return waiting === null ? withActions(reversed) : withActions(reversed, false)
}

/**
 * How much of what was `reversed` an invoice is paid with again, when it has come back: a refund has failed, or a dispute is
 * not lost any more. `returned` says so already. What is not due any more is the customer's credit. What another refund or
 * dispute took as well stays with the customer.
 */
export const restorationOf = (
  reversed: bigint,
  payment: Taken,
  returned: Returned,
  { amountDue, status }: Pick<Invoice, "amountDue" | "status">,
): bigint => {
  if (status !== "open" && status !== "uncollectible") return 0n
  return atLeastZero(lesser(lesser(reversed, creditOf(payment, returned)), amountDue))
}

const DAY_MILLIS = 86_400_000
/** For so many days after it was sent first, a refund is read by itself. */
const READ_DAYS = 30

/** How long after it was sent first a refund is read: as often as an attempt at first, and then once a day. */
const READS: ReadonlyArray<number> = (() => {
  const reads: Array<number> = []
  for (const delay of UNRESOLVED_DELAYS) reads.push((reads.at(-1) ?? 0) + delay)
  while (reads.at(-1)! + DAY_MILLIS <= READ_DAYS * DAY_MILLIS) reads.push(reads.at(-1)! + DAY_MILLIS)
  return reads
})()

/** When a refund is read next. `null`: not by itself. */
export const nextRefundRead = (sentAt: number, now: number): number | null => {
  const next = READS.find((after) => sentAt + after > now)
  return next === undefined ? null : sentAt + next
}

/** What is said of a refund: by the provider, or by how a call of it has failed. */
export type RefundInput =
  | {
      readonly type: "stated"
      readonly status: Exclude<RefundStatus, "unresolved">
      /** Why it has failed. */
      readonly code: string | null
    }
  /** A person has found out what came of it, and the provider does not know it. */
  | { readonly type: "resolved"; readonly status: "succeeded" | "failed" }
  /** A call has failed: the first one that sends it, one that sends it again, or one that reads it. */
  | {
      readonly type: "failed"
      readonly call: "send" | "send_again" | "read"
      readonly reason: "transient" | "permanent" | "unknown"
    }

/** The code of a refund that the provider refuses to make. Surely nothing happened. */
const REFUSED = "refused_by_provider"
/** The code of a refund of which a person has said that it gave nothing back. */
const RESOLVED = "resolved_by_person"

/** How a refund stands after an input. */
export interface RefundStep {
  readonly status: RefundStatus
  readonly failureCode: string | null
}

const FAILED_CALL = { transient: "pending", permanent: "failed", unknown: "unresolved" } as const

/** Whether a failed call tells nothing: it reads, or surely did nothing while an earlier one may still arrive. */
const isSilent = ({ call, reason }: Extract<RefundInput, { readonly type: "failed" }>): boolean =>
  call === "read" || (call === "send_again" && reason !== "unknown")

/** Whether the provider says that a refund was made of which a person has said that it was not. */
const isMadeAfterAll = ({ failureCode }: RefundStep, input: RefundInput): boolean =>
  failureCode === RESOLVED && input.type === "stated" && input.status === "succeeded"

const CODES = { failed: REFUSED, resolved: RESOLVED } as const

/**
 * Applies an input. `undefined`: it changes nothing. A refund that has failed stays so, unless a person has said that and the
 * provider says that it was made. One that has succeeded may still fail: the customer's bank sends the money back.
 */
export const stepRefund = (before: RefundStep, input: RefundInput): RefundStep | undefined => {
  const { status } = before
  if (status === "failed" && !isMadeAfterAll(before, input)) return undefined
  if (input.type === "failed" && (isSilent(input) || status === "succeeded")) return undefined
  if (input.type === "resolved" && status === "succeeded") return undefined
  const to = input.type === "failed" ? FAILED_CALL[input.reason] : input.status
  if (to === status || (status === "succeeded" && to === "pending")) return undefined
  const code = input.type === "stated" ? input.code : CODES[input.type]
  return { status: to, failureCode: to === "failed" ? (code ?? "failed") : null }
}
