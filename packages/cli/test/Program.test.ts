/**
 * The exit code of a command that was interrupted.
 */
import { assert, describe, it } from "@effect/vitest"
import { Exit } from "effect"
import { exitCode } from "../src/Program.ts"

const interrupted = (...args: ReadonlyArray<string>) => exitCode(Exit.interrupt(0), args)

describe("the exit code of an interrupted command", () => {
  it.each([
    [["serve"]],
    [["serve", "--port", "0"]],
    [["listen", "--forward-to", "localhost:3000"]],
    [["--log-level", "debug", "serve"]],
    [["--log-level=debug", "listen"]],
  ])("is 0 for %j, which runs until then", (args) => {
    assert.strictEqual(interrupted(...args), 0)
  })

  it.each([
    [["bill"]],
    [["usage", "export", "--unit", "serve"]],
    [["customers", "create", "--name", "listen"]],
    [["help", "serve"]],
    [["--log-level", "debug", "bill", "--schema", "serve"]],
    [[]],
  ])("is 130 for %j, which has not finished", (args) => {
    assert.strictEqual(interrupted(...args), 130)
  })
})
