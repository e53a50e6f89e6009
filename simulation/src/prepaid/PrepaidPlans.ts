/**
 * The plans of the simulation of prepaid credits, what they grant, counted day by day, and what usage burns, counted call by
 * call: written differently from the engine, to compare with it.
 */
import type { Charge, Period, PlanDefinition } from "@billwright/engine"
import { DateTime } from "effect"

const DAY = 86_400_000

/** What each plan grants in a full period, and how much of it may stay for some time. */
export const GRANTS: Readonly<Record<string, ReadonlyArray<{ unit: string; amount: number; most: number }>>> =
  {
    small: [{ unit: "token", amount: 60, most: 0 }],
    large: [
      { unit: "token", amount: 150, most: 30 },
      { unit: "render", amount: 7, most: 0 },
    ],
    rolling: [{ unit: "token", amount: 90, most: 20 }],
  }

/** The keys of the plans. */
export const KEYS = ["small", "large", "rolling"] as const

/** What calls are counted by. */
export const CALLS = { key: "calls", productId: "api", unit: "call" }

/** How many tokens a call burns by each plan, beyond the free ones of a period. By other plans it burns none. */
const BURNS: Readonly<Record<string, { readonly free: number; readonly price: number }>> = {
  large: { free: 3, price: 2 },
  rolling: { free: 3, price: 2 },
  metered_week: { free: 0, price: 3 },
  metered_month: { free: 2, price: 6 },
}

const burning = (key: string): ReadonlyArray<Charge> => {
  const terms = BURNS[key]
  if (terms === undefined) return []
  const price = { token: `${terms.price}` }
  return [{ key: "calls", model: "unit", meter: CALLS.key, free: `${terms.free}`, burns: "token", price }]
}

/** Plans that cost and grant nothing. Their periods end with those of others or in between, and are billed days later. */
const METERED: ReadonlyArray<PlanDefinition> = (["week", "month"] as const).map((unit) => ({
  key: `metered_${unit}`,
  name: unit,
  currencies: ["EUR"],
  interval: { unit, count: 1 },
  charges: burning(`metered_${unit}`),
  policy: { grace_hours: 72 },
}))

/** The keys of the plans of usage alone. */
export const METERED_KEYS = METERED.map(({ key }) => key)

const MONTHLY: ReadonlyArray<PlanDefinition> = KEYS.map((key, index) => ({
  key,
  name: key,
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: `${10 * (index + 1)}.00` } }, ...burning(key)],
  grants: GRANTS[key]!.map(({ amount, most, unit }) => ({
    unit,
    amount: `${amount}`,
    ...(most === 0 ? {} : { rollover: { maximum: `${most}` } }),
  })),
}))

export const PLANS = [...MONTHLY, ...METERED]

const dayOf = (instant: number): number => Math.floor(instant / DAY)

/** Which plan owns each day of a period. A new plan owns the day of its change; a pause and an end don't give one back. */
const ownersOf = ({ end, segments, start }: Period): ReadonlyArray<string | null> => {
  const first = dayOf(start)
  const owners: Array<string | null> = Array.from({ length: dayOf(end) - first }, () => null)
  let day = Math.min(dayOf(segments[0].start) - first, owners.length)
  let kept: string | null = null
  for (const segment of segments) {
    const isPartial = segment.end % DAY !== 0 && segment.snap === "up"
    const until = segment.end >= end ? owners.length : dayOf(segment.end) - first + (isPartial ? 1 : 0)
    for (; day < Math.min(until, owners.length); day++) owners[day] = segment.plan?.key ?? kept
    if (segment.plan !== null) kept = segment.unused === "none" ? segment.plan.key : null
  }
  return owners.map((owner, index) => (index < day ? owner : kept))
}

/** Plans of the other simulations whose parts are measured in milliseconds. The first plan of a period measures all of it. */
const TIMED: ReadonlySet<string> = new Set(["team"])

/** A part of a period, from one position to another, and the plan that owns it. */
interface Owned {
  readonly owner: string | null
  readonly from: number
  readonly to: number
  readonly of: number
}

const ownedByTime = ({ end, segments, start }: Period): ReadonlyArray<Owned> =>
  segments.map(({ plan, unused, ...segment }, index) => {
    const isKept = plan !== null && unused === "none"
    const next = segments.slice(index + 1).find((one) => one.plan !== null)
    const until = isKept ? (next?.start ?? end) : segment.end
    return { owner: plan?.key ?? null, from: segment.start - start, to: until - start, of: end - start }
  })

/** A period whose instants are those of the clocks on the walls of a time zone, so that its days begin at midnight. */
const onWalls = (period: Period, timezone: string): Period => {
  const local = (instant: number): number =>
    instant + DateTime.zonedOffset(DateTime.makeZonedUnsafe(instant, { timeZone: timezone }))
  const [first, ...others] = period.segments.map((segment) => ({
    ...segment,
    start: local(segment.start),
    end: local(segment.end),
  }))
  return { ...period, start: local(period.start), end: local(period.end), segments: [first!, ...others] }
}

/** Rounded half up. */
const share = (amount: number, position: number, of: number): number =>
  Math.floor((2 * amount * position + of) / (2 * of))

/** Which plan owns each day of a period, or each part of one that is measured in milliseconds. */
const owned = (period: Period, timezone: string): ReadonlyArray<Owned> => {
  const first = period.segments.find(({ end, plan, start }) => plan !== null && end > start)
  if (TIMED.has(first?.plan?.key ?? "")) return ownedByTime(period)
  return ownersOf(onWalls(period, timezone)).map((owner, day, { length }) => ({
    owner,
    from: day,
    to: day + 1,
    of: length,
  }))
}

/** What the plans of a period grant in one unit. */
export const grantedIn = (period: Period, timezone: string, unit: string): number =>
  owned(period, timezone).reduce<number>((sum, { from, of, owner, to }) => {
    const amount = GRANTS[owner ?? ""]?.find((grant) => grant.unit === unit)?.amount ?? 0
    return sum + share(amount, to, of) - share(amount, from, of)
  }, 0)

/** The most of what is left of a period that may stay after it. */
export const mostThatStays = ({ segments }: Period, unit: string): bigint => {
  const all = segments.flatMap(({ plan }) => GRANTS[plan?.key ?? ""] ?? [])
  const mosts = all.filter((grant) => grant.unit === unit).map(({ most }) => most)
  return BigInt(Math.max(0, ...mosts))
}

/** Calls of one record. */
export interface Calls {
  readonly at: number
  readonly count: number
}

/**
 * How many tokens the calls of a period burn: each by the plan that served it, and the first of the period are free. All calls
 * of a free trial are free.
 */
export const burntIn = ({ segments, trial }: Period, calls: ReadonlyArray<Calls>): number => {
  if (trial === "free") return 0
  let position = 0
  let burnt = 0
  for (const { at, count } of calls.toSorted((a, b) => a.at - b.at)) {
    if (at < segments[0].start) continue
    const segment = segments.find(({ end, start }) => at >= start && at < end)
    if (segment === undefined) continue
    const terms = BURNS[segment.plan?.key ?? ""]
    for (let call = 0; call < count; call++) {
      position++
      if (terms !== undefined && position > terms.free) burnt += terms.price
    }
  }
  return burnt
}
