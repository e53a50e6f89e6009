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
  /** The colour of the line above a row. Default: between the rows of a table with headings. */
  readonly ruleAbove?: (row: number) => string | null
  /** The width of all columns together, in points. It ends at the right margin. */
  readonly width: number
}

const GAP = 18
const PADDING = 5
/** What sums of widths may be off by. */
const ROUNDING = 0.1
/** The first column has at least this part of the table, if it needs that. */
const FIRST = 0.34

const INK = "#1f2328"
const QUIET = "#57606a"
const RULE = "#e3e7eb"

const HEADING: Look = { size: 8, weight: "bold", color: QUIET }

interface Column {
  readonly x: number
  readonly width: number
}

/** Shares a width among columns: those that need less than an equal part get what they need, and the others the rest. */
const shared = (needs: ReadonlyArray<number>, width: number): ReadonlyArray<number> => {
  const given = new Map<number, number>()
  let left = width
  const byNeed = needs.map((need, index) => ({ need, index })).toSorted((a, b) => a.need - b.need)
  for (const [at, { index, need }] of byNeed.entries()) {
    const part = Math.min(need, left / (byNeed.length - at))
    given.set(index, part)
    left -= part
  }
  return needs.map((_, index) => given.get(index) ?? 0)
}

/** The columns: the first one has what the others leave. An amount is broken only where there is no room for it at all. */
const columnsOf = (sheet: Sheet, { headings, rows, width }: Table): ReadonlyArray<Column> => {
  const count = rows[0]?.length ?? headings.length
  const [own = 0, ...needs] = Array.from({ length: count }, (_, index) => {
    const cells = rows.flatMap((row) => row[index]?.paragraphs ?? [])
    const heading = headings[index] === undefined ? 0 : sheet.widthOf(headings[index], HEADING)
    const widest = cells.reduce((most, { look, text }) => Math.max(most, sheet.widthOf(text, look)), heading)
    return widest + ROUNDING + (index === 0 ? 0 : GAP)
  })
  const others = shared(needs, width - Math.min(own, width * FIRST))
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
    const { headings, ruleAbove = (at) => (headings.length > 0 && at > 0 ? RULE : null) } = this.#table
    const hasHeadings = headings.length > 0
    const rule = ruleAbove(index)
    const laid = row.map((cell, at) => layCell(sheet, cell, this.#columns[at]!.width))
    const padding = hasHeadings || rule !== null ? PADDING : 2
    const height = Math.max(...laid.map((one) => one.height)) + 2 * padding
    if (sheet.need(height)) {
      if (hasHeadings) this.#headings(true, 0)
    } else if (rule !== null) sheet.rule(sheet.y, rule, 0.6, this.#x, this.#table.width)
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
