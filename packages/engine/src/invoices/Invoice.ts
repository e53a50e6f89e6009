/**
 * An invoice. Amounts are integers of the currency's minor unit, and instants are in epoch milliseconds.
 */
import { canonicalJson } from "../catalog/CanonicalJson.ts"
import { sumOf } from "./Amounts.ts"
import type { Assembled } from "./Assemble.ts"

/**
 * Where an invoice is in its life. A `draft` follows usage. An `open` invoice is issued, and waits for its payment. An
 * `uncollectible` one is written off, and may still be paid. A `void` one keeps its number, and nothing is due.
 */
export type InvoiceStatus = "draft" | "open" | "paid" | "void" | "uncollectible"

/** What can be done to an invoice. `credit` issues a credit note. */
export type InvoiceAction = "finalize" | "pay" | "credit" | "void" | "mark_uncollectible"

/** How the payment of an invoice fares. Payments change it, and not the status alone. */
export type CollectionState =
  | "idle"
  | "collecting"
  | "paid"
  | "retrying"
  | "awaiting_method"
  | "awaiting_customer"
  | "processing"
  | "unresolved"
  | "exhausted"
  | "needs_attention"
  | "stopped"

/** What an invoice is about: all that is known before its amounts. */
export interface InvoiceHeader {
  readonly id: string
  readonly customerId: string
  /** `null` for a one-off invoice, and for one of several subscriptions. */
  readonly subscriptionId: string | null
  readonly currency: string
  /** The period whose end made the invoice, half open. Both are `null` for a one-off invoice. */
  readonly periodStart: number | null
  readonly periodEnd: number | null
}

/** An invoice. Once it is issued, only its payments, its status and the amounts of its credit notes change. */
export interface Invoice extends InvoiceHeader, Assembled {
  readonly status: InvoiceStatus
  /** `null` for a draft, as are the next two. */
  readonly number: string | null
  readonly issuedAt: number | null
  readonly dueAt: number | null
  /** What payments paid, less what went back without a credit note. Credits of the customer are in `applied`. */
  readonly amountPaid: bigint
  /** The totals of its credit notes. */
  readonly amountCredited: bigint
  /** The part of `amountCredited` that lowered the amount due. The rest was paid already, and is given back. */
  readonly amountWaived: bigint
  readonly collection: CollectionState
  readonly availableActions: ReadonlyArray<InvoiceAction>
  /** Rises with each change. */
  readonly sequence: number
}

/** What is left to pay: the total, less what credits, payments and credit notes took off. Never below 0. */
export const dueOf = (
  invoice: Pick<Invoice, "total" | "credited" | "applied" | "amountPaid" | "amountWaived">,
): bigint =>
  invoice.total + invoice.credited - sumOf(invoice.applied) - invoice.amountPaid - invoice.amountWaived

/** A value whose integers of money are texts, because JSON numbers lose digits beyond 2^53. */
const withoutBigints = (value: unknown): unknown => {
  if (typeof value === "bigint") return value.toString()
  if (Array.isArray(value)) return value.map(withoutBigints)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withoutBigints(field)]))
}

/** The canonical JSON (RFC 8785) of a document, with amounts of money as texts. */
export const documentText = (document: unknown): string => canonicalJson(withoutBigints(document))

/** The fields of an invoice that change after it was issued. */
const CHANGING = [
  "status",
  "amountPaid",
  "amountCredited",
  "amountWaived",
  "amountDue",
  "collection",
  "availableActions",
  "sequence",
] as const

/**
 * The canonical text of what an issued invoice states for good. Its SHA-256 is the invoice's hash: it is the same as
 * long as nothing but payments, status and credit notes has changed.
 */
export const issuedText = (invoice: Invoice): string =>
  documentText(
    Object.fromEntries(Object.entries(invoice).filter(([name]) => !CHANGING.some((one) => one === name))),
  )
