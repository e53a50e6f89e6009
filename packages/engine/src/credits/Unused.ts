/**
 * What of a grant went unused when it ended or rolled over.
 */
import { availableBy, type CreditEntry } from "./Ledger.ts"

/** What tells what went unused: entries of a grant. */
type Told = Pick<CreditEntry, "kind" | "at" | "available" | "scoped" | "holdId" | "invoiceId">

/**
 * How much of a grant went unused at an instant or after it, and is not known better since. `entries` are those of the grant of
 * the kind `expire`, in their order. Others are passed over.
 *
 * What a hold or an invoice gave back to a grant that had ended is gone: it was not there at that instant. What an invoice has
 * burnt of what went unused is used, also if its own usage counted until an earlier instant: it burnt what went unused first. A
 * late change of a plan takes back in the same way.
 */
export const unusedSince = (entries: ReadonlyArray<Told>, at: number): bigint => {
  const parts: Array<{ readonly at: number; left: bigint }> = []
  for (const entry of entries) {
    const { at: instant, holdId, invoiceId, kind } = entry
    if (kind !== "expire") continue
    const available = availableBy(entry)
    if (available < 0n && holdId === null && invoiceId === null) parts.push({ at: instant, left: -available })
    let back = available
    for (const part of parts) {
      if (back <= 0n) break
      if (part.at < instant) continue
      const taken = back < part.left ? back : part.left
      part.left -= taken
      back -= taken
    }
  }
  return parts.reduce((sum, part) => (part.at >= at ? sum + part.left : sum), 0n)
}
