/**
 * The generated parts of `docs/performance.md`. The rest of it is written by hand.
 */
import { bars, judge } from "./Bars.ts"
import { draw, pathOf } from "./Charts.ts"
import {
  type Compared,
  type Figure,
  isCompared,
  type Measure,
  measureOf,
  number,
  readProfile,
  type Result,
  type Results,
  spread,
  timesBetter,
} from "./Results.ts"

const NOT_YET = "Not measured yet."
/** How many characters of a statement are shown. */
const STATEMENT_LENGTH = 90

/** A table in the form that the formatter leaves unchanged. */
const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((cell, column) =>
    Math.max(3, cell.length, ...rows.map((row) => row[column]!.length)),
  )
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n")
}

const dayOf = ({ measuredAt }: Result): string => measuredAt.slice(0, 10)

/** How many digits of a commit are shown. */
const COMMIT_LENGTH = 8

/** The day of a result and its commit. */
const origin = (result: Result): string => {
  const { commit, hasChanges } = result
  const changes = hasChanges === true ? " with changes" : ""
  return `${dayOf(result)}, \`${commit.slice(0, COMMIT_LENGTH)}\`${changes}`
}

const machines = (results: Results): string => {
  const rows = Array.from(results.values(), (result) => {
    const { cores, cpu, memoryGiB, node, platform } = result.machine
    const postgres = /Postgres ([\d.]+)/.exec(result.title ?? "")?.[1] ?? ""
    return [cpu, String(cores), `${memoryGiB} GiB`, platform, node, postgres, dayOf(result)]
  })
  const kinds = Map.groupBy(rows, (row) => row.slice(0, 5).join())
  const versionsOf = (own: typeof rows, column: number) =>
    [...new Set(own.map((row) => row[column]!).filter((text) => text !== ""))].toSorted()
  return table(
    ["processor", "cores", "memory", "system", "Node", "Postgres", "measured"],
    Array.from(kinds.values(), (own) => {
      const days = versionsOf(own, 6)
      const span = days.length === 1 ? days[0]! : `${days[0]} to ${days.at(-1)}`
      return [...own[0]!.slice(0, 5), versionsOf(own, 5).join(", "), span]
    }),
  )
}

const versions = (results: Results): string => {
  const known = new Map<string, Set<string>>()
  for (const result of results.values()) {
    for (const [name, version] of Object.entries(result.versions ?? {})) {
      known.set(name, (known.get(name) ?? new Set()).add(version))
    }
  }
  if (known.size === 0) return NOT_YET
  return table(
    ["library", "version"],
    Array.from(known, ([name, found]) => [`\`${name}\``, [...found].toSorted().join(", ")]),
  )
}

const barTable = (results: Results): string =>
  table(
    ["#", "work", "compared with", "target", "measured", "verdict", "when"],
    bars.map((bar) => {
      const { found, verdict } = judge(bar, results) ?? { found: NOT_YET, verdict: "open" }
      const result = results.get(bar.name)
      return [
        bar.id,
        bar.work,
        bar.against,
        bar.bar,
        found,
        verdict,
        result === undefined ? "" : origin(result),
      ]
    }),
  )

/** Whether only the first side is compared with others. */
const isOfFirst = ({ figures: [first], ratios = [] }: Compared): boolean =>
  ratios.every(({ of }) => of === first?.name)

/** How much better the first side is than this one, or those that were compared with it, with their names. */
const comparisonOf = (result: Compared, { name }: Figure): string => {
  if (!isOfFirst(result)) {
    return (result.ratios ?? [])
      .filter(({ to }) => to === name)
      .map((ratio) => `${ratio.of}: ${spread(measureOf(ratio), "×")}`)
      .join("; ")
  }
  const ratio = name === result.figures[0]?.name ? undefined : timesBetter(result, name)
  return ratio === undefined ? "" : spread(ratio, "×")
}

/** All sides of a comparison, and how many times better the first one is. */
const figures = (results: Results, name: string): string => {
  const result = results.get(name)
  if (!isCompared(result)) return NOT_YET
  const rows = result.figures.map((figure) => [
    figure.name,
    number(figure.median),
    `${number(figure.lowest)} to ${number(figure.highest)}`,
    comparisonOf(result, figure),
  ])
  const compared = isOfFirst(result) ? "first side compared with it" : "compared with it"
  const head = ["side", `median, ${result.unit}`, "rounds", compared]
  return `${result.title}, ${origin(result)}:\n\n${table(head, rows)}`
}

/** Fields that all results have, or that are shown elsewhere. */
const NO_FACTS = new Set([
  "commit",
  "figures",
  "hasChanges",
  "machine",
  "measuredAt",
  "name",
  "ratio",
  "ratios",
  "rounds",
  "samples",
  "title",
  "unit",
  "versions",
])

/** `p99Millis` as `p99 millis`, and `limitMiB` as `limit MiB`. */
const words = (name: string): string =>
  name.replaceAll(/MiB|[A-Z]+/g, (found) => ` ${found === "MiB" ? found : found.toLowerCase()}`)

/** A median or a ratio with its interval, if that is what a value is. */
const intervalIn = (value: object): Measure | undefined => {
  const { high, low, median, ratio } = value as Readonly<Record<string, unknown>>
  const middle = typeof median === "number" ? median : ratio
  if (typeof middle !== "number" || typeof low !== "number" || typeof high !== "number") return undefined
  return { median: middle, low, high }
}

const factsOf = (value: object, prefix: string): ReadonlyArray<readonly [string, string]> => {
  const interval = intervalIn(value)
  if (interval !== undefined) return [[prefix, spread(interval)]]
  return Object.entries(value).flatMap(([name, fact]: [string, unknown]) => {
    if (NO_FACTS.has(name)) return []
    const label = [prefix, words(name)].filter((part) => part !== "").join(": ")
    if (typeof fact === "number") return [[label, number(fact)] as const]
    if (typeof fact === "boolean") return [[label, fact ? "yes" : "no"] as const]
    if (Array.isArray(fact)) return fact.flatMap((each) => factsOfItem(each, label))
    return typeof fact === "object" && fact !== null ? factsOf(fact, label) : []
  })
}

const factsOfItem = (item: unknown, label: string): ReadonlyArray<readonly [string, string]> => {
  if (typeof item !== "object" || item === null) return []
  const { name, of, title, to } = item as Readonly<Record<string, unknown>>
  const pair = typeof of === "string" && typeof to === "string" ? `${of} to ${to}` : undefined
  const own = [pair, name, title, to].find((text) => typeof text === "string")
  return factsOf(item, own === undefined ? label : `${label}: ${own}`)
}

/** The other figures of a benchmark, besides its comparison. */
const facts = (results: Results, name: string): string => {
  const result = results.get(name)
  if (result === undefined) return NOT_YET
  return `${origin(result)}:\n\n${table(["what", "measured"], factsOf(result, ""))}`
}

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`

/** A statement, escaped for the cell of a table. */
const cell = (statement: string): string =>
  `\`${statement.replaceAll(/\s+/g, " ").slice(0, STATEMENT_LENGTH).replaceAll("|", "\\|").replaceAll("`", "'").trim()}…\``

/** How the time is distributed: the parts of each process, and the server's statements. */
const profile = (name: string): string => {
  const found = readProfile(name)
  if (found === undefined) return NOT_YET
  const processes = found.processes.map(({ busy, parts, processes: count = 1, script, seconds }) => {
    const shares = parts.map((part) => [part.name, percent(part.share)])
    const title = count === 1 ? `\`${script}\`` : `\`${script}\`, ${count} processes`
    return `${title}, busy ${percent(busy)} of ${number(seconds)} s:\n\n${table(["part of the busy time", "share"], shares)}`
  })
  const statements = found.postgres?.statements.map(({ calls, isNested, millis, text }) => [
    cell(text),
    isNested ? "yes" : "",
    String(calls),
    number(millis / calls),
  ])
  const postgres =
    found.postgres === undefined
      ? []
      : [
          `Postgres, ${number(found.postgres.cpuSeconds)} s of processor time in all; the times of statements exclude the flush of their commit:\n\n${table(["statement", "in a function", "calls", "ms each"], statements!)}`,
        ]
  return [`Profile of ${found.measuredAt.slice(0, 10)}:`, ...processes, ...postgres].join("\n\n")
}

const chart = (results: Results, name: string): string =>
  draw(results).has(pathOf(name)) ? `![Chart of ${name}](images/performance-${name}.svg)` : NOT_YET

const BLOCK = /<!-- result: (\S+)(?: (\S+))? -->\n[\s\S]*?<!-- end -->/g

/** The document with its generated parts. Throws if it names an unknown part. */
export const render = (document: string, results: Results): string => {
  const parts: Readonly<Record<string, (name: string) => string>> = {
    machines: () => machines(results),
    versions: () => versions(results),
    bars: () => barTable(results),
    figures: (name) => figures(results, name),
    facts: (name) => facts(results, name),
    chart: (name) => chart(results, name),
    profile,
  }
  return document.replaceAll(BLOCK, (_, kind: string, name: string | undefined) => {
    const part = parts[kind]
    if (part === undefined) throw new Error(`there is no part of results that is called ${kind}`)
    const heading = name === undefined ? kind : `${kind} ${name}`
    return `<!-- result: ${heading} -->\n\n${part(name ?? "")}\n\n<!-- end -->`
  })
}
