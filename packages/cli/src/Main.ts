/**
 * Runs the `billwright` command with the arguments of this process.
 */
import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import { exitCode, run } from "./Program.ts"

const args = process.argv.slice(2)

NodeRuntime.runMain(run(args), { teardown: (exit, onExit) => onExit(exitCode(exit, args)) })
