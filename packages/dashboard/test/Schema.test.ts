import { assert, it } from "vitest"
import { committed, generate } from "../scripts/generate.ts"

it("Schema.ts matches the OpenAPI document: npm run generate -w packages/dashboard", async () => {
  assert.strictEqual(await committed(), await generate())
})
