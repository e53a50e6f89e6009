/**
 * Test clocks, and migrations of plans: work that goes on after its command.
 */
import { PlanMigrations, TestClocks } from "@billwright/core"
import { DateTime, Effect } from "effect"
import type { Choice } from "../world/Choice.ts"
import { DAY, decided, HOUR, type Made, makeOnce, timeOf, type Work } from "./Command.ts"

type Run = (made: Made) => Work

/** More calls of `advance` than a way of a test clock takes. */
const MAX_CALLS = 50

/** A test clock that stands in the past, now or in the future. */
export const createClock = (choice: Choice, number: number): Run => {
  const name = `clock ${number}`
  const from = choice.pick([-400 * DAY, 0, 100 * DAY])
  return (made) =>
    Effect.gen(function* () {
      const { create, list } = yield* TestClocks
      const now = DateTime.add(yield* DateTime.now, { milliseconds: from })
      const clock = yield* makeOnce(list, (one) => one.name === name, create({ name, now }))
      made.clocks.set(number, clock.id)
    })
}

/** Moves a test clock on, until it is there. Its faults end before what failed last has been tried again. */
export const advance = (clock: number, days: number): Run => {
  const way = decided((made) =>
    Effect.map(timeOf(made, clock), ({ epochMilliseconds: from }) => [from, from + days * DAY] as const),
  )
  return (made) =>
    Effect.gen(function* () {
      const id = made.clocks.get(clock)
      if (id === undefined) return
      const clocks = yield* TestClocks
      const [from, to] = yield* way(made)
      for (const stop of made.stopsOf(from, to)) {
        if (stop === to) made.calm()
        const { advancingTo, now } = yield* clocks.get(id)
        if (stop < Math.max(now.epochMilliseconds, advancingTo?.epochMilliseconds ?? 0)) continue
        for (let calls = 0; calls < MAX_CALLS; calls++) {
          const { status } = yield* clocks.advance(id, { to: DateTime.makeUnsafe(stop) })
          if (status === "ready") break
        }
      }
    })
}

/** How long before the end of the way of a test clock the last fault may happen: what fails is tried again in time. */
export const CALM_END = 3 * HOUR

/** Moves the subscriptions of a plan to its newest version, each when its period ends. */
export const migrate = (plan: string): Run => {
  const count = Effect.flatMap(PlanMigrations, ({ list }) =>
    Effect.map(list({ limit: 100 }), ({ data }) => data.length),
  )
  const before = decided(() => count)
  return (made) =>
    Effect.gen(function* () {
      if ((yield* count) > (yield* before(made))) return
      yield* (yield* PlanMigrations).create({ plan, at: "period_end" })
    })
}
