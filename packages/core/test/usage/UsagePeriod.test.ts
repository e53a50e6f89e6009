import { InvalidInput, TimeZone, UsagePeriod } from "@billwright/core"
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Temporal } from "temporal-polyfill"
import { fc, holds } from "../property.ts"

const HOUR = 3_600_000
const DAY = 24 * HOUR

/**
 * Zones that change their clocks at midnight (so that a day's midnight does not exist or comes twice), by half
 * an hour, by a whole day, in winter, not at all, or that have odd offsets.
 */
const zones = [
  "UTC",
  "Africa/Cairo",
  "Africa/Casablanca",
  "America/Asuncion",
  "America/Havana",
  "America/New_York",
  "America/Santiago",
  "America/Sao_Paulo",
  "America/Scoresbysund",
  "America/St_Johns",
  "Antarctica/Troll",
  "Asia/Amman",
  "Asia/Beirut",
  "Asia/Gaza",
  "Asia/Kathmandu",
  "Asia/Tehran",
  "Australia/Lord_Howe",
  "Europe/Dublin",
  "Europe/London",
  "Pacific/Apia",
  "Pacific/Chatham",
  "Pacific/Kiritimati",
  "Pacific/Kwajalein",
]

const resolve = (input: UsagePeriod.PeriodInput) => Effect.runSync(UsagePeriod.resolve(input))
const windows = (startDate: string, endDate: string, window: UsagePeriod.Window, timezone?: string) =>
  Effect.runSync(UsagePeriod.windows({ startDate, endDate, timezone }, window))

const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds
const midnight = (date: Temporal.PlainDate, zone: string) => date.toZonedDateTime(zone).epochMilliseconds
const addDays = (date: string, days: number) => Temporal.PlainDate.from(date).add({ days }).toString()

// Before 1946 some zones had offsets with seconds, which the platform's calendar knows but not to the second.
const dates = fc
  .integer({ min: 0, max: 200 * 365 })
  .map((days) => Temporal.PlainDate.from("1946-01-01").add({ days }))
const anyZone = fc.constantFrom(...zones)

const throws = (run: () => unknown): boolean => {
  try {
    run()
    return false
  } catch {
    return true
  }
}

it("a Date where a day belongs is told how days are written", () => {
  const decode = Schema.decodeUnknownSync(UsagePeriod.CalendarDate)
  assert.throws(() => decode(new Date(0)), /must be a date that exists, written YYYY-MM-DD/)
})

describe("a calendar date", () => {
  const accepts = Schema.is(UsagePeriod.CalendarDate)

  it.each(["0001-01-01", "0099-12-31", "2000-02-29", "2024-02-29", "2026-11-21", "9999-12-31"])(
    "is %s",
    (text) => assert.isTrue(accepts(text)),
  )

  it.each([
    "",
    "0000-12-31",
    "2026-00-10",
    "2026-01-00",
    "2026-02-29",
    "2026-02-30",
    "2026-04-31",
    "2026-11-99",
    "2026-12-32",
    "2026-13-01",
    "2026-99-99",
    "2100-02-29",
    "2026-1-01",
    "12026-01-01",
    "x2026-01-01",
    "2026-01-01x",
    "2026-01-011",
    "2026-01-01T00:00:00Z",
  ])("is not %s", (text) => assert.isFalse(accepts(text)))

  it("is every day that Temporal has, and no other", () =>
    holds([fc.nat({ max: 9999 }), fc.nat({ max: 14 }), fc.nat({ max: 33 })], (year, month, day) => {
      const text = [String(year).padStart(4, "0"), ...[month, day].map((n) => String(n).padStart(2, "0"))]
      const exists = () => Temporal.PlainDate.from({ year, month, day }, { overflow: "reject" })
      if (year >= 1 && month >= 1 && day >= 1) {
        assert.strictEqual(accepts(text.join("-")), !throws(exists))
      } else assert.isFalse(accepts(text.join("-")))
    }))

  it("is described as one", () => {
    const { schema } = Schema.toJsonSchemaDocument(UsagePeriod.CalendarDate)
    assert.deepInclude(schema, { type: "string", format: "date", maxLength: 10 })
  })
})

describe("a time zone", () => {
  const accepts = Schema.is(TimeZone.TimeZoneName)

  it.each(zones)("is %s", (name) => assert.isTrue(accepts(name)))

  // Offsets are known to the platform and change with no season: not what a calendar is in.
  it.each(["", "Europe/Nowhere", "+02:00", "-05:00", "2026", " UTC", "x".repeat(65)])("is not %j", (name) =>
    assert.isFalse(accepts(name)),
  )
})

describe("a window", () => {
  const accepts = Schema.is(UsagePeriod.Window)

  it("is an hour, a day or a month", () => {
    assert.deepStrictEqual(["hour", "day", "month", "week", ""].filter(accepts), ["hour", "day", "month"])
  })
})

describe("UsagePeriod.resolve", () => {
  it("resolves inclusive days to a half-open period", () => {
    assert.deepStrictEqual(resolve({ startDate: "2026-11-01", endDate: "2026-11-30" }), {
      start: at("2026-11-01T00:00:00Z"),
      end: at("2026-12-01T00:00:00Z"),
    })
    assert.deepStrictEqual(
      resolve({ startDate: "2026-11-21", endDate: "2026-11-21", timezone: "Europe/Berlin" }),
      {
        start: at("2026-11-20T23:00:00Z"),
        end: at("2026-11-21T23:00:00Z"),
      },
    )
  })

  it("leaves sides open that have no date", () => {
    assert.deepStrictEqual(resolve({}), { start: undefined, end: undefined })
    assert.deepStrictEqual(resolve({ timezone: "Asia/Tokyo" }), { start: undefined, end: undefined })
    assert.deepStrictEqual(resolve({ startDate: "2026-11-21" }), {
      start: at("2026-11-21T00:00:00Z"),
      end: undefined,
    })
    assert.deepStrictEqual(resolve({ endDate: "2026-11-21" }), {
      start: undefined,
      end: at("2026-11-22T00:00:00Z"),
    })
  })

  it.each([
    ["a leap day", "2024-02-29", "UTC", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"],
    ["the leap day of a century", "2000-02-29", "UTC", "2000-02-29T00:00:00Z", "2000-03-01T00:00:00Z"],
    ["no leap day", "2100-02-28", "UTC", "2100-02-28T00:00:00Z", "2100-03-01T00:00:00Z"],
    ["the end of a year", "2026-12-31", "UTC", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"],
    ["the first day of all", "0001-01-01", "UTC", "0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z"],
    ["a year of two digits", "0099-12-31", "UTC", "0099-12-31T00:00:00Z", "0100-01-01T00:00:00Z"],
    ["the last day of all", "9999-12-31", "UTC", "9999-12-31T00:00:00Z", "+010000-01-01T00:00:00Z"],
    ["a day of 23 hours", "2026-03-08", "America/New_York", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"],
    ["a day of 25 hours", "2026-11-01", "America/New_York", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"],
    [
      "a midnight that is skipped",
      "2025-04-25",
      "Africa/Cairo",
      "2025-04-24T22:00:00Z",
      "2025-04-25T21:00:00Z",
    ],
    [
      "a midnight that is skipped",
      "2018-11-04",
      "America/Sao_Paulo",
      "2018-11-04T03:00:00Z",
      "2018-11-05T02:00:00Z",
    ],
    [
      "a midnight that is skipped",
      "2022-03-27",
      "Asia/Beirut",
      "2022-03-26T22:00:00Z",
      "2022-03-27T21:00:00Z",
    ],
    [
      "a midnight that comes twice",
      "2025-11-02",
      "America/Havana",
      "2025-11-02T04:00:00Z",
      "2025-11-03T05:00:00Z",
    ],
    [
      "half an hour more",
      "2026-04-05",
      "Australia/Lord_Howe",
      "2026-04-04T13:00:00Z",
      "2026-04-05T13:30:00Z",
    ],
    [
      "half an hour less",
      "2026-10-04",
      "Australia/Lord_Howe",
      "2026-10-03T13:30:00Z",
      "2026-10-04T13:00:00Z",
    ],
    ["an offset of 5:45", "2026-11-21", "Asia/Kathmandu", "2026-11-20T18:15:00Z", "2026-11-21T18:15:00Z"],
    [
      "the day before a skipped one",
      "2011-12-29",
      "Pacific/Apia",
      "2011-12-29T10:00:00Z",
      "2011-12-30T10:00:00Z",
    ],
    ["a day that was skipped", "2011-12-30", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"],
    [
      "the day after a skipped one",
      "2011-12-31",
      "Pacific/Apia",
      "2011-12-30T10:00:00Z",
      "2011-12-31T10:00:00Z",
    ],
  ])("%s: %s in %s", (_, date, timezone, start, end) => {
    assert.deepStrictEqual(resolve({ startDate: date, endDate: date, timezone }), {
      start: at(start),
      end: at(end),
    })
  })

  it("agrees with Temporal on any day in any zone", () =>
    holds(
      [dates, fc.integer({ min: 0, max: 800 }), anyZone],
      (start, days, timezone) => {
        const end = start.add({ days })
        assert.deepStrictEqual(resolve({ startDate: start.toString(), endDate: end.toString(), timezone }), {
          start: midnight(start, timezone),
          end: midnight(end.add({ days: 1 }), timezone),
        })
      },
      600,
    ))

  it.each(zones)("agrees with Temporal on the days around every change of the clock in %s", (timezone) => {
    const first = Temporal.Instant.from("1975-01-01T00:00:00Z").toZonedDateTimeISO(timezone)
    for (let change = first.getTimeZoneTransition("next"); change !== null && change.year < 2031;) {
      for (const offset of [-1, 0, 1]) {
        const date = change.toPlainDate().add({ days: offset })
        assert.deepStrictEqual(
          resolve({ startDate: date.toString(), timezone }).start,
          midnight(date, timezone),
        )
      }
      change = change.getTimeZoneTransition("next")
    }
  })

  it("agrees with Temporal when offsets had seconds, away from the changes", () => {
    for (const timezone of ["Europe/Amsterdam", "Africa/Monrovia", "Asia/Kolkata", "America/New_York"]) {
      for (const date of ["0001-01-01", "0099-03-01", "1700-02-28", "1850-06-01"]) {
        const expected = midnight(Temporal.PlainDate.from(date), timezone)
        assert.deepStrictEqual(resolve({ startDate: date, timezone }).start, expected)
      }
    }
  })

  it.effect("refuses an end before the start", () =>
    Effect.gen(function* () {
      for (const [startDate, endDate] of [
        ["2026-11-21", "2026-11-20"],
        ["0100-01-01", "0099-12-31"],
      ]) {
        const error = yield* Effect.flip(UsagePeriod.resolve({ startDate, endDate }))
        assert.instanceOf(error, InvalidInput)
        assert.strictEqual(error.message, "endDate must not be before the start date")
      }
    }),
  )
})

describe("UsagePeriod.windows", () => {
  it("makes days and cuts months to the period", () => {
    assert.deepStrictEqual(windows("2026-02-27", "2026-03-01", "day"), [
      at("2026-02-27T00:00:00Z"),
      at("2026-02-28T00:00:00Z"),
      at("2026-03-01T00:00:00Z"),
      at("2026-03-02T00:00:00Z"),
    ])
    assert.deepStrictEqual(windows("2026-01-31", "2026-03-15", "month"), [
      at("2026-01-31T00:00:00Z"),
      at("2026-02-01T00:00:00Z"),
      at("2026-03-01T00:00:00Z"),
      at("2026-03-16T00:00:00Z"),
    ])
    assert.deepStrictEqual(windows("2026-12-01", "2026-12-31", "month"), [
      at("2026-12-01T00:00:00Z"),
      at("2027-01-01T00:00:00Z"),
    ])
  })

  it("starts months at the midnights of the zone", () => {
    assert.deepStrictEqual(windows("2026-10-01", "2026-11-30", "month", "America/New_York"), [
      at("2026-10-01T04:00:00Z"),
      at("2026-11-01T04:00:00Z"),
      at("2026-12-01T05:00:00Z"),
    ])
  })

  it.each([
    ["23", "America/New_York", "2026-03-08", 23, HOUR],
    ["25", "America/New_York", "2026-11-01", 25, HOUR],
    ["24", "America/New_York", "2026-11-02", 24, HOUR],
    ["23, from a skipped midnight,", "Africa/Cairo", "2025-04-25", 23, HOUR],
    ["25, with two midnights,", "America/Havana", "2025-11-02", 25, HOUR],
    ["24 and a half", "Australia/Lord_Howe", "2026-04-05", 25, HOUR / 2],
    ["23 and a half", "Australia/Lord_Howe", "2026-10-04", 24, HOUR / 2],
  ])("makes hours of a day of %s hours: %s %s", (_, timezone, date, count, lastLength) => {
    const boundaries = windows(date, date, "hour", timezone)
    const lengths = boundaries.slice(1).map((end, index) => end - boundaries[index]!)
    assert.deepStrictEqual(lengths, [...Array.from({ length: count - 1 }, () => HOUR), lastLength])
  })

  it("starts the hours of each day at that day's first instant", () => {
    const boundaries = windows("2026-04-05", "2026-04-06", "hour", "Australia/Lord_Howe")
    assert.include(boundaries, at("2026-04-05T13:30:00Z"))
    assert.lengthOf(boundaries, 25 + 24 + 1)
  })

  it("makes no window of a day that was skipped", () => {
    assert.deepStrictEqual(windows("2011-12-29", "2011-12-31", "day", "Pacific/Apia"), [
      at("2011-12-29T10:00:00Z"),
      at("2011-12-30T10:00:00Z"),
      at("2011-12-31T10:00:00Z"),
    ])
    for (const window of ["hour", "day", "month"] as const) {
      assert.deepStrictEqual(windows("2011-12-30", "2011-12-30", window, "Pacific/Apia"), [
        at("2011-12-30T10:00:00Z"),
      ])
    }
  })

  const lengths = { hour: 39, day: 990, month: 990 * 28 }
  /** Where windows must start, by Temporal. */
  const expected = (
    start: Temporal.PlainDate,
    end: Temporal.PlainDate,
    window: UsagePeriod.Window,
    zone: string,
  ) => {
    const last = midnight(end.add({ days: 1 }), zone)
    const boundaries = new Set([last])
    let date = start
    while (Temporal.PlainDate.compare(date, end) <= 0) {
      const next = window === "month" ? date.with({ day: 1 }).add({ months: 1 }) : date.add({ days: 1 })
      const stop = Math.min(midnight(next, zone), last)
      const step = window === "hour" ? HOUR : Number.POSITIVE_INFINITY
      for (let instant = midnight(date, zone); instant < stop; instant += step) boundaries.add(instant)
      date = next
    }
    return [...boundaries].toSorted((a, b) => a - b)
  }

  it.each(["hour", "day", "month"] as const)("agrees with Temporal and partitions the period: %s", (window) =>
    holds(
      [dates, fc.nat({ max: lengths[window] }), anyZone],
      (start, days, zone) => {
        const end = start.add({ days })
        const boundaries = windows(start.toString(), end.toString(), window, zone)
        const period = resolve({ startDate: start.toString(), endDate: end.toString(), timezone: zone })
        assert.strictEqual(boundaries[0], period.start)
        assert.strictEqual(boundaries.at(-1), period.end)
        assert.isTrue(boundaries.every((instant, i) => i === 0 || instant > boundaries[i - 1]!))
        assert.deepStrictEqual(boundaries, expected(start, end, window, zone))
      },
      12,
    ),
  )

  it("gives a day the same windows however long the period around it is", () =>
    holds([dates, anyZone], (date, zone) => {
      const day = date.toString()
      const alone = windows(day, day, "hour", zone)
      const among = windows(addDays(day, -2), addDays(day, 2), "hour", zone)
      assert.isTrue(alone.every((instant) => among.includes(instant)))
    }))

  it.effect("has at most 1,000 windows", () =>
    Effect.gen(function* () {
      const start = "2026-01-01"
      assert.lengthOf(windows(start, addDays(start, 999), "day"), 1_001)
      assert.lengthOf(windows("2000-01-01", "2083-04-30", "month"), 1_001)
      assert.lengthOf(windows(start, addDays(start, 40), "hour"), 41 * 24 + 1)
      for (const [startDate, endDate, window] of [
        [start, addDays(start, 1_000), "day"],
        ["2000-01-01", "2083-05-01", "month"],
        [start, addDays(start, 41), "hour"],
        ["0001-01-01", "9999-12-31", "hour"],
        ["0001-01-01", "9999-12-31", "month"],
      ] as const) {
        const error = yield* Effect.flip(UsagePeriod.windows({ startDate, endDate }, window))
        assert.strictEqual(error.message, "endDate is too late: a series has at most 1000 windows")
      }
    }),
  )

  it.effect("refuses an end before the start", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        UsagePeriod.windows({ startDate: "2026-02-01", endDate: "2026-01-31" }, "day"),
      )
      assert.strictEqual(error.field, "endDate")
    }),
  )
})

describe("UsagePeriod.split", () => {
  const { split, utcDay } = UsagePeriod
  const dayOf = (text: string) => at(text) / DAY

  it("takes whole UTC days alone when the period is made of them", () => {
    assert.deepStrictEqual(split({ start: at("2026-11-01T00:00:00Z"), end: at("2026-12-01T00:00:00Z") }), {
      days: { from: dayOf("2026-11-01T00:00:00Z"), to: dayOf("2026-12-01T00:00:00Z") },
      edges: [],
    })
  })

  it("takes what sticks out on either side from the records", () => {
    const [start, end] = [at("2026-11-01T04:00:00Z"), at("2026-11-03T05:00:00Z")]
    assert.deepStrictEqual(split({ start, end }), {
      days: { from: dayOf("2026-11-02T00:00:00Z"), to: dayOf("2026-11-03T00:00:00Z") },
      edges: [
        { start, end: at("2026-11-02T00:00:00Z") },
        { start: at("2026-11-03T00:00:00Z"), end },
      ],
    })
  })

  it("has two edges and no day for a period over one midnight", () => {
    const [start, end] = [at("2026-11-01T12:00:00Z"), at("2026-11-02T12:00:00Z")]
    assert.deepStrictEqual(split({ start, end }), {
      days: undefined,
      edges: [
        { start, end: at("2026-11-02T00:00:00Z") },
        { start: at("2026-11-02T00:00:00Z"), end },
      ],
    })
  })

  it("has one edge for a period within a day", () => {
    const [start, end] = [at("2026-11-01T01:00:00Z"), at("2026-11-01T02:00:00Z")]
    assert.deepStrictEqual(split({ start, end }), { days: undefined, edges: [{ start, end }] })
  })

  it("takes all days for a period that is open on both sides", () => {
    assert.deepStrictEqual(split({ start: undefined, end: undefined }), {
      days: { from: undefined, to: undefined },
      edges: [],
    })
  })

  it("takes nothing for an empty period", () => {
    const noon = at("2026-11-01T12:00:00Z")
    assert.deepStrictEqual(split({ start: 0, end: 0 }), { days: undefined, edges: [] })
    assert.isTrue(split({ start: noon, end: noon }).edges.every(({ end, start }) => start === end))
  })

  it("numbers days from 1970, also before it", () => {
    assert.deepStrictEqual([0, DAY - 1, DAY, -1, -DAY, -DAY - 1].map(utcDay), [0, 0, 1, -1, -1, -2])
    assert.strictEqual(utcDay(at("0001-01-01T00:00:00Z")), -719_162)
  })

  // Instants close together, some on midnights, around 1970 and far from it.
  const instant = fc
    .tuple(
      fc.constantFrom(0, 20_000, -719_162),
      fc.integer({ min: -3, max: 3 }),
      fc.oneof(fc.constantFrom(0, 1, DAY - 1), fc.nat({ max: DAY - 1 })),
    )
    .map(([era, day, millis]) => (era + day) * DAY + millis)
  const side = fc.option(instant, { nil: undefined })

  it("covers every instant of the period exactly once, and no other", () =>
    holds(
      [side, side, fc.array(instant, { minLength: 1, maxLength: 20 })],
      (a, b, instants) => {
        const [start, end] = a !== undefined && b !== undefined && b < a ? [b, a] : [a, b]
        const { days, edges } = split({ start, end })
        const limits = [start, end].flatMap((limit) =>
          limit === undefined ? [] : [limit - 1, limit, limit + 1],
        )
        for (const millis of [...instants, ...limits]) {
          const day = utcDay(millis)
          const inDays = days !== undefined && (days.from ?? -Infinity) <= day && day < (days.to ?? Infinity)
          const covered =
            Number(inDays) + edges.filter((edge) => edge.start <= millis && millis < edge.end).length
          const isInPeriod = (start ?? -Infinity) <= millis && millis < (end ?? Infinity)
          assert.strictEqual(covered, isInPeriod ? 1 : 0)
        }
        assert.isAtMost(edges.length, 2)
        // Edges are small: each within a day, and none is a whole day.
        for (const edge of edges) {
          assert.isBelow(edge.end - edge.start, DAY)
          assert.isAtMost(edge.end, (utcDay(edge.start) + 1) * DAY)
        }
      },
      1_000,
    ))
})

describe("a time zone", () => {
  it("is made once, however its name is written", () => {
    const name = "america/argentina/comodrivadavia"
    // The cases of the first 10 letters.
    const spellings = Array.from({ length: 1_024 }, (_, bits) =>
      Array.from(name, (letter, at) => (at < 10 && (bits >> at) & 1 ? letter.toUpperCase() : letter)).join(
        "",
      ),
    )
    const made = vi.spyOn(Intl, "DateTimeFormat")
    try {
      const starts = spellings.map((timezone) => {
        assert.isTrue(Schema.is(TimeZone.TimeZoneName)(timezone))
        return Effect.runSync(UsagePeriod.resolve({ startDate: "2026-03-02", timezone })).start
      })
      assert.deepStrictEqual(new Set(starts), new Set([Date.parse("2026-03-02T03:00:00Z")]))
      assert.isAtMost(made.mock.calls.length, 1)
    } finally {
      made.mockRestore()
    }
  })

  it.each(["europe/ber\u212an", "Europe/Berlin ", "+01:00", "Europe/Nowhere", ""])("is none: %j", (name) => {
    assert.isFalse(Schema.is(TimeZone.TimeZoneName)(name))
  })
})
