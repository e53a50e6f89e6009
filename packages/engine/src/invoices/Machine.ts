/**
 * The states of an invoice: `draft → open → paid | void | uncollectible`, and `uncollectible → paid | void`.
 */
import { lesser } from "./Amounts.ts"
import type { Applied, Assembled } from "./Assemble.ts"
import {
  type InvoiceAction,
  type CollectionState,
  dueOf,
  type Invoice,
  type InvoiceHeader,
  type InvoiceStatus,
} from "./Invoice.ts"

/** An action with what it needs. */
export type InvoiceInput =
  | {
      readonly action: "finalize"
      readonly number: string
      readonly issuedAt: number
      readonly dueAt: number
    }
  /** A payment of `amount`, greater than 0. */
  | { readonly action: "pay"; readonly amount: bigint }
  /** A credit note of `total`, of which `waived` lowers the amount due. */
  | { readonly action: "credit"; readonly total: bigint; readonly waived: bigint }
  | { readonly action: "void" }
  | { readonly action: "mark_uncollectible" }

/** The event of a change. */
export type InvoiceEvent =
  | "invoice.finalized"
  | "invoice.paid"
  | "invoice.voided"
  | "invoice.marked_uncollectible"

/** Why an invoice does not allow an action now. `undefined` when it does. */
type Guard = (invoice: Invoice) => string | undefined

/** One row: in a status, an action leads to another. */
export interface InvoiceTransition {
  readonly from: InvoiceStatus
  readonly action: InvoiceAction
  readonly to: InvoiceStatus
  /** The status when nothing is left to pay afterwards. Default: `to`. */
  readonly settled?: InvoiceStatus
  readonly event?: InvoiceEvent
  readonly guard?: Guard
}

/** Attempts that may still take money. */
const UNDER_WAY: ReadonlyArray<CollectionState> = [
  "collecting",
  "awaiting_customer",
  "processing",
  "unresolved",
  "needs_attention",
]

const isUntouched: Guard = ({ amountCredited, amountPaid, availableActions, collection }) => {
  if (amountPaid > 0n) return "part of it is paid: issue a credit note"
  if (amountCredited > 0n) return "it has a credit note: credit the rest of it"
  // The payment knows whether an attempt of it may have taken money: see `withActions`.
  const isKnownFree = collection === "needs_attention" && availableActions.includes("void")
  if (UNDER_WAY.includes(collection) && !isKnownFree)
    return `a payment of it is ${collection}: wait for its result, or close it`
  return undefined
}

const hasSomethingToCredit: Guard = ({ amountCredited, total }) =>
  amountCredited < total ? undefined : "nothing of it is left to credit"

/** All transitions. What is not here is not possible. */
export const INVOICE_TRANSITIONS: ReadonlyArray<InvoiceTransition> = [
  { from: "draft", action: "finalize", to: "open", settled: "paid", event: "invoice.finalized" },
  { from: "open", action: "pay", to: "open", settled: "paid" },
  { from: "open", action: "credit", to: "open", settled: "paid", guard: hasSomethingToCredit },
  { from: "open", action: "void", to: "void", event: "invoice.voided", guard: isUntouched },
  { from: "open", action: "mark_uncollectible", to: "uncollectible", event: "invoice.marked_uncollectible" },
  { from: "uncollectible", action: "pay", to: "uncollectible", settled: "paid" },
  {
    from: "uncollectible",
    action: "credit",
    to: "uncollectible",
    settled: "paid",
    guard: hasSomethingToCredit,
  },
  { from: "uncollectible", action: "void", to: "void", event: "invoice.voided", guard: isUntouched },
  { from: "paid", action: "credit", to: "paid", guard: hasSomethingToCredit },
]

/** The actions that an invoice allows now, in the order of {@link INVOICE_TRANSITIONS}. */
const actionsOf = (invoice: Invoice): ReadonlyArray<InvoiceAction> =>
  INVOICE_TRANSITIONS.filter(
    ({ from, guard }) => from === invoice.status && guard?.(invoice) === undefined,
  ).map(({ action }) => action)

/**
 * The invoice with the actions that it allows now. Whoever changes `collection` calls it, too.
 *
 * A payment that needs attention may have taken money, or surely not. `isFree` says which: an invoice with a free one can
 * be void. Without it, what was known stays.
 */
export const withActions = (
  invoice: Invoice,
  isFree: boolean = invoice.availableActions.includes("void"),
): Invoice => ({
  ...invoice,
  availableActions: actionsOf({ ...invoice, availableActions: isFree ? ["void"] : [] }),
})

/** A new draft. */
export const draftOf = (header: InvoiceHeader, assembled: Assembled): Invoice =>
  withActions({
    ...header,
    ...assembled,
    status: "draft",
    number: null,
    issuedAt: null,
    dueAt: null,
    amountPaid: 0n,
    amountCredited: 0n,
    amountWaived: 0n,
    collection: "idle",
    availableActions: [],
    sequence: 1,
  })

/** The draft with other amounts: it follows usage until it is finalized. Gives other invoices as they are. */
export const redraft = (invoice: Invoice, assembled: Assembled): Invoice =>
  invoice.status === "draft" ? { ...invoice, ...assembled, sequence: invoice.sequence + 1 } : invoice

const transitionOf = (status: InvoiceStatus, action: InvoiceAction): InvoiceTransition | undefined =>
  INVOICE_TRANSITIONS.find((one) => one.from === status && one.action === action)

/** The invoice after an action. */
export interface InvoiceChange {
  readonly type: "changed"
  readonly invoice: Invoice
  /** In order. A payment of a part and a credit note have no event of the invoice. */
  readonly events: ReadonlyArray<InvoiceEvent>
  /** The part of a payment beyond the amount due: it is the customer's credit. */
  readonly excess: bigint
  /** What a void invoice gives back to paid credits. */
  readonly released: ReadonlyArray<Applied>
}

/** The invoice does not allow the action. `problem` continues the sentence "The invoice …". */
export interface InvoiceRejection {
  readonly type: "rejected"
  readonly problem: string
}

/** The amounts after an action, or what is wrong with it. */
const withInput = (invoice: Invoice, input: InvoiceInput): Invoice | string => {
  switch (input.action) {
    case "finalize":
      return { ...invoice, number: input.number, issuedAt: input.issuedAt, dueAt: input.dueAt }
    case "pay":
      if (input.amount <= 0n) return "takes payments greater than 0"
      return { ...invoice, amountPaid: invoice.amountPaid + lesser(input.amount, invoice.amountDue) }
    case "credit": {
      const { total, waived } = input
      if (total <= 0n || invoice.amountCredited + total > invoice.total) {
        return `has ${invoice.total - invoice.amountCredited} left to credit`
      }
      if (waived !== lesser(total, invoice.amountDue))
        return `has ${lesser(total, invoice.amountDue)} to waive`
      return {
        ...invoice,
        amountCredited: invoice.amountCredited + total,
        amountWaived: invoice.amountWaived + waived,
      }
    }
    case "void":
    case "mark_uncollectible":
      return invoice
  }
}

const eventsOf = (transition: InvoiceTransition, to: InvoiceStatus): ReadonlyArray<InvoiceEvent> => [
  ...(transition.event === undefined ? [] : [transition.event]),
  ...(to === "paid" && transition.from !== "paid" ? (["invoice.paid"] as const) : []),
]

/** What is due after an action. Nothing is due of a void invoice. */
const dueAfter = (invoice: Invoice, to: InvoiceStatus): bigint => (to === "void" ? 0n : dueOf(invoice))

/**
 * Applies an action. `sequence` rises by 1, and with several events by 1 for each: no two have the same number, so that
 * a receiver drops none of them as stale. An invoice with nothing left to pay becomes `paid`: also one of total 0 that
 * is finalized, and one whose rest a credit note waives.
 */
export const applyToInvoice = (invoice: Invoice, input: InvoiceInput): InvoiceChange | InvoiceRejection => {
  const transition = transitionOf(invoice.status, input.action)
  if (transition === undefined) return { type: "rejected", problem: `is ${invoice.status}` }
  const refusal = transition.guard?.(invoice)
  if (refusal !== undefined) return { type: "rejected", problem: `does not allow it: ${refusal}` }
  const next = withInput(invoice, input)
  if (typeof next === "string") return { type: "rejected", problem: next }
  const to = dueOf(next) === 0n ? (transition.settled ?? transition.to) : transition.to
  const events = eventsOf(transition, to)
  return {
    type: "changed",
    invoice: withActions({
      ...next,
      status: to,
      amountDue: dueAfter(next, to),
      collection: to === "paid" ? "paid" : to === "void" ? "stopped" : next.collection,
      sequence: invoice.sequence + Math.max(1, events.length),
    }),
    events,
    excess: input.action === "pay" ? input.amount - lesser(input.amount, invoice.amountDue) : 0n,
    released: to === "void" ? invoice.applied : [],
  }
}
