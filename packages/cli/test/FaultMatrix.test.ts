import { readFileSync } from "node:fs"
import { join } from "node:path"
/**
 * The page of the fault matrix has every row, and every row held when the page was written.
 */
import { assert, it } from "@effect/vitest"
import { MATRIX } from "./faults/Matrix.ts"
import { COLUMNS, matrix } from "./faults/versions/Columns.ts"

const page = readFileSync(join(import.meta.dirname, "../../../docs/fault-matrix.md"), "utf8")
const [first = "", second = ""] = page.split("\n## ")

/** The cells of the rows that begin with a number. */
const rowsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text.split("\n").flatMap((line) => {
    const cells = line.split("|").map((cell) => cell.trim())
    return /^\d+$/.test(cells[1] ?? "") ? [cells.slice(1, -1)] : []
  })

it("docs/fault-matrix.md says for every row that it holds", () => {
  assert.deepStrictEqual(
    rowsOf(first).map(([number, , , seen]) => [Number(number), seen]),
    MATRIX.map(({ number }) => [number, "holds"]),
  )
})

it("docs/fault-matrix.md says of no row that it failed on another server", () => {
  assert.include(second, matrix())
  for (const [number, , ...seen] of rowsOf(second)) {
    assert.lengthOf(seen, COLUMNS.length)
    // A new row is not run until somebody runs it on all of them.
    for (const cell of seen) assert.include(["holds", "–", "not run"], cell, number)
  }
})
