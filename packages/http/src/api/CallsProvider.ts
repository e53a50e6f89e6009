/**
 * The annotations for operations that call the payment provider.
 */
import { Context } from "effect"

/**
 * Whether an operation calls the payment provider. Then it has no transaction around it, and its answer is not stored for
 * repeats of its `Idempotency-Key`. A repeat is carried out again, unless the operation attempts a payment: that is harmless,
 * because all others do nothing twice by themselves.
 */
export const CallsProvider = Context.Reference<boolean>("@billwright/http/api/CallsProvider", {
  defaultValue: () => false,
})

/**
 * Whether an operation that calls the payment provider attempts a payment. Carried out again after a decline, it would
 * attempt another one. So its `Idempotency-Key` is stored before the attempt, and a repeat gets things as they are.
 */
export const AttemptsPayment = Context.Reference<boolean>("@billwright/http/api/AttemptsPayment", {
  defaultValue: () => false,
})
