/**
 * The targets for performance: what each benchmark has to reach, and whether it does.
 */
import {
  type Compared,
  detail,
  isCompared,
  type Measure,
  measureOf,
  number,
  type Result,
  type Results,
  type SavedRatio,
  spread,
  timesBetter,
} from "./Results.ts"

type Verdict = "met" | "missed" | "not proven"

/** A statement about a result, and whether its target is met; without a verdict there is no target. */
interface Finding {
  readonly text: string
  readonly verdict?: Verdict
}

export interface Bar {
  readonly id: string
  /** The name of the benchmark. */
  readonly name: string
  readonly work: string
  readonly against: string
  readonly bar: string
  readonly judge: (result: Result) => ReadonlyArray<Finding>
}

/**
 * Whether a figure meets its target: all of its interval has to be on one side of it. One that was not measured proves nothing.
 */
const verdictOf = (measure: Measure | undefined, isGood: (value: number) => boolean): Verdict => {
  if (measure === undefined) return "not proven"
  const ends = [measure.low, measure.high].map(isGood)
  if (ends.every(Boolean)) return "met"
  return ends.some(Boolean) ? "not proven" : "missed"
}

/** A figure and its target. `label` begins the text. */
const judged = (
  measure: Measure | undefined,
  isGood: (value: number) => boolean,
  { label = "", unit = "×" } = {},
): Finding => ({
  text: `${label}${measure === undefined ? "not measured" : spread(measure, unit)}`,
  verdict: verdictOf(measure, isGood),
})

const atLeast = (bar: number) => (value: number) => value >= bar
const atMost = (bar: number) => (value: number) => value <= bar

/** A figure without a target. Nothing is said of one that was not measured. */
const reported = (measure: Measure | undefined, label: string, unit = "×"): ReadonlyArray<Finding> =>
  measure === undefined ? [] : [{ text: `${label}${spread(measure, unit)}` }]

/** The other way round: how many times the time, or a part of the rate. */
const turned = (measure: Measure | undefined): Measure | undefined =>
  measure === undefined
    ? undefined
    : { median: 1 / measure.median, low: 1 / measure.high, high: 1 / measure.low }

/** Judges a comparison. */
const comparing =
  (judge: (result: Compared) => ReadonlyArray<Finding>): Bar["judge"] =>
  (result) =>
    isCompared(result) ? judge(result) : [{ text: "not measured", verdict: "not proven" }]

/** The full name of the side, of those after the first, whose name begins with this text. */
const sideOf = ({ figures }: Compared, name: string): string => {
  const others = figures.slice(1).map((figure) => figure.name)
  return others.find((other) => other === name) ?? others.find((other) => other.startsWith(name)) ?? name
}

/** How many times better the first side is than the side whose name begins with this text. */
const ratioTo = (result: Compared, name: string): Measure | undefined =>
  timesBetter(result, sideOf(result, name))

const simple = (to: string, bar: number): Bar["judge"] =>
  comparing((result) => [judged(ratioTo(result, to), atLeast(bar))])

interface NamedMeasure extends Measure {
  readonly name: string
}

const orderOf: ReadonlyArray<Verdict> = ["missed", "not proven", "met"]

/** The first side compared with each of the others: shows the strongest of them, and has the worst of the verdicts. */
const withBest = (
  others: ReadonlyArray<NamedMeasure>,
  isGood: (value: number) => boolean,
  label = "",
): Finding => {
  const [strongest] = others.toSorted((a, b) => a.median - b.median)
  const verdicts = others.map((other) => verdictOf(other, isGood))
  return {
    text:
      strongest === undefined
        ? `${label}not measured`
        : `${label}${spread(strongest, "×")}, ${strongest.name}`,
    verdict: orderOf.find((verdict) => verdicts.includes(verdict)) ?? "not proven",
  }
}

const others = (result: Compared): ReadonlyArray<NamedMeasure> =>
  result.figures.slice(1).map(({ name }) => ({ name, ...timesBetter(result, name)! }))

/** How much better the 99th percentile of the first side is than those of others. */
const p99Ratios = (result: Result): ReadonlyArray<NamedMeasure> =>
  (detail<ReadonlyArray<SavedRatio>>(result, "p99Ratios") ?? []).map((ratio) => ({
    name: ratio.to,
    ...measureOf(ratio),
  }))

const ingest = comparing((result) => [
  judged(ratioTo(result, "COPY"), atLeast(0.5)),
  judged(ratioTo(result, "COPY in our order"), atLeast(0.5), { label: "in our order " }),
  judged(timesBetter(result, "COPY, Zipf", "Usage.recordBatch, Zipf"), atLeast(0.5), { label: "Zipf " }),
  judged(timesBetter(result, "COPY in our order, Zipf", "Usage.recordBatch, Zipf"), atLeast(0.5), {
    label: "Zipf in our order ",
  }),
])

const httpIngest = comparing((result) => {
  const p99 = p99Ratios(result).find(({ name }) => name.startsWith("Fastify"))
  return [
    judged(ratioTo(result, "Fastify"), atLeast(2)),
    judged(p99, atLeast(1), { label: "p99 " }),
    ...reported(ratioTo(result, "the same, gathered"), "gathered for 5 ms "),
  ]
})

const summary = comparing((result) => [
  judged(turned(ratioTo(result, "Usage.summary, 100,000")), atMost(1.3), { label: "(a) " }),
  judged(ratioTo(result, "SELECT sum"), atLeast(100), { label: "(b) " }),
  ...reported(turned(ratioTo(result, "a daily roll-up by hand")), "(c) "),
])

/** Deliveries in a second, beside libraries that people use, and beside the least that has to be done. */
const deliveries = comparing((result) => {
  const byHand = "a queue with SKIP LOCKED"
  const peers = others(result).filter(({ name }) => !name.startsWith(byHand))
  return [withBest(peers, atLeast(1.25), "(a) "), ...reported(ratioTo(result, byHand), "(b) ")]
})

const latency = comparing((result) => [
  withBest(others(result), atLeast(1), "p50 "),
  withBest(p99Ratios(result), atLeast(1), "p99 "),
])

const router = comparing((result) => [
  judged(ratioTo(result, "Fastify"), atLeast(0.5)),
  ...reported(ratioTo(result, "bare Fastify"), "to a Map "),
])

const memory = comparing((result) => {
  const [ours] = detail<ReadonlyArray<{ readonly p50Micros: Measure }>>(result, "summaries") ?? []
  return [
    judged(ratioTo(result, "a Map of sums"), atLeast(0.2)),
    judged(ours?.p50Micros, (micros) => micros < 50, { label: "summary ", unit: "µs" }),
  ]
})

const start: Bar["judge"] = (result) => {
  const millis = detail<number>(result, "totalMillis") ?? Number.NaN
  const cached = detail<number>(result, "cachedTotalMillis") ?? Number.NaN
  const megabytes = detail<number>(result, "addedMegabytes") ?? Number.NaN
  return [
    { text: `${number(millis)} ms, ${number(cached)} ms with a compile cache` },
    { text: `${number(megabytes)} MB above an empty process` },
  ]
}

/** A rate that may stay the same: it has fallen when all of its interval is below that of before. */
const fallen = (measure: Measure | undefined, options: { readonly label: string }): Finding => {
  const finding = judged(measure, atLeast(1), options)
  return finding.verdict === "not proven" && measure?.high !== undefined
    ? { ...finding, verdict: "met" }
    : finding
}

const workers = (count: number, whose: string): string =>
  `${count} worker process${count === 1 ? "" : "es"}${whose}`

/** How the rate changes from one process to two, and from two to four: ours, and that of the queue by hand. */
const neverFalls = comparing((result) => {
  const change = (from: number, whose = "") =>
    timesBetter(result, workers(from, whose), workers(2 * from, whose))
  const byHand = " of the queue by hand"
  return [
    fallen(change(1), { label: "1 to 2: " }),
    fallen(change(2), { label: "2 to 4: " }),
    ...reported(change(1, byHand), "by hand 1 to 2: "),
    ...reported(change(2, byHand), "2 to 4: "),
  ]
})

/** Lines in a second with their explanation, and how amounts alone compare with the loop. */
const rating = comparing((result) => {
  const linesOf = (name: string) => result.figures.find((figure) => figure.name === name)
  const ratioOf = (model: string) => timesBetter(result, `a bigint loop, ${model}`, `amount, ${model}`)
  return [
    judged(linesOf("rate, unit"), atLeast(1_000_000), { unit: "lines/s" }),
    judged(linesOf("rate, graduated"), atLeast(300_000), { unit: "lines/s" }),
    judged(ratioOf("unit"), atLeast(0.3)),
    judged(ratioOf("graduated"), atLeast(0.3)),
  ]
})

const billRun = comparing((result) => [
  judged(ratioTo(result, "a transaction for each"), atLeast(5), { label: "(a) " }),
  judged(ratioTo(result, "one statement"), atLeast(0.5), { label: "(b) " }),
  judged(ratioTo(result, "Billwright, 10 times"), atMost(1.3), { label: "(c) " }),
])

const billRunIngest = comparing((result) => [judged(turned(ratioTo(result, "without one")), atMost(1.5))])

/** The median of the first side of a comparison, with its target. */
const absolute = (isGood: (value: number) => boolean, unit: string): Bar["judge"] =>
  comparing(({ figures }) => [judged(figures[0], isGood, { unit })])

interface CreditSide {
  readonly name: string
  readonly p99Millis: Measure
}

const credits: Bar["judge"] = (result) => {
  const paired = detail<ReadonlyArray<NamedMeasure>>(result, "paired") ?? []
  const ratioOf = (name: string) => paired.find((ratio) => ratio.name === name)
  const recent = (detail<ReadonlyArray<CreditSide>>(result, "sides") ?? []).find(({ name }) =>
    name.startsWith("check: at most"),
  )
  const holds = turned(ratioOf("1,000 accounts: rate, Credits.consume to Holds.reserve and commit"))
  return [
    judged(ratioOf("1,000 accounts: p50, Credits.consume to by hand"), atMost(1.2), { label: "(a) " }),
    judged(ratioOf("one account: rate, Credits.consume to by hand"), atLeast(2), { label: "(b) " }),
    judged(holds, atLeast(0.5), { label: "(c) " }),
    judged(ratioOf("check: p50, exact to a look-up by primary key"), atMost(1.5), { label: "(d) " }),
    judged(recent?.p99Millis, (millis) => millis < 1, { label: "(e) ", unit: "ms" }),
  ]
}

const overHttp = comparing((result) => [
  judged(result.figures[0], atMost(6), { label: "p50 ", unit: "ms" }),
  ...reported(detail<Measure>(result, "p99Millis"), "p99 ", "ms"),
])

/** The most that was read needs no interval: no other reading was more. */
const serveMemory: Bar["judge"] = (result) => {
  const most = detail<number>(result, "highestMegabytes")
  return [
    judged(detail<Measure>(result, "idleMegabytes"), atMost(100), { label: "(a) ", unit: "MB" }),
    most === undefined
      ? { text: "(b) not measured", verdict: "not proven" }
      : { text: `(b) ${number(most)} MB`, verdict: most <= 180 ? "met" : "missed" },
  ]
}

const serveStart: Bar["judge"] = (result) => [
  judged(detail<Measure>(result, "readyMillis"), atMost(800), { unit: "ms" }),
]

/** In the order of their numbers. */
export const bars: ReadonlyArray<Bar> = [
  {
    id: "B1",
    name: "ingest",
    work: "batch ingest, 1,000 records a call, with dedupe and roll-up",
    against:
      "`COPY` of the same rows, without dedupe or roll-up: as they come, in the order in which we write them, and both with customers by Zipf's law",
    bar: "≥ 0.5 × each",
    judge: ingest,
  },
  {
    id: "B2",
    name: "http-ingest",
    work: "`POST /v1/usage` on Postgres, one record a request, 64 connections",
    against: "Fastify and `pg`, written by hand; the same with requests gathered for 5 ms",
    bar: "≥ 2 ×, p99 no worse; reported",
    judge: httpIngest,
  },
  {
    id: "B3",
    name: "postgres-summary",
    work: "the summary of a customer's month of 10 million records",
    against:
      "(a) the summary of 100,000 records; (b) `SELECT sum` over the records; (c) a daily roll-up by hand",
    bar: "(a) time ≤ 1.3 ×; (b) ≥ 100 × faster; (c) the time is reported",
    judge: summary,
  },
  {
    id: "B4",
    name: "webhooks",
    work: "events published and delivered, attempts written, one worker",
    against:
      "(a) the best of its peers: graphile-worker in three forms, and pg-boss; (b) a queue by hand with `SKIP LOCKED`",
    bar: "(a) ≥ 1.25 ×; (b) the rate is reported",
    judge: deliveries,
  },
  {
    id: "B5",
    name: "webhook-latency",
    work: "from the commit to the receiver's first byte, 50 events/s",
    against: "the best of graphile-worker and pg-boss",
    bar: "p50 and p99 no worse",
    judge: latency,
  },
  {
    id: "B6",
    name: "webhook-hanging",
    work: "B4 with a tenth of the endpoints hanging",
    against: "B4 with no hanging endpoint",
    bar: "≥ 0.8 ×",
    judge: simple("none hangs", 0.8),
  },
  {
    id: "B7",
    name: "webhook-backlog",
    work: "B4 with a million finished deliveries and 100,000 waiting",
    against: "B4 on an empty store",
    bar: "≥ 0.8 ×",
    judge: simple("an empty store", 0.8),
  },
  {
    id: "B8",
    name: "router",
    work: "`POST /v1/usage` on the memory adapter",
    against: "the same handler on Fastify with validation; bare Fastify with a `Map`",
    bar: "≥ 0.5 ×; reported",
    judge: router,
  },
  {
    id: "B9",
    name: "memory",
    work: "the memory adapter: records/s, and summaries of a million records",
    against: "a `Map` of sums, written by hand",
    bar: "≥ 0.2 ×; summary < 50 µs",
    judge: memory,
  },
  {
    id: "B10",
    name: "import",
    work: "`import` of `billwright` and the first call on memory",
    against: "an empty Node process",
    bar: "reported",
    judge: start,
  },
  {
    id: "B11",
    name: "webhook-workers",
    work: "deliveries by 1, 2 and 4 worker processes",
    against: "half as many workers; the same of a queue by hand",
    bar: "the total never falls beyond noise: no interval below 1 ×; reported",
    judge: neverFalls,
  },
  {
    id: "B12",
    name: "rating",
    work: "lines rated on one core: `unit`, `graduated` with five tiers",
    against: "a loop on `bigint`, written by hand",
    bar: "≥ 1,000,000 and ≥ 300,000 lines/s with steps; amounts ≥ 0.3 ×",
    judge: rating,
  },
  {
    id: "B13",
    name: "bill-run",
    work: "subscriptions billed in a run, with 1,000 records each",
    against: "(a) a transaction for each, by hand; (b) one statement for all; (c) ten times the records",
    bar: "(a) ≥ 5 ×; (b) ≥ 0.5 ×; (c) time ≤ 1.3 ×",
    judge: billRun,
  },
  {
    id: "B14",
    name: "bill-run-ingest",
    work: "the 99th percentile of recording usage during a bill run in the background",
    against: "without one",
    bar: "time ≤ 1.5 ×",
    judge: billRunIngest,
  },
  {
    id: "B15",
    name: "time-travel",
    work: "36 months of 100 subscriptions in memory",
    against: "",
    bar: "≤ 2,000 ms",
    judge: absolute(atMost(2_000), "ms"),
  },
  {
    id: "B17",
    name: "holds",
    work: "credits and checks in the path of a request, 64 callers",
    against:
      "(a) (b) an update and a record by hand, on 1,000 accounts and on one; (c) a hold that is committed, with `consume`; (d) an exact check, with a look-up by primary key; (e) a check that may be old",
    bar: "(a) p50 ≤ 1.2 ×; (b) rate ≥ 2 ×; (c) rate ≥ 0.5 ×; (d) p50 ≤ 1.5 ×; (e) p99 < 1 ms",
    judge: credits,
  },
  {
    id: "B18",
    name: "webhook-http",
    work: "from the call of `POST /v1/events` to the receiver's first byte, 50 events/s",
    against: "",
    bar: "p50 ≤ 6 ms",
    judge: overHttp,
  },
  {
    id: "B19",
    name: "webhook-http",
    work: "the memory of `serve`, (a) idle for 10 s, (b) at most during B18",
    against: "",
    bar: "(a) ≤ 100 MB; (b) ≤ 180 MB",
    judge: serveMemory,
  },
  {
    id: "B20",
    name: "serve-start",
    work: "the start of `serve` on a store that exists, until it answers",
    against: "",
    bar: "≤ 800 ms",
    judge: serveStart,
  },
  {
    id: "B21",
    name: "prune",
    work: "events published while old ones are removed",
    against: "publishing alone",
    bar: "≥ 0.8 ×",
    judge: simple("alone", 0.8),
  },
  {
    id: "B22",
    name: "webhook-latency-embedded",
    work: "B5 where the process that sends also publishes",
    against: "the best of graphile-worker and pg-boss, in one process, too",
    bar: "p50 and p99 no worse",
    judge: latency,
  },
  {
    id: "B23",
    name: "webhooks-embedded",
    work: "B4 where the process that sends also publishes",
    against: "the same as B4, in one process, too",
    bar: "(a) ≥ 1.25 ×; (b) the rate is reported",
    judge: deliveries,
  },
]

const WRITTEN = { met: "**met**", missed: "**missed**", "not proven": "not proven" } as const

/** The findings for a target, as text; `undefined` when it wasn't measured. */
export const judge = (
  bar: Bar,
  results: Results,
): { readonly found: string; readonly verdict: string } | undefined => {
  const result = results.get(bar.name)
  if (result === undefined) return undefined
  const findings = bar.judge(result)
  const verdicts = findings.flatMap(({ verdict }) => verdict ?? [])
  const worst = orderOf.find((verdict) => verdicts.includes(verdict))
  return {
    found: findings.map(({ text }) => text).join("; "),
    verdict: worst === undefined ? "reported" : WRITTEN[worst],
  }
}
