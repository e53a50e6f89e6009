import { assert, describe, it } from "vitest"
import {
  dueAtOf,
  InvoiceError,
  issuedAtAfter,
  MAX_NUMBERS_AT_ONCE,
  type NumberSeries,
  problemsOfNumberFormat,
  problemsOfSeries,
  readNumber,
  takeNumbers,
  writeNumber,
} from "../../src/index.ts"
import { fc, holds } from "../property.ts"

const series = (format = "{year}-{number:4}", timezone = "Europe/Berlin"): NumberSeries => ({
  format,
  timezone,
  year: null,
  lastIssuedAt: null,
  last: 0,
})

const at = (text: string): number => Date.parse(text)

describe("a format of numbers", () => {
  it.each([
    ["{year}-{number:4}", 2026, 42, "2026-0042"],
    ["INV-{number:6}", 2026, 42, "INV-000042"],
    ["{year}{number:1}", 2026, 12_345, "202612345"],
    ["{number:3}/{year}", 2026, 1_234, "1234/2026"],
    ["R.{year}_{number:2}x", 987, 1, "R.0987_01x"],
  ])("%s writes and reads %i, %i as %s", (format, year, counter, text) => {
    assert.deepStrictEqual(problemsOfNumberFormat(format), [])
    assert.strictEqual(writeNumber(format, year, counter), text)
    assert.deepStrictEqual(readNumber(format, text), {
      year: format.includes("{year}") ? year : null,
      counter,
    })
  })

  it.each([
    ["{year}-{number:4}", "2026-042"],
    ["{year}-{number:4}", "2026-00042"],
    ["{year}-{number:4}", "2026-0000"],
    ["{year}-{number:4}", "26-0042"],
    ["{year}-{number:4}", "2026-0042 "],
    ["a.{number:1}", "ax1"],
    ["{number:1}", "99999999999999999999"],
  ])("%s does not read %s", (format, text) => {
    assert.isUndefined(readNumber(format, text))
  })

  const LETTERS =
    "format must be at most 40 letters, digits, hyphens, dots, slashes, underscores, {year} and {number:4}"
  it.each([
    ["", "format must have {number:4} once, with the least number of digits"],
    ["{year}", "format must have {number:4} once, with the least number of digits"],
    ["{number:4}{number:4}", "format must have {number:4} once, with the least number of digits"],
    ["{year}{year}{number:4}", "format must have {year} at most once"],
    ["{number:0}", "format must have a number of 1 to 12 digits"],
    ["{number:13}", "format must have a number of 1 to 12 digits"],
    ["{number}", LETTERS],
    ["{month}-{number:4}", LETTERS],
    ["Nr. {number:4}", LETTERS],
    [`${"x".repeat(31)}{number:4}`, LETTERS],
    [4, LETTERS],
  ])("%j is refused: %s", (format, problem) => {
    assert.deepStrictEqual(
      problemsOfNumberFormat(format).map((one) => `${one.path} ${one.problem}`),
      [problem],
    )
    if (typeof format === "string") assert.throws(() => writeNumber(format, 2026, 1), InvoiceError)
  })

  it("gives different texts for different numbers", () => {
    const parts = fc.tuple(fc.constantFrom("", "1", "A-", "0"), fc.constantFrom("", "1", "-", "0"))
    const years = fc.integer({ min: 0, max: 9_999 })
    const counters = fc.integer({ min: 1, max: 200_000 })
    holds(
      [
        parts,
        fc.boolean(),
        fc.integer({ min: 1, max: 6 }),
        fc.tuple(years, counters),
        fc.tuple(years, counters),
      ],
      ([before, between], isYearFirst, width, one, other) => {
        const number = `{number:${width}}`
        const format = before + (isYearFirst ? `{year}${between}${number}` : `${number}${between}{year}`)
        const texts = [one, other].map(([year, counter]) => writeNumber(format, year, counter))
        assert.strictEqual(texts[0] === texts[1], one[0] === other[0] && one[1] === other[1])
        assert.deepStrictEqual(readNumber(format, texts[0]!), { year: one[0], counter: one[1] })
      },
    )
  })
})

describe("takeNumbers", () => {
  it("counts on, and from 1 in a new year of the seller", () => {
    const first = takeNumbers(series(), 2, at("2026-12-31T22:59:59Z"))
    assert.deepStrictEqual(
      first.numbers.map(({ number }) => number),
      ["2026-0001", "2026-0002"],
    )
    const next = takeNumbers(first.series, 1, at("2026-12-31T23:00:00Z"))
    assert.deepStrictEqual(next.numbers, [{ number: "2027-0001", year: 2027, counter: 1 }])
    const plain = takeNumbers(series("{number:4}"), 2, at("2026-12-31T22:59:59Z"))
    assert.strictEqual(takeNumbers(plain.series, 1, at("2027-06-01Z")).numbers[0]?.number, "0003")
  })

  it("keeps the year when the time zone of the seller changes", () => {
    const first = takeNumbers(series(), 1, at("2026-12-31T23:30:00Z"))
    assert.strictEqual(first.numbers[0]?.number, "2027-0001")
    const moved = takeNumbers(
      { ...first.series, timezone: "America/New_York" },
      1,
      at("2026-12-31T23:45:00Z"),
    )
    assert.strictEqual(moved.numbers[0]?.number, "2027-0002")
  })

  it("keeps J4 for any batches and any clock", () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: -400, max: 400 })), {
      maxLength: 20,
    })
    holds([steps, fc.constantFrom("{year}-{number:2}", "N{number:3}")], (list, format) => {
      let state = series(format)
      let now = at("2026-06-15T12:00:00Z")
      const documents = list.flatMap(([count, days]) => {
        now += days * 86_400_000
        const taken = takeNumbers(state, count, now)
        state = taken.series
        assert.isTrue(taken.issuedAt >= now)
        return taken.numbers.map(({ number }) => ({ number, issuedAt: taken.issuedAt }))
      })
      assert.deepStrictEqual(problemsOfSeries(format, documents), [])
    })
  })

  it("does not fall when the clock is set back", () => {
    assert.strictEqual(issuedAtAfter(null, 5), 5)
    assert.strictEqual(issuedAtAfter(7, 5), 7)
    assert.strictEqual(issuedAtAfter(7, 8), 8)
  })

  it("refuses counts that make no sense", () => {
    for (const count of [0, 1.5, MAX_NUMBERS_AT_ONCE + 1]) {
      assert.throws(() => takeNumbers(series(), count, 0), RangeError, "must be from 1 to 10000")
    }
    assert.throws(() => takeNumbers(series("x"), 1, 0), InvoiceError, "format must have {number:4} once")
  })
})

describe("problemsOfSeries", () => {
  const texts = (...documents: ReadonlyArray<readonly [number: string, issuedAt: number]>) =>
    problemsOfSeries(
      "{year}-{number:4}",
      documents.map(([number, issuedAt]) => ({ number, issuedAt })),
    ).map(({ path, problem }) => `${path} ${problem}`)

  it("finds gaps, repeats, instants that fall, earlier years and other formats", () => {
    assert.deepStrictEqual(texts(["2026-0001", 1], ["2026-0002", 1], ["2027-0001", 2]), [])
    assert.deepStrictEqual(texts(["2026-0002", 1]), ["documents[0].number is 2026-0002, but 1 comes next"])
    assert.deepStrictEqual(texts(["2026-0001", 1], ["2026-0003", 1]), [
      "documents[1].number is 2026-0003, but 2 comes next",
    ])
    assert.deepStrictEqual(texts(["2026-0001", 1], ["2026-0001", 1]), [
      "documents[1].number is 2026-0001, but 2 comes next",
    ])
    assert.deepStrictEqual(texts(["2026-0001", 2], ["2026-0002", 1]), [
      "documents[1].issuedAt is before the document before",
    ])
    assert.deepStrictEqual(texts(["2027-0001", 1], ["2026-0001", 1]), [
      "documents[1].number is of an earlier year",
    ])
    assert.deepStrictEqual(texts(["0001", 1]), [
      "documents[0].number is 0001, which is not in the format {year}-{number:4}",
    ])
  })
})

describe("dueAtOf", () => {
  it.each([
    ["2026-11-22T10:00:00Z", 0, "Europe/Berlin", "2026-11-22T22:59:59.999Z"],
    ["2026-11-22T23:30:00Z", 0, "Europe/Berlin", "2026-11-23T22:59:59.999Z"],
    ["2026-11-22T10:00:00Z", 14, "Europe/Berlin", "2026-12-06T22:59:59.999Z"],
    // Over a change of the clock: the day counts, and not 24 hours.
    ["2026-03-20T12:00:00Z", 14, "Europe/Berlin", "2026-04-03T21:59:59.999Z"],
    ["2026-11-22T02:00:00Z", 30, "America/Los_Angeles", "2026-12-22T07:59:59.999Z"],
    ["2026-11-22T10:00:00Z", 30, "Asia/Kathmandu", "2026-12-22T18:14:59.999Z"],
    // The day after began at 01:00, because midnight was skipped.
    ["2018-11-02T12:00:00Z", 1, "America/Sao_Paulo", "2018-11-04T02:59:59.999Z"],
    ["2026-11-22T10:00:00Z", 0, "UTC", "2026-11-22T23:59:59.999Z"],
  ])("%s and %i days in %s: %s", (issuedAt, days, timezone, expected) => {
    assert.strictEqual(new Date(dueAtOf(at(issuedAt), days, timezone)).toISOString(), expected)
  })

  it("refuses days that make no sense", () => {
    for (const days of [-1, 0.5, 366]) {
      assert.throws(() => dueAtOf(0, days, "UTC"), RangeError, "must be an integer from 0 to 365")
    }
  })
})
