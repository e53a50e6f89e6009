/**
 * The REST definitions of what is done about token usage without a price.
 */
import { TokenUsage } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as ResourceApi from "./ResourceApi.ts"

const { by, reason } = TokenUsage.WaiveTokenUsage.fields

const WaiveBody = Schema.Struct({
  by: by.annotate({ description: "Who decided it: a name or an id of yours, 1 to 200 characters." }),
  reason: reason.annotate({ description: "Why: 1 to 1,000 characters." }),
}).annotate({ identifier: "WaiveTokenUsage", description: "Who waives token usage, and why." })

const Params = Schema.Struct({
  id: Schema.String.annotate({ description: "The id of the token usage." }),
})

const TokenUsageBody = ResourceApi.body(TokenUsage.tokenUsages)

export const TokenRatingsApi = HttpApiGroup.make("token_ratings")
  .add(
    HttpApiEndpoint.post("rateTokenUsage", "/token_usages/:id/rate", {
      params: Params,
      success: TokenUsageBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "credits:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Rate a token usage",
          description:
            "Rates what is `unrated` by the version of the rate card that is in force now, and charges it once. What is beyond the available credits becomes debt. What is rated already is returned as it is. A `conflict` says that there is still no price, that it was waived, or that the customer is erased.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("waiveTokenUsage", "/token_usages/:id/waive", {
      params: Params,
      payload: WaiveBody,
      success: TokenUsageBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "credits:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Waive a token usage",
          description:
            "Says that what is `unrated` is not charged, who decided it and why. The same again changes nothing. A `conflict` says that it is rated, or was waived with other words.",
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Rating token usage",
      description: "What is done about token usage that a rate card had no price for.",
    }),
  )
