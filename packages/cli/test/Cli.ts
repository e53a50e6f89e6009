/**
 * The `billwright` command in tests: processes that a test file leaves behind end with it.
 */
import { afterAll } from "@effect/vitest"
import { killAll } from "./Command.ts"

export * from "./Command.ts"

afterAll(killAll)
