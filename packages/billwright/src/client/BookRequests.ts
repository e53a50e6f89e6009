/**
 * The journal over the API.
 */
import type { JournalEntry, JournalPage, JournalReader, Posting } from "../invoices/Books.ts"
import type { Connection } from "./Connection.ts"
import { withIntegers } from "./Integers.ts"
import { read } from "./Requests.ts"

const toPosting = withIntegers<Posting>({ amount: true })

const toEntry = ({ postings, ...entry }: JournalEntry): JournalEntry => ({
  ...entry,
  postings: postings.map(toPosting),
})

export const makeBooks = (connection: Connection): JournalReader => ({
  journal: async (query, options) => {
    const { entries, hasMore, last } = await read<JournalPage>(connection, "/journal", query, options)
    return { entries: entries.map(toEntry), last, hasMore }
  },
})
