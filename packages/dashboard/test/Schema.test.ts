import { assert, it } from "vitest"
import { committed, generate } from "../scripts/generate.ts"

it("generated files match the API: npm run generate -w packages/dashboard", async () => {
  for (const [name, text] of Object.entries(await generate()))
    assert.strictEqual(await committed(name), text, name)
})
