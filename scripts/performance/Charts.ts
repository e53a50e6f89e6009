/**
 * Which results have a chart, and of which kind.
 */
import * as Chart from "./Chart.ts"
import { type Compared, detail, type Figure, isCompared, type Results } from "./Results.ts"

const FOLDER = "docs/images"

/** Comparisons with a bar chart, and the chart's title. */
const BARS: Readonly<Record<string, string>> = {
  ingest: "B1: batch ingest against COPY",
  "http-ingest": "B2: POST /v1/usage on Postgres",
  webhooks: "B4: webhooks published and delivered by one worker",
  "webhook-latency": "B5: from commit to first byte, median",
  "webhook-latency-embedded": "B22: from commit to first byte in one process, median",
  "webhooks-embedded": "B23: webhooks published and delivered by one process",
  router: "B8: POST /v1/usage on the memory adapter",
  memory: "B9: records into memory",
  "webhook-workers": "B11: deliveries by worker processes",
  rating: "B12: lines rated on one core",
  "growth-processes": "Batch ingest by processes",
}

/** Comparisons by the amount of stored data. */
const LINES: Readonly<Record<string, string>> = {
  "growth-ingest": "Batch ingest",
  "growth-summary": "The summary of a customer's month",
  "growth-claim": "Claiming deliveries and writing results",
  "growth-events": "A page of 20 events",
}

/** The path of a benchmark's chart, from the root. */
export const pathOf = (name: string): string => `${FOLDER}/performance-${name}.svg`

const SIZE = /^([\d,.]+)( million)?\b(?:[^,]*)(?:, (.*))?$/

/** The amount of stored data and the work, from the name of a side: `10 million, first page`. */
const sizeOf = (name: string): { readonly rows: number; readonly series: string } => {
  const [, digits, million, series = ""] = SIZE.exec(name) ?? []
  if (digits === undefined) throw new Error(`the name of a side doesn't begin with a size: ${name}`)
  return { rows: Number(digits.replaceAll(",", "")) * (million === undefined ? 1 : 1_000_000), series }
}

type Range = Pick<Figure, "name" | "median" | "lowest" | "highest">

const seriesOf = (figures: ReadonlyArray<Range>): ReadonlyArray<Chart.Series> =>
  Array.from(
    Map.groupBy(figures, ({ name }) => sizeOf(name).series),
    ([name, own]) => ({ name, points: own.map((figure) => ({ ...figure, x: sizeOf(figure.name).rows })) }),
  )

interface Rounds {
  readonly name: string
  readonly median: number
  readonly rounds: ReadonlyArray<number>
}

/** Writing results is measured together with claiming. */
const claimSeries = (result: Compared): ReadonlyArray<Chart.Series> => {
  const settles = (detail<ReadonlyArray<Rounds>>(result, "settles") ?? []).map(
    ({ median, name, rounds }) => ({
      name: `${name}, writing 64 results`,
      median,
      lowest: Math.min(...rounds),
      highest: Math.max(...rounds),
    }),
  )
  return seriesOf([
    ...result.figures.map((figure) => ({ ...figure, name: `${figure.name}, claiming 64 deliveries` })),
    ...settles,
  ])
}

/** The charts of all existing results, by path. */
export const draw = (results: Results): ReadonlyMap<string, string> => {
  const charts = new Map<string, string>()
  for (const [name, title] of Object.entries(BARS)) {
    const result = results.get(name)
    if (isCompared(result)) charts.set(pathOf(name), Chart.bars(title, result.unit, result.figures))
  }
  for (const [name, title] of Object.entries(LINES)) {
    const result = results.get(name)
    if (!isCompared(result)) continue
    const series = name === "growth-claim" ? claimSeries(result) : seriesOf(result.figures)
    charts.set(pathOf(name), Chart.lines(title, result.unit, series))
  }
  return charts
}
