import {
  type CountedPeriod,
  countedPeriods,
  type Effect,
  entitledAt,
  type Feature,
  MAX_ROLLOVER_PERIODS,
  type MeteredFeature,
  type Period,
  type PlanVersion,
  type Rollover,
  rolledOver,
  type Subscription,
} from "@billwright/engine"
import { assert, describe, it } from "vitest"
import { fc, holds } from "../property.ts"
import { advance, at, changeTo, creation, dates, done, plan } from "../subscriptions/Subscriptions.ts"

const metered = (included: string, rollover?: Rollover, meter = "calls"): MeteredFeature => ({
  type: "metered",
  meter,
  included,
  limit: "hard",
  ...(rollover === undefined ? {} : { rollover }),
})
const planOf = (key: string, exports: Feature | undefined, fields: Partial<PlanVersion["terms"]> = {}) =>
  plan(key, { ...(exports === undefined ? {} : { features: { exports } }), ...fields })

const months = (count: number) => ({ unit: "month", count }) as const
const short = planOf("short", metered("10.9", { maximum: "6.5" }))
const long = planOf("long", metered("20", { maximum: "15", expires_after: months(3) }))
const none = planOf("none", metered("10"))
const without = planOf("without", undefined)
const other = planOf("other", metered("10", { maximum: "10" }, "jobs"))
const restarting = planOf("restarting", metered("10", { maximum: "10" }), {
  policy: { usage_on_change: "restart" },
})
const yearly = planOf("yearly", metered("10", { maximum: "10" }), { interval: { unit: "year", count: 1 } })
const PLANS = [short, long, none, without, other, restarting, yearly]
const planNamed = (key: string): PlanVersion => PLANS.find((one) => one.key === key)!
const termsOf = ({ key }: { readonly key: string }) => planNamed(key).terms

/** A subscription, and the periods that were stored of it. */
class Life {
  subscription: Subscription
  readonly periods = new Map<number, Period>()

  constructor(of: PlanVersion, fields: object = {}) {
    const made = done(null, { ...creation, plan: of, ...fields }, "2026-01-01")
    this.subscription = made.subscription
    this.#store(made.effects)
  }

  #store(effects: ReadonlyArray<Effect>): void {
    for (const effect of effects)
      if (effect.kind !== "event") this.periods.set(effect.period.number, effect.period)
  }

  do(input: Parameters<typeof done>[1], instant: number | string): this {
    const made = done(this.subscription, input, instant)
    this.subscription = made.subscription
    this.#store(made.effects)
    return this
  }

  until(instant: number | string): this {
    const made = advance(this.subscription, instant)
    this.subscription = made.subscription
    this.#store(made.effects)
    return this
  }

  /** What is counted at an instant. Nothing of it has to be done. */
  counted(instant: number | string) {
    const now = typeof instant === "string" ? at(instant) : instant
    const entitled = entitledAt(this.subscription, now)
    if (entitled === undefined) return undefined
    const { closed, period: open, plan: version } = entitled
    const feature = termsOf(version).features?.["exports"]
    const before = this.subscription.period?.number ?? this.subscription.opened
    const stored = [...this.periods.values()].filter(({ number }) => number < before)
    if (feature?.type !== "metered" || feature.rollover === undefined) return { counted: [], open }
    const earlier = [...stored.toSorted((a, b) => a.number - b.number), ...closed]
    const asked = { key: "exports", feature, earlier, open, timezone: this.subscription.periods.timezone }
    return { counted: countedPeriods(asked, termsOf), open }
  }

  shown(instant: string) {
    return this.counted(instant)?.counted.map(({ end, expiresAt, included, maximum, start }) => [
      ...dates(start, end),
      included,
      maximum,
      expiresAt === null ? null : dates(expiresAt)[0],
    ])
  }

  /** How much rolled over, by what was used at each instant. */
  over(
    instant: number | string,
    usage: ReadonlyArray<readonly [number | string, bigint]>,
  ): bigint | undefined {
    const found = this.counted(instant)
    if (found === undefined) return undefined
    const used = found.counted.map(({ end, start }) =>
      usage
        .map(([when, amount]) => [typeof when === "string" ? at(when) : when, amount] as const)
        .filter(([when]) => when >= start && when < end)
        .reduce((sum, [, amount]) => sum + amount, 0n),
    )
    return rolledOver(found.counted, used, found.open)
  }
}

describe("what is counted of earlier periods", () => {
  it("is what each of them included, in whole units, and how long it stays", () => {
    const january = ["2026-01-01", "2026-02-01", 10n, 6n, null]
    assert.deepStrictEqual(new Life(short).shown("2026-01-31"), [])
    assert.deepStrictEqual(new Life(short).shown("2026-02-01"), [january])
    assert.deepStrictEqual(new Life(short).until("2026-02-01").shown("2026-02-01"), [january])
    assert.deepStrictEqual(new Life(long).shown("2026-02-01"), [
      ["2026-01-01", "2026-02-01", 20n, 15n, "2026-05-01"],
    ])
  })

  it("is the same, whether what was due has been done or not", () => {
    const life = new Life(long).do(changeTo(short, { at: "period_end" }), "2026-01-10")
    const late = life.shown("2026-05-10")
    assert.deepStrictEqual(life.until("2026-03-01").shown("2026-05-10"), late)
    assert.deepStrictEqual(life.until("2026-05-10").shown("2026-05-10"), late)
    assert.lengthOf(late ?? [], 4)
  })

  it("is by the plan at the end of each period", () => {
    const life = new Life(short).do(changeTo(long), "2026-01-10").do(changeTo(short), "2026-02-10")
    assert.deepStrictEqual(life.shown("2026-03-01"), [
      ["2026-01-01", "2026-02-01", 20n, 15n, "2026-05-01"],
      ["2026-02-01", "2026-03-01", 10n, 6n, null],
    ])
  })

  it("begins anew after a plan that does not roll the feature over", () => {
    for (const ending of [none, without, other]) {
      const life = new Life(short).do(changeTo(ending), "2026-02-10").do(changeTo(short), "2026-03-10")
      assert.deepStrictEqual(life.shown("2026-03-10"), [], ending.key)
      assert.lengthOf(life.shown("2026-04-01") ?? [], 1)
    }
  })

  it("leaves nothing of a trial, of a period that ended in a pause, and of one that was cut short", () => {
    const trial = new Life(short, { trial: { days: 14 } }).shown("2026-01-15")
    assert.deepStrictEqual(trial, [["2026-01-01", "2026-01-15", 10n, 0n, null]])
    const pause = { type: "pause", resumeAt: at("2026-02-10") } as const
    const paused = new Life(short).do(pause, "2026-01-20")
    assert.deepStrictEqual(paused.shown("2026-02-10"), [["2026-01-01", "2026-02-01", 10n, 0n, null]])
    const resumed = new Life(short).do({ ...pause, resumeAt: at("2026-01-25") }, "2026-01-20")
    assert.deepStrictEqual(resumed.shown("2026-02-10"), [["2026-01-01", "2026-02-01", 10n, 6n, null]])
    const anew = new Life(short)
      .do({ type: "pause", anchor: "now" }, "2026-01-10")
      .do({ type: "resume", anchor: "now" }, "2026-01-20")
    assert.deepStrictEqual(anew.shown("2026-01-20"), [["2026-01-01", "2026-01-20", 10n, 0n, null]])
    const cut = new Life(short).do(changeTo(yearly), "2026-01-10")
    assert.deepStrictEqual(cut.shown("2026-01-10"), [["2026-01-01", "2026-01-10", 10n, 0n, null]])
  })

  it("counts the parts of a period by themselves where the plan restarts usage", () => {
    const life = new Life(short).do(changeTo(restarting), "2026-02-10")
    const january = ["2026-01-01", "2026-02-01", 10n, 6n, null]
    const before = ["2026-02-01", "2026-02-10", 10n, 0n, null]
    assert.deepStrictEqual(life.shown("2026-02-10"), [january, before])
    const after = ["2026-02-10", "2026-03-01", 10n, 10n, null]
    assert.deepStrictEqual(life.shown("2026-03-01"), [january, before, after])
    // What was used before the change is gone after it.
    assert.strictEqual(life.over("2026-02-10", [["2026-02-05", 4n]]), 2n)
  })

  it("has a limit of periods, and is the last ones of more", () => {
    const life = new Life(short)
    const start = `${2026 + Math.ceil(MAX_ROLLOVER_PERIODS / 12) + 1}-01-01`
    assert.lengthOf(life.shown(start) ?? [], MAX_ROLLOVER_PERIODS)
    assert.lengthOf(life.until(start).shown(start) ?? [], MAX_ROLLOVER_PERIODS)
  })
})

describe("what rolled over", () => {
  it("is used first, the oldest first, and stays for a period, or for as long as the plan says", () => {
    assert.strictEqual(new Life(short).over("2026-02-01", []), 6n)
    assert.strictEqual(new Life(short).over("2026-02-01", [["2026-01-31", 7n]]), 3n)
    assert.strictEqual(new Life(short).over("2026-02-01", [["2026-01-31", 11n]]), 0n)
    // Of February, 6 of January and 1 of 10 were used. What is left of January would be gone in March.
    const used = [["2026-02-03", 7n]] as const
    assert.strictEqual(new Life(short).over("2026-03-01", used), 6n)
    assert.strictEqual(new Life(short).over("2026-03-01", [["2026-02-03", 14n]]), 2n)
    const untilApril = [
      ["2026-02-03", 5n],
      ["2026-03-03", 12n],
    ] as const
    // January has 15 − 5 − 10 left, February 15 − 2, March 15.
    assert.strictEqual(new Life(long).over("2026-04-01", untilApril), 28n)
    assert.strictEqual(new Life(long).over("2026-05-01", []), 45n)
  })

  it("counts usage that is recorded late", () => {
    const life = new Life(long).until("2026-03-01")
    assert.strictEqual(life.over("2026-03-01", []), 30n)
    assert.strictEqual(life.over("2026-03-01", [["2026-01-02", 12n]]), 23n)
  })

  it("keeps its amount and its time when the plan changes", () => {
    const life = new Life(long).do(changeTo(short), "2026-02-10")
    assert.strictEqual(life.over("2026-02-10", []), 15n)
    assert.strictEqual(life.over("2026-04-01", []), 15n + 6n)
    assert.strictEqual(life.over("2026-05-01", []), 6n)
  })

  it("expires by the calendar while the subscription is paused", () => {
    const pause = { type: "pause", resumeAt: at("2026-04-10") } as const
    assert.strictEqual(new Life(long).over("2026-03-09", []), 30n)
    const life = new Life(long).do(pause, "2026-03-10")
    assert.isUndefined(life.over("2026-03-10", []))
    assert.strictEqual(life.over("2026-04-10", []), 30n)
    assert.strictEqual(life.over("2026-05-01", []), 15n + 15n)
    const longer = new Life(long).do({ ...pause, resumeAt: at("2026-06-10") }, "2026-03-10")
    assert.strictEqual(longer.over("2026-06-10", []), 0n)
  })

  /** Each unit by itself: when it came, and until when it can be used. */
  const simulated = (counted: ReadonlyArray<CountedPeriod>, used: ReadonlyArray<bigint>, open: Period) => {
    interface Unit {
      readonly period: CountedPeriod
      isUsed: boolean
    }
    const kept: Array<Unit> = []
    const usable = (unit: Unit, number: number, openedAt: number) =>
      !unit.isUsed &&
      (unit.period.expiresAt === null ? number - unit.period.number < 2 : unit.period.expiresAt > openedAt)
    for (const [index, period] of counted.entries()) {
      const own = Array.from({ length: Number(period.included) }, (): Unit => ({ period, isUsed: false }))
      for (let n = 0; n < Number(used[index]); n++) {
        const next =
          kept.find((unit) => usable(unit, period.number, period.openedAt)) ??
          own.find((unit) => !unit.isUsed)
        if (next !== undefined) next.isUsed = true
      }
      kept.push(...own.filter((unit) => !unit.isUsed).slice(0, Number(period.maximum)))
    }
    return kept.filter((unit) => usable(unit, open.number, open.segments[0].start)).length
  }

  it("is what a simulation of single units has left, whatever happened to the subscription", () => {
    const day = fc.integer({ min: 0, max: 420 }).map((n) => at("2026-01-01") + n * 86_400_000)
    const change = fc.constantFrom(...PLANS).map((to) => changeTo(to))
    const pauses = fc.constantFrom("keep" as const, "now" as const)
    const inputs = fc.oneof(
      { weight: 4, arbitrary: change },
      { weight: 1, arbitrary: pauses.map((anchor) => ({ type: "pause", anchor }) as const) },
      { weight: 2, arbitrary: pauses.map((anchor) => ({ type: "resume", anchor }) as const) },
    )
    const entries = fc.array(fc.tuple(day, inputs), { maxLength: 8 })
    const usages = fc.array(fc.tuple(day, fc.bigInt({ min: 1n, max: 14n })), { maxLength: 40 })
    const begins = fc.constantFrom(short, long)
    let compared = 0
    holds(
      [begins, entries, usages, fc.boolean()],
      (of, script, usage, isTrial) => {
        const life = new Life(of, isTrial ? { trial: { days: 20 } } : {})
        for (const [when, input] of script.toSorted(([a], [b]) => a - b)) {
          try {
            life.do(input, when)
          } catch {
            // It can't be done as things are.
          }
        }
        const now = Math.max(at("2027-03-01"), life.subscription.asOf)
        const found = life.counted(now)
        if (found === undefined) return
        const used = found.counted.map(({ end, start }) =>
          usage.reduce((sum, [when, amount]) => (when >= start && when < end ? sum + amount : sum), 0n),
        )
        const over = rolledOver(found.counted, used, found.open)
        assert.strictEqual(over, BigInt(simulated(found.counted, used, found.open)))
        if (over > 0n) compared++
      },
      1_000,
    )
    assert.isAbove(compared, 20)
  })

  it("is what a simulation of single units by calendar months has left, whatever plans the months end with", () => {
    const included: Readonly<Record<string, number>> = { short: 10, long: 20 }
    const staying: Readonly<Record<string, number>> = { short: 6, long: 15 }
    const monthsOf: Readonly<Record<string, number>> = { short: 1, long: 3 }
    const plans = fc.constantFrom(short, short, long, long, none, without, other)
    const month = fc.record({ of: plans, used: fc.integer({ min: 0, max: 30 }) })
    holds(
      [fc.array(month, { maxLength: 20 }), fc.constantFrom(short, long)],
      (all, last) => {
        const dayOf = (index: number, day: string) =>
          `${2026 + Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, "0")}-${day}`
        const life = new Life(short)
        const usage: Array<readonly [string, bigint]> = []
        let units: Array<{ readonly until: number }> = []
        for (const [index, { of, used }] of all.entries()) {
          life.do(changeTo(of), dayOf(index, "10"))
          usage.push([dayOf(index, "15"), BigInt(used)])
          const there = units.filter(({ until }) => until >= index)
          const own = Array.from({ length: included[of.key] ?? 0 }, () => ({
            until: index + (monthsOf[of.key] ?? 0),
          }))
          const free = [
            ...there.map((unit) => ({ unit, isOwn: false })),
            ...own.map((unit) => ({ unit, isOwn: true })),
          ]
          const unused = free.slice(used)
          units = [
            ...unused.filter(({ isOwn }) => !isOwn),
            ...unused.filter(({ isOwn }) => isOwn).slice(0, staying[of.key]),
          ].map(({ unit }) => unit)
          if (included[of.key] === undefined) units = []
        }
        const now = dayOf(all.length, "20")
        life.do(changeTo(last), now)
        const left = units.filter(({ until }) => until >= all.length).length
        assert.strictEqual(life.over(now, usage), BigInt(left))
      },
      1_000,
    )
  })
})
