import { assert, it } from "vitest"
import { committed, generate } from "../scripts/generate.ts"

it("the types of the API are those of its document: npm run generate -w packages/dashboard", async () => {
  assert.strictEqual(await committed(), await generate())
})
