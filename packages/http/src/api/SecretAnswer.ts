/**
 * Which operations answer with a secret: an annotation of their definitions.
 */
import { Context } from "effect"

/** Whether a successful answer may hold a secret, so that what is kept of it for repeats is encrypted. */
export const SecretAnswer = Context.Reference<boolean>("@billwright/http/api/SecretAnswer", {
  defaultValue: () => false,
})
