/**
 * The books: the journal of all invoices, derived from what is stored.
 */
import { type InvoiceDocuments, type JournalEntry, journalOf, type MoneyBack } from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { CreditNoteStore } from "../invoices/CreditNoteStore.ts"
import { InvoiceId, type StoredInvoice } from "../invoices/Invoice.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { type Collection, type CollectionFilter, Collections } from "../shared/Collections.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { nameCursor, type PageQuery, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { type Dispute, disputes } from "./Dispute.ts"
import { PaymentStore } from "./PaymentStore.ts"
import { type Refund, refunds } from "./Refund.ts"

/** Most invoices of one page. */
const MAX_INVOICES = 20
/** Most refunds or disputes that are read at once. */
const RETURNED_OF_PAGE = 100

/** The input of `Books.journal`. */
export const ReadJournal = Schema.Struct({
  /** Entries to the end of the UTC day of this instant. Default: now. */
  until: Schema.optionalKey(Schema.DateTimeUtc),
  /** The last invoice of the page before. Default: begins with the newest invoice. */
  startingAfter: Schema.optionalKey(InvoiceId),
})
export interface ReadJournal extends Schema.Schema.Type<typeof ReadJournal> {}

const decodeRead = decoder(ReadJournal)

/** The entries of some invoices. */
export interface JournalPage {
  /** How many invoices were read, with drafts, which have no entries. */
  readonly invoices: number
  /** Those of an invoice are together, in the order of their days. */
  readonly entries: ReadonlyArray<JournalEntry>
  /** The last invoice that was read: the next page starts after it. `null`: there is none. */
  readonly last: InvoiceId | null
  readonly hasMore: boolean
}

const ofRefund = (refund: Refund): MoneyBack => ({
  kind: "refund",
  id: refund.id,
  amount: refund.amount,
  reversed: refund.reversed,
  isCredited: refund.creditNoteId !== null,
  at: refund.status === "succeeded" ? (refund.succeededAt?.epochMilliseconds ?? null) : null,
})

const ofDispute = ({ amount, closedAt, id, reversed, status }: Dispute): MoneyBack => ({
  kind: "dispute",
  id,
  amount,
  reversed,
  isCredited: false,
  at: status === "lost" ? (closedAt?.epochMilliseconds ?? null) : null,
})

/** Gives the journal of invoices. It only reads, and takes no locks. */
export class Books extends Context.Service<
  Books,
  {
    /**
     * The entries of at most 20 invoices, newest invoice first: of the invoice, its credit notes, payments, refunds and lost
     * disputes, and of the revenue of each day. They say what is known now: a refund that has failed has no entry, also if it
     * had one before. An invoice counts as voided or written off when it last changed.
     */
    readonly journal: (
      input?: ReadJournal,
    ) => Effect.Effect<JournalPage, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>
  }
>()("@billwright/core/payments/Books") {
  static readonly layer = Layer.effect(
    Books,
    Effect.gen(function* () {
      const invoicePort = yield* optionalPort(InvoiceStore)
      const notePort = yield* optionalPort(CreditNoteStore)
      const paymentPort = yield* optionalPort(PaymentStore)
      const collections = yield* Collections

      /** All of the values of an invoice. */
      const allOf = Effect.fnUntraced(function* <A extends { readonly id: string }>(
        collection: Pick<Collection<A & { readonly invoiceId: InvoiceId }>, "list">,
        invoiceId: InvoiceId,
      ) {
        const found: Array<A> = []
        let cursor: PageQuery["cursor"]
        for (;;) {
          const filter = { invoiceId } as CollectionFilter<A & { readonly invoiceId: InvoiceId }>
          const page = yield* collection
            .list(filter, { limit: RETURNED_OF_PAGE, cursor })
            .pipe(Effect.catchTag("CursorNotFound", Effect.die))
          found.push(...page.data)
          const last = page.data.at(-1)
          if (!page.hasMore || last === undefined) return found
          cursor = { direction: "older", id: last.id }
        }
      })

      const documentsOf = Effect.fnUntraced(function* ({ id, state, updatedAt }: StoredInvoice) {
        const stored = yield* (yield* paymentPort).ofInvoice(id)
        const notes = yield* (yield* notePort).ofInvoice(id)
        const refunded = yield* allOf<Refund>(collections.of(refunds), id)
        const disputed = yield* allOf<Dispute>(collections.of(disputes), id)
        return {
          invoice: state,
          endedAt: updatedAt.epochMilliseconds,
          notes,
          payments: stored,
          moneyBack: [...refunded.map(ofRefund), ...disputed.map(ofDispute)],
        } as unknown as InvoiceDocuments
      })

      const journal = Effect.fn("Books.journal")(function* (input: ReadJournal = {}) {
        const { until, ...from } = yield* decodeRead(input)
        const request = { ...from, limit: MAX_INVOICES }
        const end = (until ?? (yield* DateTime.now)).epochMilliseconds
        const { data, hasMore } = yield* (yield* invoicePort)
          .list({}, yield* toQuery(request))
          .pipe(nameCursor(request))
        const entries: Array<JournalEntry> = []
        for (const stored of data) {
          if (stored.state.status === "draft") continue
          entries.push(...journalOf(yield* documentsOf(stored), end))
        }
        return {
          invoices: data.length,
          entries,
          last: data.at(-1)?.id ?? null,
          hasMore,
        } satisfies JournalPage
      })

      return Books.of({ journal })
    }),
  )
}
