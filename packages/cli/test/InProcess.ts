/**
 * Runs the `billwright` command in the process of the caller. A process of its own takes most of a second to load
 * before it does anything.
 */
import { format } from "node:util"
import { Cause, ConfigProvider, Console, Effect, Exit, Runtime } from "effect"
import { exitCode, run as runProgram } from "../src/Program.ts"

const inherited = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
)

/** Runs a command. The environment is added to that of the process. */
export const run = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  let [stdout, stderr] = ["", ""]
  const printing: Console.Console = {
    ...globalThis.console,
    log: (...values: ReadonlyArray<unknown>) => (stdout += `${format(...values)}\n`),
    error: (...values: ReadonlyArray<unknown>) => (stderr += `${format(...values)}\n`),
  }
  const exit = await runProgram(args).pipe(
    Effect.provideService(Console.Console, printing),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { ...inherited, ...env } }),
    ),
    Effect.runPromiseExit,
  )
  // A process prints the stack of such an error. No test expects one.
  if (Exit.isFailure(exit)) {
    const error = Cause.squash(exit.cause)
    if (Runtime.getErrorReported(error)) throw error
  }
  return { code: exitCode(exit, args), stdout, stderr }
}
