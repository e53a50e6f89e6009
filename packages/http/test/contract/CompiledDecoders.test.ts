/**
 * Bodies and queries are decoded by code that is compiled from their Schemas, or by an interpreter if the host forbids
 * compiling. Both are compared with generated valid and invalid requests.
 */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runNode } from "./Tool.ts"

/** The longest time for both processes on a busy machine. */
const PROCESSES_MILLIS = 120_000
const script = join(import.meta.dirname, "decodings.ts")
/** Runs the script with these arguments of Node. Returns its output. */
const printed = (...[first, ...rest]: [string, ...Array<string>]) =>
  Effect.map(runNode(first, rest, import.meta.dirname), ({ code, stderr, stdout }) => {
    assert.strictEqual(code, 0, stderr)
    return stdout.trim().split("\n")
  })

describe("decoders of requests", () => {
  it.effect(
    "give the same results whether they are compiled or not",
    () =>
      Effect.gen(function* () {
        const [compiled, interpreted] = yield* Effect.all(
          [printed(script), printed("--disallow-code-generation-from-strings", script)],
          { concurrency: 2 },
        )
        assert.isAbove(Number(compiled.pop()), 10)
        assert.strictEqual(Number(interpreted.pop()), 0)
        assert.isAbove(compiled.length, 1_000)
        for (const [index, line] of compiled.entries()) assert.strictEqual(line, interpreted[index])
        assert.strictEqual(compiled.length, interpreted.length)
      }),
    PROCESSES_MILLIS,
  )
})
