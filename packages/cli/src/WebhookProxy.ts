/**
 * The HTTP proxy that webhooks go through.
 */
import { Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import * as SecretVariable from "./SecretVariable.ts"
import { Misconfigured } from "./Store.ts"

const VARIABLE = "BILLWRIGHT_WEBHOOK_PROXY"

export const flags = {
  webhookProxy: Flag.String("webhook-proxy").pipe(
    Flag.withDescription(
      `Send all webhooks through this HTTP proxy (CONNECT), such as http://proxy.example:3128, for example for a fixed address that they come from. A URL with a password is for the environment variable. Default: ${VARIABLE}, or none.`,
    ),
    Flag.optional,
  ),
}

export interface WebhookProxyFlags {
  readonly webhookProxy: Option.Option<string>
}

const withPassword = new Misconfigured({
  message: `--webhook-proxy must not have a user name and password, because others can see the flags of a process: set the environment variable ${VARIABLE} instead`,
})

/** The proxy of the flag, or else of the environment variable, or else none. Its URL is checked by the transport. */
export const transportOptions = Effect.fnUntraced(function* ({
  webhookProxy,
}: WebhookProxyFlags): Effect.fn.Return<{ readonly proxy?: Redacted.Redacted<string> }, Misconfigured> {
  if (Option.isSome(webhookProxy)) {
    if (webhookProxy.value.includes("@")) return yield* withPassword
    return { proxy: Redacted.make(webhookProxy.value) }
  }
  const variable = yield* SecretVariable.read(VARIABLE)
  return Option.isSome(variable) ? { proxy: Redacted.make(Redacted.value(variable.value).trim()) } : {}
})

/** The flag, as the transport names it. */
export const NAMES: Readonly<Record<string, string>> = { proxy: `--webhook-proxy (or ${VARIABLE})` }
