/**
 * Implements `billing.books`.
 */
import { Books as BooksService, type ReadJournal } from "@billwright/core"
import { journalHead, journalText } from "@billwright/engine"
import type { CallOptions } from "../Call.ts"
import type { Calls } from "../runtime/Calls.ts"
import type { Books, JournalExport, JournalQuery } from "./Books.ts"

export const makeBooks = (calls: Calls): Books => {
  const books = calls.service(BooksService)
  const journal = (query: JournalQuery = {}, options?: CallOptions) =>
    calls.run(() => books.journal(query as ReadJournal), options)
  return {
    journal,
    async *export({ format, ...days }: JournalExport, options) {
      const head = journalHead(format)
      if (head !== "") yield head
      let query: JournalQuery = days
      for (;;) {
        const { entries, hasMore, last } = await journal(query, options)
        if (entries.length > 0) yield entries.map((entry) => journalText(entry, format)).join("")
        if (!hasMore || last === null) return
        query = { ...days, startingAfter: last }
      }
    },
  }
}
