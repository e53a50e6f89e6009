/**
 * Amounts of money in requests.
 */
import * as Money from "../Money.ts"
import { refused } from "./FieldError.ts"

/** An integer for a request. The client writes a `bigint` exactly, although the generated types say `number`. */
const wire = (amount: bigint): number => amount as unknown as number

/** What an amount of a currency has to be. The text continues a sentence that begins with the field's name. */
const ruleOf = (currency: string): string => {
  const [count, example] = [Money.digitsOf(currency), Money.decimalOf(1250, currency)]
  return count === 0
    ? `must be a whole number of ${currency}, such as ${example}. Write commas only between thousands`
    : `must be an amount with at most ${count} digits after the point, such as ${example}. Write a point, and commas only between thousands`
}

/** The amount that somebody typed. Throws what a form shows at the field. */
export const wireAmount = (name: string, text: string, currency: string): number => {
  const amount = Money.parse(text, currency)
  if (amount === undefined) throw refused(name, ruleOf(currency))
  return wire(amount)
}

/** The whole number that somebody typed. Throws what a form shows at the field. */
export const wireInteger = (name: string, text: string): number => {
  const amount = Money.parseWith(text, 0)
  if (amount === undefined)
    throw refused(name, "must be a whole number, such as 1250. Write commas only between thousands")
  return wire(amount)
}
