import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ApiServer from "../ApiServer.ts"
import { packageFile, runNode, temporaryDirectory } from "./Tool.ts"

interface Report {
  readonly totals: { readonly errors: number; readonly warnings: number; readonly ignored: number }
  readonly problems: ReadonlyArray<{ readonly ruleId: string; readonly message: string }>
}

const lint = Effect.fnUntraced(function* (document: string) {
  const directory = yield* temporaryDirectory
  yield* Effect.promise(() => writeFile(join(directory, "openapi.json"), document))
  const redocly = packageFile("@redocly/cli", "bin/cli.js")
  const args = ["lint", "--extends=recommended", "--format=json", "openapi.json"]
  const { code, stderr, stdout } = yield* runNode(redocly, args, directory)
  assert.include(stdout, "{", stderr)
  const report = JSON.parse(stdout.slice(stdout.indexOf("{"), stdout.lastIndexOf("}") + 1)) as Report
  return { code, ...report }
})

describe("redocly lint, recommended rules", () => {
  it.effect("finds no problem in the served document", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const document = (yield* api.expect(200, "GET", "/openapi.json")).text
      const { code, problems, totals } = yield* lint(document)
      assert.deepStrictEqual(
        problems.map(({ message, ruleId }) => `${ruleId}: ${message}`),
        [],
      )
      assert.deepStrictEqual(totals, { errors: 0, warnings: 0, ignored: 0 })
      assert.strictEqual(code, 0)
    }),
  )

  it.effect("finds a problem that is added", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const document = (yield* api.expect(200, "GET", "/openapi.json")).text
      const { totals } = yield* lint(document.replaceAll(`"operationId"`, `"operationid"`))
      assert.isAbove(totals.errors + totals.warnings, 0)
    }),
  )
})
