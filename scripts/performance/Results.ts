/**
 * The results of benchmarks in `bench/results`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const FOLDER = join(import.meta.dirname, "../../bench/results")

/** One side of a comparison. */
export interface Figure {
  readonly name: string
  readonly median: number
  readonly lowest: number
  readonly highest: number
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
  readonly machine: Machine
  /** Versions of the libraries that were measured. */
  readonly versions?: Readonly<Record<string, string>>
  readonly title?: string
  readonly unit?: string
  readonly figures?: ReadonlyArray<Figure>
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

/** Whether more of a unit is better. */
const isRate = (unit: string): boolean => unit.endsWith("/s")

/** How many times better one side is than another. */
export const timesBetter = (unit: string, one: Figure, other: Figure): number =>
  isRate(unit) ? one.median / other.median : other.median / one.median

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
