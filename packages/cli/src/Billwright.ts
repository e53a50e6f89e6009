/**
 * The `billwright` command.
 */
import { Command } from "effect/cli"
import { audit } from "./Audit.ts"
import type { Failure } from "./Failure.ts"
import { keys } from "./Keys.ts"
import { migrate } from "./Migrate.ts"
import { serve } from "./Serve.ts"

/** Every subcommand under one name. */
export const billwright: Command.Command<"billwright", {}, {}, Failure> = Command.make("billwright").pipe(
  Command.withDescription("Billing for your app: customers, metered usage, exact totals"),
  Command.withSubcommands([serve, migrate, keys, audit]),
)
