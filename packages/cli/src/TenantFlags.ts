/**
 * The flags for the account and mode that a command acts for.
 */
import { Tenant } from "@billwright/core"
import { Flag } from "effect/cli"

export const account = Flag.String("account").pipe(
  Flag.withDescription(
    `The account. Leave it out if there is only one. Default: ${Tenant.defaultAccountId}.`,
  ),
  Flag.withSchema(Tenant.AccountId),
  Flag.withDefault(Tenant.defaultAccountId),
)

export const mode = Flag.Literals("mode", ["test", "live"]).pipe(
  Flag.withDescription("The mode, live or test. Their data is fully separate."),
)

export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print JSON instead of text."),
  Flag.withDefault(false),
)
