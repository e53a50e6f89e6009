/** Checks that the file for node:test passes. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"

it("passes with node:test", async () => {
  const { NODE_OPTIONS: _, ...env } = process.env
  const file = fileURLToPath(new URL("./plan.node.ts", import.meta.url))
  const args = ["--test", "--test-reporter=tap", file]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  expect(stdout).toMatch(/^# pass 2$/m)
})
