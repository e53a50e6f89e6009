import { Collections, Meter, Meters, UsageStore } from "@billwright/core"
import type { Charge, UsageQuery } from "@billwright/engine"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { ChargeUsage } from "../../src/subscriptions/ChargeUsage.ts"
import { fc, holdsEffect } from "../property.ts"
import { acme, as, at, inWorld, newCustomer, recordUsage } from "../world.ts"

const DAY = 86_400_000
const START = at("2026-10-01T00:00:00.000Z").epochMilliseconds

const calls: Charge = { key: "calls", model: "unit", meter: "calls", price: { EUR: "1" } }
/** Bills the same of the meter. */
const more: Charge = { ...calls, key: "more" }
const byRegion: Charge = { ...calls, key: "regions", meter: "regions", by: "region" }

const queryOf = (charge: Charge, start: number, end: number, cut: number | null = null): UsageQuery => ({
  segment: cut === null ? 0 : 1,
  charge,
  before: cut === null ? null : { start, end: cut },
  after: { start, end },
  records: false,
})

/** Reads totals, and counts how often the store is asked. */
const counting = Effect.gen(function* () {
  const store = yield* UsageStore
  const asked = { totals: 0, rollup: 0 }
  const usage = new ChargeUsage(
    {
      ...store,
      totals: (query) => {
        asked.totals++
        return store.totals(query)
      },
      rollup: (query) => {
        asked.rollup++
        return store.rollup(query)
      },
    },
    (yield* Collections).of(Meter.meters),
  )
  return { asked, usage }
})

const measured = Effect.gen(function* () {
  const meters = yield* Meters
  yield* meters.create({ key: "calls", productId: "api", unit: "call" })
  yield* meters.create({ key: "regions", productId: "api", unit: "call", dimensions: ["region"] })
  return yield* newCustomer()
})

const onDay = (day: number) => DateTime.makeUnsafe(START + day * DAY)

describe("usage of many periods", () => {
  it.effect("is read at once, for all charges of a meter", () =>
    Effect.gen(function* () {
      const customer = yield* measured
      for (const day of [3, 17, 18, 40])
        yield* recordUsage(customer, { quantity: day, timestamp: onDay(day) })
      const periods = Array.from({ length: 14 }, (_, index) => ({
        start: START + (index - 12) * 30 * DAY,
        end: START + (index - 11) * 30 * DAY,
      }))
      const { asked, usage } = yield* counting
      const totals = yield* usage.totals(
        customer.id,
        periods.map((period) => ({
          period,
          queries: [calls, more].map((charge) => queryOf(charge, period.start, period.end)),
        })),
      )
      assert.deepStrictEqual(asked, { totals: 1, rollup: 0 })
      const ofPeriods = [...Array.from({ length: 12 }, () => 0n), 38n, 40n]
      assert.deepStrictEqual(
        totals.map((found) => found.map(({ after }) => after.quantity)),
        ofPeriods.map((quantity) => [quantity, quantity]),
      )
    }).pipe(inWorld()),
  )

  it.effect("is the same as period by period, with parts, gaps and empty periods", () =>
    Effect.gen(function* () {
      const customer = yield* measured
      for (let day = 0; day < 45; day++) {
        const dimensions = { region: ["eu", "us", "asia"][day % 3]! }
        yield* recordUsage(customer, { quantity: 2 ** (day % 30), timestamp: onDay(day), dimensions })
      }
      const { usage } = yield* counting
      const days = fc.integer({ min: 0, max: 60 })
      yield* holdsEffect(
        fc.array(fc.tuple(days, days, days), { minLength: 1, maxLength: 6 }),
        (triples) =>
          Effect.gen(function* () {
            const periods = triples.map((triple) => {
              const [start, cut, end] = triple.toSorted((a, b) => a - b).map((day) => START + day * DAY)
              const queries = [calls, byRegion].flatMap((charge) => [
                queryOf(charge, start!, cut!),
                queryOf(charge, start!, end!, cut!),
              ])
              return { period: { start: start!, end: end! }, queries }
            })
            const together = yield* usage.totals(customer.id, periods)
            const apart = yield* Effect.forEach(periods, ({ period, queries }) =>
              Effect.forEach(queries, (query) => usage.totals(customer.id, [{ period, queries: [query] }])),
            )
            assert.deepStrictEqual(
              together,
              apart.map((found) => found.flat(2)),
            )
          }).pipe(as(acme)),
        50,
      )
    }).pipe(inWorld()),
  )
})
