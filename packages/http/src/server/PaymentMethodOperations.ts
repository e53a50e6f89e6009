/**
 * The operations of payment methods that other resources don't have (see `Operations`).
 */
import { PaymentMethod, PaymentMethods } from "@billwright/core"
import { Effect } from "effect"
import { customerAction } from "./CustomerAction.ts"
import { ok } from "./HttpExchange.ts"
import type { OperationsOf } from "./Operation.ts"
import * as ResourceBody from "./ResourceBody.ts"

const body = ResourceBody.make<PaymentMethod.PaymentMethod>(PaymentMethod.paymentMethods)

export const make: Effect.Effect<OperationsOf<"payment_method_setups">, never, PaymentMethods> = Effect.map(
  PaymentMethods,
  (methods) => ({
    startPaymentMethodSetup: ({ params, payload }, { mode }) =>
      Effect.map(methods.startSetup(params.id, payload), ({ paymentMethod, ...action }) =>
        ok({
          object: "payment_method_setup",
          payment_method_id: paymentMethod.id,
          ...customerAction(action),
          livemode: mode === "live",
        }),
      ),
    refreshPaymentMethod: ({ params }, tenant) =>
      Effect.map(methods.refresh(params.id), (method) => ok(body(method, tenant))),
  }),
)
