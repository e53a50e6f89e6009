/**
 * Runs the `billwright` command, and tells what became of it.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Console, Data, Effect, Exit, Layer, Logger, Runtime } from "effect"
import { Command } from "effect/cli"
import packageJson from "../package.json" with { type: "json" }
import * as Arguments from "./Arguments.ts"
import { billwright } from "./Billwright.ts"
import { type Failure, sentenceOf } from "./Failure.ts"

// Standard output is for what a program would read; the log goes to standard error.
const log = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

/** What a person can do something about is told in a sentence; a stack is for bugs. */
const EXPLAINED = [
  "ApiKeyNotFound",
  "AuditFailed",
  "EmbeddedPostgresError",
  "IncompatibleSchema",
  "InvalidInput",
  "InvalidKeyring",
  "KeyFileError",
  "ListenError",
  "Misconfigured",
  "ServerRefused",
  "ServerUnreachable",
  "SqlError",
  "StorageError",
  "Undelivered",
  "UnknownEventType",
] as const

/** The program ends with an error that was told already. */
class Told extends Data.TaggedError("Told")<{}> {
  override readonly [Runtime.errorReported] = false
}

const tell = (error: Failure) =>
  Effect.andThen(Console.error(`billwright: ${sentenceOf(error)}`), Effect.fail(new Told()))

const run = Command.runWith(billwright, { version: packageJson.version })

run(Arguments.tied(process.argv.slice(2))).pipe(
  Effect.catchTag(EXPLAINED, tell),
  Effect.provide(Layer.merge(NodeServices.layer, log)),
  NodeRuntime.runMain({
    // Being told to stop is not a failure.
    teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1),
  }),
)
