/**
 * How a customer goes on with the payment provider, as it is given to the caller.
 */
import type { CustomerAction } from "@billwright/core"
import { Redacted } from "effect"

const shown = (secret: Redacted.Redacted<string> | null): string | null =>
  secret === null ? null : Redacted.value(secret)

export const customerAction = ({ clientSecret, url }: CustomerAction) => ({
  client_secret: shown(clientSecret),
  url: shown(url),
})
