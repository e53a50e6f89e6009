/**
 * The command `billwright` without its subcommands.
 */
import { Command } from "effect/cli"

export const root = Command.make("billwright").pipe(
  Command.withDescription("Billing for your app: customers, metered usage, exact totals, webhooks"),
)
