import { readFile } from "node:fs/promises"
import { assert, it } from "@effect/vitest"
import { result } from "./readme.ts"

it("the example of README.md runs", async () => {
  const [readme, example] = await Promise.all(
    ["../README.md", "./readme.ts"].map((path) => readFile(new URL(path, import.meta.url), "utf8")),
  )
  assert.include(readme, "```ts\n" + example + "```")
  assert.strictEqual(result.totalQuantity, 3n)
  assert.strictEqual(result.rollups[0]?.quantity, 3n)
})
