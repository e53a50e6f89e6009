/**
 * The explanation of an invoice: the steps from its lines to the amount due. `foldInvoice` computes both again.
 */
import type { TaxBehavior, TaxCategory } from "./Tax.ts"

/** The sum of the lines, in the minor unit as all amounts here. */
interface LinesStep {
  readonly type: "lines"
  readonly lines: number
  readonly amount: bigint
}

/** A coupon or a promotional credit takes `taken` off. `base` is what the lines that it covers came to before. */
interface DiscountStep {
  readonly type: "coupon" | "promotional_credit"
  readonly id: string
  /** The percentage of a coupon. `null` for an amount. */
  readonly percent: string | null
  readonly base: bigint
  readonly taken: bigint
  /** What is left of the lines. */
  readonly amount: bigint
}

/** Tax at one rate. `exclusive` tax is added. `inclusive` tax is part of the amount already. */
interface TaxStep {
  readonly type: "tax"
  readonly behavior: TaxBehavior
  readonly category: TaxCategory
  readonly rate: string
  readonly taxable: bigint
  readonly tax: bigint
  /** The amount with this tax. */
  readonly amount: bigint
}

/** The total of the invoice. */
interface TotalStep {
  readonly type: "total"
  readonly amount: bigint
}

/** The customer gets a total below 0 as paid credits, so nothing is due. */
interface CreditedStep {
  readonly type: "credited"
  readonly credited: bigint
  readonly amount: bigint
}

/** Paid credits pay a part. */
interface AppliedStep {
  readonly type: "paid_credit"
  readonly id: string
  readonly taken: bigint
  /** What is left to pay. */
  readonly amount: bigint
}

/** What is due when the invoice is issued. */
interface DueStep {
  readonly type: "due"
  readonly amount: bigint
}

export type InvoiceStep =
  | LinesStep
  | DiscountStep
  | TaxStep
  | TotalStep
  | CreditedStep
  | AppliedStep
  | DueStep

/** The steps are not consistent: an amount does not follow from the steps before it. */
export class InvoiceExplanationError extends Error {
  override readonly name = "InvoiceExplanationError"
}

/** What a step states, worked out from the amount before it. */
const follow = (step: InvoiceStep, amount: bigint): bigint => {
  switch (step.type) {
    case "lines":
      return step.amount
    case "coupon":
    case "promotional_credit":
    case "paid_credit":
      return amount - step.taken
    case "tax":
      return step.behavior === "exclusive" ? amount + step.tax : amount
    case "credited":
      return amount + step.credited
    case "total":
    case "due":
      return amount
  }
}

/**
 * Computes the total and the amount due from the steps. Throws an {@link InvoiceExplanationError} when an amount does
 * not follow from the steps before it, or when the total or the amount due is missing.
 */
export const foldInvoice = (
  steps: ReadonlyArray<InvoiceStep>,
): { readonly total: bigint; readonly due: bigint } => {
  let amount = 0n
  let total: bigint | undefined
  let due: bigint | undefined
  for (const [index, step] of steps.entries()) {
    amount = follow(step, amount)
    if (step.amount !== amount) {
      throw new InvoiceExplanationError(
        `Step ${index + 1} (${step.type}) states ${step.amount}, but it must be ${amount}.`,
      )
    }
    if (step.type === "total") total = amount
    if (step.type === "due") due = amount
  }
  if (total === undefined || due === undefined) {
    throw new InvoiceExplanationError("The steps need a total and an amount due.")
  }
  return { total, due }
}
