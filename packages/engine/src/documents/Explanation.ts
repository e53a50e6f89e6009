/**
 * The computation of a line in words.
 */
import type { Line } from "../invoices/Line.ts"
import type { Step } from "../rating/Step.ts"
import type { ExplainedStep } from "./Document.ts"
import type { Format } from "./Format.ts"
import { fill, type Texts } from "./Texts.ts"

/** Most steps of a line that a document shows. */
const MAX_EXPLAINED_STEPS = 100

/** Steps that the columns of a line say already. */
const PLAIN: ReadonlyArray<Step["type"]> = ["aggregate", "flat", "unit", "round"]

/** Steps whose amount is the new amount of the line, and not a part of it. */
const CHANGES: ReadonlyArray<Step["type"]> = [
  "share",
  "discount",
  "maximum",
  "minimum",
  "round",
  "already_billed",
  "burn",
]

class Words {
  readonly #texts: Texts
  readonly #format: Format
  readonly #isFee: boolean

  constructor(texts: Texts, format: Format, isFee: boolean) {
    this.#texts = texts
    this.#format = format
    this.#isFee = isFee
  }

  of(step: Step, before: Step | undefined): string {
    return fill(this.#textOf(step, before), this.#values(step))
  }

  /** What is taken off a fee right after its price is rounded is its price up to where the line begins. */
  #textOf(step: Step, before: Step | undefined): string {
    const { beforeLine, notOfLine, steps } = this.#texts
    if (step.type !== "already_billed" || step.invoice !== null) return steps[step.type]
    return this.#isFee && before?.type === "round" ? beforeLine : notOfLine
  }

  /** The range of a tier. `write` writes its bounds. */
  #range(
    { from, up_to }: { readonly from: string; readonly up_to: string | null },
    write: (text: string) => string,
  ) {
    const bounds = { from: write(from), to: up_to === null ? "" : write(up_to) }
    if (up_to === null) return fill(this.#texts.above, bounds)
    return fill(from === "0" ? this.#texts.upTo : this.#texts.between, bounds)
  }

  #values(step: Step): Readonly<Record<string, string>> {
    const number = (text: string) => this.#format.number(text)
    const price = (text: string) => this.#format.price(text)
    const percent = (text: string) => this.#format.percent(text)
    switch (step.type) {
      case "aggregate":
        return { quantity: number(step.quantity) }
      case "convert":
        return { divide_by: number(step.divide_by), quantity: number(step.quantity) }
      case "free":
        return { free: number(step.free), quantity: number(step.quantity) }
      case "unit":
        return { quantity: number(step.quantity), price: price(step.price) }
      case "package":
        return { packages: number(step.packages), size: number(step.size), price: price(step.price) }
      case "tier":
        return {
          range: this.#range(step, number),
          quantity: number(step.quantity),
          price: price(step.price),
        }
      case "package_tier":
        return {
          range: this.#range(step, number),
          packages: number(step.packages),
          size: number(step.size),
          price: price(step.price),
        }
      case "percent":
        return { rate: percent(step.rate), money: price(step.money) }
      case "percent_tier":
        return {
          range: this.#range(step, (text) => this.#format.minor(text)),
          rate: percent(step.rate),
          money: price(step.money),
        }
      case "record_minimum":
      case "record_maximum":
        return { records: number(step.records), price: price(step.price) }
      case "share":
        return { share: this.#format.share(step.numerator, step.denominator) }
      case "discount":
        return { percent: percent(step.percent) }
      case "already_billed":
        return { billed: price(step.billed) }
      case "burn":
        return { credits: price(step.credits) }
      case "flat":
      case "maximum":
      case "minimum":
      case "round":
        return {}
    }
  }
}

/** The flat amount that comes with a tier or with the records of a percentage. Empty if there is none. */
const flatOf = (step: Step, format: Format): string => {
  switch (step.type) {
    case "tier":
    case "package_tier":
    case "percent_tier":
      return step.flat === "0" ? "" : format.price(step.flat)
    case "percent":
      return step.flat === "0" ? "" : `${format.number(step.records)} × ${format.price(step.flat)}`
    default:
      return ""
  }
}

/** A tier that the quantity did not reach says nothing. */
const isEmpty = (step: Step): boolean =>
  (step.type === "tier" || step.type === "package_tier") && step.quantity === "0" && step.amount === "0"

/** How the prices of a line are written: those of one that burns credits are in their unit. */
export const formatOf = ({ steps }: Pick<Line, "steps">, format: Format): Format => {
  const burn = steps.find(({ type }) => type === "burn")
  return burn?.type === "burn" ? format.ofUnit(burn.unit) : format
}

/**
 * Whether something of a line stays charged after its credit: the amount before anything billed is taken off is what it
 * costs now.
 */
export const staysCharged = ({ kind, steps }: Pick<Line, "kind" | "steps">): boolean => {
  const before = steps[steps.findIndex((step) => step.type === "already_billed" && step.invoice !== null) - 1]
  return kind === "credit" && before !== undefined && "amount" in before && before.amount !== "0"
}

/** Whether a line is a fee of a subscription: usage has a receipt, and the minimum of a plan has no charge. */
const isFee = ({ charge, origin, receipt }: Pick<Line, "charge" | "origin" | "receipt">): boolean =>
  origin !== null && charge !== null && receipt === null

/** The steps of a line. Empty if its columns say everything. */
export const explanationOf = (
  line: Pick<Line, "charge" | "origin" | "receipt" | "steps">,
  texts: Texts,
  money: Format,
): ReadonlyArray<ExplainedStep> => {
  const { steps } = line
  if (steps.every(({ type }) => PLAIN.includes(type))) return []
  const format = formatOf(line, money)
  const words = new Words(texts, format, isFee(line))
  const told = steps.filter((step) => !isEmpty(step))
  const rows = told.slice(0, MAX_EXPLAINED_STEPS).map((step, index): ExplainedStep => {
    const flat = flatOf(step, format)
    const text = words.of(step, told[index - 1])
    const written = step.type === "burn" ? money : format
    const amount = "amount" in step ? written.price(step.amount) : null
    return {
      text: flat === "" ? text : fill(texts.withFlat, { text, flat }),
      amount: amount !== null && CHANGES.includes(step.type) ? `= ${amount}` : amount,
    }
  })
  const more = told.length - rows.length
  return more === 0 ? rows : [...rows, { text: fill(texts.moreSteps, { count: String(more) }), amount: null }]
}
