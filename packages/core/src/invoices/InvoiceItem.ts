/**
 * Items: one-off charges and credits of a customer. The customer's next invoice in their currency picks them up.
 */
import { Currency as Currencies } from "@billwright/engine"
import { DateTime, Effect, Schema } from "effect"
import { CUSTOMER_ID_PREFIX, CustomerId } from "../customers/Customer.ts"
import { Currency } from "../shared/Currency.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import * as Metadata from "../shared/Metadata.ts"
import * as Resource from "../shared/Resource.ts"
import * as Text from "../shared/Text.ts"
import { INVOICE_ID_PREFIX, InvoiceId } from "./Invoice.ts"
import { SUBSCRIPTION_ID_PREFIX, SubscriptionId } from "./SubscriptionId.ts"

/** The prefix of item ids. */
export const INVOICE_ITEM_ID_PREFIX = "itm"
/** The longest description, in code points. */
export const MAX_DESCRIPTION_LENGTH = 500
/** The largest amount of an item, in the minor unit: 10^15. The smallest is its negative. */
export const MAX_ITEM_AMOUNT = 10n ** 15n
/** The most items of one invoice. Others wait for the next one. */
export const MAX_ITEMS_PER_INVOICE = 250
/** The longest service period, in years. The books have an entry for each of its days. */
export const MAX_SERVICE_YEARS = 10

export const InvoiceItemId = Id.schema(INVOICE_ITEM_ID_PREFIX).pipe(Schema.brand("InvoiceItemId"))
export type InvoiceItemId = typeof InvoiceItemId.Type

const AMOUNT_PROBLEM = "must be an integer from -10^15 to 10^15, and not 0"
const amountBounds = { minimum: -MAX_ITEM_AMOUNT, maximum: MAX_ITEM_AMOUNT }

export const ItemAmount = Schema.BigInt.annotate({ message: AMOUNT_PROBLEM }).check(
  Schema.isBetweenBigInt(amountBounds, { message: AMOUNT_PROBLEM }),
  Schema.makeFilter<bigint>((amount) => amount !== 0n, { message: AMOUNT_PROBLEM }),
)

export const TaxCode = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9_]{0,63}$/u, {
    message: "must be a tax code: 1 to 64 lower-case letters, digits and _, a letter first",
  }),
)

export const ItemStatus = Schema.Literals(["pending", "invoiced"])
export type ItemStatus = typeof ItemStatus.Type

const given = {
  customerId: Field.id(CustomerId, CUSTOMER_ID_PREFIX, "The customer that is charged, or gets money back."),
  subscriptionId: Field.idOrNull(
    SubscriptionId,
    SUBSCRIPTION_ID_PREFIX,
    "The subscription whose next invoice has the item. `null`: the customer's next invoice in the currency. It becomes `null` when the subscription ends and something of the item is left.",
  ),
  currency: Field.text(Currency, "The ISO 4217 currency. Only invoices in this currency pick the item up."),
  amount: Field.integer(
    ItemAmount,
    { ...amountBounds, problem: AMOUNT_PROBLEM },
    "An integer of the minor unit: cents of EUR. Below 0 it is a credit.",
  ),
  description: Field.text(Text.bounded(1, MAX_DESCRIPTION_LENGTH), "What it is for: the text of the line."),
  periodStart: Field.instantOrNull("When the service began. Only together with the end."),
  periodEnd: Field.instantOrNull("When the service ended. This instant is not part of it."),
  taxCode: Field.textOrNull(TaxCode, "What its tax rate depends on. `null`: `standard`."),
  metadata: Field.json(Metadata.Metadata, "Your own free-form key/value pairs."),
}

/** The definition of the resource; see `Resource`. */
export const invoiceItems = Resource.make({
  type: "InvoiceItem",
  noun: "invoice item",
  title: "Invoice items",
  description: "A one-off charge or credit of a customer, which an invoice picks up.",
  about:
    "One-off charges and credits. The customer's next invoice in their currency picks them up, once. A credit never makes an invoice less than 0: what is left of it waits for the next invoice.",
  path: "/invoice_items",
  scope: "invoices",
  id: InvoiceItemId,
  prefix: INVOICE_ITEM_ID_PREFIX,
  customer: "customerId",
  personal: ["metadata"],
  fields: {
    ...given,
    status: Field.text(ItemStatus, "`pending` until an invoice picks it up, then `invoiced`."),
    invoiceId: Field.idOrNull(InvoiceId, INVOICE_ID_PREFIX, "The invoice that picked it up."),
  },
  times: { createdAt: Field.instant("When the item was created.") },
  create: {
    customerId: given.customerId,
    subscriptionId: Field.optional(given.subscriptionId),
    currency: given.currency,
    amount: given.amount,
    description: given.description,
    periodStart: Field.optional(given.periodStart),
    periodEnd: Field.optional(given.periodEnd),
    taxCode: Field.optional(given.taxCode),
    metadata: Field.optional(given.metadata),
  },
  filters: {
    customerId: Field.optional(Field.saying(given.customerId, "Only items of this customer.")),
    status: Field.optional(Field.text(ItemStatus, "Only items with this status.")),
    invoiceId: Field.optional(Field.id(InvoiceId, INVOICE_ID_PREFIX, "Only items of this invoice.")),
  },
  indexed: ["customerId", "currency", "status", "invoiceId"],
  operations: {
    create: "Charges a customer something once, or gives it a credit, on an invoice to come.",
    remove: {
      verb: "Delete",
      past: "deleted",
      description:
        "It is not invoiced. If a draft has it, the draft has it no more. An item of an issued invoice can't be deleted: issue a credit note.",
    },
  },
  example: {
    id: "itm_01kb2r9d3vffx9qd6k4v2n1h7c",
    customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    subscription_id: null,
    currency: "EUR",
    amount: 4900,
    description: "Onboarding",
    period_start: null,
    period_end: null,
    tax_code: null,
    metadata: { ticket: "4711" },
    status: "pending",
    invoice_id: null,
    created_at: "2026-11-21T09:32:00.000Z",
  },
})

/** An item. */
export const InvoiceItem = invoiceItems.Value
export interface InvoiceItem extends Schema.Schema.Type<typeof InvoiceItem> {}

export const CreateInvoiceItem = invoiceItems.Create
export interface CreateInvoiceItem extends Schema.Schema.Type<typeof CreateInvoiceItem> {}

/** Which items to list. */
export const ListInvoiceItems = invoiceItems.List
export interface ListInvoiceItems extends Schema.Schema.Type<typeof ListInvoiceItems> {}

/** The tenant has no item with this id. */
export const InvoiceItemNotFound = invoiceItems.NotFound
export type InvoiceItemNotFound = InstanceType<typeof InvoiceItemNotFound>

/** Refuses a text that has the form of a currency and is none. */
export const checkCurrency = (currency: string): Effect.Effect<void, InvalidInput> =>
  Currencies.exponentOf(currency) === undefined
    ? Effect.fail(
        new InvalidInput({ field: "currency", problem: "must be an ISO 4217 currency code such as EUR" }),
      )
    : Effect.void

/** The service period of a line: both of its instants, or none. */
interface ServicePeriod {
  readonly periodStart?: DateTime.Utc | null
  readonly periodEnd?: DateTime.Utc | null
}

/** The last instant at which a service period may end. The same date has another offset in other years, so a day is added. */
const latestEnd = (start: DateTime.Utc): DateTime.Utc =>
  DateTime.add(start, { years: MAX_SERVICE_YEARS, days: 1 })

/** What is wrong with a service period. `undefined`: nothing. */
const problemOfPeriod = (start: DateTime.Utc | null, end: DateTime.Utc | null): string | undefined => {
  if (start === null && end === null) return undefined
  if (start === null || end === null) return "must be given together with the start"
  if (!DateTime.isLessThan(start, end)) return "must be after the start"
  const isTooLong = DateTime.isGreaterThan(end, latestEnd(start))
  return isTooLong ? `must be at most ${MAX_SERVICE_YEARS} years after the start` : undefined
}

/**
 * Refuses half a service period, one that ends before it begins, and one of more than `MAX_SERVICE_YEARS`. `at` is the path
 * of what has it.
 */
export const checkServicePeriod = (
  { periodEnd = null, periodStart = null }: ServicePeriod,
  at = "",
): Effect.Effect<void, InvalidInput> => {
  const problem = problemOfPeriod(periodStart, periodEnd)
  if (problem === undefined) return Effect.void
  return Effect.fail(new InvalidInput({ field: `${at}periodEnd`, problem }))
}
