/**
 * The `billwright` command as an effect: runs the subcommand that its arguments name, and prints its errors.
 */
import { Cause, Console, Data, Effect, Exit, Layer, Logger, Runtime } from "effect"
import { Command } from "effect/cli"
import packageJson from "../package.json" with { type: "json" }
import * as Arguments from "./Arguments.ts"
import type { billwright } from "./Billwright.ts"
import { type Failure, sentenceOf } from "./Failure.ts"
import * as LogLine from "./LogLine.ts"
import * as NodeServices from "./NodeServices.ts"
import { DIFFERS, PlansDiffer } from "./PlansDiffer.ts"
import * as Presentation from "./Presentation.ts"
import { RiseTooLarge } from "./RiseTooLarge.ts"
import { root } from "./Root.ts"
import * as V8Settings from "./V8Settings.ts"

// Standard output is for results that programs read. The log goes to standard error.
const log = Logger.layer([Logger.withConsoleError(LogLine.logger)])

/** Errors that a person can fix. They are printed as a sentence. A stack is printed only for bugs. */
const EXPLAINED = [
  "ApiKeyNotFound",
  "AuditFailed",
  "BillingFailed",
  "CustomerNotFound",
  "EmbeddedPostgresError",
  "IncompatibleSchema",
  "InvalidInput",
  "InvalidKeyring",
  "InvoicingUnsupported",
  "KeyFileError",
  "KeyManagementFailed",
  "ListenError",
  "Misconfigured",
  "PlanFileError",
  "PlansRefused",
  "PrivateFileError",
  "RiseTooLarge",
  "ServerRefused",
  "ServerUnreachable",
  "SnapshotTooLarge",
  "SqlError",
  "StorageError",
  "Undelivered",
  "UnknownEventType",
] as const

/** Ends the program after its error has been printed. */
class Reported extends Data.TaggedError("Reported")<{ readonly error: Failure }> {
  override readonly [Runtime.errorReported] = false
}

const report = (error: Failure) =>
  Effect.andThen(Console.error(`billwright: ${sentenceOf(error)}`), Effect.fail(new Reported({ error })))

/** Answers of `catalog diff` that are no failures of the command. */
const isDifference = (error: unknown): boolean =>
  error instanceof PlansDiffer || (error instanceof Reported && error.error instanceof RiseTooLarge)

/** Commands that run until they are stopped. Any other command that is interrupted has failed. */
const UNTIL_STOPPED: ReadonlyArray<string> = ["serve", "listen"]
/** The exit code that shells use for an interrupted command. */
const INTERRUPTED = 130

/** The flag before the name of a command that has a value of its own. */
const LOG_LEVEL = "--log-level"

/** The name of the command that these arguments run. */
const nameOf = (args: ReadonlyArray<string>): string | undefined =>
  args.find((word, index) => !word.startsWith("-") && args[index - 1] !== LOG_LEVEL)

/** The exit code of a process that ran the command with these arguments. */
export const exitCode = <A, E>(exit: Exit.Exit<A, E>, args: ReadonlyArray<string>): number => {
  if (Exit.isSuccess(exit)) return 0
  if (exit.cause.reasons.some((reason) => Cause.isFailReason(reason) && isDifference(reason.error))) {
    return DIFFERS
  }
  if (!Cause.hasInterruptsOnly(exit.cause)) return 1
  return UNTIL_STOPPED.includes(nameOf(args) ?? "") ? 0 : INTERRUPTED
}

/**
 * The command with the subcommands that the arguments need. A server runs for months, and keeps what it has loaded. So it loads
 * no other command.
 */
const load = async ([first]: ReadonlyArray<string>): Promise<typeof billwright> => {
  if (first !== "serve") {
    const all = await import("./Billwright.ts")
    V8Settings.work()
    return all.billwright
  }
  const { serve } = await import("./Serve.ts")
  return root.pipe(Command.withSubcommands([serve]))
}

/** Runs the command with the arguments after its name. */
export const run = (args: ReadonlyArray<string>) =>
  Effect.promise(() => load(args)).pipe(
    Effect.flatMap((command) =>
      Command.runWith(command, { version: packageJson.version })(Arguments.tied(args)),
    ),
    Effect.catchTag(EXPLAINED, report),
    Effect.provide(Layer.mergeAll(NodeServices.layer, log, Presentation.layer)),
  )
