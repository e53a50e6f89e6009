import { assert, describe, it } from "vitest"
import {
  availableActions,
  type Command,
  type Create,
  type Due,
  type Effect,
  isRejected,
  nextDue,
  type Period,
  Periods,
  step,
  type Subscription,
} from "../../src/index.ts"
import { fc, holds } from "../property.ts"
import { advance, at, basic, changeTo, done, plan, pro, yearly } from "./Subscriptions.ts"

const DAY = 86_400_000
const START = at("2026-01-01")
/** How long a script runs: some periods of every plan but the yearly one. */
const END = START + 500 * DAY

const plans = fc.constantFrom(basic, pro, yearly, plan("weekly", { interval: { unit: "week", count: 2 } }))
/** Instants that often meet a boundary, and each other. */
const instants = fc.oneof(
  fc.integer({ min: 0, max: 60 }).map((week) => START + week * 7 * DAY),
  fc.integer({ min: 0, max: 15 }).map((k) => Periods.boundary(monthly, k)),
  fc.integer({ min: START, max: END }),
)
const monthly: Periods.Periods = { anchor: "2026-01-01", timezone: "UTC", unit: "month", count: 1 }
const seats = fc.integer({ min: 0, max: 9 }).map((count) => ({ seats: `${count}` }))
const times = fc.oneof(fc.constantFrom("now" as const, "period_end" as const), instants)
const credits = fc.constantFrom("prorate" as const, "none" as const)
const anchorsOf = fc.constantFrom("keep" as const, "now" as const)

const commands: fc.Arbitrary<Command> = fc.oneof(
  fc
    .tuple(plans, times, fc.constantFrom("now" as const, "next_invoice" as const))
    .map(([to, when, bill]): Command => changeTo(to, { at: when, bill })),
  seats.map((quantities): Command => ({ type: "change", quantities })),
  fc.tuple(seats, times).map(([quantities, when]): Command => ({ type: "change", quantities, at: when })),
  fc.tuple(credits, anchorsOf).map(([credit, anchor]): Command => ({ type: "pause", credit, anchor })),
  fc.tuple(instants, credits).map(([resumeAt, credit]): Command => ({ type: "pause", resumeAt, credit })),
  anchorsOf.map((anchor): Command => ({ type: "resume", anchor })),
  // Fewer of them end the subscription, so that scripts go on.
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Command>({ type: "uncancel" }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(times, credits)
        .map(([when, credit]): Command => ({ type: "cancel", at: when, credit })),
    },
  ),
)

const creations: fc.Arbitrary<Create> = fc
  .record({
    plan: plans,
    quantities: seats,
    timezone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York"),
    trial: fc.oneof(
      fc.constant(null),
      fc.integer({ min: 1, max: 40 }).map((days) => ({ days })),
    ),
    startAt: fc.oneof(
      fc.constant(START),
      instants.map((instant) => instant - 60 * DAY),
    ),
    anchor: fc.constantFrom(undefined, "2026-01-01", "2025-12-31T10:30"),
  })
  .map(({ anchor, ...rest }) => ({ type: "create", ...rest, ...(anchor === undefined ? {} : { anchor }) }))

interface Entry {
  readonly at: number
  readonly input: Command | Due
}

const scripts = fc
  .array(fc.record({ at: instants, input: commands }), { maxLength: 12 })
  .map((entries): ReadonlyArray<Entry> => entries.toSorted((a, b) => a.at - b.at))

interface Run {
  readonly subscription: Subscription
  readonly effects: ReadonlyArray<Effect>
}

/** Runs a script. Commands that are refused change nothing. */
const run = (creation: Create, script: ReadonlyArray<Entry>): Run => {
  const made = done(null, creation, START)
  let { subscription } = made
  const effects = [...made.effects]
  const take = (after: Run) => {
    subscription = after.subscription
    effects.push(...after.effects)
  }
  for (const entry of script) {
    const outcome = step(subscription, entry.input, entry.at)
    if (!isRejected(outcome)) take(outcome)
  }
  take(advance(subscription, END))
  return { subscription, effects }
}

const byKey = (effect: Effect) =>
  effect.kind === "event"
    ? `event ${effect.subscription.sequence}`
    : `${effect.kind} ${effect.period.number} ${effect.segment}`

const periodsOf = (
  effects: ReadonlyArray<Effect>,
  kind: "open_period" | "close_period",
): ReadonlyArray<Period> => effects.flatMap((effect) => (effect.kind === kind ? [effect.period] : []))

describe("any script of commands", () => {
  it("has the same effects in one jump and in any smaller advances (J8)", () => {
    const looks = fc.array(instants, { maxLength: 20 })
    holds([creations, scripts, looks], (creation, script, at) => {
      const whole = run(creation, script)
      const ticks = at.map((instant): Entry => ({ at: instant, input: { type: "due" } }))
      // At one instant commands come first: they have a place of their own among what is due.
      const mixed = [...script, ...ticks].toSorted((a, b) => a.at - b.at)
      assert.deepStrictEqual(run(creation, mixed), whole)
    })
  })

  it("asks for each thing once: no two effects have the same kind, period and segment", () => {
    holds([creations, scripts], (creation, script) => {
      const keys = run(creation, script).effects.map(byKey)
      assert.strictEqual(new Set(keys).size, keys.length, JSON.stringify(keys))
    })
  })

  it("skips no boundary: periods meet, but for pauses, and their segments have no gaps", () => {
    holds([creations, scripts], (creation, script) => {
      const { effects, subscription } = run(creation, script)
      const opened = periodsOf(effects, "open_period")
      const closed = periodsOf(effects, "close_period")
      assert.deepStrictEqual(
        opened.map(({ number }) => number),
        opened.map((_, index) => index),
      )
      assert.strictEqual(subscription.opened, opened.length)
      assert.strictEqual(closed.length, opened.length - (subscription.period === null ? 0 : 1))
      for (const [index, { end, segments, start }] of closed.entries()) {
        assert.isAtMost(start, segments[0].start)
        for (const [after, segment] of segments.entries()) {
          assert.isAtMost(segment.start, segment.end)
          if (after > 0) assert.strictEqual(segment.start, segments[after - 1]!.end)
        }
        const last = segments.at(-1)!
        assert.isAtMost(last.end, end)
        const next = opened[index + 1]
        if (next === undefined) continue
        if (last.plan === null) assert.isAtMost(last.end, next.segments[0].start)
        else if (next.segments[0].start !== last.end) {
          // It was paused on the very boundary, or afterwards.
          assert.isTrue(
            effects.some((effect) => effect.kind === "event" && effect.type === "subscription.paused"),
          )
        }
      }
    })
  })

  it("opens a period at every boundary of an independent count, when nobody interferes", () => {
    holds(
      [creations],
      (creation) => {
        const { effects, subscription } = run({ ...creation, trial: null }, [])
        const starts: Array<number> = []
        for (let k = -100; k < 500; k++) {
          const boundary = Periods.boundary(subscription.periods, k)
          if (boundary > END) break
          if (boundary > subscription.startAt) starts.push(boundary)
        }
        assert.deepStrictEqual(
          periodsOf(effects, "open_period").map(({ segments }) => segments[0].start),
          [subscription.startAt, ...starts],
        )
      },
      20,
    )
  })

  it("numbers its events without gaps, and each carries the subscription of its time", () => {
    holds([creations, scripts], (creation, script) => {
      const { effects, subscription } = run(creation, script)
      const events = effects.filter((effect) => effect.kind === "event")
      assert.deepStrictEqual(
        events.map((event) => event.subscription.sequence),
        events.map((_, index) => index + 1),
      )
      assert.strictEqual(subscription.sequence, events.length)
    })
  })

  it("can be stored as JSON between any two steps", () => {
    holds([creations, scripts], (creation, script) => {
      let subscription = done(null, creation, START).subscription
      for (const entry of script) {
        const stored = JSON.parse(JSON.stringify(subscription)) as Subscription
        assert.deepStrictEqual(stored, subscription)
        const [a, b] = [subscription, stored].map((one) => step(one, entry.input, entry.at))
        assert.deepStrictEqual(a, b)
        if (!isRejected(a!)) subscription = a!.subscription
      }
    })
  })

  it("refuses exactly the commands that are not available, by name, and leaves the subscription as it is", () => {
    holds([creations, scripts], (creation, script) => {
      let subscription = done(null, creation, START).subscription
      for (const { at: instant, input } of script) {
        const before = advance(subscription, instant - 1).subscription
        const isOnTie = (nextDue(before)?.at ?? Infinity) <= instant
        const outcome = step(subscription, input, instant)
        if (isRejected(outcome)) {
          for (const { path, problem } of outcome.problems) {
            assert.match(path, /^[a-z]/)
            assert.match(problem, /^(is|must|has) /)
          }
        }
        const isRefused = isRejected(outcome) && outcome.problems[0].path === input.type
        const actions: ReadonlyArray<string> = availableActions(before)
        if (!isOnTie) assert.strictEqual(isRefused, !actions.includes(input.type))
        if (!isRejected(outcome)) subscription = outcome.subscription
      }
    })
  })
})
