import { Temporal } from "temporal-polyfill"
import { assert, describe, it } from "vitest"
import * as Exact from "../../src/money/Exact.ts"
import { spanAt } from "../../src/subscriptions/Periods.ts"
import { type Share, sharesOf } from "../../src/subscriptions/Proration.ts"
import type { Segment } from "../../src/subscriptions/Subscription.ts"
import { fc, holds } from "../property.ts"

const HOUR = 3_600_000
const instant = (text: string) => Temporal.Instant.from(text).epochMilliseconds

type Snap = Segment["snap"]

const segment = (start: number, end: number, snap: Snap = "down"): Segment => ({
  start,
  end,
  plan: { key: "pro", version: 1 },
  quantities: {},
  snap,
  unused: "prorate",
})

/** A period that was cut at these instants. */
const cut = (start: number, end: number, cuts: ReadonlyArray<number>) => {
  const [first = start, ...others] = [start, ...cuts]
  const edges = [...others, end]
  const rest = others.map((from, index) => segment(from, edges[index + 1]!))
  const segments: readonly [Segment, ...ReadonlyArray<Segment>] = [segment(first, edges[0]!), ...rest]
  return { start, end, segments }
}

/** How many local midnights are in (from, to], counted one by one with Temporal. */
const midnights = (from: number, to: number, timezone: string): number => {
  const first = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(timezone).toPlainDate()
  let count = 0
  for (let date = first.subtract({ days: 1 }); ; date = date.add({ days: 1 })) {
    const midnight = date.toZonedDateTime(timezone).epochMilliseconds
    if (midnight > to + 2 * 24 * HOUR) return count
    if (from < midnight && midnight <= to) count++
  }
}

const periods = fc
  .tuple(
    fc.integer({ min: instant("2006-01-01T00:00:00Z"), max: instant("2030-01-01T00:00:00Z") }),
    fc.constantFrom("UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "America/Sao_Paulo"),
    fc.constantFrom("2026-01-01", "2026-01-31T10:00", "2026-03-15T23:59:59.999"),
    fc.constantFrom("week", "month"),
  )
  .map(([at, timezone, anchor, unit]) => ({
    timezone,
    ...spanAt({ anchor, timezone, unit: unit === "week" ? "week" : "month", count: 1 }, at),
  }))
const parts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 })

const instantsOf = (start: number, end: number, of: ReadonlyArray<number>) =>
  of.map((part) => start + Math.floor((end - start) * part)).toSorted((a, b) => a - b)

const amounts = (price: string, shares: ReadonlyArray<Share>) =>
  shares.map(({ from, of, to }) => {
    const upTo = (position: number) =>
      Exact.mulDivRound(Exact.ofDecimal(price), BigInt(position), BigInt(of), 2)
    return upTo(to) - upTo(from)
  })

describe("shares", () => {
  it("of days are the local midnights that an independent calendar counts", () => {
    holds(
      [periods, parts],
      ({ end, start, timezone }, of) => {
        const cuts = instantsOf(start, end, of)
        const shares = sharesOf(cut(start, end, cuts), "day", timezone)
        const edges = [start, ...cuts, end]
        for (const [index, share] of shares.entries()) {
          assert.deepStrictEqual(share, {
            from: midnights(start, edges[index]!, timezone),
            to: midnights(start, edges[index + 1]!, timezone),
            of: midnights(start, end, timezone),
          })
        }
      },
      60,
    )
  })

  it("of milliseconds are the milliseconds", () => {
    holds([periods, parts], ({ end, start, timezone }, of) => {
      const cuts = instantsOf(start, end, of)
      const edges = [start, ...cuts, end]
      assert.deepStrictEqual(
        sharesOf(cut(start, end, cuts), "time", timezone),
        edges.slice(1).map((to, index) => ({ from: edges[index]! - start, to: to - start, of: end - start })),
      )
    })
  })

  it("sum to the whole, and so do the amounts, however a period is cut (L1)", () => {
    const prices = fc.integer({ min: 0, max: 1_000_000 }).map((cents) => (cents / 100).toFixed(2))
    holds([periods, parts, prices, fc.constantFrom("day", "time", "none")], (period, of, price, measure) => {
      const { end, start, timezone } = period
      const shares = sharesOf(cut(start, end, instantsOf(start, end, of)), measure, timezone)
      const sum = amounts(price, shares).reduce((a, b) => a + b, 0n)
      assert.strictEqual(sum, Exact.roundTo(Exact.ofDecimal(price), 2))
      for (const [index, share] of shares.entries()) {
        assert.isAtMost(0, share.from)
        assert.isAtMost(share.from, share.to)
        assert.isAtMost(share.to, share.of)
        if (index > 0) assert.strictEqual(share.from, shares[index - 1]!.to)
      }
    })
  })

  it("cost 3.23, 3.22 and 3.55 of 10.00 for 10, 10 and 11 of 31 days", () => {
    const [start, end] = [instant("2026-01-01T00:00:00Z"), instant("2026-02-01T00:00:00Z")]
    const cuts = [instant("2026-01-11T15:00:00Z"), instant("2026-01-21T08:00:00Z")]
    const shares = sharesOf(cut(start, end, cuts), "day", "UTC")
    assert.deepStrictEqual(amounts("10.00", shares), [323n, 322n, 355n])
  })

  it("give the day of a change to the new plan, and the day of a cancellation to the old one", () => {
    const [start, end] = [instant("2026-01-01T00:00:00Z"), instant("2026-02-01T00:00:00Z")]
    const noon = instant("2026-01-11T12:00:00Z")
    const last = (snap: Snap, at: number) =>
      sharesOf({ start, end, segments: [segment(start, at, snap)] }, "day", "UTC")
    assert.deepStrictEqual(last("down", noon), [{ from: 0, to: 10, of: 31 }])
    assert.deepStrictEqual(last("up", noon), [{ from: 0, to: 11, of: 31 }])
    assert.deepStrictEqual(last("up", noon - 12 * HOUR), [{ from: 0, to: 10, of: 31 }])
  })

  it("count a day once when the subscription pauses and resumes on it", () => {
    const [start, end] = [instant("2026-01-01T00:00:00Z"), instant("2026-02-01T00:00:00Z")]
    const [paused, resumed] = [instant("2026-01-11T09:00:00Z"), instant("2026-01-11T17:00:00Z")]
    const segments = [segment(start, paused, "up"), segment(paused, resumed), segment(resumed, end)] as const
    assert.deepStrictEqual(sharesOf({ start, end, segments }, "day", "UTC"), [
      { from: 0, to: 11, of: 31 },
      { from: 11, to: 11, of: 31 },
      { from: 11, to: 31, of: 31 },
    ])
  })

  it("do not take a day back where clocks go back over midnight", () => {
    // On this day clocks in St. John's went from 00:01 back to 23:01 of the day before, at 02:31 UTC.
    const [start, end] = [instant("2006-10-01T02:30:00Z"), instant("2006-11-01T03:30:00Z")]
    const changed = (at: string) => sharesOf(cut(start, end, [instant(at)]), "day", "America/St_Johns")[0]
    for (const at of ["2006-10-29T02:30:30Z", "2006-10-29T02:45:00Z", "2006-10-29T03:45:00Z"]) {
      assert.deepStrictEqual(changed(at), { from: 0, to: 28, of: 31 })
    }
    assert.deepStrictEqual(changed("2006-10-29T02:29:59Z"), { from: 0, to: 27, of: 31 })
  })

  it("of a stub are those of the full period around it", () => {
    const [start, end] = [instant("2026-03-01T00:00:00Z"), instant("2026-04-01T00:00:00Z")]
    const segments = [segment(instant("2026-03-12T10:00:00Z"), end)] as const
    assert.deepStrictEqual(sharesOf({ start, end, segments }, "day", "UTC"), [{ from: 11, to: 31, of: 31 }])
  })

  it("without proration give the whole period to its first segment", () => {
    const shares = sharesOf(cut(0, 1_000, [200, 700]), "none", "UTC")
    assert.deepStrictEqual(shares, [
      { from: 0, to: 1, of: 1 },
      { from: 1, to: 1, of: 1 },
      { from: 1, to: 1, of: 1 },
    ])
  })

  it("measure a period within one date in milliseconds", () => {
    const start = instant("2026-03-01T08:00:00Z")
    assert.deepStrictEqual(sharesOf(cut(start, start + 100, [start + 30]), "day", "UTC"), [
      { from: 0, to: 30, of: 100 },
      { from: 30, to: 100, of: 100 },
    ])
  })
})
