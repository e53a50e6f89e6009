/**
 * Invoices over the API.
 */
import type { CallOptions } from "../Call.ts"
import type { Invoice, InvoicePayment, Invoices } from "../invoices/Invoices.ts"
import type { PageQuery } from "../Listing.ts"
import type { UsageRecord } from "../usage/Usage.ts"
import type { Connection } from "./Connection.ts"
import { withIntegers } from "./Integers.ts"
import { documents, list, path, read, write } from "./Requests.ts"
import { toWire } from "./WireNames.ts"

type SentLine = Invoice["lines"][number]
const toAmounts = withIntegers<SentLine>({ amount: true, discount: true, net: true })
const toBurnt = withIntegers<NonNullable<SentLine["burns"]>>({ amount: true })
const toLine = (sent: SentLine): SentLine => {
  const line = toAmounts(sent)
  return line.burns === null ? line : { ...line, burns: toBurnt(line.burns) }
}
const toTax = withIntegers<Invoice["taxes"][number]>({ taxable: true, amount: true })
const toApplied = withIntegers<Invoice["applied"][number]>({ amount: true })
const toPart = withIntegers<Invoice["discounts"][number]["parts"][number]>({ amount: true })
const toDiscount = withIntegers<Invoice["discounts"][number]>({ base: true, amount: true })
const toTotals = withIntegers<Invoice>({
  subtotal: true,
  tax: true,
  total: true,
  credited: true,
  amountPaid: true,
  amountCredited: true,
  amountWaived: true,
  amountDue: true,
})

export const toInvoice = (sent: Invoice): Invoice => ({
  ...toTotals(sent),
  lines: sent.lines.map(toLine),
  discounts: sent.discounts.map((discount) => ({
    ...toDiscount(discount),
    parts: discount.parts.map(toPart),
  })),
  taxes: sent.taxes.map(toTax),
  applied: sent.applied.map(toApplied),
})

export const makeInvoices = (connection: Connection): Invoices => {
  const post = async (to: string, options: CallOptions | undefined): Promise<Invoice> =>
    toInvoice(await write<Invoice>(connection, "POST", to, undefined, options))
  return {
    get: async (id, options) =>
      toInvoice(await read<Invoice>(connection, path`/invoices/${id}`, undefined, options)),
    list: (query, options) => list(connection, "/invoices", query, options, toInvoice),
    records: (id, lineId, query, options) =>
      list<PageQuery, UsageRecord>(connection, path`/invoices/${id}/lines/${lineId}/records`, query, options),
    upcoming: async (subscriptionId, options) => {
      const sent = await read<{ readonly invoice: Invoice | null }>(
        connection,
        "/invoices/upcoming",
        { subscriptionId },
        options,
      )
      return sent.invoice === null ? null : toInvoice(sent.invoice)
    },
    create: async ({ lines, ...input }, options) =>
      toInvoice(
        await write<Invoice>(
          connection,
          "POST",
          "/invoices",
          { ...input, lines: lines?.map(toWire) },
          options,
        ),
      ),
    finalize: (id, options) => post(path`/invoices/${id}/finalize`, options),
    ...documents(connection, "invoices"),
    delete: async (id, options) => {
      await write(connection, "DELETE", path`/invoices/${id}`, undefined, options)
    },
    void: (id, options) => post(path`/invoices/${id}/void`, options),
    pay: async (id, input = {}, options) =>
      toInvoice(await write<Invoice>(connection, "POST", path`/invoices/${id}/pay`, input, options)),
    startPayment: async (id, input = {}, options) => {
      const sent = await write<InvoicePayment>(
        connection,
        "POST",
        path`/invoices/${id}/payment`,
        input,
        options,
      )
      return { invoice: toInvoice(sent.invoice), clientSecret: sent.clientSecret, url: sent.url }
    },
    link: (id, input = {}, options) => write(connection, "POST", path`/invoices/${id}/link`, input, options),
    markUncollectible: (id, options) => post(path`/invoices/${id}/mark_uncollectible`, options),
  }
}
