/**
 * An invoice as the REST API and promises show it. Amounts are integers of the currency's minor unit.
 */
import type {
  Applied,
  CollectionState,
  Discount,
  InvoiceAction,
  Line,
  LineKind,
  LineRef,
  PlanVersionRef,
  Step,
  Tax,
  TaxBehavior,
  TaxRate,
} from "@billwright/engine"
import type { DateTime } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { DueFailure } from "../shared/Due.ts"
import { ofMillis, ofMillisOrNull } from "../shared/Instant.ts"
import type { Invoice, InvoiceId, InvoiceStatus } from "./Invoice.ts"
import type { SubscriptionId } from "./SubscriptionId.ts"

export { INVOICE_LIMITS } from "@billwright/engine"

/** The usage behind a line, as it was when the line was made. */
export interface ReceiptView {
  readonly meter: string
  readonly where: Readonly<Record<string, ReadonlyArray<string>>>
  readonly periodStart: DateTime.Utc
  readonly periodEnd: DateTime.Utc
  /** An exact text: a decimal or a fraction. */
  readonly total: string
  readonly recordCount: number
}

/** Credits that usage burns, in the smallest part of their unit. Below 0: they are given back. */
export interface BurntView {
  readonly unit: string
  /** How many decimals the unit has. */
  readonly decimals: number
  readonly amount: bigint
}

const burntOf = ({ burns = null }: Partial<NonNullable<Line["origin"]>>): BurntView | null =>
  burns === null ? null : { unit: burns.unit, decimals: burns.decimals ?? 0, amount: burns.amount }

export interface InvoiceLineView {
  readonly id: string
  readonly kind: LineKind
  readonly charge: string | null
  readonly description: string
  /** The subscription that the line bills. `null` for a line without a subscription, as is the next. */
  readonly subscriptionId: string | null
  /** The version of the plan that priced the line. */
  readonly plan: PlanVersionRef | null
  /** The value of the dimension that the charge has a line for each of. */
  readonly group: string | null
  readonly periodStart: DateTime.Utc | null
  readonly periodEnd: DateTime.Utc | null
  /** An exact text: a decimal or a fraction. */
  readonly quantity: string | null
  readonly amount: bigint
  readonly discount: bigint
  readonly net: bigint
  readonly tax: TaxRate
  readonly creditOf: LineRef | null
  /** The credits that usage burns instead of costing money. `null` for all other lines. */
  readonly burns: BurntView | null
  readonly steps: ReadonlyArray<Step>
  readonly receipt: ReceiptView | null
}

export interface InvoiceView {
  readonly id: InvoiceId
  readonly number: string | null
  readonly status: InvoiceStatus
  readonly customerId: CustomerId
  /** `null` for an invoice without a subscription, and for one of several. */
  readonly subscriptionId: SubscriptionId | null
  /** The subscriptions that it bills. */
  readonly subscriptionIds: ReadonlyArray<SubscriptionId>
  readonly currency: string
  readonly periodStart: DateTime.Utc | null
  readonly periodEnd: DateTime.Utc | null
  readonly lines: ReadonlyArray<InvoiceLineView>
  readonly discounts: ReadonlyArray<Discount>
  readonly taxBehavior: TaxBehavior
  readonly subtotal: bigint
  readonly tax: bigint
  readonly taxes: ReadonlyArray<Tax>
  readonly total: bigint
  readonly applied: ReadonlyArray<Applied>
  readonly credited: bigint
  readonly amountPaid: bigint
  readonly amountCredited: bigint
  readonly amountWaived: bigint
  readonly amountDue: bigint
  readonly issuedAt: DateTime.Utc | null
  readonly dueAt: DateTime.Utc | null
  readonly finalizesAt: DateTime.Utc | null
  readonly pastDueSince: DateTime.Utc | null
  readonly failure: DueFailure | null
  readonly collection: CollectionState
  readonly availableActions: ReadonlyArray<InvoiceAction>
  readonly sequence: number
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

const receiptOf = (receipt: Line["receipt"]): ReceiptView | null =>
  receipt === null
    ? null
    : { ...receipt, periodStart: ofMillis(receipt.periodStart), periodEnd: ofMillis(receipt.periodEnd) }

const lineOf = ({ origin, ...line }: Line): InvoiceLineView => ({
  id: line.id,
  kind: line.kind,
  charge: line.charge,
  description: line.description,
  subscriptionId: origin?.subscriptionId ?? null,
  plan: origin?.plan ?? null,
  group: origin?.group ?? null,
  periodStart: ofMillisOrNull(line.periodStart),
  periodEnd: ofMillisOrNull(line.periodEnd),
  quantity: line.quantity,
  amount: line.amount,
  discount: line.discount,
  net: line.net,
  tax: line.tax,
  creditOf: line.creditOf,
  burns: burntOf(origin ?? {}),
  steps: line.steps,
  receipt: receiptOf(line.receipt),
})

export const invoiceView = (invoice: Invoice): InvoiceView => ({
  id: invoice.id,
  number: invoice.number,
  status: invoice.status,
  customerId: invoice.customerId,
  subscriptionId: invoice.subscriptionId,
  subscriptionIds: invoice.subscriptionIds,
  currency: invoice.currency,
  periodStart: ofMillisOrNull(invoice.periodStart),
  periodEnd: ofMillisOrNull(invoice.periodEnd),
  lines: invoice.lines.map(lineOf),
  discounts: invoice.discounts,
  taxBehavior: invoice.taxBehavior,
  subtotal: invoice.subtotal,
  tax: invoice.tax,
  taxes: invoice.taxes,
  total: invoice.total,
  applied: invoice.applied,
  credited: invoice.credited,
  amountPaid: invoice.amountPaid,
  amountCredited: invoice.amountCredited,
  amountWaived: invoice.amountWaived,
  amountDue: invoice.amountDue,
  issuedAt: ofMillisOrNull(invoice.issuedAt),
  dueAt: ofMillisOrNull(invoice.dueAt),
  finalizesAt: ofMillisOrNull(invoice.finalizesAt),
  pastDueSince: ofMillisOrNull(invoice.pastDueSince),
  failure: invoice.failure,
  collection: invoice.collection,
  availableActions: invoice.availableActions,
  sequence: invoice.sequence,
  createdAt: invoice.createdAt,
  updatedAt: invoice.updatedAt,
})
