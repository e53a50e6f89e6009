import { Temporal } from "temporal-polyfill"
import { assert, describe, it } from "vitest"
import * as LocalTime from "../../src/subscriptions/LocalTime.ts"
import { boundary, indexAt, type Periods, spanAt } from "../../src/subscriptions/Periods.ts"
import { fc, holds } from "../property.ts"

/** Zones with unusual rules: half hours, a whole date skipped, clocks that changed at midnight or a minute after it. */
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Sao_Paulo",
  "America/St_Johns",
  "Africa/Casablanca",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Kwajalein",
]
const UNITS = ["day", "week", "month", "year"] as const

const pad = (value: number, length = 2) => value.toString().padStart(length, "0")

const anchors = fc
  .record({
    year: fc.oneof(fc.integer({ min: 1900, max: 2100 }), fc.integer({ min: 2010, max: 2030 })),
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 1, max: 31 }),
    minutes: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1_439 })),
    millis: fc.constantFrom(0, 0, 999, 59_001),
  })
  .map(({ day, millis, minutes, month, year }) => {
    const date = Temporal.PlainDate.from({ year, month, day })
    const time = new Temporal.PlainTime(Math.floor(minutes / 60), minutes % 60).add({ milliseconds: millis })
    return `${pad(date.year, 4)}-${pad(date.month)}-${pad(date.day)}T${time.toString({ smallestUnit: "millisecond" })}`
  })

const grids: fc.Arbitrary<Periods> = fc.record({
  anchor: anchors,
  timezone: fc.constantFrom(...ZONES),
  unit: fc.constantFrom(...UNITS),
  count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 36 })),
})

/** A boundary by Temporal, which has calendars and zones of its own. */
const expected = ({ anchor, count, timezone, unit }: Periods, k: number): number =>
  Temporal.PlainDateTime.from(anchor)
    .add({ [`${unit}s`]: k * count })
    .toZonedDateTime(timezone, { disambiguation: "compatible" }).epochMilliseconds

const iso = (instant: number) => Temporal.Instant.fromEpochMilliseconds(instant).toString()
const instant = (text: string) => Temporal.Instant.from(text).epochMilliseconds
const boundaries = (periods: Periods, ...ks: ReadonlyArray<number>) =>
  ks.map((k) => iso(boundary(periods, k)))

describe("boundaries", () => {
  it("are those of an independent calendar, whatever the anchor, the zone, the interval and the index", () => {
    const indexes = fc.oneof(fc.integer({ min: -30, max: 60 }), fc.integer({ min: 0, max: 5_000 }))
    holds(
      [grids, indexes],
      (periods, k) => {
        const years = { day: 0.003, week: 0.02, month: 0.084, year: 1 }[periods.unit] * periods.count * k
        if (years > 5_000 || years < -100) return
        assert.strictEqual(boundary(periods, k), expected(periods, k), JSON.stringify({ ...periods, k }))
      },
      800,
    )
  })

  it("never fall, and an instant belongs to the period that begins there", () => {
    holds(
      [grids, fc.integer({ min: -5, max: 40 }), fc.double({ min: 0, max: 1, noNaN: true })],
      (periods, k, part) => {
        const [start, end] = [boundary(periods, k), boundary(periods, k + 1)]
        assert.isAtMost(start, end)
        if (start === end) return
        const inside = start + Math.floor((end - start - 1) * part)
        for (const one of [start, inside, end - 1]) {
          assert.strictEqual(indexAt(periods, one), k)
          assert.deepStrictEqual(spanAt(periods, one), { start, end })
        }
        assert.isAbove(indexAt(periods, end), k)
      },
    )
  })

  it("keep the anchor's day in every month that has it", () => {
    const monthly: Periods = { anchor: "2026-01-31", timezone: "UTC", unit: "month", count: 1 }
    assert.deepStrictEqual(
      [0, 1, 2, 3, 12, 25].map((k) => iso(boundary(monthly, k)).slice(0, 10)),
      ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30", "2027-01-31", "2028-02-29"],
    )
    const leap: Periods = { anchor: "2024-02-29", timezone: "UTC", unit: "year", count: 1 }
    assert.deepStrictEqual(
      [-24, 1, 4, 76].map((k) => iso(boundary(leap, k)).slice(0, 10)),
      ["2000-02-29", "2025-02-28", "2028-02-29", "2100-02-28"],
    )
  })

  it("stay at the anchor's local time when clocks change", () => {
    const berlin: Periods = { anchor: "2026-01-29T02:30", timezone: "Europe/Berlin", unit: "month", count: 1 }
    assert.deepStrictEqual(boundaries(berlin, 0, 2, 3), [
      "2026-01-29T01:30:00Z",
      // 02:30 is skipped on this day, so the boundary is at 03:30 local time.
      "2026-03-29T01:30:00Z",
      "2026-04-29T00:30:00Z",
    ])
    const autumn: Periods = { ...berlin, anchor: "2026-10-24T02:30", unit: "day" }
    // 02:30 happens twice on the 25th: the first of the two is meant.
    assert.deepStrictEqual(boundaries(autumn, 0, 1, 2), [
      "2026-10-24T00:30:00Z",
      "2026-10-25T00:30:00Z",
      "2026-10-26T01:30:00Z",
    ])
  })

  it("give an empty period to a date that the zone skipped", () => {
    const apia: Periods = { anchor: "2011-12-29", timezone: "Pacific/Apia", unit: "day", count: 1 }
    assert.deepStrictEqual(boundaries(apia, 0, 1, 2, 3), [
      "2011-12-29T10:00:00Z",
      "2011-12-30T10:00:00Z",
      "2011-12-30T10:00:00Z",
      "2011-12-31T10:00:00Z",
    ])
    assert.strictEqual(indexAt(apia, boundary(apia, 1)), 2)
  })

  it("are the first of the month for calendar billing, from an anchor after the start, too", () => {
    const calendar: Periods = { anchor: "2026-04-01", timezone: "Europe/Berlin", unit: "month", count: 1 }
    const { end, start } = spanAt(calendar, instant("2026-03-12T10:00:00Z"))
    assert.deepStrictEqual([start, end].map(iso), ["2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"])
  })

  it("exist before 1970", () => {
    const old: Periods = { anchor: "1969-12-31T23:59:59.999", timezone: "UTC", unit: "month", count: 1 }
    assert.deepStrictEqual(
      [-1, 0, 1].map((k) => boundary(old, k)),
      [-31 * 86_400_000 - 1, -1, 31 * 86_400_000 - 1],
    )
    assert.strictEqual(indexAt(old, -1), 0)
    assert.strictEqual(indexAt(old, -2), -1)
  })

  it("refuse an anchor that is not a date, and a zone that does not exist", () => {
    assert.throws(
      () => boundary({ anchor: "2026-02-30", timezone: "UTC", unit: "day", count: 1 }, 0),
      /anchor/,
    )
    assert.throws(
      () => boundary({ anchor: "2026-02-01", timezone: "Mars/X", unit: "day", count: 1 }, 0),
      RangeError,
    )
  })
})

describe("local times", () => {
  it("are written and read again", () => {
    holds([anchors], (text) => {
      const local = LocalTime.parse(text)
      assert.isDefined(local)
      assert.strictEqual(LocalTime.format(local), text)
      assert.strictEqual(local, Temporal.PlainDateTime.from(text).toZonedDateTime("UTC").epochMilliseconds)
    })
  })

  it("are those that an independent clock shows at an instant", () => {
    const instants = fc.integer({
      min: instant("1900-01-01T00:00:00Z"),
      max: instant("2150-01-01T00:00:00Z"),
    })
    holds([instants, fc.constantFrom(...ZONES)], (at, timezone) => {
      const shown = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).toPlainDateTime()
      assert.strictEqual(
        LocalTime.format(LocalTime.ofInstant(at, timezone)),
        shown.toString({ smallestUnit: "millisecond" }),
      )
    })
  })

  it("that don't exist are refused", () => {
    for (const text of [
      "2026-02-29",
      "2026-13-01",
      "2026-00-10",
      "2026-01-01T24:00",
      "1899-12-31",
      "today",
      "2026-1-1",
      "2026-01-01T10:00Z",
    ]) {
      assert.isUndefined(LocalTime.parse(text), text)
    }
  })

  it("need a zone that this runtime knows by name", () => {
    assert.deepStrictEqual(
      ["UTC", "europe/berlin", "Europe/Berlin", "+01:00", "", "Mars/Olympus"].map(LocalTime.isTimezone),
      [true, true, true, false, false, false],
    )
  })
})
