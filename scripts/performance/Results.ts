/**
 * The results of benchmarks in `bench/results`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const FOLDER = join(import.meta.dirname, "../../bench/results")

/** A figure, with its 95 % interval. */
export interface Measure {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** One side of a comparison. */
export interface Figure extends Measure {
  readonly name: string
  readonly lowest: number
  readonly highest: number
  /** The figure of each round. */
  readonly rounds: ReadonlyArray<number>
}

/** How many times better a side is than another, with its 95 % interval. */
export interface SavedRatio {
  readonly of: string
  readonly to: string
  readonly ratio: number
  readonly low: number
  readonly high: number
}

interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly node: string
  readonly platform: string
}

/** The result of a benchmark. Fields that only some results have are read where they are shown. */
export interface Result {
  readonly name: string
  readonly measuredAt: string
  /** The commit that was checked out. */
  readonly commit: string
  /** Whether files differed from the commit. */
  readonly hasChanges?: boolean
  readonly machine: Machine
  /** Versions of the libraries that were measured. */
  readonly versions?: Readonly<Record<string, string>>
  readonly title?: string
  readonly unit?: string
  readonly figures?: ReadonlyArray<Figure>
  readonly ratios?: ReadonlyArray<SavedRatio>
  readonly [detail: string]: unknown
}

/** A comparison of several sides. */
export interface Compared extends Result {
  readonly title: string
  readonly unit: string
  readonly figures: ReadonlyArray<Figure>
}

export type Results = ReadonlyMap<string, Result>

/** All results, by the name of the benchmark. */
export const readResults = (): Results =>
  new Map(
    readdirSync(FOLDER)
      .filter((file) => file.endsWith(".json"))
      .toSorted()
      .map((file) => JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as Result)
      .map((result) => [result.name, result]),
  )

/** Which code a benchmark spends its time in. See `bench/profile.ts`. */
export interface Profile {
  readonly name: string
  readonly measuredAt: string
  readonly processes: ReadonlyArray<{
    readonly script: string
    /** How many processes of the script. Not in profiles before 2026-11-29: they name each process. */
    readonly processes?: number
    readonly busy: number
    readonly seconds: number
    readonly parts: ReadonlyArray<{ readonly name: string; readonly share: number }>
  }>
  readonly postgres?: {
    readonly cpuSeconds: number
    readonly statements: ReadonlyArray<{
      readonly text: string
      readonly calls: number
      readonly millis: number
      readonly isNested: boolean
    }>
  }
}

const PROFILES = join(FOLDER, "profiles")

/** The profile of a benchmark, if there is one. */
export const readProfile = (name: string): Profile | undefined => {
  const path = join(PROFILES, `${name}.json`)
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Profile) : undefined
}

export const isCompared = (result: Result | undefined): result is Compared =>
  result?.title !== undefined && result.unit !== undefined && result.figures !== undefined

/** A ratio and its interval, as a measure. */
export const measureOf = ({ high, low, ratio }: SavedRatio): Measure => ({ median: ratio, low, high })

/** How many times better one side is than another. `undefined`: they were not compared. */
export const timesBetter = (
  { figures, ratios = [] }: Compared,
  to: string,
  of = figures[0]?.name,
): Measure | undefined => {
  const paired = ratios.find((ratio) => ratio.to === to && ratio.of === of)
  return paired === undefined ? undefined : measureOf(paired)
}

/** A detail of a result by its path: `ours.p99Millis`. */
export const detail = <A>(result: Result, path: string): A | undefined => {
  let value: unknown = result
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value as A | undefined
}

/** A number for readers: three significant digits, and all digits before the point. */
export const number = (value: number): string =>
  value.toLocaleString("en-US", value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 })

/** A figure for readers, with its interval in parentheses. `unit` is put after the figure. */
export const spread = ({ high, low, median }: Measure, unit = ""): string => {
  const figure = `${number(median)}${unit === "" ? "" : ` ${unit}`}`
  return `${figure} (${number(low)} to ${number(high)})`
}
