/**
 * The proof of an invoice, version 1: what the invoice states for good, and what it was computed from.
 *
 * The text of a proof is its canonical JSON (RFC 8785), and integers of money are texts in it. The SHA-256 of the text is
 * the proof's hash. Each proof has the hash of the one before of its series, so none can be changed, added or left out in
 * between. What a proof contains is listed here by name: fields that invoices get in later releases don't change it.
 */
import type { PlanTerms } from "../catalog/Plan.ts"
import { documentText, type Invoice } from "../invoices/Invoice.ts"
import type { Line } from "../invoices/Line.ts"
import type { TaxCustomer, TaxQuote } from "../invoices/Tax.ts"
import type { PlanVersionRef } from "../subscriptions/Subscription.ts"

/** The version of documents that this release makes and reads. */
export const PROOF_VERSION = 1

/** The hash that the first proof of a series has instead of one before it. */
export const FIRST_PREVIOUS = "0".repeat(64)

const INVOICE_FIELDS = [
  "id",
  "customerId",
  "subscriptionId",
  "currency",
  "periodStart",
  "periodEnd",
  "number",
  "issuedAt",
  "dueAt",
  "discounts",
  "taxBehavior",
  "subtotal",
  "tax",
  "taxes",
  "total",
  "applied",
  "credited",
  "steps",
] as const

const LINE_FIELDS = [
  "id",
  "kind",
  "origin",
  "charge",
  "description",
  "periodStart",
  "periodEnd",
  "quantity",
  "amount",
  "steps",
  "receipt",
  "taxCode",
  "fixedTax",
  "creditOf",
  "discount",
  "net",
  "tax",
] as const

/** What an issued invoice states for good. */
export interface IssuedInvoice extends Pick<Invoice, (typeof INVOICE_FIELDS)[number]> {
  readonly number: string
  readonly issuedAt: number
  readonly lines: ReadonlyArray<Pick<Line, (typeof LINE_FIELDS)[number]>>
}

/** A version of a plan that lines of the invoice bill. */
export interface ProofPlan extends PlanVersionRef {
  /** The SHA-256 of the canonical JSON of the terms, which the version has in the catalogue. */
  readonly hash: string
  readonly terms: PlanTerms
}

/** What the rates of the lines depend on, and the answer of a tax service. */
export interface ProofTax {
  readonly customer: TaxCustomer
  /** The SHA-256 of what the service was asked, and its answer. Both are `null` unless a service answered. */
  readonly asked: string | null
  readonly quote: TaxQuote | null
}

/** The place of a proof in its series. */
export interface ProofPlace {
  readonly accountId: string
  readonly mode: string
  /** Counts the proofs of the series from 1. */
  readonly position: number
  /** The hash of the proof before. {@link FIRST_PREVIOUS} for the first. */
  readonly previous: string
  /** The format of the number. */
  readonly format: string
}

/** What a proof says. */
export interface Proof extends ProofPlace {
  readonly version: typeof PROOF_VERSION
  readonly invoice: IssuedInvoice
  /** The versions of plans that its lines bill, by key and number. */
  readonly plans: ReadonlyArray<ProofPlan>
  readonly tax: ProofTax
}

const pick = <A extends object, Name extends keyof A>(value: A, names: ReadonlyArray<Name>): Pick<A, Name> =>
  Object.fromEntries(names.map((name) => [name, value[name]])) as Pick<A, Name>

/** The versions of plans that an invoice bills, each once, by key and number. */
export const plansOfInvoice = ({ lines }: Pick<Invoice, "lines">): ReadonlyArray<PlanVersionRef> => {
  const refs = new Map(
    lines.flatMap(({ origin }) =>
      origin === null ? [] : [[`${origin.plan.key} ${String(origin.plan.version)}`, origin.plan] as const],
    ),
  )
  return [...refs.values()].sort((a, b) => (a.key === b.key ? a.version - b.version : a.key < b.key ? -1 : 1))
}

/** What the proof of an issued invoice says. Throws a `TypeError` for a draft. */
export const proofOf = (
  place: ProofPlace,
  invoice: Invoice,
  { plans, tax }: Pick<Proof, "plans" | "tax">,
): Proof => {
  const { issuedAt, number } = invoice
  if (number === null || issuedAt === null) throw new TypeError("a draft has no proof")
  const { accountId, format, mode, position, previous } = place
  return {
    version: PROOF_VERSION,
    accountId,
    mode,
    position,
    previous,
    format,
    invoice: {
      ...pick(invoice, INVOICE_FIELDS),
      number,
      issuedAt,
      lines: invoice.lines.map((line) => pick(line, LINE_FIELDS)),
    },
    plans: plans.map(({ hash, key, terms, version }) => ({ key, version, hash, terms })),
    tax: pick(tax, ["customer", "asked", "quote"]),
  }
}

/** The text that is hashed and signed. */
export const proofText = (proof: Proof): string => documentText(proof)
