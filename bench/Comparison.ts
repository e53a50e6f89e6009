/**
 * Measures contenders in alternating rounds of one run, and compares them.
 *
 * Absolute figures depend on the machine. The ratio depends on it less, because both sides ran on the same machine at
 * the same time.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { join } from "node:path"
import { folder as profiles } from "./profiling/Statements.ts"

/** One side of a comparison. `round` does the work once and returns its figure, in the comparison's unit. */
export interface Contender {
  readonly name: string
  readonly round: (index: number) => Promise<number>
}

export interface Comparison {
  /** The name of the benchmark and of its result file. */
  readonly name: string
  /** The work, in one sentence. */
  readonly title: string
  /** `records/s`, `ms`, … */
  readonly unit: string
  /** Whether a greater figure is better. */
  readonly isRate: boolean
  readonly contenders: ReadonlyArray<Contender>
  /** How many rounds: at least 5. */
  readonly rounds: number
}

export interface Figures {
  readonly name: string
  readonly median: number
  readonly lowest: number
  readonly highest: number
  readonly rounds: ReadonlyArray<number>
}

/** The median of the values. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The value that a share of the values does not exceed. `share` is between 0 and 1. */
export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!

const digits = (value: number): string =>
  value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 3 : value < 1000 ? 1 : 0 })

const machine = () => ({
  cpu: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
})

/** The libraries whose versions are saved with the result. */
const LIBRARIES = ["effect", "fastify", "hono", "pg", "graphile-worker", "pg-boss", "undici"]

const versions = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    LIBRARIES.map((name) => {
      const manifest = join(import.meta.dirname, "../node_modules", name, "package.json")
      return [name, (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string }).version]
    }),
  )

/** Whether this is a trial run, whose figures are not kept. */
export const isQuick = process.env["BENCH_QUICK"] === "1"

/** Writes `bench/results/<name>.json`, except in a trial or a profiled run. */
export const save = (name: string, result: object): void => {
  if (isQuick || profiles !== undefined) return
  const folder = join(import.meta.dirname, "results")
  mkdirSync(folder, { recursive: true })
  const content = {
    name,
    measuredAt: new Date().toISOString(),
    machine: machine(),
    versions: versions(),
    ...result,
  }
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(content, undefined, 2)}\n`)
}

/** How many times better the first side is than each other side. */
export const ratiosOf = (
  [first, ...others]: ReadonlyArray<Pick<Figures, "median" | "name">>,
  isRate: boolean,
): ReadonlyArray<{ readonly to: string; readonly ratio: number }> =>
  others.map(({ median: other, name }) => ({
    to: name,
    ratio: isRate ? first!.median / other : other / first!.median,
  }))

/**
 * Runs every contender once to warm up, then all in turn in each round. Prints and saves the medians, and the ratios
 * of the first contender to the others.
 */
export const compare = async (comparison: Comparison): Promise<ReadonlyArray<Figures>> => {
  const { isRate, name, title, unit } = comparison
  // A profile is made of our side only, which is the first.
  const contenders = profiles === undefined ? comparison.contenders : comparison.contenders.slice(0, 1)
  const rounds = isQuick ? 1 : comparison.rounds
  console.log(title)
  const measured = contenders.map(() => [] as Array<number>)
  for (let round = -1; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const figure = await contender.round(round)
      if (round >= 0) measured[index]!.push(figure)
      process.stdout.write(
        `  ${round < 0 ? "warm-up" : `round ${round + 1} of ${rounds}`}: ${contender.name} ${digits(figure)} ${unit}\n`,
      )
    }
  }
  const figures = contenders.map((contender, index): Figures => {
    const values = measured[index]!
    return {
      name: contender.name,
      median: median(values),
      lowest: Math.min(...values),
      highest: Math.max(...values),
      rounds: values,
    }
  })
  const ratios = ratiosOf(figures, isRate)
  for (const figure of figures) {
    console.log(
      `${figure.name}: median ${digits(figure.median)} ${unit} (${digits(figure.lowest)} to ${digits(figure.highest)})`,
    )
  }
  for (const { ratio, to } of ratios) console.log(`ratio to ${to}: ${ratio.toFixed(2)}`)
  save(name, { title, unit, figures, ratios })
  return figures
}
