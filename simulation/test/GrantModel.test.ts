/**
 * What the model says that plans grant. Of seed 420 of the whole: it counted the days of a period that began with a plan of the
 * billing simulation, which the engine measures in milliseconds.
 */
import { type Period, planGrantsOf, type PlanTerms, type Segment } from "@billwright/engine"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { plansOf } from "../src/billing/Plans.ts"
import { grantedIn, PLANS } from "../src/prepaid/PrepaidPlans.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.UTC(2026, 10, 5)
const DAYS = 30
const TERMS = new Map<string, PlanTerms>([...plansOf(1), ...PLANS].map((plan) => [plan.key, plan]))
const KEYS = ["team", "pro", "small", "large", "rolling"]

interface Part {
  readonly hours: number
  readonly key: string | null
  readonly unused: Segment["unused"]
}

const segmentOf = (start: number, { hours, key, unused }: Part, snap: Segment["snap"]): Segment => {
  const plan = key === null ? null : { key, version: 1 }
  return { start, end: start + hours * HOUR, plan, quantities: {}, snap, unused }
}

const periodOf = (first: Part, ...others: ReadonlyArray<Part>): Period => {
  let end = START
  const next = (part: Part, isLast: boolean): Segment => {
    const segment = segmentOf(end, part, isLast ? "up" : "down")
    end = segment.end
    return segment
  }
  const segments: Period["segments"] = [
    next(first, others.length === 0),
    ...others.map((part, index) => next(part, index === others.length - 1)),
  ]
  return { start: START, end: START + DAYS * DAY, number: 1, trial: null, segments }
}

const granted = (period: Period, unit: string): bigint => {
  const periods = {
    anchor: "2026-11-05T00:00:00.000",
    timezone: "UTC",
    count: 1,
    unit: "month" as const,
  }
  const grants = planGrantsOf(
    period,
    periods,
    ({ key }) => TERMS.get(key)!,
    () => 0,
  )
  return grants.find((grant) => grant.unit === unit)?.amount ?? 0n
}

const part = (key: string | null, hours: number): Part => ({ key, hours, unused: "prorate" })

describe("what the model says that plans grant", () => {
  it("is by the hour in a period that began with a plan that is", () => {
    expect(grantedIn(periodOf(part("team", 500), part("small", 1)), "UTC", "token")).toBe(0)
    expect(grantedIn(periodOf(part("pro", 500), part("small", 1)), "UTC", "token")).toBe(2)
  })

  it("is what the engine grants, for all plans one after another", () => {
    const key = fc.option(fc.constantFrom(...KEYS), { freq: 5 })
    const unused = fc.constantFrom<Segment["unused"]>("prorate", "none")
    const parts = fc.array(fc.record({ key, unused, hours: fc.integer({ min: 1, max: 170 }) }), {
      maxLength: 3,
    })
    const first = fc.record({
      key: fc.constantFrom(...KEYS),
      unused,
      hours: fc.integer({ min: 1, max: 170 }),
    })
    fc.assert(
      fc.property(first, parts, fc.constantFrom("token", "render"), (one, others, unit) => {
        const period = periodOf(one, ...others)
        expect(BigInt(grantedIn(period, "UTC", unit))).toBe(granted(period, unit))
      }),
    )
  })
})
