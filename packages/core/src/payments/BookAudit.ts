/**
 * Derives what issued invoices state from what they consist of, for operators.
 */
import {
  documentText,
  problemsOfCreditNotes,
  problemsOfLines,
  problemsOfPayments,
  problemsOfSums,
  proofOf,
  type ProofPlan,
  plansOfInvoice,
  proofText,
} from "@billwright/engine"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { PlanStore } from "../catalog/PlanStore.ts"
import { CreditNoteStore } from "../invoices/CreditNoteStore.ts"
import { InvoiceId, type StoredInvoice } from "../invoices/Invoice.ts"
import { type InvoiceProof, invoiceProofs } from "../invoices/InvoiceProof.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { Collections } from "../shared/Collections.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { nameCursor, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { makeMoneyBack } from "./MoneyBack.ts"
import { PaymentStore } from "./PaymentStore.ts"

/** Most invoices of one page. */
const MAX_INVOICES = 20

/** The input of `BookAudit.page`. */
export const AuditBooks = Schema.Struct({
  /** The last invoice of the page before. Default: begins with the newest invoice. */
  startingAfter: Schema.optionalKey(InvoiceId),
})
export interface AuditBooks extends Schema.Schema.Type<typeof AuditBooks> {}

const decodeAudit = decoder(AuditBooks)

/** An invoice that is not what it consists of. */
export interface BookDiscrepancy {
  readonly invoiceId: InvoiceId
  readonly number: string | null
  /** What differs, such as `lines[0].amount` or `amountPaid`. */
  readonly path: string
  /** What it is, and what it must be. It continues the sentence. */
  readonly problem: string
}

export interface BookAuditPage {
  /** How many invoices were read, with drafts, which are not checked. */
  readonly invoices: number
  /** How many of them have a proof that was compared. */
  readonly proofs: number
  readonly discrepancies: ReadonlyArray<BookDiscrepancy>
  /** The last invoice that was read: the next page starts after it. `null`: there is none. */
  readonly last: InvoiceId | null
  readonly hasMore: boolean
}

type Problems = ReturnType<typeof problemsOfSums>

interface Checked {
  readonly problems: Problems
  readonly hasProof: boolean
}

/** Compares invoices with what they consist of. It only reads, and takes no locks. */
export class BookAudit extends Context.Service<
  BookAudit,
  {
    /**
     * Checks at most 20 invoices, newest first. Of each that is issued: every line is the sum of its steps; the invoice is the
     * sum of its lines, discounts and taxes; its credit notes are sums of their parts and no more than it has; what it is paid
     * with is the sum of its payments, less what refunds and disputes took back, and what is due and its status follow from
     * that; it is what its proof says. A difference is found only after a bug, or when the database is damaged. An invoice that
     * changes meanwhile is read again.
     */
    readonly page: (
      input?: AuditBooks,
    ) => Effect.Effect<BookAuditPage, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>
  }
>()("@billwright/core/payments/BookAudit") {
  static readonly layer = Layer.suspend(() => Layer.effect(BookAudit, makeBookAudit))
}

/** Makes the comparison. Billing runs use it, too. */
export const makeBookAudit = Effect.gen(function* () {
  const invoicePort = yield* optionalPort(InvoiceStore)
  const notePort = yield* optionalPort(CreditNoteStore)
  const paymentPort = yield* optionalPort(PaymentStore)
  const plans = yield* PlanStore
  const collections = yield* Collections
  const proofs = collections.of(invoiceProofs)
  const moneyBackOf = yield* makeMoneyBack

  const plansOf = Effect.fnUntraced(function* ({ state }: StoredInvoice) {
    const found: Array<ProofPlan> = []
    for (const { key, version } of plansOfInvoice(state)) {
      const plan = Option.getOrUndefined(yield* plans.findVersion(key, version))
      if (plan !== undefined) found.push({ key, version, hash: plan.hash, terms: plan.terms })
    }
    return found
  })

  /** The invoice and its terms are those that its proof has. */
  const problemsOfProof = Effect.fnUntraced(function* (stored: StoredInvoice, proof: InvoiceProof) {
    const place = JSON.parse(proof.document) as Parameters<typeof proofOf>[0]
    const derived = proofOf(place, stored.state, {
      plans: yield* plansOf(stored),
      tax: stored.taxedBy,
    })
    if (proofText(derived) === proof.document) return []
    const then = place as unknown as Readonly<Record<string, unknown>>
    const now = derived as unknown as Readonly<Record<string, unknown>>
    const parts = Object.keys(now).filter((name) => documentText(now[name]) !== documentText(then[name]))
    return [{ path: "proof", problem: `has another ${parts.join(", ")} than what is stored now` }]
  })

  const check = Effect.fnUntraced(function* (stored: StoredInvoice) {
    const { id, state } = stored
    const notes = yield* (yield* notePort).ofInvoice(id)
    const payments = yield* (yield* paymentPort).ofInvoice(id)
    const { data } = yield* proofs
      .list({ invoiceId: id }, { limit: 1, cursor: undefined })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))
    const [proof] = data
    const { disputed, refunded } = yield* moneyBackOf(id)
    const problems: Problems = [
      ...problemsOfLines(state),
      ...problemsOfSums(state),
      ...problemsOfCreditNotes(state, notes),
      ...problemsOfPayments(state, payments, [...refunded, ...disputed]),
      ...(proof === undefined ? [] : yield* problemsOfProof(stored, proof)),
    ]
    return { problems, hasProof: proof !== undefined } satisfies Checked
  })

  /** What is found of an invoice that was changed meanwhile says nothing, so it is read again. */
  const checkStill = Effect.fnUntraced(function* (stored: StoredInvoice) {
    let current = stored
    for (;;) {
      const checked = yield* check(current)
      if (checked.problems.length === 0) return checked
      const again = yield* (yield* invoicePort).find(stored.id)
      if (Option.isNone(again) || again.value.state.sequence === current.state.sequence) return checked
      current = again.value
    }
  })

  const page = Effect.fn("BookAudit.page")(function* (input: AuditBooks = {}) {
    const request = { ...(yield* decodeAudit(input)), limit: MAX_INVOICES }
    const { data, hasMore } = yield* (yield* invoicePort)
      .list({}, yield* toQuery(request))
      .pipe(nameCursor(request))
    const discrepancies: Array<BookDiscrepancy> = []
    let compared = 0
    for (const stored of data) {
      if (stored.state.status === "draft") continue
      const { hasProof, problems } = yield* checkStill(stored)
      if (hasProof) compared++
      const { number } = stored.state
      discrepancies.push(...problems.map((found) => ({ invoiceId: stored.id, number, ...found })))
    }
    return {
      invoices: data.length,
      proofs: compared,
      discrepancies,
      last: data.at(-1)?.id ?? null,
      hasMore,
    } satisfies BookAuditPage
  })

  return BookAudit.of({ page })
})
