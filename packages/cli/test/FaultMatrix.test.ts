import { readFileSync } from "node:fs"
import { join } from "node:path"
/**
 * The page of the fault matrix has every row, and every row held when the page was written.
 */
import { assert, it } from "@effect/vitest"
import { MATRIX } from "./faults/Matrix.ts"

const page = readFileSync(join(import.meta.dirname, "../../../docs/fault-matrix.md"), "utf8")

it("docs/fault-matrix.md says for every row that it holds", () => {
  const rows = page.split("\n").flatMap((line) => {
    const [, number, , , seen] = line.split("|").map((cell) => cell.trim())
    return /^\d+$/.test(number ?? "") ? [[Number(number), seen]] : []
  })
  assert.deepStrictEqual(
    rows,
    MATRIX.map(({ number }) => [number, "holds"]),
  )
})
