import { assert, it } from "vitest"
import { SeenIds } from "../src/SeenIds.ts"

it("remembers the latest ids, up to its limit", () => {
  const seen = new SeenIds(3)
  for (const id of ["a", "b", "a", "c"]) seen.add(id)
  assert.deepStrictEqual(
    ["a", "b", "c", "d"].filter((id) => seen.has(id)),
    ["a", "b", "c"],
  )
  seen.add("d")
  assert.deepStrictEqual(
    ["a", "b", "c", "d"].filter((id) => seen.has(id)),
    ["b", "c", "d"],
  )
})
