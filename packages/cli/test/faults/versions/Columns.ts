/**
 * What held on other servers: for each of them, what the tests of each file said, and when. A run of some files replaces
 * what those said before.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { MATRIX } from "../Matrix.ts"
import { escaped, table, writeServers } from "../Page.ts"

const FILE = join(import.meta.dirname, "results.json")

/** The servers, in the order of the columns. */
export const COLUMNS = ["15", "16", "17", "18", "pgbouncer"] as const

export type Column = (typeof COLUMNS)[number]

export type Verdict = "failed" | "passed" | "skipped"

interface FileResult {
  /** The day of the run, as `2026-11-27`. */
  readonly on: string
  /** What the tests of each row said, by its number. */
  readonly rows: Readonly<Record<string, Verdict>>
}

interface ColumnResult {
  /** The versions of Postgres and of PgBouncer. */
  readonly server: string
  readonly files: Readonly<Record<string, FileResult>>
}

type Results = Readonly<Partial<Record<Column, ColumnResult>>>

const read = (): Results => (existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Results) : {})

/** What several tests say together. */
export const together = (verdicts: ReadonlyArray<Verdict>): Verdict | undefined =>
  (["failed", "passed", "skipped"] as const).find((verdict) => verdicts.includes(verdict))

/** Keeps what the tests of a file said. */
export const keep = (column: Column, server: string, file: string, result: FileResult): void => {
  const results = read()
  const { files } = results[column] ?? { files: {} }
  const changed: Results = { ...results, [column]: { server, files: { ...files, [file]: result } } }
  const ordered = COLUMNS.flatMap((each) => (changed[each] === undefined ? [] : [[each, changed[each]]]))
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(ordered), undefined, 2)}\n`)
}

const SAYS: Readonly<Record<Verdict, string>> = { failed: "**failed**", passed: "holds", skipped: "–" }

const cellOf = (column: ColumnResult | undefined, row: number): string => {
  const verdicts = Object.values(column?.files ?? {}).flatMap(({ rows }) => rows[String(row)] ?? [])
  const verdict = together(verdicts)
  return verdict === undefined ? "not run" : SAYS[verdict]
}

/** The matrix of all servers. */
export const matrix = (): string => {
  const results = read()
  const head = ["#", "fault", ...COLUMNS.map((column) => results[column]?.server ?? column)]
  const rows = MATRIX.map(({ fault, number }) => [
    String(number),
    escaped(fault),
    ...COLUMNS.map((column) => cellOf(results[column], number)),
  ])
  return table([head, ...rows])
}

const days = (): string => {
  const all = Object.values(read()).flatMap(({ files }) => Object.values(files).map(({ on }) => on))
  const [first, last] = [all.toSorted()[0], all.toSorted().at(-1)]
  return first === last ? `on ${first}` : `from ${first} to ${last}`
}

/** Writes the matrix of all servers into the page. */
export const write = (): void =>
  writeServers(
    `The same faults on other servers, ${days()}. Written by \`npm run faults:versions\`. In the last column, all connections of servers, workers and programs go through PgBouncer in the mode \`transaction\`. –: there, the fault can't be. Nobody puts a pooler in front of an embedded Postgres.\n\n${matrix()}\n`,
  )
