/**
 * The books: the journal, derived from invoices, credit notes, payments and credits as they are stored.
 */
import { type JournalEntry, journalOfGrant, journalOfInvoice } from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { CreditGrantId } from "../credits/Credit.ts"
import { CreditStore } from "../credits/CreditStore.ts"
import { makePaidGrants } from "../credits/PaidGrants.ts"
import { InvoiceId } from "../invoices/Invoice.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { makeInvoiceDocuments } from "../payments/InvoiceDocuments.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { nameCursor, type PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import * as UsagePeriod from "../usage/UsagePeriod.ts"

export {
  BOOK_ACCOUNTS,
  JOURNAL_FORMATS,
  JOURNAL_KINDS,
  type JournalEntry,
  type JournalFormat,
  journalHead,
  journalText,
} from "@billwright/engine"

/** Most invoices, and most grants of credits, whose entries are in one page. */
export const MAX_JOURNAL_DOCUMENTS = 20

/** Most reads of drafts alone for one page of the journal: 10,000 drafts. */
const MAX_DRAFT_READS = 500

/** Whose entries a page of the journal ends with. */
export const JournalCursor = Schema.Union([InvoiceId, CreditGrantId])
export type JournalCursor = typeof JournalCursor.Type

/** The input of `Books.journal`. */
export const ReadJournal = Schema.Struct({
  /** The first UTC day, `YYYY-MM-DD`. Default: the first that there is. */
  startDate: Schema.optionalKey(UsagePeriod.CalendarDate),
  /** The last UTC day, `YYYY-MM-DD`: it counts. Default: today. Later days have what will be recognized. */
  endDate: Schema.optionalKey(UsagePeriod.CalendarDate),
  /** The `last` of the page before. Default: begins with the newest invoice. */
  startingAfter: Schema.optionalKey(JournalCursor),
})
export interface ReadJournal extends Schema.Schema.Type<typeof ReadJournal> {}

const decodeRead = decoder(ReadJournal)

/** The entries of some invoices and grants. */
export interface JournalPage {
  /** Those of an invoice or of a grant are together, in the order of their days. */
  readonly entries: ReadonlyArray<JournalEntry>
  /** The last invoice or grant that was read: the next page starts after it. `null`: there is none. */
  readonly last: JournalCursor | null
  readonly hasMore: boolean
}

interface Days {
  readonly from: string
  /** The last instant of the last day, in epoch milliseconds. */
  readonly until: number
}

const isGrantId = Schema.is(CreditGrantId)

const pageAfter = (id: JournalCursor | undefined): PageQuery => ({
  limit: MAX_JOURNAL_DOCUMENTS,
  cursor: id === undefined ? undefined : { direction: "older", id },
})

/** Reads the invoices after the last of these that is still there: a draft may have been deleted since it was read. */
const readAfter = (
  store: typeof InvoiceStore.Service,
  read: ReadonlyArray<JournalCursor | undefined>,
): ReturnType<typeof store.list> =>
  store.list({}, pageAfter(read.at(-1))).pipe(
    Effect.catchIf(
      (error) => read.length > 1 && error._tag === "CursorNotFound",
      () => readAfter(store, read.slice(0, -1)),
    ),
  )

/**
 * A page of invoices that ends with an issued one. A draft may be deleted before the next page is asked for, and then nothing
 * would start after it. So where a read has drafts alone, the next follows. Only after `MAX_DRAFT_READS` such reads a draft ends
 * the page.
 */
const invoicesAfter = Effect.fnUntraced(function* (
  store: typeof InvoiceStore.Service,
  after: JournalCursor | undefined,
) {
  let read: ReadonlyArray<JournalCursor | undefined> = [after]
  for (let reads = 1; ; reads++) {
    const { data, hasMore } = yield* readAfter(store, read)
    const issued = data.filter(({ state }) => state.issuedAt !== null)
    const last = issued.at(-1)?.id
    if (last !== undefined || !hasMore) return { issued, last: last ?? null, hasMore }
    if (reads === MAX_DRAFT_READS) return { issued, last: data.at(-1)?.id ?? null, hasMore }
    read = [after, ...data.map(({ id }) => id)]
  }
})

/** Gives the journal. It only reads, and takes no locks. */
export class Books extends Context.Service<
  Books,
  {
    /**
     * The entries of at most 20 invoices, newest first, and after the last invoice those of at most 20 grants of credits. They
     * say what is known now: what a refund was paid with may be booked otherwise when more of the payment goes back. A page
     * may have no entries and be followed by others.
     */
    readonly journal: (
      input?: ReadJournal,
    ) => Effect.Effect<JournalPage, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>
  }
>()("@billwright/core/subscriptions/Books") {
  static readonly layer = Layer.effect(
    Books,
    Effect.gen(function* () {
      const invoicePort = yield* optionalPort(InvoiceStore)
      const creditPort = yield* optionalPort(CreditStore)
      const documentsOf = yield* makeInvoiceDocuments
      const paidGrantOf = yield* makePaidGrants

      const daysOf = Effect.fnUntraced(function* (input: ReadJournal) {
        const { end } = yield* UsagePeriod.resolve(input)
        const { epochMilliseconds: now } = yield* DateTime.now
        const days: Days = { from: input.startDate ?? "", until: end === undefined ? now : end - 1 }
        return days
      })

      const ofInvoices = Effect.fnUntraced(function* (after: JournalCursor | undefined, { until }: Days) {
        const { hasMore, issued, last } = yield* invoicesAfter(yield* invoicePort, after)
        const entries: Array<JournalEntry> = []
        for (const stored of issued) {
          const { issuedAt } = stored.state
          if (issuedAt === null || issuedAt > until) continue
          entries.push(...journalOfInvoice(yield* documentsOf(stored), until))
        }
        return { entries, last, hasMore }
      })

      const ofGrants = Effect.fnUntraced(function* (after: JournalCursor | undefined, { until }: Days) {
        const { data, hasMore } = yield* (yield* creditPort).listGrants({}, pageAfter(after))
        const entries: Array<JournalEntry> = []
        for (const grant of data) {
          const documents = yield* paidGrantOf(grant)
          if (documents !== undefined) entries.push(...journalOfGrant(documents, until))
        }
        return { entries, last: data.at(-1)?.id ?? null, hasMore }
      })

      const pageOf = Effect.fnUntraced(function* (after: JournalCursor | undefined, days: Days) {
        if (isGrantId(after)) return yield* ofGrants(after, days)
        const invoices = yield* ofInvoices(after, days)
        if (invoices.hasMore) return invoices
        const grants = yield* ofGrants(undefined, days)
        return {
          entries: [...invoices.entries, ...grants.entries],
          last: grants.last ?? invoices.last,
          hasMore: grants.hasMore,
        }
      })

      const journal = Effect.fn("Books.journal")(function* (input: ReadJournal = {}) {
        const request = yield* decodeRead(input)
        const days = yield* daysOf(request)
        const page = yield* pageOf(request.startingAfter, days).pipe(nameCursor(request))
        return {
          ...page,
          entries: page.entries.filter(({ day }) => day >= days.from),
        } satisfies JournalPage
      })

      return Books.of({ journal })
    }),
  )
}
