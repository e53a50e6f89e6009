/**
 * Rows for people: columns that line up, under their names.
 */

/** Between columns. */
const GAP = "  "

const CONTROL = /\p{Cc}/gu

/** What a terminal would take for a command is left out. */
export const clean = (cell: string): string => cell.replaceAll(CONTROL, " ")

/** One row for each line, the columns' names first. */
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

/** The fields of one thing, a line each. */
export const fields = (of: Readonly<Record<string, string>>): string => {
  const width = Math.max(...Object.keys(of).map((name) => name.length))
  return Object.entries(of)
    .map(([name, value]) => `${name.padEnd(width)}${GAP}${clean(value)}`)
    .join("\n")
}
