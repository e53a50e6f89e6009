import type { Threshold } from "../api/Types.ts"
import * as Instant from "../Instant.ts"

type Period = Threshold["period"]

const TEXTS: Readonly<Record<Period, string>> = {
  day: "a day",
  month: "a month",
  lifetime: "in all",
}

/** The text after the unit, such as `a day`. */
export const periodText = (period: Period): string => TEXTS[period]

/** The UTC days of the current period, as parameters of a summary. */
export const periodOf = (
  period: Period,
  now: number,
): { readonly start_date?: string; readonly end_date?: string } => {
  const today = Instant.utcDay(now)
  if (period === "lifetime") return {}
  if (period === "day") return { start_date: today, end_date: today }
  const [year, month] = today.split("-").map(Number)
  const lastDay = new Date(Date.UTC(year ?? 0, month ?? 0, 0))
  return { start_date: `${today.slice(0, 8)}01`, end_date: Instant.utcDay(lastDay.getTime()) }
}
