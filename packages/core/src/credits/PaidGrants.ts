/**
 * Reads what the books know of paid credits.
 */
import { Currency, type GrantDocuments, type GrantPrice, netsOfNote } from "@billwright/engine"
import { Effect, Option } from "effect"
import { CreditNoteStore } from "../invoices/CreditNoteStore.ts"
import type { InvoiceId } from "../invoices/Invoice.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { PageQuery } from "../shared/Page.ts"
import type { StoredEntry, StoredGrant } from "./Credit.ts"
import { CreditStore } from "./CreditStore.ts"

/** Most entries that are read at once. */
const ENTRIES_OF_PAGE = 100

type BookedEntry = GrantDocuments["entries"][number]

/** Adds an entry to those of its day and kind. A grant may have very many, and the books need days alone. */
const addTo = (days: Map<string, BookedEntry>, { at, available, held, kind, scoped }: StoredEntry): void => {
  const day = `${kind} ${Math.floor(at / DAY_MILLIS)}`
  const before = days.get(day)
  days.set(day, {
    kind,
    at,
    available: available + (before?.available ?? 0n),
    scoped: scoped + (before?.scoped ?? 0n),
    held: held + (before?.held ?? 0n),
  })
}

const DAY_MILLIS = 86_400_000

/** Gives the function that reads what a grant cost and what became of it. `undefined`: nobody paid money for it. */
export const makePaidGrants = Effect.gen(function* () {
  const creditPort = yield* optionalPort(CreditStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const notePort = yield* optionalPort(CreditNoteStore)

  /** What was bought by an invoice. `undefined`: the invoice is not that of a top-up. */
  const boughtBy = Effect.fnUntraced(function* (id: InvoiceId) {
    const invoice = Option.getOrUndefined(yield* (yield* invoicePort).find(id))
    const line = invoice?.state.lines.find(({ kind }) => kind === "top_up")
    if (invoice === undefined || line === undefined) return undefined
    const notes = yield* (yield* notePort).ofInvoice(id)
    const price: GrantPrice = {
      currency: invoice.state.currency,
      amount: line.net,
      credited: notes.map((note) => ({ at: note.issuedAt, amount: netsOfNote(note).get(line.id) ?? 0n })),
      isBooked: true,
    }
    return price
  })

  const priceOf = Effect.fnUntraced(function* ({ amount, source, unit }: StoredGrant) {
    if (source?.type === "invoice") {
      const bought = yield* boughtBy(source.id as InvoiceId)
      if (bought !== undefined) return bought
    }
    const isMoney = Currency.isCurrency(unit)
    const price: GrantPrice = { currency: unit, amount, credited: [], isBooked: source !== null }
    return isMoney ? price : undefined
  })

  const entriesOf = Effect.fnUntraced(function* ({ customerId, id, unit }: StoredGrant) {
    const { listEntries } = yield* creditPort
    const days = new Map<string, BookedEntry>()
    let cursor: PageQuery["cursor"]
    for (;;) {
      const page = yield* listEntries(
        { customerId, unit, grantId: id },
        { limit: ENTRIES_OF_PAGE, cursor },
      ).pipe(Effect.catchTag("CursorNotFound", Effect.die))
      for (const entry of page.data) addTo(days, entry)
      const last = page.data.at(-1)
      if (!page.hasMore || last === undefined) return [...days.values()]
      cursor = { direction: "older", id: last.id }
    }
  })

  return Effect.fnUntraced(function* (grant: StoredGrant) {
    if (grant.kind !== "paid") return undefined
    const price = yield* priceOf(grant)
    if (price === undefined) return undefined
    const { amount, customerId, id, unit } = grant
    const documents: GrantDocuments = {
      id,
      customerId,
      unit,
      amount,
      price,
      entries: yield* entriesOf(grant),
    }
    return documents
  })
})
