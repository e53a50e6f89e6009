/**
 * The journal as text for other programs.
 */
import * as Currency from "../money/Currency.ts"
import * as Exact from "../money/Exact.ts"
import type { BookAccount, JournalEntry } from "./Journal.ts"

/** Formats of the journal. `json` is one object a line. */
export const JOURNAL_FORMATS = ["csv", "hledger", "json"] as const
export type JournalFormat = (typeof JOURNAL_FORMATS)[number]

const NAMES: Readonly<Record<BookAccount, string>> = {
  cash: "assets:cash",
  receivable: "assets:receivable",
  clearing: "assets:clearing",
  contract_liability: "liabilities:contract_liability",
  refunds_payable: "liabilities:refunds_payable",
  tax_payable: "liabilities:tax_payable",
  revenue: "income:revenue",
  breakage: "income:breakage",
  bad_debt: "expenses:bad_debt",
}

/** An amount in the currency's unit, with all of its digits: `-12.30`. */
const decimal = (amount: bigint, currency: string): string => {
  const digits = Currency.exponentOf(currency) ?? 0
  const [whole = "0", part = ""] = Exact.text(Exact.ofUnits(amount, digits)).split(".")
  return digits === 0 ? whole : `${whole}.${part.padEnd(digits, "0")}`
}

/** The first line of a file. It is empty in formats that have none. */
export const journalHead = (format: JournalFormat): string =>
  format === "csv" ? "day,kind,document_id,invoice_id,customer_id,account,currency,amount\n" : ""

const csv = (entry: JournalEntry): string => {
  const { currency, customerId, day, documentId, invoiceId, kind, postings } = entry
  const start = [day, kind, documentId, invoiceId, customerId].join(",")
  return postings
    .map(({ account, amount }) => `${start},${account},${currency},${decimal(amount, currency)}\n`)
    .join("")
}

const hledger = ({
  currency,
  customerId,
  day,
  documentId,
  invoiceId,
  kind,
  postings,
}: JournalEntry): string => {
  const lines = postings.map(
    ({ account, amount }) => `    ${NAMES[account]}  ${decimal(amount, currency)} ${currency}\n`,
  )
  const invoice = invoiceId === null ? "" : `invoice:${invoiceId}, `
  return `${day} ${kind} ${documentId}  ; ${invoice}customer:${customerId}\n${lines.join("")}\n`
}

const json = (entry: JournalEntry): string =>
  `${JSON.stringify({
    day: entry.day,
    kind: entry.kind,
    document_id: entry.documentId,
    invoice_id: entry.invoiceId,
    customer_id: entry.customerId,
    currency: entry.currency,
    postings: entry.postings.map(({ account, amount }) => ({
      account,
      amount: decimal(amount, entry.currency),
    })),
  })}\n`

const WRITERS = { csv, hledger, json }

/** An entry as text, which ends with a line break. Amounts are decimals of the currency's unit. */
export const journalText = (entry: JournalEntry, format: JournalFormat): string => WRITERS[format](entry)
