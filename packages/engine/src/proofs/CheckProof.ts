/**
 * Checks what a proof says: the sums of its invoice, and the price of each line by the terms of its plan.
 */
import { canonicalJson } from "../catalog/CanonicalJson.ts"
import { type Charge, pricesEachRecord, type Prices } from "../catalog/Charge.ts"
import { without } from "../catalog/FieldRules.ts"
import { type Problem, Problems } from "../catalog/Problem.ts"
import { problemsOfLines, problemsOfSums } from "../invoices/Checks.ts"
import { dueOf, type Invoice } from "../invoices/Invoice.ts"
import * as Exact from "../money/Exact.ts"
import type { Quantity } from "../rating/Quantity.ts"
import { creditRater, rater } from "../rating/Rate.ts"
import type { Step } from "../rating/Step.ts"
import type { IssuedInvoice, Proof } from "./ProofDocument.ts"

/** What was found out about a proof. */
export interface CheckedProof {
  readonly problems: ReadonlyArray<Problem>
  /** How many lines were rated again by the terms of their plans. */
  readonly rated: number
  /**
   * How many lines were only computed again from their own steps: credits, items, minima of plans, credits that are
   * bought, charges that price each record, and lines of which nothing was left when their invoice was issued.
   */
  readonly unrated: number
}

type ProofLine = IssuedInvoice["lines"][number]

/** The invoice as it was issued: nothing is paid but what credits paid. */
const asIssued = (issued: IssuedInvoice): Invoice => {
  const rest = { amountPaid: 0n, amountCredited: 0n, amountWaived: 0n }
  const amountDue = dueOf({ ...issued, ...rest })
  const status = amountDue === 0n ? "paid" : "open"
  return { ...issued, ...rest, amountDue, status, collection: "idle", availableActions: [], sequence: 1 }
}

/** The steps that price a quantity. Those after them depend on the period, and on earlier documents. */
const PRICING: ReadonlySet<Step["type"]> = new Set([
  "aggregate",
  "convert",
  "free",
  "flat",
  "unit",
  "package",
  "tier",
  "package_tier",
  "percent",
  "percent_tier",
] as const)

const pricingOf = (steps: ReadonlyArray<Step>): ReadonlyArray<Step> => {
  const end = steps.findIndex(({ type }) => !PRICING.has(type))
  return end === -1 ? steps : steps.slice(0, end)
}

/** A quantity of its exact text: a decimal or a fraction. */
const quantityOf = (text: string): Quantity => {
  const [numerator, denominator] = text.split("/")
  if (denominator === undefined) return text
  return { numerator: BigInt(numerator ?? ""), denominator: BigInt(denominator) }
}

const isRated = ({ kind }: ProofLine): boolean =>
  kind === "advance" || kind === "usage" || kind === "adjustment"

/** A minimum or maximum that a line was raised or lowered to is that of the charge, in its currency or its unit of credits. */
const checkBounds = (at: Problems, charge: Charge, steps: ReadonlyArray<Step>, currency: string): void => {
  for (const step of steps) {
    if (step.type !== "minimum" && step.type !== "maximum") continue
    const bound: Prices[string] | undefined = charge[step.type]?.[currency]
    if (bound === undefined || Exact.compare(Exact.ofDecimal(bound), Exact.ofText(step.per_period)) !== 0) {
      at.add(`use a ${step.type} of ${step.per_period}, but the plan has ${bound ?? "none"}`)
    }
  }
}

/** Whether a line states that it bills nothing of what it names. */
const isEmpty = ({ amount, origin, quantity, receipt, steps }: ProofLine): boolean =>
  amount === 0n &&
  quantity === null &&
  receipt === null &&
  (origin?.gross ?? 0n) === 0n &&
  (origin?.burns?.amount ?? 0n) === 0n &&
  steps.every((step) => (step.type === "flat" || step.type === "round") && step.amount === "0")

/**
 * Whether nothing of what an invoice bills of subscriptions was left when it was issued. It was a draft that was computed
 * again, for example because its usage was voided. Then all of its lines are empty, and not only some.
 */
const isEmptied = ({ lines }: IssuedInvoice): boolean =>
  lines.every((line) => line.origin === null || line.kind === "item" || isEmpty(line))

/** Rates a line again. Gives whether that was possible. */
const rateLine = (at: Problems, line: ProofLine, charge: Charge, currency: string): boolean => {
  if (pricesEachRecord(charge)) return false
  const unbounded = without(charge, "minimum", "maximum") as Charge
  const { burns } = charge
  const { decimals, unit } = line.origin?.burns ?? {}
  if (unit !== burns)
    at.in("burns").add(`is of ${unit ?? "no credits"}, but the plan says ${burns ?? "none"}`)
  const rates = burns === undefined ? rater(unbounded, currency) : creditRater(unbounded, decimals)
  const rated = rates.rate(quantityOf(line.quantity ?? "0"))
  const expected = canonicalJson(pricingOf(rated.steps))
  const stated = canonicalJson(pricingOf(line.steps))
  if (stated !== expected) at.in("steps").add(`price it by ${stated}, but the plan says ${expected}`)
  checkBounds(at.in("steps"), charge, line.steps, burns ?? currency)
  return true
}

/** Rates the lines of an invoice again. Gives how many could be. */
const rateLines = (at: Problems, { invoice, plans }: Proof): number => {
  if (isEmptied(invoice)) return 0
  let rated = 0
  for (const [index, line] of invoice.lines.entries()) {
    const { charge: key, origin } = line
    if (origin === null || key === null || !isRated(line)) continue
    const here = at.in(index)
    const plan = plans.find((one) => one.key === origin.plan.key && one.version === origin.plan.version)
    const charge = plan?.terms.charges.find((one) => one.key === key)
    if (charge === undefined) {
      here.in("charge").add(`is ${key}, which the proof has no terms of`)
      continue
    }
    attempt(here, () => {
      if (rateLine(here, line, charge, invoice.currency)) rated++
    })
  }
  return rated
}

/** Lines are taxed at the rates that the tax service answered. */
const checkQuote = (at: Problems, { invoice, tax: { quote } }: Proof): void => {
  if (quote === null) return
  for (const [index, { fixedTax, id, tax }] of invoice.lines.entries()) {
    const answered = fixedTax ?? (Object.hasOwn(quote.rates, id) ? quote.rates[id] : undefined)
    if (answered === undefined || canonicalJson(answered) !== canonicalJson(tax)) {
      at.in(index).in("tax").add("is not the rate that the tax service answered")
    }
  }
}

/** Runs a check. What it throws is a problem, because a document that is made up can have values of any type. */
const attempt = (at: Problems, check: () => void): void => {
  try {
    check()
  } catch (error) {
    at.add(`can't be computed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/**
 * Checks what a proof says, from the proof alone: each line is the fold of its steps (J1), the invoice is the sum of its
 * lines, discounts and taxes (J2), lines are priced by the terms of their plans, and taxed as the tax service answered.
 * Its hash, its signature, the hashes of the terms and its place in the series are checked elsewhere.
 */
export const checkProof = (proof: Proof): CheckedProof => {
  const at = new Problems("invoice")
  let rated = 0
  attempt(at, () => {
    const invoice = asIssued(proof.invoice)
    for (const { path, problem } of [...problemsOfLines(invoice), ...problemsOfSums(invoice)]) {
      at.found.push({ path: `invoice.${path}`, problem })
    }
    rated = rateLines(at.in("lines"), proof)
    checkQuote(at.in("lines"), proof)
  })
  return { problems: at.found, rated, unrated: proof.invoice.lines.length - rated }
}
