/**
 * Credit notes over the API.
 */
import type { CreditNote, CreditNotes } from "../invoices/CreditNotes.ts"
import type { Connection } from "./Connection.ts"
import { withIntegers } from "./Integers.ts"
import { documents, list, path, read, write } from "./Requests.ts"

const toLine = withIntegers<CreditNote["lines"][number]>({ amount: true })
const toTax = withIntegers<CreditNote["taxes"][number]>({ taxable: true, amount: true })
const toTotals = withIntegers<CreditNote>({
  net: true,
  tax: true,
  total: true,
  waived: true,
  refund: true,
  toBalance: true,
})

const toNote = (sent: CreditNote): CreditNote => ({
  ...toTotals(sent),
  lines: sent.lines.map(toLine),
  taxes: sent.taxes.map(toTax),
})

export const makeCreditNotes = (connection: Connection): CreditNotes => ({
  create: async ({ lines, ...input }, options) =>
    toNote(
      await write<CreditNote>(
        connection,
        "POST",
        "/credit_notes",
        {
          ...input,
          lines: lines?.map(({ lineId, ...line }) => ({ ...line, line_id: lineId })),
        },
        options,
      ),
    ),
  get: async (id, options) =>
    toNote(await read<CreditNote>(connection, path`/credit_notes/${id}`, undefined, options)),
  ...documents(connection, "credit_notes"),
  list: (query, options) => list(connection, "/credit_notes", query, options, toNote),
})
