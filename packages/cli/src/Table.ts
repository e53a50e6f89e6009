/**
 * Prints tables for people, with aligned columns.
 */

/** The space between columns. */
const GAP = "  "

const CONTROL = /\p{Cc}/gu

/** Replaces control characters, which a terminal could take for commands. */
export const clean = (cell: string): string => cell.replaceAll(CONTROL, " ")

/** A line with the names of the columns, then a line for each row. */
export const render = (
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
): string => {
  const lines = [columns, ...rows].map((row) => row.map(clean))
  const widths = columns.map((_, index) => Math.max(...lines.map((row) => row[index]!.length)))
  return lines
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n")
}

/** A line for each field. */
export const fields = (of: Readonly<Record<string, string>>): string => {
  const width = Math.max(...Object.keys(of).map((name) => name.length))
  return Object.entries(of)
    .map(([name, value]) => `${name.padEnd(width)}${GAP}${clean(value)}`)
    .join("\n")
}
