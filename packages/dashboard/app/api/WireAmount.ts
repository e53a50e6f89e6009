/**
 * Amounts of money in requests.
 */
import * as Money from "../Money.ts"
import { refused } from "./FieldError.ts"

/** An integer for a request. The client writes a `bigint` exactly, although the generated types say `number`. */
export const wire = (amount: bigint): number => amount as unknown as number

/** The amount that somebody typed. Throws what a form shows at the field. */
export const wireAmount = (name: string, text: string, currency: string): number => {
  const amount = Money.parse(text, currency)
  if (amount === undefined) {
    const example = Money.decimalOf(1250, currency)
    throw refused(
      name,
      `must be an amount with at most ${Money.digitsOf(currency)} digits after the point, such as ${example}`,
    )
  }
  return wire(amount)
}
