/**
 * The REST definitions of what a person does about a refund whose outcome is not known.
 */
import { Refund } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { CallsProvider } from "./CallsProvider.ts"
import { writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as ResourceApi from "./ResourceApi.ts"

const { reference, status } = Refund.ResolveRefund.fields

const ResolveBody = Schema.Struct({
  status: status.annotate({
    description: "`succeeded`: the customer has the money. `failed`: nothing was given back.",
  }),
  reference: Schema.optionalKey(
    reference.schema.annotate({
      description: "How the payment provider names it, if a person has made it there: 1 to 255 characters.",
    }),
  ),
}).annotate({ identifier: "ResolveRefund", description: "What came of a refund." })

const Params = Schema.Struct({
  id: Schema.String.annotate({ description: "The id of the refund." }),
})

const RefundBody = ResourceApi.body(Refund.refunds)

export const RefundResolutionsApi = HttpApiGroup.make("refund_resolutions")
  .add(
    HttpApiEndpoint.post("refreshRefund", "/refunds/:id/refresh", {
      params: Params,
      success: RefundBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "payments:write")
      .annotate(CallsProvider, true)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Refresh a refund",
          description:
            "Reads a refund at the payment provider now, and stores what it states. One that was not sent yet, that the provider does not know, or of a recorded payment is returned as it is.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("resolveRefund", "/refunds/:id/resolve", {
      params: Params,
      payload: ResolveBody,
      success: RefundBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "payments:write")
      .annotate(CallsProvider, true)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Resolve a refund",
          description:
            "Says what came of a refund that is `pending` or `unresolved`, because a person has found out. One that was not sent yet is not sent any more. Otherwise the payment provider is read first, and what it states counts instead; a `conflict` says that it is working on the refund, or that the refund has ended otherwise. A refund that is said to have `failed` has succeeded after all when the provider tells so later.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Resolving refunds",
      description: "What a person does about a refund whose outcome is not known.",
    }),
  )
