/**
 * Formats the delivery statistics of the last hours.
 */

/** The share of ended deliveries that were delivered, 0 to 1. `undefined` if none has ended. */
export const successRate = ({ delivered, failed }: { readonly delivered: number; readonly failed: number }) =>
  delivered + failed === 0 ? undefined : delivered / (delivered + failed)

/** The API counts the pending deliveries of an endpoint up to this number. */
const MOST_PENDING = 10_000

interface Pending {
  readonly pending: number
  readonly endpoints?: ReadonlyArray<Pending>
}

/** `12`, or `10,000+` if the API stopped counting. */
export const pendingCount = ({ endpoints, pending }: Pending): string => {
  const isCut = (endpoints ?? [{ pending }]).some((each) => each.pending >= MOST_PENDING)
  return `${pending.toLocaleString("en-GB")}${isCut ? "+" : ""}`
}

/** `99.4 %`. Never rounded up to 100, so that a single failure is visible. */
export const percent = (rate: number): string => {
  if (rate === 1) return "100 %"
  const floored = Math.floor(rate * 1000) / 10
  return `${floored.toFixed(1)} %`
}
