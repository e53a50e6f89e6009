/**
 * The price of one of what a line bills.
 */
import type { Line } from "../invoices/Line.ts"

/** The only price of a line, if it is that of one of its quantity. */
export const unitPriceOf = ({ quantity, steps }: Pick<Line, "quantity" | "steps">): string | null => {
  const priced = steps.filter(({ type }) => !["aggregate", "round", "burn"].includes(type))
  const [only] = priced
  if (priced.length !== 1 || only?.type !== "unit" || only.quantity !== quantity) return null
  return only.price
}
