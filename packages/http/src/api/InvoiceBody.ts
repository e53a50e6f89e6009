/**
 * An invoice in answers.
 */
import {
  Customer,
  Dimensions,
  Invoice,
  INVOICE_LIMITS,
  MeterFields,
  Subscription,
  SubscriptionId,
} from "@billwright/core"
import { Schema } from "effect"
import { DueFailureBody, PlanRefBody, UnitDecimals } from "./InvoicingFields.ts"
import * as Wire from "./Wire.ts"

const MAX_KEY_LENGTH = 64
/** Longest id of a line, a redemption or a credit, in code points. That of a credit has the id of the line that it gives back. */
const MAX_ID_LENGTH = 512
const MAX_NUMBER_LENGTH = 64
const MAX_TEXT_LENGTH = 1_000
/** Longest exact text of a quantity: a decimal or a fraction. */
const MAX_EXACT_LENGTH = 2_000
/** Most steps of a line: those of a charge with its tiers, and one for each earlier line of the same charge. */
const MAX_STEPS = 10_000
/** Most taxes of an invoice: one for each rate. */
const MAX_TAXES = INVOICE_LIMITS.lines

export const IdField = Invoice.InvoiceId.annotate({ description: "The id of the invoice." })
export const CustomerIdField = Customer.CustomerId.annotate({ description: "The customer." })
const CurrencyField = Wire.text(3).annotate({ description: "The ISO 4217 code of the currency." })
const StatusField = Invoice.InvoiceStatus.annotate({
  description:
    "`draft`: it follows usage, and has no number. `open`: it is issued and waits for its payment. `paid`: nothing is left to pay. `void`: it keeps its number, and nothing of it is due. `uncollectible`: it is written off, and may still be paid.",
})
const ActionField = Schema.Literals(["finalize", "pay", "credit", "void", "mark_uncollectible"])

/** The operations of the actions of an invoice. */
export const INVOICE_ACTIONS = {
  finalize: "finalizeInvoice",
  pay: "payInvoice",
  credit: "createCreditNote",
  void: "voidInvoice",
  mark_uncollectible: "markInvoiceUncollectible",
} as const satisfies Record<typeof ActionField.Type, string>

const taxRateFields = {
  category: Schema.Literals(["S", "Z", "E", "AE", "K", "G", "O"]).annotate({
    description:
      "The VAT category of EN 16931. `S`: a rate above 0. `Z`: a rate of 0. `E`: exempt. `AE`: reverse charge. `K`: goods to a business in another country of the EU. `G`: goods to a country outside. `O`: not subject to VAT.",
  }),
  rate: Wire.text(MAX_KEY_LENGTH).annotate({ description: 'The rate in percent, such as `"19"`.' }),
  country: Schema.NullOr(Wire.text(2)).annotate({ description: "The country that gets the tax." }),
  reason: Schema.NullOr(Wire.text(MAX_TEXT_LENGTH)).annotate({ description: "Why there is no tax." }),
}

export const LineTaxBody = Schema.Struct(taxRateFields).annotate({
  identifier: "InvoiceLineTax",
  description: "The rate that a line is taxed at.",
})

export const TaxBody = Schema.Struct({
  ...taxRateFields,
  taxable: Wire.amount("The sum of the net amounts at this rate"),
  amount: Wire.amount("The tax"),
}).annotate({
  identifier: "InvoiceTax",
  description: "The tax at one rate. It is rounded once for the invoice.",
})

const DimensionNames = Wire.text(Dimensions.MAX_DIMENSION_NAME_LENGTH)
const WhereValues = Schema.Array(Wire.text(Dimensions.MAX_DIMENSION_VALUE_LENGTH)).check(
  Schema.isMaxLength(MeterFields.MAX_WHERE_VALUES),
)

const ReceiptBody = Schema.Struct({
  meter: Wire.text(MAX_KEY_LENGTH).annotate({ description: "The key of the meter." }),
  where: Schema.Record(Schema.String, WhereValues)
    .check(Schema.isMaxProperties(MeterFields.MAX_METER_DIMENSIONS), Schema.isPropertyNames(DimensionNames))
    .annotate({ description: "Only records with these dimensions." }),
  period_start: Wire.instant(
    "The first instant of the usage. Where tiers go on over a change of plan, it is before the line.",
  ),
  period_end: Wire.instant("The end of the usage, which is not part of it."),
  total: Wire.text(MAX_EXACT_LENGTH).annotate({
    description: "The total of the records, as an exact text: a decimal or a fraction.",
  }),
  record_count: Wire.Count.annotate({ description: "The number of records." }),
}).annotate({
  identifier: "UsageReceipt",
  description: "The usage behind a line, as it was when the line was made.",
})

const CreditOfBody = Schema.Struct({
  invoice_id: Invoice.InvoiceId.annotate({ description: "The invoice." }),
  line_id: Wire.text(MAX_ID_LENGTH).annotate({ description: "The line." }),
}).annotate({ identifier: "InvoiceLineRef", description: "A line of an earlier invoice." })

const BurntBody = Schema.Struct({
  unit: Wire.text(MAX_KEY_LENGTH).annotate({ description: "The unit of the credits." }),
  decimals: UnitDecimals,
  amount: Wire.exactInteger({
    minimum: -Number.MAX_VALUE,
    maximum: Number.MAX_VALUE,
    problem: "must be an integer",
    description: `How many, in the smallest part of the unit. Below 0: they are given back. ${Wire.LARGE_INTEGERS}`,
  }),
}).annotate({ identifier: "InvoiceBurntCredits", description: "Credits that usage burns." })

const LineBody = Schema.Struct({
  id: Wire.text(MAX_ID_LENGTH).annotate({
    description: "The id of the line, unique in its invoice. It stays when a draft is computed again.",
  }),
  kind: Schema.Literals(["advance", "usage", "credit", "adjustment", "item", "true_up", "top_up"]).annotate({
    description:
      "`advance`: a fee or a quantity before its period. `usage`: usage after its period. `credit`: money back for time that was paid and not served. `adjustment`: the difference when a billed period is rated again. `item`: a one-off charge or credit. `true_up`: what is missing to the minimum of a plan. `top_up`: credits that are bought.",
  }),
  charge: Schema.NullOr(Wire.text(MAX_KEY_LENGTH)).annotate({
    description: "The key of the charge. `null` for an item, and for the minimum of a plan.",
  }),
  description: Wire.text(MAX_TEXT_LENGTH).annotate({
    description: "The name of the charge, or what was sold.",
  }),
  subscription_id: Schema.NullOr(SubscriptionId).annotate({
    description: "The subscription that the line bills. `null` for an item.",
  }),
  plan: Schema.NullOr(PlanRefBody).annotate({ description: "The version of the plan that priced the line." }),
  group: Schema.NullOr(Wire.text(Dimensions.MAX_DIMENSION_VALUE_LENGTH)).annotate({
    description: "The value of the dimension that the charge has a line for each of.",
  }),
  period_start: Wire.instantOrNull("The beginning of the service period."),
  period_end: Wire.instantOrNull("The end of the service period, which is not part of it."),
  quantity: Schema.NullOr(Wire.text(MAX_EXACT_LENGTH)).annotate({
    description: "The quantity as an exact text: a decimal or a fraction. `null` for a line without one.",
  }),
  amount: Wire.amount("The amount before discounts, negative for money back"),
  discount: Wire.amount("The discounts of this line together, 0 or more"),
  net: Wire.amount("The amount after discounts and without tax"),
  tax: LineTaxBody,
  credit_of: Schema.NullOr(CreditOfBody).annotate({
    description: "The line that a credit gives money back of. `null` for other lines.",
  }),
  burns: Schema.NullOr(BurntBody).annotate({
    description:
      "The credits that the usage burns when the invoice is issued. It costs no money then: `amount` is 0. `null` for other lines.",
  }),
  steps: Schema.Array(Wire.described({ $ref: "#/components/schemas/RatingStep" }))
    .check(Schema.isMaxLength(MAX_STEPS))
    .annotate({ description: "The computation of `amount`, step by step." }),
  receipt: Schema.NullOr(ReceiptBody).annotate({
    description: "The usage behind the line. `null` for a line that bills none.",
  }),
}).annotate({ identifier: "InvoiceLine", description: "A line of an invoice." })

const DiscountPartBody = Schema.Struct({
  line_id: Wire.text(MAX_ID_LENGTH).annotate({ description: "The line." }),
  amount: Wire.amount("Its part"),
}).annotate({ identifier: "InvoiceDiscountPart", description: "The part of a discount that a line got." })

const DiscountBody = Schema.Struct({
  type: Schema.Literals(["coupon", "promotional_credit"]).annotate({ description: "What took it off." }),
  id: Wire.text(MAX_ID_LENGTH).annotate({ description: "The id of the redemption or of the credit." }),
  name: Schema.NullOr(Wire.text(MAX_TEXT_LENGTH)).annotate({ description: "The name of the coupon." }),
  percent: Schema.NullOr(Wire.text(MAX_KEY_LENGTH)).annotate({
    description: "The percentage. `null` for an amount.",
  }),
  base: Wire.amount("What the lines that it covers came to before"),
  amount: Wire.amount("What it took off, the sum of its parts"),
  parts: Schema.Array(DiscountPartBody)
    .check(Schema.isMaxLength(INVOICE_LIMITS.lines))
    .annotate({ description: "The part of each line." }),
}).annotate({ identifier: "InvoiceDiscount", description: "What a coupon or a promotional credit took off." })

const AppliedBody = Schema.Struct({
  type: Schema.Literal("paid_credit").annotate({ description: "What paid it." }),
  id: Wire.text(MAX_ID_LENGTH).annotate({ description: "The id of the grant." }),
  amount: Wire.amount("The part that it paid"),
}).annotate({ identifier: "InvoiceAppliedCredit", description: "A part that the customer's own money paid." })

/** An invoice in an answer. */
export const InvoiceBody = Schema.Struct({
  object: Schema.Literal("invoice"),
  id: IdField,
  number: Schema.NullOr(Wire.text(MAX_NUMBER_LENGTH)).annotate({
    description: "The number. Numbers have no gaps. `null` for a draft.",
  }),
  status: StatusField,
  customer_id: CustomerIdField,
  subscription_id: Schema.NullOr(SubscriptionId).annotate({
    description: "The subscription that it bills. `null` for an invoice of several, and of none.",
  }),
  subscription_ids: Schema.Array(SubscriptionId)
    .check(Schema.isMaxLength(Subscription.MAX_INVOICE_GROUP))
    .annotate({
      description:
        "The subscriptions that it bills: one, or those of an invoice group, or none for an invoice without a subscription.",
    }),
  currency: CurrencyField,
  period_start: Wire.instantOrNull("The beginning of the period that made the invoice."),
  period_end: Wire.instantOrNull("The end of that period, which is not part of it."),
  lines: Schema.Array(LineBody)
    .check(Schema.isMaxLength(INVOICE_LIMITS.lines))
    .annotate({ description: "What is billed." }),
  discounts: Schema.Array(DiscountBody)
    .check(Schema.isMaxLength(INVOICE_LIMITS.coupons + INVOICE_LIMITS.credits))
    .annotate({ description: "What coupons and promotional credits took off, in this order." }),
  tax_behavior: Schema.Literals(["exclusive", "inclusive"]).annotate({
    description: "Whether amounts of lines are without tax (`exclusive`) or contain it (`inclusive`).",
  }),
  subtotal: Wire.amount("The sum of the lines before discounts"),
  tax: Wire.amount("The sum of the taxes"),
  taxes: Schema.Array(TaxBody)
    .check(Schema.isMaxLength(MAX_TAXES))
    .annotate({ description: "The tax at each rate." }),
  total: Wire.amount("The sum of the lines after discounts, with tax, below 0 when credits exceed charges"),
  applied: Schema.Array(AppliedBody)
    .check(Schema.isMaxLength(2 * INVOICE_LIMITS.credits))
    .annotate({ description: "What the customer's own money paid of it." }),
  credited: Wire.amount("A total below 0 without its sign, which the customer has as credit, else 0"),
  amount_paid: Wire.amount("What payments paid"),
  amount_credited: Wire.amount("The totals of its credit notes"),
  amount_waived: Wire.amount("The part of `amount_credited` that lowered the amount due"),
  amount_due: Wire.amount("What is left to pay, 0 or more"),
  issued_at: Wire.instantOrNull("When it was issued. `null` for a draft."),
  due_at: Wire.instantOrNull(
    "The last instant by which it has to be paid, the end of a day. `null` for a draft.",
  ),
  finalizes_at: Wire.instantOrNull("When a draft is issued by itself. `null` once it is issued."),
  failure: Schema.NullOr(DueFailureBody).annotate({
    description: "Why issuing it failed last. `null` unless it did.",
  }),
  past_due_since: Wire.instantOrNull(
    "Since when its payment is late: an attempt was declined, or its due date is over. `null`: it is not, or it is not open any more.",
  ),
  collection: Schema.Literals([
    "idle",
    "collecting",
    "paid",
    "retrying",
    "awaiting_method",
    "awaiting_customer",
    "processing",
    "unresolved",
    "exhausted",
    "needs_attention",
    "stopped",
  ]).annotate({
    description:
      "How its payment fares. `idle` until payments begin. What `needs_attention` is about is said by its payment.",
  }),
  available_actions: Schema.Array(ActionField)
    .check(Schema.isMaxLength(ActionField.literals.length))
    .annotate({
      description: `What can be done to it as it is. The operations are ${Object.values(INVOICE_ACTIONS)
        .map((operation) => `\`${operation}\``)
        .join(
          ", ",
        )}. \`pay\` also allows \`recordPayment\`, which needs no payment provider: without one, \`payInvoice\` is refused.`,
    }),
  sequence: Wire.Count.annotate({
    description: "Rises with each change of the invoice. Its events have the same number.",
  }),
  livemode: Wire.Livemode,
  created_at: Wire.instant("When the draft was made."),
  updated_at: Wire.instant("When something of the above last changed."),
}).annotate({
  identifier: "Invoice",
  description: "An invoice, with the computation of every line. Amounts are integers of the minor unit.",
})
