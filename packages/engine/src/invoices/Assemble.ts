/**
 * Assembles an invoice from its lines. The order of the arithmetic is fixed: lines → coupons on lines → coupons on the
 * invoice → promotional credits → tax → total → paid credits → amount due.
 */
import { type Problem, Problems } from "../catalog/Problem.ts"
import { sumOf } from "./Amounts.ts"
import {
  applyCredits,
  type CouponInput,
  type CreditInput,
  type Discount,
  discount,
  Remaining,
} from "./Discounts.ts"
import { refuse } from "./InvoiceError.ts"
import type { InvoiceStep } from "./InvoiceStep.ts"
import type { Line, LineInput } from "./Line.ts"
import {
  problemsOfQuote,
  type Tax,
  type TaxBehavior,
  type TaxLine,
  type TaxQuote,
  taxesOf,
  taxParts,
} from "./Tax.ts"

/** Most lines and credits of an invoice, and most coupons of each subscription that it bills. */
export const INVOICE_LIMITS = { lines: 10_000, coupons: 20, credits: 1_000 } as const

/** What lowers the lines before tax. All amounts are of one currency, in its minor unit. */
export interface DiscountInput {
  readonly lines: ReadonlyArray<LineInput>
  /** In the order in which they are taken off. Those on some lines come before those on the whole invoice. */
  readonly coupons?: ReadonlyArray<CouponInput>
  /** Promotional credits, in the order in which they are burnt. They lower the base of the tax, as coupons do. */
  readonly promotional?: ReadonlyArray<CreditInput>
  /**
   * The ids of lines below 0 of which a part can wait for another invoice, as of pending items. Discounts don't look at them:
   * whoever assembles the invoice lowers such a line to what they leave.
   */
  readonly waiting?: ReadonlySet<string>
}

/** What an invoice is assembled from. */
export interface AssembleInput extends DiscountInput {
  /** The tax rates of the lines that have no fixed one: the answer to {@link taxLines}. */
  readonly quote: TaxQuote
  /** Credits that the customer paid for, in the order in which they are burnt. They pay the invoice, after tax. */
  readonly paid?: ReadonlyArray<CreditInput>
}

/** A part of an invoice that paid credits of the customer pay. */
export interface Applied {
  readonly type: "paid_credit"
  readonly id: string
  readonly amount: bigint
}

/** The amounts of an invoice. */
export interface Assembled {
  readonly lines: ReadonlyArray<Line>
  readonly discounts: ReadonlyArray<Discount>
  readonly taxBehavior: TaxBehavior
  /** The sum of the lines before discounts. */
  readonly subtotal: bigint
  readonly tax: bigint
  readonly taxes: ReadonlyArray<Tax>
  /** The sum of the lines after discounts, with tax. Below 0 when credits exceed charges. */
  readonly total: bigint
  readonly applied: ReadonlyArray<Applied>
  /** A total below 0, without its sign: the customer gets it as paid credits. Otherwise 0. */
  readonly credited: bigint
  /** What is left to pay: 0 or more. An invoice with nothing to pay is paid at once. */
  readonly amountDue: bigint
  readonly steps: ReadonlyArray<InvoiceStep>
}

const checkCredits = (at: Problems, credits: ReadonlyArray<CreditInput>): void => {
  if (credits.length > INVOICE_LIMITS.credits) at.add(`must be at most ${INVOICE_LIMITS.credits} credits`)
  for (const { available, id } of credits) {
    if (available < 0n) at.in(id).in("available").add("must be 0 or more")
  }
}

const problemsOfInput = ({
  coupons = [],
  lines,
  promotional = [],
}: DiscountInput): ReadonlyArray<Problem> => {
  const at = new Problems()
  if (lines.length > INVOICE_LIMITS.lines) at.in("lines").add(`must be at most ${INVOICE_LIMITS.lines} lines`)
  const ids = new Set<string>()
  for (const { id } of lines) {
    if (ids.has(id)) at.in("lines").in(id).add("has an id that is used twice")
    ids.add(id)
  }
  for (const ofOne of Map.groupBy(coupons, ({ subscriptionId }) => subscriptionId).values()) {
    if (ofOne.length > INVOICE_LIMITS.coupons) {
      at.in("coupons").add(`must be at most ${INVOICE_LIMITS.coupons} coupons of a subscription`)
    }
  }
  checkCredits(at.in("promotional"), promotional)
  return at.found
}

const discounted = (input: DiscountInput) => {
  refuse(problemsOfInput(input))
  const remaining = new Remaining(
    input.lines,
    input.lines.map(({ amount }) => amount),
    input.waiting,
  )
  const discounts = discount(remaining, input.coupons ?? [], input.promotional ?? [])
  return { remaining, discounts }
}

/**
 * The lines that a tax service is asked about, with their amounts after discounts: all without a fixed rate. Throws an
 * {@link InvoiceError} when the input breaks a rule.
 */
export const taxLines = (input: DiscountInput): ReadonlyArray<TaxLine> => {
  const { remaining } = discounted(input)
  return input.lines.flatMap(({ fixedTax, id, taxCode }, index) =>
    fixedTax === null ? [{ id, taxCode, amount: remaining.of(index) }] : [],
  )
}

/** The steps from the lines to what is left of them after discounts. */
const discountSteps = (
  lines: ReadonlyArray<LineInput>,
  discounts: ReadonlyArray<Discount>,
): ReadonlyArray<InvoiceStep> => {
  let amount = sumOf(lines)
  return [
    { type: "lines", lines: lines.length, amount },
    ...discounts.map(({ amount: taken, base, id, percent, type }): InvoiceStep => {
      amount -= taken
      return { type, id, percent, base, taken, amount }
    }),
  ]
}

const taxSteps = (
  net: bigint,
  taxes: ReadonlyArray<Tax>,
  behavior: TaxBehavior,
): ReadonlyArray<InvoiceStep> => {
  let amount = net
  return taxes.map(({ amount: tax, category, rate, taxable }): InvoiceStep => {
    if (behavior === "exclusive") amount += tax
    return { type: "tax", behavior, category, rate, taxable, tax, amount }
  })
}

const dueSteps = (
  total: bigint,
  credited: bigint,
  applied: ReadonlyArray<Applied>,
): ReadonlyArray<InvoiceStep> => {
  let amount = total + credited
  return [
    { type: "total", amount: total },
    ...(credited === 0n ? [] : [{ type: "credited", credited, amount } as const]),
    ...applied.map(({ amount: taken, id, type }): InvoiceStep => {
      amount -= taken
      return { type, id, taken, amount }
    }),
    { type: "due", amount },
  ]
}

/** Pays an invoice from paid credits. `gross` is each line with its tax. */
const settle = (
  { lines, paid = [] }: AssembleInput,
  gross: ReadonlyArray<bigint>,
): ReadonlyArray<Applied> => {
  const at = new Problems()
  checkCredits(at.in("paid"), paid)
  refuse(at.found)
  const remaining = new Remaining(lines, gross)
  return applyCredits(remaining, paid).map((one): Applied => ({ type: "paid_credit", ...one }))
}

/**
 * Computes the amounts of an invoice. `undefined` without lines: there is no invoice then. The same input always gives
 * the same amounts, which {@link foldInvoice} computes again from the steps.
 *
 * A total below 0 stays on the invoice with its tax, and the customer gets it as paid credits. Throws an
 * {@link InvoiceError} when two lines have one id, a line has no tax rate, a credit is below 0, or a list is too long.
 */
export const assemble = (input: AssembleInput): Assembled | undefined => {
  const { lines: given, quote } = input
  if (given.length === 0) return undefined
  const { discounts, remaining } = discounted(input)
  refuse(problemsOfQuote({ lines: given.filter(({ fixedTax }) => fixedTax === null) }, quote))
  const taxed = given.map((line, index) => ({
    amount: remaining.of(index),
    tax: line.fixedTax ?? quote.rates[line.id]!,
  }))
  const parts = taxParts(taxed, quote.behavior)
  const taxes = taxesOf(taxed, quote.behavior)
  const tax = sumOf(taxes)
  const total = taxes.reduce((sum, { taxable }) => sum + taxable, tax)
  const credited = total < 0n ? -total : 0n
  const applied = settle(
    input,
    parts.map((part) => part.net + part.tax),
  )
  return {
    lines: given.map((line, index) => ({
      ...line,
      discount: line.amount - remaining.of(index),
      net: parts[index]!.net,
      tax: taxed[index]!.tax,
    })),
    discounts,
    taxBehavior: quote.behavior,
    subtotal: sumOf(given),
    tax,
    taxes,
    total,
    applied,
    credited,
    amountDue: total + credited - sumOf(applied),
    steps: [
      ...discountSteps(given, discounts),
      ...taxSteps(remaining.total, taxes, quote.behavior),
      ...dueSteps(total, credited, applied),
    ],
  }
}
