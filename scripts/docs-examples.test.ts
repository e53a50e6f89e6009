/** The TypeScript of documents compiles, and prints what it says. */
import { describe, it } from "@effect/vitest"
import { applied, blocks, ownDocuments, read } from "./Documents.ts"
import { checkTypes, runExamples, saysWhatItPrints } from "./Examples.ts"

const examples = ownDocuments.flatMap((path) => {
  const text = read(path)
  const codes = [...blocks(text, "ts"), ...blocks(text, "diff").map(applied)]
  return codes.map((code, index) => ({ name: `${path.replaceAll(/\W+/g, "-")}-${index + 1}`, code }))
})

describe("documents", () => {
  it("have TypeScript that compiles", { timeout: 120_000 }, () => checkTypes(examples))

  it("have TypeScript that prints what it says", { timeout: 60_000 }, () =>
    // The other documents need a database of their own, and have tests that provide one.
    runExamples(
      examples
        .map(({ code }) => code)
        .filter((code) => saysWhatItPrints(code) && !code.includes("DATABASE_URL")),
    ),
  )
})
