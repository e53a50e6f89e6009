/**
 * Computes how a balance was at the end of each day, from what it is now and its entries.
 */
import type { CreditEntry } from "../api/Types.ts"

const DAY_MILLIS = 86_400_000
/** The most days of the chart. */
const MAX_DAYS = 60

/** What was available at the end of a UTC day, and on the last one now. */
interface DayOfBalance {
  readonly start: number
  readonly available: bigint
}

const startOfDay = (at: number): number => Math.floor(at / DAY_MILLIS) * DAY_MILLIS

/** The days from the oldest entry until now, at most 60. The entries are the newest ones of the balance, in any order. */
export const balancesOf = (
  available: bigint,
  entries: ReadonlyArray<Pick<CreditEntry, "at" | "available">>,
  now: number,
): ReadonlyArray<DayOfBalance> => {
  const changes = new Map<number, bigint>()
  for (const entry of entries) {
    const start = startOfDay(Date.parse(entry.at))
    changes.set(start, (changes.get(start) ?? 0n) + BigInt(entry.available))
  }
  const today = startOfDay(Math.max(now, ...changes.keys()))
  const first = Math.max(Math.min(today, ...changes.keys()), today - (MAX_DAYS - 1) * DAY_MILLIS)
  const days: Array<DayOfBalance> = []
  let balance = available
  for (let start = today; start >= first; start -= DAY_MILLIS) {
    days.push({ start, available: balance })
    balance -= changes.get(start) ?? 0n
  }
  return days.toReversed()
}
