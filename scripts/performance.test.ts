/**
 * `docs/performance.md` and its charts must match the measured results exactly.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { bars, judge } from "./performance/Bars.ts"
import { draw, pathOf } from "./performance/Charts.ts"
import { render } from "./performance/Report.ts"
import { type Figure, type Measure, readResults, type Result } from "./performance/Results.ts"

const root = join(import.meta.dirname, "..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")

const machine = { cpu: "a processor", cores: 2, memoryGiB: 4, node: "v24.0.0", platform: "linux x64" }

const figureOf = (name: string, { high, low, median }: Measure): Figure => ({
  name,
  median,
  low,
  high,
  lowest: median * 0.9,
  highest: median * 1.1,
  rounds: [median],
})

const resultOf = (
  name: string,
  unit: string,
  medians: Readonly<Record<string, number>>,
  more = {},
): Result => ({
  name,
  measuredAt: "2026-11-21T12:00:00.000Z",
  commit: "0123456789abcdef",
  machine,
  title: `${name}: something, Postgres 18.4`,
  unit,
  figures: Object.entries(medians).map(([side, median]) =>
    figureOf(side, { median, low: median * 0.95, high: median * 1.05 }),
  ),
  ...more,
})

const verdictOf = (result: Result, id?: string) => {
  const bar = bars.find((one) => one.name === result.name && (id === undefined || one.id === id))!
  return judge(bar, new Map([[result.name, result]]))
}

/** A ratio to a side, with an interval around it. */
const to = (side: string, low: number, high: number, of = "ours") => ({
  of,
  to: side,
  ratio: (low + high) / 2,
  low,
  high,
})

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

  it("has only results that name their commit, and compare at least 15 rounds", () => {
    for (const { commit, figures = [], hasChanges, name } of results.values()) {
      assert.match(commit, /^[0-9a-f]{40}$/, name)
      assert.isFalse(hasChanges, name)
      for (const figure of figures) assert.isAtLeast(figure.rounds.length, 15, `${name}: ${figure.name}`)
    }
  })

  it("has a part for every benchmark", () => {
    const document = read("docs/performance.md")
    const benchmarks = readdirSync(join(root, "bench")).filter((file) => file.endsWith(".bench.ts"))
    for (const file of benchmarks) assert.include(document, `\`${file.slice(0, -".bench.ts".length)}\``)
  })
})

describe("a verdict", () => {
  const hanging = (low: number, high: number) =>
    verdictOf(
      resultOf(
        "webhook-hanging",
        "answered deliveries/s",
        { ours: 90, "none hangs": 100 },
        { ratios: [to("none hangs", low, high)] },
      ),
    )

  it("is met when the worse end of the interval meets the target, and missed when the better one misses it", () => {
    assert.deepStrictEqual(hanging(0.8, 0.9), { found: "0.85 × (0.8 to 0.9)", verdict: "**met**" })
    assert.deepStrictEqual(hanging(0.6, 0.79), { found: "0.695 × (0.6 to 0.79)", verdict: "**missed**" })
  })

  it("is not proven when the target is in the interval", () => {
    assert.deepStrictEqual(hanging(0.79, 0.95), { found: "0.87 × (0.79 to 0.95)", verdict: "not proven" })
    assert.strictEqual(hanging(0.5, 0.8)?.verdict, "not proven")
  })

  it("is not proven by a side that did not take part", () => {
    const found = verdictOf(
      resultOf("ingest", "records/s", { "Usage.recordBatch": 60, COPY: 100 }, { ratios: [] }),
    )
    assert.deepStrictEqual(found, {
      found: "not measured; in our order not measured; Zipf not measured; Zipf in our order not measured",
      verdict: "not proven",
    })
  })

  it("turns a ratio into a share of the time, with its interval", () => {
    const few = "Usage.summary, 100,000 records"
    const [many, sum, hand] = [
      "Usage.summary, 10 million records",
      "SELECT sum, 10 million",
      "a daily roll-up by hand, 10 million",
    ]
    const summary = (low: number) =>
      verdictOf(
        resultOf(
          "postgres-summary",
          "ms",
          { [many]: 1, [few]: 1, [sum]: 500, [hand]: 0.5 },
          {
            ratios: [to(few, low, 1, many), to(sum, 400, 600, many), to(hand, 0.4, 0.5, many)],
          },
        ),
      )
    assert.deepStrictEqual(summary(0.8), {
      found: "(a) 1.11 × (1 to 1.25); (b) 500 × (400 to 600); (c) 2.22 × (2 to 2.5)",
      verdict: "**met**",
    })
    assert.strictEqual(summary(0.7)?.verdict, "not proven")
  })

  it("compares each side with its own counterpart", () => {
    const sides = {
      "Usage.recordBatch": 60,
      COPY: 100,
      "COPY in our order": 100,
      "Usage.recordBatch, Zipf": 10,
      "COPY, Zipf": 20,
      "COPY in our order, Zipf": 30,
    }
    const zipf = "Usage.recordBatch, Zipf"
    const ingest = (low: number) =>
      verdictOf(
        resultOf("ingest", "records/s", sides, {
          ratios: [
            to("COPY", 0.5, 0.7, "Usage.recordBatch"),
            to("COPY in our order", 0.5, 0.6, "Usage.recordBatch"),
            to("COPY, Zipf", 0.5, 0.6, zipf),
            to("COPY in our order, Zipf", low, 0.6, zipf),
          ],
        }),
      )
    assert.deepStrictEqual(ingest(0.5), {
      found:
        "0.6 × (0.5 to 0.7); in our order 0.55 × (0.5 to 0.6); Zipf 0.55 × (0.5 to 0.6); Zipf in our order 0.55 × (0.5 to 0.6)",
      verdict: "**met**",
    })
    assert.strictEqual(ingest(0.4)?.verdict, "not proven")
  })

  it("takes the ratio of the side that it asks for, where several are compared with one", () => {
    const loop = (model: string, low: number) => [
      to(`a bigint loop, ${model}`, 0.05, 0.07, `rate, ${model}`),
      to(`a bigint loop, ${model}`, low, 0.5, `amount, ${model}`),
    ]
    const rating = (lines: number, low: number) => ({
      ...resultOf("rating", "lines/s", {}, { ratios: [...loop("unit", 0.3), ...loop("graduated", low)] }),
      figures: [
        figureOf("rate, unit", { median: 2_000_000, low: lines, high: 3_000_000 }),
        figureOf("rate, graduated", { median: 400_000, low: 300_000, high: 500_000 }),
      ],
    })
    assert.deepStrictEqual(verdictOf(rating(1_000_000, 0.3)), {
      found:
        "2,000,000 lines/s (1,000,000 to 3,000,000); 400,000 lines/s (300,000 to 500,000); 0.4 × (0.3 to 0.5); 0.4 × (0.3 to 0.5)",
      verdict: "**met**",
    })
    assert.strictEqual(verdictOf(rating(999_999, 0.3))?.verdict, "not proven")
    assert.strictEqual(verdictOf(rating(1_000_000, 0.2))?.verdict, "not proven")
  })

  it("shows the strongest of the others, and holds against all of them", () => {
    const webhooks = (...ratios: ReadonlyArray<ReturnType<typeof to>>) =>
      verdictOf(resultOf("webhooks", "deliveries/s", { ours: 30, one: 20, two: 10 }, { ratios }))
    assert.deepStrictEqual(webhooks(to("one", 1.25, 1.75), to("two", 2, 4)), {
      found: "(a) 1.5 × (1.25 to 1.75), one",
      verdict: "**met**",
    })
    assert.strictEqual(webhooks(to("one", 1.3, 1.4), to("two", 1.2, 4))?.verdict, "not proven")
    assert.strictEqual(webhooks(to("one", 1.2, 1.24), to("two", 1.2, 4))?.verdict, "**missed**")
  })

  it("reports what has no target", () => {
    const ratios = [to("one", 1.25, 1.75), to("a queue with SKIP LOCKED, by hand", 0.5, 0.7)]
    const figures = { ours: 30, one: 20, "a queue with SKIP LOCKED, by hand": 50 }
    assert.deepStrictEqual(verdictOf(resultOf("webhooks", "deliveries/s", figures, { ratios })), {
      found: "(a) 1.5 × (1.25 to 1.75), one; (b) 0.6 × (0.5 to 0.7)",
      verdict: "**met**",
    })
  })

  it("requires every part of the target", () => {
    const latency = (low: number) =>
      verdictOf(
        resultOf(
          "webhook-latency",
          "ms",
          { ours: 10, one: 12 },
          {
            ratios: [to("one", 1.1, 1.3)],
            p99Ratios: [to("one", low, 1.2)],
          },
        ),
      )
    assert.deepStrictEqual(latency(1), {
      found: "p50 1.2 × (1.1 to 1.3), one; p99 1.1 × (1 to 1.2), one",
      verdict: "**met**",
    })
    assert.strictEqual(latency(0.9)?.verdict, "not proven")
    const [four, two, one] = ["4 worker processes", "2 worker processes", "1 worker process"] as const
    const workers = (high: number) =>
      verdictOf(
        resultOf(
          "webhook-workers",
          "deliveries/s",
          { [four]: 3, [two]: 2, [one]: 1 },
          {
            ratios: [to(one, 1, 1.4, two), to(two, 0.7, high, four)],
          },
        ),
      )
    assert.deepStrictEqual(workers(0.9), {
      found: "1 to 2: 1.2 × (1 to 1.4); 2 to 4: 0.8 × (0.7 to 0.9)",
      verdict: "**missed**",
    })
    // It may have stayed the same, so no fall is shown.
    assert.strictEqual(workers(1.1)?.verdict, "**met**")
  })

  it("reports how a baseline changes, and does not judge it", () => {
    const [two, one] = ["2 worker processes", "1 worker process"] as const
    const byHand = (side: string) => `${side} of the queue by hand`
    const four = "4 worker processes"
    const ratios = [
      to(one, 1, 1.4, two),
      to(two, 1, 1.2, four),
      to(byHand(one), 1, 1.4, byHand(two)),
      to(byHand(two), 0.7, 0.9, byHand(four)),
    ]
    assert.deepStrictEqual(verdictOf(resultOf("webhook-workers", "deliveries/s", {}, { ratios })), {
      found:
        "1 to 2: 1.2 × (1 to 1.4); 2 to 4: 1.1 × (1 to 1.2); by hand 1 to 2: 1.2 × (1 to 1.4); 2 to 4: 0.8 × (0.7 to 0.9)",
      verdict: "**met**",
    })
  })

  it("is about figures themselves, too", () => {
    const result = (high: number, most: number) => ({
      ...resultOf(
        "webhook-http",
        "ms",
        {},
        {
          p99Millis: { median: 9, low: 8, high: 10 },
          idleMegabytes: { median: 95, low: 90, high: 100 },
          highestMegabytes: most,
        },
      ),
      figures: [figureOf("billwright serve", { median: 5, low: 4, high })],
    })
    assert.deepStrictEqual(verdictOf(result(6, 180), "B18"), {
      found: "p50 5 ms (4 to 6); p99 9 ms (8 to 10)",
      verdict: "**met**",
    })
    assert.strictEqual(verdictOf(result(6.1, 180), "B18")?.verdict, "not proven")
    assert.deepStrictEqual(verdictOf(result(6, 180), "B19"), {
      found: "(a) 95 MB (90 to 100); (b) 180 MB",
      verdict: "**met**",
    })
    assert.strictEqual(verdictOf(result(6, 181), "B19")?.verdict, "**missed**")
  })
})

describe("a verdict about credits", () => {
  const found = (low: number, high: number) => {
    const ratio = { median: (low + high) / 2, low, high }
    const names = [
      ["1,000 accounts: p50, Credits.consume to by hand", ratio],
      ["one account: rate, Credits.consume to by hand", { median: 3, low: 2, high: 4 }],
      ["1,000 accounts: rate, Credits.consume to Holds.reserve and commit", { median: 1.5, low: 1, high: 2 }],
      ["check: p50, exact to a look-up by primary key", { median: 1, low: 1, high: 1.5 }],
    ] as const
    const paired = names.map(([name, one]) => ({ name, ...one }))
    const sides = [{ name: "check: at most 60 s old", p99Millis: { median: 0.5, low: 0.4, high: 0.6 } }]
    return verdictOf(resultOf("holds", "calls/s", {}, { sides, paired }))
  }

  it("is met or missed when all of the interval is on its side, and else not proven", () => {
    assert.deepStrictEqual(found(0.8, 1.2), {
      found:
        "(a) 1 × (0.8 to 1.2); (b) 3 × (2 to 4); (c) 0.667 × (0.5 to 1); (d) 1 × (1 to 1.5); (e) 0.5 ms (0.4 to 0.6)",
      verdict: "**met**",
    })
    assert.strictEqual(found(1.1, 1.3)?.verdict, "not proven")
    assert.strictEqual(found(1.3, 1.4)?.verdict, "**missed**")
    assert.strictEqual(verdictOf(resultOf("holds", "calls/s", {}))?.verdict, "not proven")
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

  const rendered = (kind: string, result: Result): string =>
    render(`<!-- result: ${kind} -->\n<!-- end -->`, new Map([[result.name, result]]))

  it("shows each ratio with its interval, and the commit with the day", () => {
    const result = resultOf(
      "webhook-hanging",
      "answered deliveries/s",
      { ours: 90, "none hangs": 100 },
      {
        commit: "0123456789abcdef",
        ratios: [to("none hangs", 0.85, 0.95)],
      },
    )
    const figures = rendered("figures webhook-hanging", result)
    assert.include(figures, "webhook-hanging: something, Postgres 18.4, 2026-11-21, `01234567`:")
    assert.match(figures, /\| none hangs +\| 100 +\| 90 to 110 +\| 0\.9 × \(0\.85 to 0\.95\) +\|/)
    assert.match(
      rendered("bars", result),
      /\| 0\.9 × \(0\.85 to 0\.95\) +\| \*\*met\*\* +\| 2026-11-21, `01234567` +\|/,
    )
    const changed = { ...result, hasChanges: true }
    assert.include(rendered("figures webhook-hanging", changed), "`01234567` with changes:")
  })

  it("names the sides that are compared when it is not only the first", () => {
    const result = resultOf(
      "ingest",
      "records/s",
      { ours: 50, COPY: 100, "ours, Zipf": 60, "COPY, Zipf": 100 },
      {
        ratios: [to("COPY", 0.4, 0.6), to("COPY, Zipf", 0.5, 0.7, "ours, Zipf")],
      },
    )
    const figures = rendered("figures ingest", result)
    assert.match(figures, /\| compared with it +\|/)
    assert.match(figures, /\| COPY +\| 100 +\| 90 to 110 +\| ours: 0\.5 × \(0\.4 to 0\.6\) +\|/)
    assert.match(figures, /\| ours, Zipf +\| 60 +\| 54 to 66 +\| +\|/)
    assert.match(figures, /\| COPY, Zipf +\| 100 +\| 90 to 110 +\| ours, Zipf: 0\.6 × \(0\.5 to 0\.7\) +\|/)
  })

  it("has facts with their intervals in one line", () => {
    const facts = rendered("facts webhooks", {
      ...resultOf("webhooks", "deliveries/s", {}),
      commit: "0123456789abcdef",
      hasChanges: false,
      p99: [{ name: "ours", median: 6, low: 5, high: 7, rounds: [5, 6, 7] }],
      p99Ratios: [to("one", 0.9, 1.1)],
      runs: 15,
    })
    assert.match(facts, /\| p99: ours +\| 6 \(5 to 7\) +\|/)
    assert.match(facts, /\| p99 ratios: ours to one +\| 1 \(0\.9 to 1\.1\) +\|/)
    assert.match(facts, /\| runs +\| 15 +\|/)
    assert.notMatch(facts, /commit|changes/)
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
