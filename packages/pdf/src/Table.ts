/**
 * Tables over several pages: the headings are repeated on each of them.
 */
import type { Look, Part, Sheet } from "./Sheet.ts"

export interface Cell {
  /** Paragraphs, each with a look of its own. */
  readonly paragraphs: ReadonlyArray<{ readonly text: string; readonly look: Look }>
}

export interface Table {
  /** Empty: a table without headings. */
  readonly headings: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
  /** The width of all columns together, in points. It ends at the right margin. */
  readonly width: number
}

const GAP = 18
const PADDING = 5
/** What sums of widths may be off by. */
const ROUNDING = 0.1
/** No column but the first is wider than this part of the table. */
const WIDEST = 0.22
/** The first column has at least this part. */
const FIRST = 0.34

const INK = "#1f2328"
const QUIET = "#57606a"
const RULE = "#e3e7eb"

const HEADING: Look = { size: 8, weight: "bold", color: QUIET }

interface Column {
  readonly x: number
  readonly width: number
}

/** The columns: the first one has what the others leave. */
const columnsOf = (sheet: Sheet, { headings, rows, width }: Table): ReadonlyArray<Column> => {
  const count = rows[0]?.length ?? headings.length
  const natural = Array.from({ length: count }, (_, index) => {
    const cells = rows.flatMap((row) => row[index]?.paragraphs ?? [])
    const heading = headings[index] === undefined ? 0 : sheet.widthOf(headings[index], HEADING)
    const widest = cells.reduce((most, { look, text }) => Math.max(most, sheet.widthOf(text, look)), heading)
    return Math.min(widest + ROUNDING, width * WIDEST) + GAP
  }).slice(1)
  const wanted = natural.reduce((sum, one) => sum + one, 0)
  const others = natural.map((one) =>
    wanted <= width * (1 - FIRST) ? one : (one * width * (1 - FIRST)) / wanted,
  )
  const first = width - others.reduce((sum, one) => sum + one, 0)
  let x = sheet.left + sheet.width - width
  return [first, ...others].map((wide, index) => {
    const column = { x: index === 0 ? x : x + GAP, width: index === 0 ? wide : wide - GAP }
    x += wide
    return column
  })
}

const alignOf = (index: number): "left" | "right" => (index === 0 ? "left" : "right")

interface Laid {
  readonly blocks: ReadonlyArray<{ readonly lines: ReadonlyArray<string>; readonly look: Look }>
  readonly height: number
}

const layCell = (sheet: Sheet, { paragraphs }: Cell, width: number): Laid => {
  const blocks = paragraphs.map(({ look, text }) => ({ look, lines: sheet.lines(text, look, width) }))
  return {
    blocks,
    height: blocks.reduce((sum, { lines, look }) => sum + sheet.heightOf(look, lines.length), 0),
  }
}

class Writer {
  readonly #sheet: Sheet
  readonly #table: Table
  readonly #columns: ReadonlyArray<Column>
  readonly #part: Part
  readonly #x: number

  constructor(sheet: Sheet, table: Table, parent: Part) {
    this.#sheet = sheet
    this.#table = table
    this.#columns = columnsOf(sheet, table)
    this.#part = sheet.part(parent, "Table")
    this.#x = sheet.left + sheet.width - table.width
  }

  write(): void {
    const { headings, rows } = this.#table
    if (headings.length > 0) this.#headings(false, 40)
    for (const [index, row] of rows.entries()) this.#row(row, index)
  }

  /** `isRepeated`: they were read out before. `next`: what has to fit below them, in points. */
  #headings(isRepeated: boolean, next: number): void {
    const sheet = this.#sheet
    const laid = this.#table.headings.map((text, index) =>
      sheet.lines(text, HEADING, this.#columns[index]!.width),
    )
    const height = sheet.heightOf(HEADING, Math.max(...laid.map(({ length }) => length)))
    sheet.need(height + next)
    const tr = isRepeated ? undefined : sheet.part(this.#part, "TR")
    for (const [index, lines] of laid.entries()) {
      const { width, x } = this.#columns[index]!
      const y = sheet.y + height - sheet.heightOf(HEADING, lines.length)
      const look = { ...HEADING, align: alignOf(index) }
      if (tr === undefined) sheet.repeat(lines, look, { x, y, width })
      else sheet.write(tr, "TH", lines, look, { x, y, width })
    }
    sheet.y += height + 3
    sheet.rule(sheet.y, INK, 1, this.#x, this.#table.width)
  }

  #row(row: ReadonlyArray<Cell>, index: number): void {
    const sheet = this.#sheet
    const hasHeadings = this.#table.headings.length > 0
    const laid = row.map((cell, at) => layCell(sheet, cell, this.#columns[at]!.width))
    const padding = hasHeadings ? PADDING : 2
    const height = Math.max(...laid.map((one) => one.height)) + 2 * padding
    if (sheet.need(height)) {
      if (hasHeadings) this.#headings(true, 0)
    } else if (hasHeadings && index > 0) sheet.rule(sheet.y, RULE, 0.6, this.#x, this.#table.width)
    const tr = sheet.part(this.#part, "TR")
    for (const [at, { blocks }] of laid.entries()) {
      const cell = sheet.part(tr, at === 0 ? "TH" : "TD")
      let y = sheet.y + padding
      for (const { lines, look } of blocks) {
        sheet.write(cell, "P", lines, { ...look, align: alignOf(at) }, { ...this.#columns[at]!, y })
        y += sheet.heightOf(look, lines.length)
      }
    }
    sheet.y += height
  }
}

/** Writes a table. */
export const writeTable = (sheet: Sheet, table: Table, parent: Part): void =>
  new Writer(sheet, table, parent).write()
