/**
 * The operations of the books (see `Operations`).
 */
import {
  Books,
  CurrentTenant,
  ExactJson,
  type JournalEntry,
  type JournalFormat,
  journalHead,
  type JournalPage,
  journalText,
  type ReadJournal,
} from "@billwright/core"
import { Effect, Stream } from "effect"
import type { JournalBody } from "../api/BooksApi.ts"
import { FileBody, ok } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"

const entryBody = (entry: JournalEntry): JournalBody["entries"][number] => ({
  day: entry.day,
  kind: entry.kind,
  document_id: entry.documentId,
  invoice_id: entry.invoiceId,
  customer_id: entry.customerId,
  currency: entry.currency,
  postings: entry.postings.map(({ account, amount }) => ({ account, amount: ExactJson.integer(amount) })),
})

type Read<E> = (input: ReadJournal) => Effect.Effect<JournalPage, E>

/** The text of a page and of all after it. Each page is read when the one before is sent. */
const pagesFrom = <E>(read: Read<E>, input: ReadJournal, format: JournalFormat, first: JournalPage) =>
  Stream.unfold(first as JournalPage | undefined, (page) =>
    Effect.gen(function* () {
      if (page === undefined) return undefined
      const text = page.entries.map((entry) => journalText(entry, format)).join("")
      const next =
        page.hasMore && page.last !== null
          ? yield* Effect.orDie(read({ ...input, startingAfter: page.last }))
          : undefined
      return [text, next] as const
    }),
  )

export const make: Effect.Effect<OperationsOf<"books">, never, Books> = Effect.gen(function* () {
  const books = yield* Books
  return {
    getJournal: ({ query }, { mode }) =>
      Effect.map(books.journal(query as ReadJournal), ({ entries, hasMore, last }) => {
        const body: JournalBody = {
          object: "journal_page",
          entries: entries.map(entryBody),
          last,
          has_more: hasMore,
          livemode: mode === "live",
        }
        return ok(body)
      }),
    exportJournal: Effect.fnUntraced(function* ({ query: { format = "csv", ...input } }, tenant) {
      const read = (page: ReadJournal) => Effect.provideService(books.journal(page), CurrentTenant, tenant)
      const first = yield* read(input)
      const pages = pagesFrom(read, input, format, first)
      const content = Stream.concat(Stream.make(journalHead(format)), pages)
      return { status: 200, body: new FileBody(content, { "content-type": "text/plain" }) }
    }),
  }
})
