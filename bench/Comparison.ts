/**
 * Measures contenders in rounds of one run whose order rotates, and compares them round by round.
 *
 * Absolute figures depend on the machine. The ratio depends on it less, because both sides ran on the same machine at
 * nearly the same time.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { join } from "node:path"
import { measured } from "./Commit.ts"
import { isKept, nameOf, rotate, roundsOf } from "./Rounds.ts"
import { type Interval, intervalOf, ratioOf } from "./Statistics.ts"

/** One side of a comparison. `round` does the work once and returns its figure, in the comparison's unit. */
export interface Contender {
  readonly name: string
  readonly round: (index: number) => Promise<number>
}

/** A side and another one, by their names: how many times better the first is. */
type Pair = readonly [of: string, to: string]

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
  /** How many rounds. Default: 15. */
  readonly rounds?: number
  /** What is compared. Default: the first side with each other one. */
  readonly pairs?: ReadonlyArray<Pair>
  /** What else is saved with the result, measured after the rounds or in them. */
  readonly details?: (figures: ReadonlyArray<Figures>) => object | Promise<object>
}

/** The figures of a side in all rounds. */
interface Rounds {
  readonly name: string
  readonly rounds: ReadonlyArray<number>
}

/** A side's median with its 95 % interval, and its range. */
interface Figures extends Rounds, Interval {
  readonly lowest: number
  readonly highest: number
}

/** How many times better a side is than another: the median of the ratios of each round, with its 95 % interval. */
interface Ratio {
  readonly of: string
  readonly to: string
  readonly ratio: number
  readonly low: number
  readonly high: number
}

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

/** Writes `bench/results/<name>.json`, except in a trial, in a profiled run, with too few rounds, or of an unknown commit. */
export const save = (name: string, result: object): void => {
  if (!isKept || measured.commit === undefined) return
  const folder = join(import.meta.dirname, "results")
  mkdirSync(folder, { recursive: true })
  const content = {
    name,
    measuredAt: new Date().toISOString(),
    ...measured,
    machine: machine(),
    versions: versions(),
    ...result,
  }
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(content, undefined, 2)}\n`)
}

const firstWithOthers = ([first, ...others]: ReadonlyArray<Rounds>): ReadonlyArray<Pair> =>
  others.map(({ name }) => [first!.name, name])

/** Compares sides, round by round. By default the first one with each other one. */
export const ratiosOf = (
  sides: ReadonlyArray<Rounds>,
  isRate: boolean,
  pairs: ReadonlyArray<Pair> = firstWithOthers(sides),
): ReadonlyArray<Ratio> =>
  pairs.flatMap(([of, to]) => {
    const [ours, theirs] = [of, to].map((asked) => sides.find(({ name }) => name === asked)?.rounds)
    // In a profile there is only one side.
    if (ours === undefined || theirs === undefined) return []
    const { high, low, median } = isRate ? ratioOf(ours, theirs) : ratioOf(theirs, ours)
    return [{ of, to, ratio: median, low, high }]
  })

/** Prints ratios. `what`: of which figures. */
export const printRatios = (ratios: ReadonlyArray<Ratio>, what = ""): void => {
  for (const { high, low, of, ratio, to } of ratios)
    console.log(`${what}${of} to ${to}: ${ratio.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`)
}

/**
 * Runs every contender once to warm up, then all in turn in each round, beginning with another one each time. Prints and saves
 * the medians, and the ratios.
 */
export const compare = async (comparison: Comparison): Promise<void> => {
  const { contenders, details, isRate, name, pairs, title, unit } = comparison
  const rounds = roundsOf(comparison.rounds)
  console.log(title)
  const sides = contenders.map((contender) => ({ ...contender, rounds: [] as Array<number> }))
  await rotate(sides, rounds, async (side, round) => {
    const figure = await side.round(round)
    if (round >= 0) side.rounds.push(figure)
    console.log(`  ${nameOf(round, rounds)}: ${side.name} ${digits(figure)} ${unit}`)
  })
  const figures = sides
    .filter((side) => side.rounds.length > 0)
    .map((side): Figures => ({
      name: side.name,
      ...intervalOf(side.rounds),
      lowest: Math.min(...side.rounds),
      highest: Math.max(...side.rounds),
      rounds: side.rounds,
    }))
  for (const { highest, lowest, median, name: side } of figures) {
    console.log(`${side}: median ${digits(median)} ${unit} (${digits(lowest)} to ${digits(highest)})`)
  }
  const ratios = ratiosOf(figures, isRate, pairs)
  printRatios(ratios)
  save(name, { title, unit, figures, ratios, ...(await details?.(figures)) })
}
