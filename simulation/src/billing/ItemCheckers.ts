/**
 * The rules of items and of taxes, computed from what is stored of them.
 */
import type { Invoice, InvoiceItem } from "@billwright/core"
import type { Line } from "@billwright/engine"
import { DateTime } from "effect"
import type { Books } from "./Books.ts"
import { rateOf } from "./Taxation.ts"

type Invoices = ReadonlyMap<string, Invoice.StoredInvoice>

/** An item is on one invoice at most, with its amount. A draft takes less of a credit, as long as it is one. */
const problemsOfItem = (item: InvoiceItem.InvoiceItem, invoices: Invoices): ReadonlyArray<string> => {
  const on = [...invoices.values()].filter(({ state }) => state.lines.some(({ id }) => id === item.id))
  const invoice = item.invoiceId === null ? undefined : invoices.get(item.invoiceId)
  if (item.invoiceId !== null && invoice === undefined)
    return [`${item.id} is on ${item.invoiceId}, which there is not`]
  if (invoice === undefined) return on.length === 0 ? [] : [`${item.id} is pending, and is on ${on[0]!.id}`]
  const [line] = invoice.state.lines.filter(({ id }) => id === item.id)
  const isDraft = invoice.state.status === "draft"
  if (on.some(({ id }) => id !== invoice.id)) return [`${item.id} is on several invoices`]
  if (isDraft || line?.amount === item.amount) return []
  return [`${item.id} has the amount ${item.amount}, and ${invoice.id} states ${line?.amount ?? "nothing"}`]
}

/** What was given once is billed once: credits of void invoices wait again, charges don't. */
const problemsOfGiven = (
  command: string,
  items: ReadonlyArray<InvoiceItem.InvoiceItem>,
  invoices: Invoices,
): ReadonlyArray<string> => {
  const given = BigInt(items[0]!.metadata["given"]!)
  const isVoid = ({ amount, invoiceId }: InvoiceItem.InvoiceItem) =>
    amount < 0n && invoiceId !== null && invoices.get(invoiceId)?.state.status === "void"
  const sum = items.filter((item) => !isVoid(item)).reduce((all, { amount }) => all + amount, 0n)
  return sum === given ? [] : [`the items of command ${command} come to ${sum}, and ${given} was given`]
}

/** Items come to what was given, once, whatever became of their invoices. */
export const itemsComeToWhatWasGiven = (books: Books): ReadonlyArray<string> => {
  const invoices = new Map(books.invoices.map(({ invoice }) => [invoice.id as string, invoice]))
  const items = books.items.map(({ item }) => item)
  const given = Map.groupBy(
    items.filter(({ metadata }) => metadata["given"] !== undefined),
    ({ metadata }) => metadata["command"]!,
  )
  // A draft is as it was last stored, and may have an item that was deleted since. Where nothing else is left, an invoice
  // is issued with the lines that it had, and amounts of 0.
  const issued = books.invoices.filter(({ invoice }) => invoice.state.status !== "draft")
  const unknown = issued.flatMap(({ invoice }) =>
    invoice.state.lines
      .filter(
        ({ amount, id, kind }) => kind === "item" && amount !== 0n && !items.some((item) => item.id === id),
      )
      // Lines that were given to a one-off invoice are no items.
      .filter(({ id }) => invoice.causes.length > 0 || !id.startsWith(invoice.id))
      .map(({ id }) => `${invoice.id} has the item ${id}, which there is not`),
  )
  return [
    ...items.flatMap((item) => problemsOfItem(item, invoices)),
    ...[...given].flatMap(([command, all]) => problemsOfGiven(command, all, invoices)),
    ...unknown,
  ]
}

/** Credits in money are taxed when they are used, and not when they are bought. */
const fixedIn = ({ fixedTax, kind }: Line): string | undefined =>
  kind === "top_up" ? fixedTax?.rate : undefined

/** Lines have the rate of the customer's country on the day of the invoice, and credits that of what they give back. */
export const taxesAreRight = ({ invoices, isTaxed }: Books): ReadonlyArray<string> => {
  if (!isTaxed) return []
  const lines = new Map<string, Line>(
    invoices.flatMap(({ invoice }) =>
      invoice.state.lines.map((line) => [`${invoice.id} ${line.id}`, line] as const),
    ),
  )
  return invoices.flatMap(({ invoice: { causes, createdAt, id, state, taxedBy } }) => {
    const at = causes[0]?.effect.at ?? state.issuedAt ?? createdAt.epochMilliseconds
    const day = DateTime.formatIso(DateTime.makeUnsafe(at)).slice(0, 10)
    return state.lines.flatMap((line) => {
      const credited =
        line.creditOf === null ? undefined : lines.get(`${line.creditOf.invoiceId} ${line.creditOf.lineId}`)
      const expected = credited?.tax.rate ?? fixedIn(line) ?? rateOf(taxedBy.customer, line.taxCode, day)
      return line.tax.rate === expected
        ? []
        : [`${id}: the line ${line.id} is taxed by ${line.tax.rate}, and not by ${expected}`]
    })
  })
}
