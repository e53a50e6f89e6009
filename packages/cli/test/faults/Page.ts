/**
 * The page `docs/fault-matrix.md`: an introduction, the matrix, and a section about other servers. Each is written by
 * another script, which keeps the rest.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const FILE = join(import.meta.dirname, "../../../../docs/fault-matrix.md")

/** The heading of the section about other servers. */
const SERVERS = "## On each version of Postgres, and behind PgBouncer\n"

const parts = (): readonly [matrix: string, servers: string] => {
  const page = readFileSync(FILE, "utf8")
  const at = page.indexOf(SERVERS)
  return at === -1 ? [page, ""] : [page.slice(0, at), page.slice(at)]
}

/** Replaces everything before the section about other servers. */
export const writeMatrix = (text: string): void => {
  const [, servers] = parts()
  writeFileSync(FILE, servers === "" ? text : `${text}\n${servers}`)
}

/** Replaces the section about other servers. */
export const writeServers = (text: string): void => {
  const [matrix] = parts()
  writeFileSync(FILE, `${matrix.trimEnd()}\n\n${SERVERS}\n${text}`)
}

/** A text in a cell. */
export const escaped = (text: string): string => text.replaceAll("|", String.raw`\|`)

/** The formatter makes columns at least this wide. */
const MIN_WIDTH = 3

/** A table as the formatter writes it: every column is as wide as its widest cell. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows[0]!.map((_, column) =>
    Math.max(MIN_WIDTH, ...rows.map((cells) => cells[column]!.length)),
  )
  const lines = rows.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column]!)))
  const [head, ...body] = [lines[0]!, widths.map((width) => "-".repeat(width)), ...lines.slice(1)]
  return [head!, ...body].map((cells) => `| ${cells.join(" | ")} |`).join("\n")
}
