/**
 * `docs/performance.md` and its charts must match the measured results exactly.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { bars, judge } from "./performance/Bars.ts"
import { draw, pathOf } from "./performance/Charts.ts"
import { render } from "./performance/Report.ts"
import { readResults, type Result } from "./performance/Results.ts"

const root = join(import.meta.dirname, "..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")

const machine = { cpu: "a processor", cores: 2, memoryGiB: 4, node: "v24.0.0", platform: "linux x64" }

const resultOf = (
  name: string,
  unit: string,
  medians: Readonly<Record<string, number>>,
  more = {},
): Result => ({
  name,
  measuredAt: "2026-11-21T12:00:00.000Z",
  machine,
  title: `${name}: something, Postgres 18.4`,
  unit,
  figures: Object.entries(medians).map(([side, median]) => ({
    name: side,
    median,
    lowest: median * 0.9,
    highest: median * 1.1,
  })),
  ...more,
})

const verdictOf = (result: Result) => {
  const bar = bars.find(({ name }) => name === result.name)!
  return judge(bar, new Map([[result.name, result]]))
}

describe("the committed document", () => {
  const results = readResults()

  it("is generated from the committed results: npm run bench:report", () => {
    const document = read("docs/performance.md")
    assert.strictEqual(render(document, results), document)
  })

  it("has the charts of the committed results, and no others", () => {
    const charts = draw(results)
    for (const [path, content] of charts) assert.strictEqual(read(path), content, path)
    const files = readdirSync(join(root, "docs/images")).filter((file) => file.startsWith("performance-"))
    assert.sameMembers(
      files.map((file) => `docs/images/${file}`),
      [...charts.keys()],
    )
  })

  it("has a part for every benchmark", () => {
    const document = read("docs/performance.md")
    const benchmarks = readdirSync(join(root, "bench")).filter((file) => file.endsWith(".bench.ts"))
    for (const file of benchmarks) assert.include(document, `\`${file.slice(0, -".bench.ts".length)}\``)
  })
})

describe("a verdict", () => {
  it("follows from the ratio, whether more or less is better", () => {
    const ingest = (ours: number) => verdictOf(resultOf("ingest", "records/s", { ours, COPY: 100 }))
    assert.deepStrictEqual(ingest(50), { found: "0.5 ×", verdict: "**met**" })
    assert.deepStrictEqual(ingest(49), { found: "0.49 ×", verdict: "**missed**" })
    const summary = (many: number) =>
      verdictOf(
        resultOf("postgres-summary", "ms", {
          "Usage.summary, 10 million records": many,
          "Usage.summary, 100,000 records": 1,
          "SELECT sum, 10 million records": 1_000,
        }),
      )
    assert.deepStrictEqual(summary(1.25), { found: "(a) 1.25 ×; (b) 800 ×", verdict: "**met**" })
    assert.strictEqual(summary(1.31)?.verdict, "**missed**")
  })

  it("compares with the best of the others, and requires every part of the bar", () => {
    const latencies = { ours: 10, one: 12, two: 20 }
    const p99 = (ours: number) => ({
      p99: [
        { name: "ours", median: ours },
        { name: "one", median: 40 },
        { name: "two", median: 30 },
      ],
    })
    const latency = (ours: number) => verdictOf(resultOf("webhook-latency", "ms", latencies, p99(ours)))
    assert.deepStrictEqual(latency(30), { found: "p50 1.2 ×; p99 30 ms to 30 ms", verdict: "**met**" })
    assert.strictEqual(latency(31)?.verdict, "**missed**")
    assert.strictEqual(verdictOf(resultOf("webhook-latency", "ms", latencies))?.verdict, "**missed**")
    const workers = (four: number) =>
      verdictOf(resultOf("webhook-workers", "deliveries/s", { four, two: 20, one: 10 }))?.verdict
    const rating = (lines: number, ratio: number) =>
      verdictOf(
        resultOf(
          "rating",
          "lines/s",
          { "rate, unit": lines, "rate, graduated": 300_000 },
          { paired: ["unit", "graduated"].map((model) => ({ name: `amount, ${model}`, median: ratio })) },
        ),
      )
    assert.deepStrictEqual(rating(1_000_000, 0.3), {
      found: "1,000,000 lines/s; 300,000 lines/s; 0.3 ×; 0.3 ×",
      verdict: "**met**",
    })
    assert.strictEqual(rating(999_999, 0.3)?.verdict, "**missed**")
    assert.strictEqual(rating(1_000_000, 0.29)?.verdict, "**missed**")
    assert.strictEqual(verdictOf(resultOf("rating", "lines/s", {}))?.verdict, "**missed**")
    assert.strictEqual(workers(20), "**met**")
    assert.strictEqual(workers(19), "**missed**")
  })
})

describe("a verdict about an interval", () => {
  const found = (low: number, high: number) => {
    const ratio = { median: (low + high) / 2, low, high }
    const names = [
      ["1,000 accounts: p50, Credits.consume to by hand", ratio],
      ["one account: rate, Credits.consume to by hand", { median: 3, low: 2, high: 4 }],
      ["1,000 accounts: rate, Credits.consume to Holds.reserve and commit", { median: 1.5, low: 1, high: 2 }],
      ["check: p50, exact to a look-up by primary key", { median: 1, low: 1, high: 1.5 }],
    ] as const
    const paired = names.map(([name, one]) => ({ name, ...one }))
    const sides = [{ name: "check: at most 60 s old", p99Millis: 0.5 }]
    return verdictOf(resultOf("holds", "calls/s", {}, { sides, paired }))
  }

  it("is met or missed when all of the interval is on its side, and else not proven", () => {
    assert.deepStrictEqual(found(0.8, 1.2), {
      found: "(a) 1 × (0.8 to 1.2); (b) 3 × (2 to 4); (c) 0.667 × (0.5 to 1); (d) 1 × (1 to 1.5); (e) 0.5 ms",
      verdict: "**met**",
    })
    assert.strictEqual(found(1.1, 1.3)?.verdict, "not proven")
    assert.strictEqual(found(1.3, 1.4)?.verdict, "**missed**")
    assert.strictEqual(verdictOf(resultOf("holds", "calls/s", {}))?.verdict, "**missed**")
  })
})

describe("the generator", () => {
  it("marks results that were not measured", () => {
    const document = "<!-- result: figures ingest -->\nold\n<!-- end -->\nkept\n"
    assert.strictEqual(
      render(document, new Map()),
      "<!-- result: figures ingest -->\n\nNot measured yet.\n\n<!-- end -->\nkept\n",
    )
    assert.throws(() => render("<!-- result: fingers ingest -->\n<!-- end -->", new Map()), /fingers/)
  })

  it("draws growth by the amount of stored data", () => {
    const result = resultOf("growth-events", "ms", {
      "10,000, first page": 1,
      "1 million, first page": 2,
      "10,000, page 100": 3,
      "1 million, page 100": 4,
    })
    const chart = draw(new Map([[result.name, result]])).get(pathOf("growth-events"))!
    assert.match(chart, /^<svg [^>]*>\n<title>A page of 20 events<\/title>/)
    assert.lengthOf(chart.match(/<polyline points="80,\S+ 660,\S+"/g)!, 2)
    for (const text of ["10,000", "1 million", "first page", "page 100"])
      assert.include(chart, `>${text}</text>`)
  })
})
