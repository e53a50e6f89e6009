import { countedTime, entitledAt, isPastGrace, type PlanTerms, type Subscription } from "@billwright/engine"
import { assert, describe, it } from "vitest"
import { fc, holds } from "../property.ts"
import {
  advance,
  at,
  basic,
  changeTo,
  dates,
  done,
  plan,
  pro,
  started,
} from "../subscriptions/Subscriptions.ts"

const shown = (subscription: Subscription, day: string, terms: PlanTerms = basic.terms) => {
  const entitled = entitledAt(subscription, at(day))
  if (entitled === undefined) return undefined
  const { end, start } = countedTime(entitled.period, entitled.plan, terms)
  return [entitled.plan.key, ...dates(start, end)]
}

const restarting = plan("restarting", { policy: { usage_on_change: "restart" } })

describe("what a subscription entitles to", () => {
  it("is its plan, from the start of the open period on", () => {
    const subscription = started()
    assert.deepStrictEqual(shown(subscription, "2026-01-01"), ["basic", "2026-01-01", "2026-02-01"])
    assert.deepStrictEqual(shown(subscription, "2026-02-01"), ["basic", "2026-02-01", "2026-03-01"])
    assert.deepStrictEqual(shown(subscription, "2027-06-15"), ["basic", "2027-06-01", "2027-07-01"])
  })

  it("counts the part of a first period that is served", () => {
    const subscription = started({ anchor: "2026-02-01" }, "2026-01-20")
    assert.deepStrictEqual(shown(subscription, "2026-01-21"), ["basic", "2026-01-20", "2026-02-01"])
  })

  it("is nothing before the start, while paused and after the end", () => {
    const scheduled = started({ startAt: at("2026-01-10") })
    assert.isUndefined(shown(scheduled, "2026-01-09"))
    assert.isDefined(shown(scheduled, "2026-01-10"))
    const pause = { type: "pause", resumeAt: at("2026-03-05") } as const
    const paused = done(started(), pause, "2026-01-10").subscription
    assert.isUndefined(shown(paused, "2026-01-10"))
    assert.isUndefined(shown(paused, "2026-03-04"))
    assert.deepStrictEqual(shown(paused, "2026-03-05"), ["basic", "2026-03-05", "2026-04-01"])
    const ending = done(started(), { type: "cancel", at: "period_end" }, "2026-01-10").subscription
    assert.isDefined(shown(ending, "2026-01-31"))
    assert.isUndefined(shown(ending, "2026-02-01"))
  })

  it("is that of a change that waits, from its instant on", () => {
    const changed = done(started(), changeTo(pro, { at: "period_end" }), "2026-01-10").subscription
    assert.deepStrictEqual(shown(changed, "2026-01-31"), ["basic", "2026-01-01", "2026-02-01"])
    assert.deepStrictEqual(shown(changed, "2026-02-01"), ["pro", "2026-02-01", "2026-03-01"])
  })

  it("counts on over a change, or anew from where the plan restarts usage", () => {
    const first = done(started(), changeTo(pro), "2026-01-10").subscription
    assert.deepStrictEqual(shown(first, "2026-01-10"), ["pro", "2026-01-01", "2026-02-01"])
    const second = done(first, changeTo(restarting), "2026-01-20").subscription
    const seats = { type: "change", quantities: { seats: "9" }, at: "now" } as const
    const third = done(second, seats, "2026-01-25").subscription
    const expected = ["restarting", "2026-01-20", "2026-02-01"]
    assert.deepStrictEqual(shown(second, "2026-01-20", restarting.terms), expected)
    assert.deepStrictEqual(shown(third, "2026-01-26", restarting.terms), expected)
  })

  it("does not depend on whether what was due has been done", () => {
    const days = fc.integer({ min: 0, max: 400 })
    holds([days, days, fc.boolean(), fc.option(days)], (looked, ran, hasTrial, ends) => {
      const day = 86_400_000
      const begun = started(hasTrial ? { trial: { days: 10 } } : {})
      const asked = { type: "cancel", at: at("2026-01-01") + (ends ?? 0) * day } as const
      const subscription = ends === null || ends === 0 ? begun : done(begun, asked, "2026-01-01").subscription
      const now = at("2026-01-01") + looked * day
      const late = advance(subscription, at("2026-01-01") + Math.min(ran, looked) * day).subscription
      const { period, phase, plan: current } = advance(subscription, now).subscription
      const isOn = phase === "active" || phase === "trialing"
      const closed = entitledAt(late, now)?.closed ?? []
      assert.deepStrictEqual(
        entitledAt(late, now),
        isOn ? { plan: current, period: period!, closed } : undefined,
      )
    })
  })

  it("is nothing when far too much would have to be done first", () => {
    const daily = started({ plan: plan("daily", { interval: { unit: "day", count: 1 } }) })
    assert.isDefined(entitledAt(daily, at("2039-01-01")))
    assert.isUndefined(entitledAt(daily, at("2041-01-01")))
  })
})

describe("the grace of a plan while a payment is late", () => {
  it("is days of 24 hours, and has no end if the plan has none", () => {
    const { terms } = plan("graceful", { policy: { past_due_grace_days: 2 } })
    const since = at("2026-03-28")
    assert.isFalse(isPastGrace(terms, null, since))
    assert.isFalse(isPastGrace(terms, since, at("2026-03-30") - 1))
    assert.isTrue(isPastGrace(terms, since, at("2026-03-30")))
    assert.isTrue(isPastGrace({ ...terms, policy: { past_due_grace_days: 0 } }, since, since))
    assert.isFalse(isPastGrace(basic.terms, since, at("2030-01-01")))
  })
})
