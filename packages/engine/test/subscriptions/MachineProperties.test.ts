import { assert, describe, it } from "vitest"
import {
  availableActions,
  type Create,
  type Effect,
  isRejected,
  nextDue,
  type Period,
  Periods,
  step,
  type Subscription,
} from "../../src/index.ts"
import { fc, holds } from "../property.ts"
import { creations, END, type Entry, instants, run, scripts, START } from "./Scripts.ts"
import { advance, done } from "./Subscriptions.ts"

const byKey = (effect: Effect) =>
  effect.kind === "event"
    ? `event ${effect.subscription.sequence}`
    : `${effect.kind} ${effect.period.number} ${effect.segment}`

const periodsOf = (
  effects: ReadonlyArray<Effect>,
  kind: "open_period" | "close_period",
): ReadonlyArray<Period> => effects.flatMap((effect) => (effect.kind === kind ? [effect.period] : []))

/** Scripts are long, so fewer of them are tried than of other inputs. */
const RUNS = 60

const holdsAfter = (property: (creation: Create, script: ReadonlyArray<Entry>) => void) =>
  holds([creations, scripts], property, RUNS)

describe("any script of commands", () => {
  it("has the same effects in one jump and in any smaller advances (J8)", () => {
    const looks = fc.array(instants, { maxLength: 20 })
    holds(
      [creations, scripts, looks],
      (creation, script, at) => {
        const whole = run(creation, script)
        const ticks = at.map((instant): Entry => ({ at: instant, input: { type: "due" } }))
        // At one instant commands come first: they have a place of their own among what is due.
        const mixed = [...script, ...ticks].toSorted((a, b) => a.at - b.at)
        assert.deepStrictEqual(run(creation, mixed), whole)
      },
      RUNS,
    )
  })

  it("asks for each thing once: no two effects have the same kind, period and segment", () => {
    holdsAfter((creation, script) => {
      const keys = run(creation, script).effects.map(byKey)
      assert.strictEqual(new Set(keys).size, keys.length, JSON.stringify(keys))
    })
  })

  it("skips no boundary: periods meet, but for pauses, and their segments have no gaps", () => {
    holdsAfter((creation, script) => {
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
    holdsAfter((creation, script) => {
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
    holdsAfter((creation, script) => {
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
    holdsAfter((creation, script) => {
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
