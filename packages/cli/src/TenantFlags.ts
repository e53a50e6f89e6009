/**
 * The flags that say for whom a command acts.
 */
import { Tenant } from "@billwright/core"
import { Flag } from "effect/cli"

export const account = Flag.String("account").pipe(
  Flag.withDescription(
    `The account. Hosts with a single one leave it out. Default: ${Tenant.defaultAccountId}.`,
  ),
  Flag.withSchema(Tenant.AccountId),
  Flag.withDefault(Tenant.defaultAccountId),
)

export const mode = Flag.Literals("mode", ["test", "live"]).pipe(
  Flag.withDescription("The mode: live, or test, a world of its own."),
)

export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print JSON, for programs."),
  Flag.withDefault(false),
)
