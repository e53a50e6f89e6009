/**
 * The `billwright` command.
 */
import { Command } from "effect/cli"
import { serve } from "./Serve.ts"

/** Every subcommand under one name. */
export const billwright = Command.make("billwright").pipe(
  Command.withDescription("Billing for your app: customers, metered usage, exact totals"),
  Command.withSubcommands([serve]),
)
