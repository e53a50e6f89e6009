/**
 * What checkers of payments share.
 */
import type { PaymentBooks } from "./PaymentBooks.ts"

export const sumOf = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((all, one) => all + one, 0n)

/** How often a call fails in vain before a person has to look. */
const VAIN_CALLS = 10

/** Whether the bank refused calls about something for good, or was silent for long. */
export const isInVain = ({ facts }: PaymentBooks, references: ReadonlyArray<string | null>): boolean => {
  const failed = facts.flatMap((fact) =>
    fact.type === "failed" && references.includes(fact.reference) ? [fact] : [],
  )
  return failed.some(({ isRefusal }) => isRefusal) || failed.length >= VAIN_CALLS
}
