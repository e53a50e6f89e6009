/**
 * The REST definitions of saving a payment method at the payment provider.
 */
import { PaymentMethod } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { CallsProvider } from "./CallsProvider.ts"
import { actionFields, returnUrlField } from "./CustomerAction.ts"
import { writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as ResourceApi from "./ResourceApi.ts"
import * as Wire from "./Wire.ts"

const StartBody = Schema.Struct({ returnUrl: returnUrlField })
  .pipe(Schema.encodeKeys({ returnUrl: "return_url" }))
  .annotate({
    identifier: "StartPaymentMethodSetup",
    description: "How the customer saves a payment method.",
  })

/** The setup of a payment method in an answer. */
const SetupBody = Schema.Struct({
  object: Schema.Literal("payment_method_setup"),
  payment_method_id: PaymentMethod.PaymentMethodId.annotate({ description: "The id of the payment method." }),
  ...actionFields,
  livemode: Wire.Livemode,
}).annotate({
  identifier: "PaymentMethodSetup",
  description:
    "How the customer saves a payment method: with the client secret on your page, or on a page of the provider.",
})

const Params = Schema.Struct({
  id: Schema.String.annotate({ description: "The id of the payment method." }),
})

export const PaymentMethodSetupsApi = HttpApiGroup.make("payment_method_setups")
  .add(
    HttpApiEndpoint.post("startPaymentMethodSetup", "/payment_methods/:id/setup", {
      params: Params,
      payload: StartBody,
      success: SetupBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "payments:write")
      .annotate(CallsProvider, true)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Start the setup of a payment method",
          description:
            "Asks the payment provider how the customer saves a pending payment method: on your page with a client secret, or, with a `return_url`, on a page of the provider. Repeating it gives the same setup. Afterwards, refresh the payment method.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("refreshPaymentMethod", "/payment_methods/:id/refresh", {
      params: Params,
      success: ResourceApi.body(PaymentMethod.paymentMethods),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "payments:write")
      .annotate(CallsProvider, true)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Refresh a payment method",
          description:
            "Asks the payment provider whether the customer has saved a pending payment method. If so, it is `attached`. Call it when the customer comes back. Any other payment method is returned as it is.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Saving payment methods",
      description: "How customers save payment methods at the payment provider.",
    }),
  )
