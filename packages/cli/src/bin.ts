#!/usr/bin/env node
/**
 * The entry point of the `billwright` command.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Console, Effect, Exit, Layer, Logger } from "effect"
import { Command } from "effect/cli"
import packageJson from "../package.json" with { type: "json" }
import { billwright } from "./Billwright.ts"

// Standard output is for what a program would read; the log goes to standard error.
const log = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

/** What a person can do something about is one sentence, without a stack. */
const explain = (error: { readonly message: string }) =>
  Effect.andThen(
    Console.error(`billwright: ${error.message}`),
    Effect.sync(() => process.exit(1)),
  )

billwright.pipe(
  Command.run({ version: packageJson.version }),
  Effect.catchTag(["ListenError", "StorageError"], explain),
  Effect.provide(Layer.merge(NodeServices.layer, log)),
  NodeRuntime.runMain({
    // Being told to stop is not a failure.
    teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1),
  }),
)
