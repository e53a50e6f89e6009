/**
 * The annotation for operations that call the payment provider.
 */
import { Context } from "effect"

/**
 * Whether an operation calls the payment provider. Then it has no transaction around it, and its answer is not stored for
 * repeats of its `Idempotency-Key`: such an operation does nothing twice by itself.
 */
export const CallsProvider = Context.Reference<boolean>("@billwright/http/api/CallsProvider", {
  defaultValue: () => false,
})
