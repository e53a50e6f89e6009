/**
 * The lines of the log.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import * as LogLine from "../src/LogLine.ts"

const lineOf = (entry: Effect.Effect<void>): string => {
  const lines: Array<string> = []
  const keeping = Logger.map(LogLine.logger, (line) => void lines.push(line))
  Effect.runSync(Effect.provide(entry, Logger.layer([keeping])))
  return lines
    .join("\n")
    .replace(/^timestamp=\S+ /, "")
    .replace(/ fiber=#\d+/, "")
}

describe("a line of the log", () => {
  it("has its message once, and what else was logged in details", () => {
    assert.strictEqual(
      lineOf(Effect.logError("results were not written", new Error('out of "order"'))),
      'level=ERROR message="results were not written" details="Error: out of \\"order\\""',
    )
    assert.strictEqual(
      lineOf(Effect.logWarning("an endpoint is disabled", "whe_1", "gone")),
      'level=WARN message="an endpoint is disabled" details="whe_1, gone"',
    )
    assert.strictEqual(lineOf(Effect.logInfo("works")), "level=INFO message=works")
  })
})
