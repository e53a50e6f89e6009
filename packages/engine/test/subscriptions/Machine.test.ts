import { assert, describe, it } from "vitest"
import { availableActions, type Cancel, nextDue, type Subscription } from "../../src/index.ts"
import {
  advance,
  at,
  basic,
  changeTo,
  creation,
  dates,
  done,
  plan,
  pro,
  refused,
  shorts,
  started,
  yearly,
} from "./Subscriptions.ts"

const segmentsOf = ({ period }: Subscription) =>
  period?.segments.map(({ end, plan: of, quantities, start }) => [
    ...dates(start, end),
    of?.key ?? null,
    quantities["seats"],
  ])

describe("create", () => {
  it("opens the first period at once", () => {
    const made = done(null, creation, "2026-01-31")
    assert.deepStrictEqual(shorts(made), [
      "created",
      "open_period 0.0",
      "charge_advance 0.0",
      "grant 0.0",
      "invoice 0.0",
      "activated",
    ])
    const { subscription } = made
    assert.strictEqual(subscription.phase, "active")
    assert.strictEqual(subscription.sequence, 2)
    assert.deepStrictEqual(nextDue(subscription), { at: at("2026-02-28"), what: "close" })
  })

  it("schedules a start in the future", () => {
    const made = done(null, { ...creation, startAt: at("2026-03-01") }, "2026-01-01")
    assert.deepStrictEqual(shorts(made), ["created"])
    assert.strictEqual(made.subscription.phase, "scheduled")
    assert.deepStrictEqual(nextDue(made.subscription), { at: at("2026-03-01"), what: "start" })
    const begun = advance(made.subscription, "2026-03-01")
    assert.strictEqual(begun.subscription.phase, "active")
    assert.deepStrictEqual(shorts(begun).at(-1), "activated")
  })

  it("opens all periods since a start in the past", () => {
    const made = done(null, { ...creation, startAt: at("2025-11-15") }, "2026-01-20")
    assert.deepStrictEqual(
      shorts(made).filter((one) => one.startsWith("open") || one.startsWith("close")),
      ["open_period 0.0", "close_period 0.0", "open_period 1.0", "close_period 1.0", "open_period 2.0"],
    )
    assert.deepStrictEqual(segmentsOf(made.subscription), [["2026-01-15", "2026-02-15", "basic", "2"]])
  })

  it("opens a stub with an anchor of its own: billing by the calendar", () => {
    const { period } = started({ anchor: "2026-02-01", timezone: "UTC" }, "2026-01-12")
    assert.deepStrictEqual(dates(period?.start, period?.end), ["2026-01-01", "2026-02-01"])
    assert.deepStrictEqual(dates(period?.segments[0].start), ["2026-01-12"])
  })

  it("names everything that is wrong", () => {
    const two = plan("two", { currencies: ["EUR", "USD"] })
    const wrong = {
      ...creation,
      plan: two,
      quantities: { seats: "-1", chairs: "2" },
      timezone: "Mars/Olympus",
      anchor: "2026-02-30",
      trial: { days: 0 },
    }
    assert.deepStrictEqual(refused(null, wrong, "2026-01-01"), [
      "currency must be a currency of the plan: EUR, USD",
      "quantities.seats must be 0 or more",
      "quantities.chairs is not a quantity of the plan",
      "timezone must be an IANA time zone, such as Europe/Berlin",
      "anchor must be a local date and time that exists, such as 2026-02-01T09:00",
      "trial.days must be an integer from 1 to 730",
    ])
    assert.deepStrictEqual(refused(null, { ...creation, quantities: {} }, "2026-01-01"), [
      `quantities.seats is required: the charge "seats" uses it`,
    ])
    assert.deepStrictEqual(refused(null, { ...creation, trial: { endAt: at("2025-01-01") } }, "2026-01-01"), [
      "trial.endAt must be after the start",
    ])
    assert.deepStrictEqual(refused(null, { ...creation, startAt: 0.5 }, "2026-01-01"), [
      "startAt must be an instant in epoch milliseconds, an integer",
    ])
    assert.deepStrictEqual(refused(started(), creation, "2026-01-01"), [
      "create is not possible: the subscription exists",
    ])
    const daily = plan("daily", { interval: { unit: "day", count: 1 } })
    assert.deepStrictEqual(
      refused(null, { ...creation, plan: daily, startAt: at("2000-01-01") }, "2026-01-01"),
      ["startAt is too long ago: more than 10000 things would be due since then"],
    )
  })
})

describe("a trial", () => {
  const trialing = started({ trial: { days: 14 } })

  it("grants, and charges nothing", () => {
    const made = done(null, { ...creation, trial: { days: 14 } }, "2026-01-01")
    assert.deepStrictEqual(shorts(made), ["created", "open_period 0.0", "grant 0.0"])
    assert.strictEqual(made.subscription.phase, "trialing")
    assert.strictEqual(made.subscription.period?.trial, "free")
  })

  it("reminds three days before its end", () => {
    assert.deepStrictEqual(nextDue(trialing), { at: at("2026-01-12"), what: "trial_ending" })
    assert.deepStrictEqual(shorts(advance(trialing, "2026-01-14")), ["trial_ending"])
    assert.deepStrictEqual(shorts(done(null, { ...creation, trial: { days: 2 } }, "2026-01-01")), [
      "created",
      "open_period 0.0",
      "grant 0.0",
      "trial_ending",
    ])
  })

  it("ends with the first period, which is anchored there", () => {
    const over = advance(trialing, "2026-01-15")
    assert.deepStrictEqual(shorts(over), [
      "trial_ending",
      "close_period 0.0",
      "open_period 1.0",
      "charge_advance 1.0",
      "grant 1.0",
      "invoice 1.0",
      "activated",
    ])
    assert.deepStrictEqual(segmentsOf(over.subscription), [["2026-01-15", "2026-02-15", "basic", "2"]])
  })

  it("comes from the plan, or from the call", () => {
    const withTrial = plan("trial", { trial: { days: 30 } })
    assert.strictEqual(started({ plan: withTrial, trial: null }).phase, "active")
    const { trial: _, ...unsaid } = creation
    const made = done(null, { ...unsaid, plan: withTrial }, "2026-01-01").subscription
    assert.deepStrictEqual(dates(made.trialEndAt), ["2026-01-31"])
    const until = started({ trial: { endAt: at("2026-01-01T05:00:00Z") }, trialUsage: "charged" })
    assert.strictEqual(until.period?.trial, "charged")
    assert.deepStrictEqual(dates(until.trialEndAt), ["2026-01-01"])
  })

  it("can change plans and their interval, without charges", () => {
    const changed = done(trialing, changeTo(yearly), "2026-01-05")
    assert.deepStrictEqual(shorts(changed), ["slice_usage 0.0", "grant 0.1", "updated"])
    assert.deepStrictEqual(segmentsOf(changed.subscription), [
      ["2026-01-01", "2026-01-05", "basic", "2"],
      ["2026-01-05", "2026-01-15", "yearly", "2"],
    ])
    const over = advance(changed.subscription, "2026-01-15")
    assert.deepStrictEqual(segmentsOf(over.subscription), [["2026-01-15", "2027-01-15", "yearly", "2"]])
  })

  it("can change plans at its end", () => {
    const waiting = done(trialing, changeTo(pro, { at: "period_end" }), "2026-01-05")
    assert.deepStrictEqual(shorts(waiting), ["updated"])
    assert.deepStrictEqual(shorts(advance(waiting.subscription, "2026-01-15")), [
      "trial_ending",
      "close_period 0.0",
      "updated",
      "open_period 1.0",
      "charge_advance 1.0",
      "grant 1.0",
      "invoice 1.0",
      "activated",
    ])
  })

  it("can be canceled", () => {
    const canceled = done(trialing, { type: "cancel", at: "period_end" }, "2026-01-05").subscription
    const over = advance(canceled, "2026-03-01")
    assert.deepStrictEqual(shorts(over), ["trial_ending", "close_period 0.0", "invoice 0.1", "ended"])
    assert.deepStrictEqual(shorts(done(trialing, { type: "cancel", at: "now" }, "2026-01-05")), [
      "canceled",
      "slice_usage 0.0",
      "grant 0.1",
      "close_period 0.0",
      "invoice 0.1",
      "ended",
    ])
  })
})

describe("a boundary", () => {
  it("closes the period, then opens the next", () => {
    const next = advance(started(), "2026-02-01")
    assert.deepStrictEqual(shorts(next), [
      "close_period 0.0",
      "open_period 1.0",
      "charge_advance 1.0",
      "grant 1.0",
      "invoice 1.0",
      "renewed",
    ])
    assert.deepStrictEqual(shorts(advance(started(), at("2026-02-01") - 1)), [])
  })

  it("is done before a command that comes later", () => {
    const changed = done(started(), changeTo(pro), "2026-02-10")
    assert.deepStrictEqual(shorts(changed), [
      "close_period 0.0",
      "open_period 1.0",
      "charge_advance 1.0",
      "grant 1.0",
      "invoice 1.0",
      "renewed",
      "slice_usage 1.0",
      "credit_unused 1.0",
      "charge_advance 1.1",
      "grant 1.1",
      "invoice 1.1",
      "updated",
    ])
  })

  it("leaves out the period of a date that the zone skipped", () => {
    const daily = plan("daily", { interval: { unit: "day", count: 1 } })
    const apia = started(
      { plan: daily, anchor: "2011-12-28", timezone: "Pacific/Apia", startAt: at("2011-12-28T10:00:00Z") },
      "2011-12-28T10:00:00Z",
    )
    const over = advance(apia, "2012-01-01T10:00:00Z")
    const opened = over.effects.flatMap((effect) => (effect.kind === "open_period" ? [effect.period] : []))
    assert.deepStrictEqual(
      opened.map(({ end, start }) => (end - start) / 3_600_000),
      [24, 24, 24, 24],
    )
  })
})

describe("a change", () => {
  it("now credits the old plan and charges the new one", () => {
    const changed = done(started(), changeTo(pro), "2026-01-11T15:00:00Z")
    assert.deepStrictEqual(shorts(changed), [
      "slice_usage 0.0",
      "credit_unused 0.0",
      "charge_advance 0.1",
      "grant 0.1",
      "invoice 0.1",
      "updated",
    ])
    assert.deepStrictEqual(segmentsOf(changed.subscription), [
      ["2026-01-01", "2026-01-11", "basic", "2"],
      ["2026-01-11", "2026-02-01", "pro", "2"],
    ])
  })

  it("can be billed by the next invoice", () => {
    const changed = done(started(), changeTo(pro, { bill: "next_invoice" }), "2026-01-11")
    assert.notInclude(shorts(changed), "invoice 0.1")
  })

  it("to another interval begins a period, with an anchor of its own", () => {
    const changed = done(started(), changeTo(yearly), "2026-01-11T15:00:00Z")
    assert.deepStrictEqual(shorts(changed), [
      "slice_usage 0.0",
      "credit_unused 0.0",
      "grant 0.1",
      "close_period 0.0",
      "open_period 1.0",
      "charge_advance 1.0",
      "grant 1.0",
      "invoice 1.0",
      "updated",
    ])
    assert.deepStrictEqual(changed.subscription.periods, {
      anchor: "2026-01-11T15:00:00.000",
      timezone: "UTC",
      unit: "year",
      count: 1,
    })
  })

  it("at the period's end waits, and can be replaced and taken back", () => {
    const waiting = done(started(), changeTo(pro, { at: "period_end" }), "2026-01-05")
    assert.deepStrictEqual(shorts(waiting), ["updated"])
    const replaced = done(waiting.subscription, changeTo(yearly, { at: "period_end" }), "2026-01-06")
    const [updated] = replaced.effects
    assert.isTrue(updated?.kind === "event" && updated.previous.pending?.plan?.key === "pro")
    const over = advance(replaced.subscription, "2026-02-01")
    assert.deepStrictEqual(shorts(over), [
      "close_period 0.0",
      "updated",
      "open_period 1.0",
      "charge_advance 1.0",
      "grant 1.0",
      "invoice 1.0",
      "renewed",
    ])
    assert.deepStrictEqual(segmentsOf(over.subscription), [["2026-02-01", "2027-02-01", "yearly", "2"]])
    const back = done(replaced.subscription, changeTo(basic, { at: "period_end" }), "2026-01-07")
    assert.deepStrictEqual([shorts(back), back.subscription.pending], [["updated"], null])
  })

  const fewerSeats = { type: "change", quantities: { seats: "1" } } as const
  const bothWays = [
    ["quantities after a plan", changeTo(pro, { at: "period_end" }), fewerSeats],
    ["a plan after quantities", fewerSeats, changeTo(pro, { at: "period_end" })],
  ] as const
  it.each(bothWays)(
    "at the period's end is made together with the one that waits: %s",
    (_, first, second) => {
      const waiting = done(started(), first, "2026-01-05").subscription
      const both = done(waiting, second, "2026-01-06")
      const [updated] = both.effects
      assert.isTrue(updated?.kind === "event" && updated.previous.pending !== null)
      const over = advance(both.subscription, "2026-02-01").subscription
      assert.deepStrictEqual(segmentsOf(over), [["2026-02-01", "2026-03-01", "pro", "1"]])
    },
  )

  it("of quantities takes back those that wait, and leaves the plan that waits", () => {
    const plan = done(started(), changeTo(pro, { at: "period_end" }), "2026-01-05").subscription
    const both = done(plan, fewerSeats, "2026-01-06").subscription
    const asNow = { type: "change", at: "period_end", quantities: { seats: "2" } } as const
    const back = done(both, asNow, "2026-01-07").subscription
    assert.deepStrictEqual(back.pending, plan.pending)
    const seats = done(started(), fewerSeats, "2026-01-05").subscription
    assert.isNull(done(seats, asNow, "2026-01-07").subscription.pending)
    // The plan that is there takes everything back.
    assert.isNull(done(both, changeTo(basic, { at: "period_end" }), "2026-01-07").subscription.pending)
  })

  it("at an instant is billed as the one that waits, unless it says how", () => {
    const first = { ...changeTo(pro, { at: at("2026-01-20") }), bill: "next_invoice" } as const
    const plan = done(started(), first, "2026-01-05").subscription
    const seats = { ...fewerSeats, at: at("2026-01-20") }
    assert.strictEqual(done(plan, seats, "2026-01-06").subscription.pending?.bill, "next_invoice")
    const other = { ...seats, bill: "now" } as const
    assert.strictEqual(done(plan, other, "2026-01-06").subscription.pending?.bill, "now")
  })

  it("to the plan that waits already leaves the quantities that wait with it", () => {
    const toPro = changeTo(pro, { at: "period_end" })
    const plan = done(started(), toPro, "2026-01-05").subscription
    const both = done(plan, fewerSeats, "2026-01-06").subscription
    assert.deepStrictEqual(done(both, toPro, "2026-01-07").subscription.pending, both.pending)
    // Another plan replaces them.
    const other = done(both, changeTo(yearly, { at: "period_end" }), "2026-01-07").subscription
    assert.deepInclude(other.pending, { plan: { key: "yearly", version: 1 }, quantities: {} })
  })

  it("to the plan that waits already needs no quantity that waits with it", () => {
    const charge = { key: "desks", model: "unit", quantity: "desks", price: { EUR: "5.00" } } as const
    const [desks, rooms] = [plan("desks", { charges: [charge] }), plan("rooms", { charges: [charge] })]
    const toDesks = changeTo(desks, { at: "period_end" })
    const all = { ...toDesks, quantities: { desks: "4" } }
    const waits = done(started(), all, "2026-01-05").subscription
    assert.deepStrictEqual(done(waits, toDesks, "2026-01-06").subscription.pending, waits.pending)
    // At another time it is another change, and a third plan replaces the one that waits.
    const now = { ...toDesks, at: "now" } as const
    for (const other of [now, changeTo(rooms, { at: "period_end" })]) {
      assert.deepStrictEqual(refused(waits, other, "2026-01-06"), [
        'quantities.desks is required: the charge "desks" uses it',
      ])
    }
  })

  it("at the instant at which the period ends is made together with one at the period's end", () => {
    const toPro = changeTo(pro, { at: at("2026-02-01") })
    const plan = done(started(), toPro, "2026-01-05").subscription
    const both = done(plan, fewerSeats, "2026-01-06").subscription
    const over = advance(both, "2026-02-01").subscription
    assert.deepStrictEqual(segmentsOf(over), [["2026-02-01", "2026-03-01", "pro", "1"]])
  })

  it("of quantities now takes them out of what waits, also when they are there already", () => {
    const seats = done(started(), fewerSeats, "2026-01-05").subscription
    const more = done(seats, { type: "change", quantities: { seats: "3" } }, "2026-01-06")
    const [updated] = more.effects.filter(({ kind }) => kind === "event")
    assert.isTrue(updated?.kind === "event" && updated.previous.pending?.quantities["seats"] === "1")
    assert.deepInclude(more.subscription, { pending: null, quantities: { seats: "3" } })
    const same = { type: "change", quantities: { seats: "2" } } as const
    const back = done(seats, same, "2026-01-06")
    assert.deepStrictEqual([shorts(back), back.subscription.pending], [["updated"], null])
    const plan = done(seats, changeTo(pro, { at: "period_end" }), "2026-01-06").subscription
    const left = done(plan, same, "2026-01-07").subscription.pending
    assert.deepInclude(left, { plan: { key: "pro", version: 1 }, quantities: {} })
    assert.deepStrictEqual(shorts(done(started(), same, "2026-01-06")), [])
  })

  it("names quantities that only the plan has that waits, for the same time", () => {
    const perDesk = { key: "desks", model: "unit", quantity: "desks", price: { EUR: "5.00" } } as const
    const withDesks = plan("desks", { charges: [perDesk] })
    const toDesks = changeTo(withDesks, { at: "period_end", quantities: { desks: "4" } })
    const waiting = done(started(), toDesks, "2026-01-05").subscription
    const desks = { type: "change", at: "period_end", quantities: { desks: "5" } } as const
    assert.deepInclude(done(waiting, desks, "2026-01-06").subscription.pending, {
      quantities: { desks: "5" },
    })
    assert.deepStrictEqual(refused(waiting, { ...desks, at: "now" }, "2026-01-06"), [
      "quantities.desks is not a quantity of the plan",
    ])
  })

  it("for another time replaces the one that waits", () => {
    const plan = done(started(), changeTo(pro, { at: "period_end" }), "2026-01-05").subscription
    const later = { ...fewerSeats, at: at("2026-01-20") }
    const { pending } = done(plan, later, "2026-01-06").subscription
    assert.deepInclude(pending, { plan: null, at: at("2026-01-20"), quantities: { seats: "1" } })
  })

  it("at an instant happens then, also on a boundary", () => {
    const later = done(started(), changeTo(pro, { at: at("2026-02-10") }), "2026-01-05").subscription
    assert.deepStrictEqual(nextDue(later), { at: at("2026-02-01"), what: "close" })
    assert.deepStrictEqual(shorts(advance(later, "2026-02-10")).slice(-6), [
      "slice_usage 1.0",
      "credit_unused 1.0",
      "charge_advance 1.1",
      "grant 1.1",
      "invoice 1.1",
      "updated",
    ])
    const boundary = done(started(), changeTo(pro, { at: at("2026-02-01") }), "2026-01-05").subscription
    assert.deepStrictEqual(segmentsOf(advance(boundary, "2026-02-01").subscription), [
      ["2026-02-01", "2026-03-01", "pro", "2"],
    ])
  })

  it("now of the plan replaces a change that waits, of quantities it does not", () => {
    const waiting = done(started(), changeTo(yearly, { at: "period_end" }), "2026-01-05").subscription
    assert.isNull(done(waiting, changeTo(pro), "2026-01-06").subscription.pending)
    const seats = done(waiting, { type: "change", quantities: { seats: "3" } }, "2026-01-06")
    assert.isNotNull(seats.subscription.pending)
  })

  it("to what is there already does nothing", () => {
    assert.deepStrictEqual(shorts(done(started(), changeTo(basic), "2026-01-05")), [])
    const same = { type: "change", quantities: { seats: "2.0" } } as const
    assert.deepStrictEqual(shorts(done(started(), same, "2026-01-05")), [])
  })

  it("before the start charges nothing", () => {
    const scheduled = started({ startAt: at("2026-03-01") })
    const changed = done(scheduled, changeTo(yearly, { quantities: { seats: "1" } }), "2026-01-05")
    assert.deepStrictEqual(shorts(changed), ["updated"])
    const { subscription } = advance(changed.subscription, "2026-03-01")
    assert.deepStrictEqual(segmentsOf(subscription), [["2026-03-01", "2027-03-01", "yearly", "1"]])
  })

  it("that is wrong is refused by name", () => {
    const active = started()
    const { at: _, ...undated } = changeTo(pro)
    assert.deepStrictEqual(refused(active, undated, "2026-01-05"), [
      "at is required for a change of plan: now, period_end or an instant",
    ])
    assert.deepStrictEqual(refused(active, { type: "change" }, "2026-01-05"), [
      "plan is required (or quantities): a change needs one of them",
    ])
    assert.deepStrictEqual(refused(active, changeTo(pro, { at: at("2026-01-04") }), "2026-01-05"), [
      "at must not be in the past",
    ])
    const dollars = plan("dollars", {
      currencies: ["USD"],
      charges: [{ key: "rooms", model: "unit", quantity: "rooms", price: { USD: "1" } }],
    })
    assert.deepStrictEqual(refused(active, changeTo(dollars), "2026-01-05"), [
      "plan has no prices in EUR, the currency of the subscription",
      `quantities.rooms is required: the charge "rooms" uses it`,
    ])
    assert.deepStrictEqual(refused(active, { type: "change", quantities: { rooms: "1" } }, "2026-01-05"), [
      "quantities.rooms is not a quantity of the plan",
    ])
    const scheduled = started({ startAt: at("2026-03-01") })
    assert.deepStrictEqual(refused(scheduled, changeTo(pro, { at: "period_end" }), "2026-01-05"), [
      "at must not be period_end: the subscription has not started",
    ])
  })
})

describe("quantities", () => {
  it("go up now, and down at the period's end", () => {
    const up = done(started(), { type: "change", quantities: { seats: "5" } }, "2026-01-11")
    assert.deepStrictEqual(shorts(up), ["credit_unused 0.0", "charge_advance 0.1", "invoice 0.1", "updated"])
    const down = done(up.subscription, { type: "change", quantities: { seats: "1" } }, "2026-01-12")
    assert.deepStrictEqual(shorts(down), ["updated"])
    assert.strictEqual(down.subscription.quantities["seats"], "5")
    const next = advance(down.subscription, "2026-02-01").subscription
    assert.deepStrictEqual(segmentsOf(next), [["2026-02-01", "2026-03-01", "basic", "1"]])
  })

  it("go down now if asked, and up on the next invoice", () => {
    const down = { type: "change", quantities: { seats: "1" }, at: "now" } as const
    assert.strictEqual(done(started(), down, "2026-01-12").subscription.quantities["seats"], "1")
    const up = { type: "change", quantities: { seats: "3" }, bill: "next_invoice" } as const
    assert.deepStrictEqual(shorts(done(started(), up, "2026-01-12")), [
      "credit_unused 0.0",
      "charge_advance 0.1",
      "updated",
    ])
  })
})

describe("a pause", () => {
  const paused = done(started(), { type: "pause" }, "2026-01-11").subscription

  it("slices the period and credits the rest, if it may", () => {
    assert.deepStrictEqual(shorts(done(started(), { type: "pause" }, "2026-01-11")), [
      "slice_usage 0.0",
      "credit_unused 0.0",
      "grant 0.1",
      "invoice 0.1",
      "paused",
    ])
    assert.notInclude(
      shorts(done(started(), { type: "pause", credit: "none" }, "2026-01-11")),
      "credit_unused 0.0",
    )
  })

  it("lets the period close, and opens none", () => {
    const later = advance(paused, "2026-04-10")
    assert.deepStrictEqual(shorts(later), ["close_period 0.1", "invoice 0.2"])
    assert.isNull(nextDue(later.subscription))
  })

  it("ends in the same period, or in a later one, on the old boundaries", () => {
    const same = done(paused, { type: "resume" }, "2026-01-21")
    assert.deepStrictEqual(shorts(same), ["charge_advance 0.2", "grant 0.2", "invoice 0.2", "resumed"])
    assert.deepStrictEqual(segmentsOf(same.subscription), [
      ["2026-01-01", "2026-01-11", "basic", "2"],
      ["2026-01-11", "2026-01-21", null, undefined],
      ["2026-01-21", "2026-02-01", "basic", "2"],
    ])
    const later = done(paused, { type: "resume" }, "2026-03-10")
    assert.deepStrictEqual(shorts(later), [
      "close_period 0.1",
      "invoice 0.2",
      "open_period 1.0",
      "charge_advance 1.0",
      "grant 1.0",
      "invoice 1.0",
      "resumed",
    ])
    assert.deepStrictEqual(dates(later.subscription.period?.start, later.subscription.period?.end), [
      "2026-03-01",
      "2026-04-01",
    ])
  })

  it("ends with a new anchor, if asked", () => {
    const resumed = done(paused, { type: "resume", anchor: "now" }, "2026-01-21")
    assert.deepStrictEqual(shorts(resumed), [
      "close_period 0.1",
      "open_period 1.0",
      "charge_advance 1.0",
      "grant 1.0",
      "invoice 1.0",
      "resumed",
    ])
    assert.deepStrictEqual(segmentsOf(resumed.subscription), [["2026-01-21", "2026-02-21", "basic", "2"]])
  })

  it("ends by itself on a date", () => {
    const dated = done(started(), { type: "pause", resumeAt: at("2026-03-05"), anchor: "now" }, "2026-01-11")
    assert.deepStrictEqual(nextDue(dated.subscription), { at: at("2026-02-01"), what: "close" })
    const resumed = advance(dated.subscription, "2026-03-05").subscription
    assert.deepStrictEqual(segmentsOf(resumed), [["2026-03-05", "2026-04-05", "basic", "2"]])
    assert.deepStrictEqual(refused(started(), { type: "pause", resumeAt: at("2026-01-01") }, "2026-01-11"), [
      "resumeAt must be in the future",
    ])
  })

  it("keeps a change that waits, and makes it", () => {
    const waiting = done(started(), changeTo(pro, { at: "period_end" }), "2026-01-05").subscription
    const later = advance(done(waiting, { type: "pause" }, "2026-01-11").subscription, "2026-02-01")
    assert.deepStrictEqual(shorts(later), ["close_period 0.1", "invoice 0.2", "updated"])
    assert.strictEqual(later.subscription.plan.key, "pro")
    const dated = done(started(), changeTo(yearly, { at: at("2026-01-20") }), "2026-01-05").subscription
    const changed = advance(done(dated, { type: "pause" }, "2026-01-11").subscription, "2026-01-20")
    assert.deepStrictEqual(shorts(changed), ["close_period 0.1", "invoice 0.2", "updated"])
    const resumed = done(changed.subscription, { type: "resume" }, "2026-01-25").subscription
    assert.deepStrictEqual(dates(resumed.period?.start, resumed.period?.end), ["2026-01-20", "2027-01-20"])
  })

  it("can end for good", () => {
    assert.deepStrictEqual(shorts(done(paused, { type: "cancel", at: "now" }, "2026-01-15")), [
      "canceled",
      "close_period 0.1",
      "invoice 0.2",
      "ended",
    ])
    const atBoundary = done(paused, { type: "cancel", at: "period_end" }, "2026-01-15").subscription
    assert.deepStrictEqual(shorts(advance(atBoundary, "2026-02-01")), [
      "close_period 0.1",
      "invoice 0.2",
      "ended",
    ])
    const later = advance(paused, "2026-03-10").subscription
    assert.deepStrictEqual(shorts(done(later, { type: "cancel", at: "now" }, "2026-03-10")), [
      "canceled",
      "ended",
    ])
    const atEnd = done(later, { type: "cancel", at: "period_end" }, "2026-03-10").subscription
    assert.deepStrictEqual(dates(atEnd.endsAt), ["2026-04-01"])
  })
})

describe("a cancellation", () => {
  it("at the period's end can be taken back until then", () => {
    const canceled = done(started(), { type: "cancel", at: "period_end" }, "2026-01-05")
    assert.deepStrictEqual(shorts(canceled), ["canceled"])
    assert.deepStrictEqual(dates(canceled.subscription.endsAt), ["2026-02-01"])
    const back = done(canceled.subscription, { type: "uncancel" }, "2026-01-20")
    assert.deepStrictEqual(shorts(back), ["updated"])
    assert.deepStrictEqual(shorts(advance(back.subscription, "2026-02-01")).at(-1), "renewed")
    const over = advance(canceled.subscription, "2026-05-01")
    assert.deepStrictEqual(shorts(over), ["close_period 0.0", "invoice 0.1", "ended"])
    assert.deepStrictEqual(availableActions(over.subscription), [])
  })

  it("now slices the period, and credits the rest if it may", () => {
    assert.deepStrictEqual(shorts(done(started(), { type: "cancel", at: "now" }, "2026-01-11")), [
      "canceled",
      "slice_usage 0.0",
      "credit_unused 0.0",
      "grant 0.1",
      "close_period 0.0",
      "invoice 0.1",
      "ended",
    ])
    assert.notInclude(
      shorts(done(started(), { type: "cancel", at: "now", credit: "none" }, "2026-01-11")),
      "credit_unused 0.0",
    )
  })

  it("at an instant goes through the boundaries before it", () => {
    const canceled = done(started(), { type: "cancel", at: at("2026-03-10") }, "2026-01-05").subscription
    const over = advance(canceled, "2026-12-01")
    assert.deepStrictEqual(dates(over.subscription.endedAt), ["2026-03-10"])
    assert.strictEqual(over.subscription.opened, 3)
  })

  it("before the start leaves nothing to bill", () => {
    const scheduled = started({ startAt: at("2026-03-01") })
    assert.deepStrictEqual(shorts(done(scheduled, { type: "cancel", at: "now" }, "2026-01-05")), [
      "canceled",
      "ended",
    ])
  })
})

describe("ties at one instant", () => {
  it("close, cancel, change, open", () => {
    const waiting = done(started(), changeTo(pro, { at: "period_end" }), "2026-01-05").subscription
    const canceled = done(waiting, { type: "cancel", at: "period_end" }, "2026-01-06").subscription
    assert.deepStrictEqual(shorts(advance(canceled, "2026-02-01")), [
      "close_period 0.0",
      "invoice 0.1",
      "ended",
    ])
  })

  it("a command on a boundary comes before the next period opens", () => {
    assert.deepStrictEqual(shorts(done(started(), changeTo(yearly), "2026-02-01")), [
      "close_period 0.0",
      "updated",
      "open_period 1.0",
      "charge_advance 1.0",
      "grant 1.0",
      "invoice 1.0",
      "renewed",
    ])
    assert.deepStrictEqual(shorts(done(started(), { type: "cancel", at: "now" }, "2026-02-01")), [
      "close_period 0.0",
      "canceled",
      "invoice 0.1",
      "ended",
    ])
    assert.deepStrictEqual(shorts(done(started(), { type: "pause" }, "2026-02-01")), [
      "close_period 0.0",
      "invoice 0.1",
      "paused",
    ])
  })
})

describe("actions", () => {
  it("are those of the phase", () => {
    const active = started()
    const paused = done(active, { type: "pause" }, "2026-01-05").subscription
    const ended = done(active, { type: "cancel", at: "now" }, "2026-01-05").subscription
    const ending = done(active, { type: "cancel", at: "period_end" }, "2026-01-05").subscription
    assert.deepStrictEqual(
      [
        started({ startAt: at("2027-01-01") }),
        started({ trial: { days: 5 } }),
        active,
        ending,
        paused,
        ended,
      ].map(availableActions),
      [
        ["change", "cancel"],
        ["change", "cancel"],
        ["change", "pause", "cancel"],
        ["change", "pause", "cancel", "uncancel"],
        ["resume", "cancel"],
        [],
      ],
    )
    assert.deepStrictEqual(refused(ended, { type: "pause" }, "2026-01-05"), [
      "pause is not possible while ended: the subscription must be active",
    ])
    assert.deepStrictEqual(refused(active, { type: "uncancel" }, "2026-01-05"), [
      "uncancel is not possible: no end is set",
    ])
    const untyped = JSON.parse(`{ "type": "cancel" }`) as Cancel
    assert.deepStrictEqual(refused(active, untyped, "2026-01-05"), [
      "at is required: now, period_end or an instant",
    ])
    assert.deepStrictEqual(refused(null, { type: "pause" }, "2026-01-05"), [
      "pause is not possible: the subscription does not exist",
    ])
    assert.deepStrictEqual(refused(active, { type: "pause" }, Number.NaN), [
      "at must be an instant in epoch milliseconds, an integer",
    ])
  })

  it("at an instant before the last one count as at the last one", () => {
    const changed = done(started(), changeTo(pro), "2026-01-11").subscription
    const again = done(changed, changeTo(basic), "2026-01-10").subscription
    assert.strictEqual(again.asOf, at("2026-01-11"))
    assert.deepStrictEqual(segmentsOf(again)?.[1], ["2026-01-11", "2026-01-11", "pro", "2"])
  })
})
