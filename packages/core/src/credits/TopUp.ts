/**
 * Top-ups: credits that a customer buys. The invoice of one gives its credits when it is paid.
 */
import { Currency as Currencies } from "@billwright/engine"
import { Effect, Schema } from "effect"
import { CUSTOMER_ID_PREFIX, CustomerId } from "../customers/Customer.ts"
import { INVOICE_ID_PREFIX, InvoiceId } from "../invoices/Invoice.ts"
import { checkCurrency, MAX_ITEM_AMOUNT, TaxCode } from "../invoices/InvoiceItem.ts"
import { Currency } from "../shared/Currency.ts"
import * as Field from "../shared/Field.ts"
import * as Id from "../shared/Id.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import * as Resource from "../shared/Resource.ts"
import { amountFrom, CreditGrantId, CreditUnit, GRANT_ID_PREFIX } from "./Credit.ts"

/** The prefixes of the ids of top-ups and of automatic top-ups. */
export const TOP_UP_ID_PREFIX = "ctu"
export const AUTO_TOP_UP_ID_PREFIX = "atu"

export const TopUpId = Id.schema(TOP_UP_ID_PREFIX).pipe(Schema.brand("TopUpId"))
export type TopUpId = typeof TopUpId.Type
export const AutoTopUpId = Id.schema(AUTO_TOP_UP_ID_PREFIX).pipe(Schema.brand("AutoTopUpId"))
export type AutoTopUpId = typeof AutoTopUpId.Type

export const TopUpStatus = Schema.Literals(["pending", "granted", "canceled"])
export type TopUpStatus = typeof TopUpStatus.Type

const creditBounds = { minimum: 1n, maximum: 10n ** 30n, problem: "must be an integer from 1 to 10^30" }
const priceBounds = { minimum: 1n, maximum: MAX_ITEM_AMOUNT, problem: "must be an integer from 1 to 10^15" }
const Price = Schema.BigInt.annotate({ message: priceBounds.problem }).check(
  Schema.isBetweenBigInt(priceBounds, { message: priceBounds.problem }),
)

/** An amount of credits, in a field. */
export const creditsField = (description: string) => Field.integer(amountFrom(1n), creditBounds, description)

/** What is bought. Top-ups and automatic ones have these fields in common. */
export const purchase = {
  customerId: Field.id(CustomerId, CUSTOMER_ID_PREFIX, "The customer who buys credits."),
  unit: Field.text(CreditUnit, "The unit of the credits: a currency, or a unit of yours."),
  amount: creditsField("The credits: an integer of the smallest unit, from 1 to 10^30."),
  currency: Field.text(Currency, "The ISO 4217 currency of the price."),
  price: Field.integer(
    Price,
    priceBounds,
    "What they cost, before taxes: an integer of the minor unit, from 1 to 10^15.",
  ),
  taxCode: Field.textOrNull(
    TaxCode,
    "What the tax rate of the price depends on. `null`: `standard`. Credits in a currency are not taxed when they are bought.",
  ),
}

const price = Field.saying(
  purchase.price,
  `${purchase.price.description} Default: the amount, if the unit is a currency. It is then the only one that is allowed.`,
)
const currency = Field.saying(
  purchase.currency,
  `${purchase.currency.description} Default: the unit, if that is a currency.`,
)

/** The input of what is bought. */
export const purchaseInput = {
  customerId: purchase.customerId,
  unit: purchase.unit,
  amount: purchase.amount,
  currency: Field.optional(currency),
  price: Field.optional(price),
  taxCode: Field.optional(purchase.taxCode),
}

/** The definition of the resource; see `Resource`. */
export const topUps = Resource.make({
  type: "TopUp",
  noun: "top-up",
  short: "top up",
  title: "Top-ups",
  description: "Credits that a customer buys: an invoice that gives paid credits when it is paid.",
  path: "/top_ups",
  scope: "credits",
  id: TopUpId,
  prefix: TOP_UP_ID_PREFIX,
  customer: "customerId",
  fields: {
    ...purchase,
    status: Field.text(
      TopUpStatus,
      "`pending` until its invoice is paid, then `granted`. `canceled`: the invoice was voided or deleted, or credited in full before it was paid.",
    ),
    invoiceId: Field.id(InvoiceId, INVOICE_ID_PREFIX, "The invoice of the price."),
    grantId: Field.idOrNull(
      CreditGrantId,
      GRANT_ID_PREFIX,
      "The grant of the credits. `null`: not paid yet.",
    ),
    autoTopUpId: Field.idOrNull(
      AutoTopUpId,
      AUTO_TOP_UP_ID_PREFIX,
      "The automatic top-up that made it. `null`: a call did.",
    ),
  },
  times: { createdAt: Field.instant("When it was made.") },
  create: purchaseInput,
  filters: {
    customerId: Field.optional(Field.saying(purchase.customerId, "Only top-ups of this customer.")),
    invoiceId: Field.optional(Field.id(InvoiceId, INVOICE_ID_PREFIX, "Only the top-up of this invoice.")),
    autoTopUpId: Field.optional(
      Field.id(AutoTopUpId, AUTO_TOP_UP_ID_PREFIX, "Only those of this automatic top-up."),
    ),
  },
  indexed: ["customerId", "invoiceId", "autoTopUpId"],
  operations: {
    create:
      "Makes the invoice of the price and issues it. When it is paid, the customer has the credits, once. An open invoice is collected and paid like every other one.",
  },
  example: {
    id: "ctu_01kb2r9d3vffx9qd6k4v2n1h7c",
    customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
    unit: "token",
    amount: 100000,
    currency: "EUR",
    price: 2000,
    tax_code: null,
    status: "pending",
    invoice_id: "inv_01kb2r9d3vffx9qd6k4v2n1h7d",
    grant_id: null,
    auto_top_up_id: null,
    created_at: "2026-11-21T09:32:00.000Z",
  },
})

/** A top-up. */
export const TopUp = topUps.Value
export interface TopUp extends Schema.Schema.Type<typeof TopUp> {}

/** The input of `TopUps.create`. */
export const CreateTopUp = topUps.Create
export interface CreateTopUp extends Schema.Schema.Type<typeof CreateTopUp> {}

/** Which top-ups to list. */
export const ListTopUps = topUps.List
export interface ListTopUps extends Schema.Schema.Type<typeof ListTopUps> {}

/** The tenant has no top-up with this id. */
export const TopUpNotFound = topUps.NotFound
export type TopUpNotFound = InstanceType<typeof TopUpNotFound>

/** What is bought, with all that was left to the defaults. */
export type Purchase = Pick<TopUp, "amount" | "currency" | "customerId" | "price" | "taxCode" | "unit">

/**
 * What is bought, if that can be. Of a unit that is a currency, 1 costs 1. Other units have a price of their own.
 */
export const purchaseOf = ({
  amount,
  currency: given,
  customerId,
  price: asked,
  taxCode = null,
  unit,
}: CreateTopUp): Effect.Effect<Purchase, InvalidInput> => {
  const refuse = (field: string, problem: string) => Effect.fail(new InvalidInput({ field, problem }))
  const isMoney = Currencies.isCurrency(unit)
  const money = given ?? (isMoney ? unit : undefined)
  const cost = asked ?? (isMoney ? amount : undefined)
  if (money === undefined) return refuse("currency", "is required: the unit is not a currency")
  if (cost === undefined) return refuse("price", "is required: the unit is not a currency")
  if (isMoney && money !== unit) return refuse("currency", `must be the unit: ${unit}`)
  if (isMoney && cost !== amount) return refuse("price", "must be the amount: the unit is a currency")
  if (cost > MAX_ITEM_AMOUNT) return refuse("amount", "must be at most 10^15: it is the price")
  if (isMoney && taxCode !== null) {
    return refuse("taxCode", "must be null: credits in a currency are not taxed when they are bought")
  }
  return Effect.as(checkCurrency(money), { amount, currency: money, customerId, price: cost, taxCode, unit })
}
