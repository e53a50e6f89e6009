/**
 * The annotation for operations whose answer contains a secret.
 */
import { Context } from "effect"

/**
 * Whether a successful answer may contain a secret. If so, the copy that is stored for idempotent repeats is
 * encrypted.
 */
export const SecretAnswer = Context.Reference<boolean>("@billwright/http/api/SecretAnswer", {
  defaultValue: () => false,
})
