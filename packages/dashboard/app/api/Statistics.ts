/**
 * Figures of the deliveries of the last hours.
 */

/** The share of deliveries that arrived, 0 to 1; `undefined` when none has ended. */
export const successRate = ({ delivered, failed }: { readonly delivered: number; readonly failed: number }) =>
  delivered + failed === 0 ? undefined : delivered / (delivered + failed)

/** What is pending for an endpoint is counted up to here. */
const MOST_PENDING = 10_000

interface Pending {
  readonly pending: number
  readonly endpoints?: ReadonlyArray<Pending>
}

/** `12`, or `10,000+` where the API did not count to the end. */
export const pendingCount = ({ endpoints, pending }: Pending): string => {
  const isCut = (endpoints ?? [{ pending }]).some((each) => each.pending >= MOST_PENDING)
  return `${pending.toLocaleString("en-GB")}${isCut ? "+" : ""}`
}

/** `99.4 %`. Never rounded up to 100: a single failure shows. */
export const percent = (rate: number): string => {
  if (rate === 1) return "100 %"
  const floored = Math.floor(rate * 1000) / 10
  return `${floored.toFixed(1)} %`
}
