/**
 * The targets for performance: what each benchmark has to reach, and whether it does.
 */
import {
  type Compared,
  detail,
  isCompared,
  number,
  type Result,
  type Results,
  timesBetter,
} from "./Results.ts"

/** A statement about results, and whether the target is met; `undefined`: there is no target. */
interface Finding {
  readonly text: string
  readonly isMet: boolean | undefined
  /** The interval of the figure has the target in it, so it is not known whether it is met. */
  readonly isOpen?: boolean
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

const times = (value: number): string => `${number(value)} ×`

/** Judges a comparison. A result of another kind does not meet the target. */
const comparing =
  (judge: (result: Compared) => ReadonlyArray<Finding>): Bar["judge"] =>
  (result) =>
    isCompared(result) ? judge(result) : [{ text: "the result is of an older release", isMet: false }]

/** How many times better the first side is than the side whose name begins with this text. */
const ratioTo = ({ figures, unit }: Compared, name: string): number => {
  const other = figures.find((figure) => figure.name.startsWith(name))
  if (other === undefined) throw new Error(`no side of the comparison is called ${name}`)
  return timesBetter(unit, figures[0]!, other)
}

const atLeast = (ratio: number, bar: number): Finding => ({ text: times(ratio), isMet: ratio >= bar })

const simple = (to: string, bar: number): Bar["judge"] =>
  comparing((result) => [atLeast(ratioTo(result, to), bar)])

/** The ratio to the best of the other sides. */
const bestOther = ({ figures, unit }: Compared): number =>
  Math.min(...figures.slice(1).map((other) => timesBetter(unit, figures[0]!, other)))

const missing = (what: string): Finding => ({ text: `${what}: not measured`, isMet: false })

const httpIngest = comparing((result) => {
  const ours = detail<number>(result, "ours.p99Millis")
  const theirs = detail<number>(result, "theirs.p99Millis")
  return [
    atLeast(ratioTo(result, "Fastify"), 2),
    ours === undefined || theirs === undefined
      ? missing("p99")
      : { text: `p99 ${number(ours)} ms to ${number(theirs)} ms`, isMet: ours <= theirs },
  ]
})

const summary = comparing((result) => {
  const growth = 1 / ratioTo(result, "Usage.summary, 100,000")
  return [
    { text: `(a) ${times(growth)}`, isMet: growth <= 1.3 },
    { ...atLeast(ratioTo(result, "SELECT sum"), 100), text: `(b) ${times(ratioTo(result, "SELECT sum"))}` },
  ]
})

interface P99 {
  readonly name: string
  readonly median: number
}

const latency = comparing((result) => {
  const [ours, ...others] = detail<ReadonlyArray<P99>>(result, "p99") ?? []
  const best = Math.min(...others.map(({ median }) => median))
  return [
    { text: `p50 ${times(bestOther(result))}`, isMet: bestOther(result) >= 1 },
    ours === undefined
      ? missing("p99")
      : { text: `p99 ${number(ours.median)} ms to ${number(best)} ms`, isMet: ours.median <= best },
  ]
})

const memory = comparing((result) => {
  const [ours] = detail<ReadonlyArray<{ readonly p50Micros: number }>>(result, "summaries") ?? []
  return [
    atLeast(ratioTo(result, "a Map of sums"), 0.2),
    ours === undefined
      ? missing("summary")
      : { text: `summary ${number(ours.p50Micros)} µs`, isMet: ours.p50Micros < 50 },
  ]
})

const start: Bar["judge"] = (result) => {
  const millis = detail<number>(result, "totalMillis") ?? Number.NaN
  const cached = detail<number>(result, "cachedTotalMillis") ?? Number.NaN
  const megabytes = detail<number>(result, "addedMegabytes") ?? Number.NaN
  return [
    { text: `${number(millis)} ms, ${number(cached)} ms with a compile cache`, isMet: undefined },
    { text: `${number(megabytes)} MB above an empty process`, isMet: undefined },
  ]
}

/** How the figure changes from one process to many. */
const neverFalls = comparing(({ figures, unit }) => {
  const medians = figures.map(({ median }) => median).reverse()
  return [
    {
      text: `${medians.map(number).join(" · ")} ${unit}`,
      isMet: medians.every((median, index) => index === 0 || median >= medians[index - 1]!),
    },
  ]
})

interface Paired {
  readonly name: string
  readonly median: number
}

/** Lines in a second with their explanation, and how amounts alone compare with the loop, round by round. */
const rating = comparing((result) => {
  const linesOf = (name: string) =>
    result.figures.find((figure) => figure.name === name)?.median ?? Number.NaN
  const paired = detail<ReadonlyArray<Paired>>(result, "paired") ?? []
  const ratioOf = (name: string) => paired.find((one) => one.name === name)?.median ?? Number.NaN
  const [unit, graduated] = [linesOf("rate, unit"), linesOf("rate, graduated")]
  return [
    { text: `${number(unit)} lines/s`, isMet: unit >= 1_000_000 },
    { text: `${number(graduated)} lines/s`, isMet: graduated >= 300_000 },
    atLeast(ratioOf("amount, unit"), 0.3),
    atLeast(ratioOf("amount, graduated"), 0.3),
  ]
})

interface Interval {
  readonly name: string
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Judges a ratio of paired rounds by its interval: all of it has to be on the side of the target. */
const proven = (
  result: Result,
  name: string,
  label: string,
  isGood: (ratio: number) => boolean,
  turned = false,
): Finding => {
  const found = (detail<ReadonlyArray<Interval>>(result, "paired") ?? []).find((one) => one.name === name)
  if (found === undefined) return missing(label)
  const [middle, ...ends] = [found.median, found.low, found.high].map((ratio) => (turned ? 1 / ratio : ratio))
  const [low, high] = ends.toSorted((a, b) => a - b)
  const isMet = ends.every(isGood)
  const text = `${label} ${times(middle!)} (${number(low!)} to ${number(high!)})`
  return { text, isMet, isOpen: !isMet && ends.some(isGood) }
}

const credits: Bar["judge"] = (result) => {
  const recent = (
    detail<ReadonlyArray<{ readonly name: string; readonly p99Millis: number }>>(result, "sides") ?? []
  ).find(({ name }) => name.startsWith("check: at most"))
  return [
    proven(result, "1,000 accounts: p50, Credits.consume to by hand", "(a)", (ratio) => ratio <= 1.2),
    proven(result, "one account: rate, Credits.consume to by hand", "(b)", (ratio) => ratio >= 2),
    proven(
      result,
      "1,000 accounts: rate, Credits.consume to Holds.reserve and commit",
      "(c)",
      (ratio) => ratio >= 0.5,
      true,
    ),
    proven(result, "check: p50, exact to a look-up by primary key", "(d)", (ratio) => ratio <= 1.5),
    recent === undefined
      ? missing("(e)")
      : { text: `(e) ${number(recent.p99Millis)} ms`, isMet: recent.p99Millis < 1 },
  ]
}

/** In the order of their numbers. */
export const bars: ReadonlyArray<Bar> = [
  {
    id: "B1",
    name: "ingest",
    work: "batch ingest, 1,000 records a call, with dedupe and roll-up",
    against: "`COPY` of the same rows, without dedupe or roll-up",
    bar: "≥ 0.5 ×",
    judge: simple("COPY", 0.5),
  },
  {
    id: "B2",
    name: "http-ingest",
    work: "`POST /v1/usage` on Postgres, one record a request, 64 connections",
    against: "Fastify and `pg`, written by hand",
    bar: "≥ 2 ×, p99 no worse",
    judge: httpIngest,
  },
  {
    id: "B3",
    name: "postgres-summary",
    work: "the summary of a customer's month of 10 million records",
    against: "(a) the summary of 100,000 records; (b) `SELECT sum` over the records",
    bar: "(a) time ≤ 1.3 ×; (b) ≥ 100 × faster",
    judge: summary,
  },
  {
    id: "B4",
    name: "webhooks",
    work: "events published and delivered, attempts written, one worker",
    against: "the best of graphile-worker and pg-boss",
    bar: "≥ 1.5 ×",
    judge: comparing((result) => [atLeast(bestOther(result), 1.5)]),
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
    against: "the same handler on Fastify with validation",
    bar: "≥ 0.5 ×",
    judge: simple("Fastify", 0.5),
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
    against: "1 worker",
    bar: "the total never falls",
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
    id: "B17",
    name: "holds",
    work: "credits and checks in the path of a request, 64 callers",
    against:
      "(a) (b) an update and a record by hand, on 1,000 accounts and on one; (c) a hold that is committed, with `consume`; (d) an exact check, with a look-up by primary key; (e) a check that may be old",
    bar: "(a) p50 ≤ 1.2 ×; (b) rate ≥ 2 ×; (c) rate ≥ 0.5 ×; (d) p50 ≤ 1.5 ×; (e) p99 < 1 ms",
    judge: credits,
  },
]

/** The findings for a target, as text; `undefined` when it wasn't measured. */
export const judge = (
  bar: Bar,
  results: Results,
): { readonly found: string; readonly verdict: string } | undefined => {
  const result = results.get(bar.name)
  if (result === undefined) return undefined
  const findings = bar.judge(result)
  const judged = findings.filter(({ isMet }) => isMet !== undefined)
  const verdict = judged.some(({ isMet, isOpen }) => isMet === false && isOpen !== true)
    ? "**missed**"
    : judged.every(({ isMet }) => isMet)
      ? "**met**"
      : "not proven"
  return {
    found: findings.map(({ text }) => text).join("; "),
    verdict: judged.length === 0 ? "reported" : verdict,
  }
}
