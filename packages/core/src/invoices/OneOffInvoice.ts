/**
 * One-off invoices: the input of an invoice that no subscription makes, and its lines.
 */
import type { LineInput } from "@billwright/engine"
import { Effect, Schema } from "effect"
import { CustomerId } from "../customers/Customer.ts"
import { Currency } from "../shared/Currency.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import * as Text from "../shared/Text.ts"
import type { InvoiceId } from "./Invoice.ts"
import {
  checkCurrency,
  checkServicePeriod,
  InvoiceItemId,
  ItemAmount,
  MAX_DESCRIPTION_LENGTH,
  MAX_ITEMS_PER_INVOICE,
  TaxCode,
} from "./InvoiceItem.ts"
import { lineOfItem } from "./ItemLines.ts"

/** The most lines of one input. */
export const MAX_GIVEN_LINES = MAX_ITEMS_PER_INVOICE

/** A line of a one-off invoice. */
export const GivenLine = Schema.Struct({
  /** 1 to `MAX_DESCRIPTION_LENGTH` code points. */
  description: Text.bounded(1, MAX_DESCRIPTION_LENGTH),
  /** In the minor unit, from -10^15 to 10^15 and not 0. */
  amount: ItemAmount,
  /** The service period, half open. Both or none. */
  periodStart: Schema.optionalKey(Schema.NullOr(Schema.DateTimeUtc)),
  periodEnd: Schema.optionalKey(Schema.NullOr(Schema.DateTimeUtc)),
  /** What its tax rate depends on. Default: `standard`. */
  taxCode: Schema.optionalKey(Schema.NullOr(TaxCode)),
})
export interface GivenLine extends Schema.Schema.Type<typeof GivenLine> {}

const linesMessage = { message: `must have 1 to ${MAX_GIVEN_LINES} lines` }

/** The input of `Invoices.create`. */
export const CreateInvoice = Schema.Struct({
  customerId: CustomerId,
  /** Default: the currency of the customer. */
  currency: Schema.optionalKey(Currency),
  /** Default: the pending items of the customer in the currency. With lines, items stay pending. */
  lines: Schema.optionalKey(
    Schema.Array(GivenLine).check(Schema.isBetweenLength(1, MAX_GIVEN_LINES, linesMessage)),
  ),
})
export interface CreateInvoice extends Schema.Schema.Type<typeof CreateInvoice> {}

/** The currency of a new invoice. `preferred` is that of the customer. */
export const currencyOf = (
  given: string | undefined,
  preferred: string | null,
): Effect.Effect<string, InvalidInput> => {
  const currency = given ?? preferred
  if (currency !== null) return Effect.as(checkCurrency(currency), currency)
  const problem = "is required: the customer has no currency"
  return Effect.fail(new InvalidInput({ field: "currency", problem }))
}

/** Refuses lines with half a service period, or one that ends before it begins. */
export const checkLines = (lines: ReadonlyArray<GivenLine>): Effect.Effect<void, InvalidInput> =>
  Effect.forEach(lines, (line, index) => checkServicePeriod(line, `lines[${index}].`), { discard: true })

/** The given lines, as those of an invoice. No other invoice of the customer has a line with one of their ids. */
export const linesOf = (
  invoiceId: InvoiceId,
  lines: ReadonlyArray<GivenLine>,
  currency: string,
): ReadonlyArray<LineInput> =>
  lines.map((line, index) =>
    lineOfItem({
      periodStart: null,
      periodEnd: null,
      taxCode: null,
      ...line,
      id: `${invoiceId}.${index + 1}`,
      currency,
    }),
  )

const isItemId = Schema.is(InvoiceItemId)

/** The lines of a draft that were given when it was made: those that neither a subscription nor an item has. */
export const givenLines = (lines: ReadonlyArray<LineInput>): ReadonlyArray<LineInput> =>
  lines.filter(({ id, kind }) => kind === "top_up" || (kind === "item" && !isItemId(id)))
