/**
 * Runs the `billwright` command in tests. Processes that a test file leaves behind are ended with it.
 */
import { afterAll } from "@effect/vitest"
import { killAll } from "./Command.ts"

export * from "./Command.ts"

afterAll(killAll)
