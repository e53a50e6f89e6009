/** The steps of a price, in words. */
import type { Step } from "billwright/rating"

/** Decimals with separators: `1000.5` is `1,000.5`. */
export const number = (text: string): string => {
  const [whole = "", digits] = text.split(".")
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ",")
  return digits === undefined ? grouped : `${grouped}.${digits}`
}

/** An integer of the minor unit, in a currency with two digits: `1380n` is `13.80`. */
export const amountText = (amount: bigint, currency: string): string => {
  const digits = amount.toString().padStart(3, "0")
  return `${number(digits.slice(0, -2))}.${digits.slice(-2)} ${currency}`
}

const range = (from: string, upTo: string | null): string =>
  upTo === null ? `above ${number(from)}` : `${number(from)} to ${number(upTo)}`

/** One line for each step of the plan's models; `undefined` for steps that say nothing to a visitor. */
export const words = (step: Step, currency: string): string | undefined => {
  switch (step.type) {
    case "flat":
      return `${number(step.amount)} ${currency} a month`
    case "free":
      return step.free === "0" ? undefined : `${number(step.free)} are included`
    case "unit":
      return `${number(step.quantity)} × ${step.price} ${currency} = ${number(step.amount)} ${currency}`
    case "tier":
      return `${range(step.from, step.up_to)}: ${number(step.quantity)} × ${step.price} ${currency} = ${number(step.amount)} ${currency}`
    default:
      return undefined
  }
}
