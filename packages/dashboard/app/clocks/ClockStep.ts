/**
 * By how much a test clock is advanced.
 */

export const STEPS = [
  ["day", "A day"],
  ["week", "A week"],
  ["month", "A month"],
  ["year", "A year"],
] as const
export type Step = (typeof STEPS)[number][0]

/** Moves an instant by calendar units, in UTC. A month that has no such day ends on its last one. */
export const stepFrom = (from: string, step: Step): string => {
  const at = new Date(from)
  if (step === "day" || step === "week") at.setUTCDate(at.getUTCDate() + (step === "day" ? 1 : 7))
  else {
    const day = at.getUTCDate()
    at.setUTCDate(1)
    at.setUTCMonth(at.getUTCMonth() + (step === "month" ? 1 : 12))
    const last = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()
    at.setUTCDate(Math.min(day, last))
  }
  return at.toISOString()
}
