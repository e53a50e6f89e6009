/**
 * The REST definition of what a payment provider sends. It is outside `/v1` and needs no API key: the provider signs.
 */
import { Tenant } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { errorBody } from "./ErrorBody.ts"

const ReceiptBody = Schema.Struct({
  outcome: Schema.Literals(["accepted", "ignored"]).annotate({
    description: "`ignored`: it is about nothing of the account and mode.",
  }),
}).annotate({ identifier: "NoticeReceipt", description: "The request was received." })

const TenantQuery = Schema.Struct({
  accountId: Schema.optionalKey(
    Tenant.AccountId.annotate({ description: "The account whose payments it is about. Default: `default`." }),
  ),
  mode: Schema.optionalKey(
    Tenant.Mode.annotate({ description: "The mode of the account. Default: `live`." }),
  ),
}).pipe(Schema.encodeKeys({ accountId: "account_id" }))

export const ProviderNoticesApi = HttpApiGroup.make("provider_notices")
  .add(
    HttpApiEndpoint.post("receiveProviderNotice", "/payment_providers/:name/webhook", {
      params: Schema.Struct({
        name: Schema.String.annotate({ description: "The name of the payment provider." }),
      }),
      query: TenantQuery,
      success: ReceiptBody,
      error: [
        errorBody("invalid_request"),
        errorBody("not_found"),
        errorBody("request_timeout"),
        errorBody("conflict"),
        errorBody("payload_too_large"),
        errorBody("internal_error"),
        errorBody("unavailable"),
      ],
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Receive a webhook of the payment provider",
        description:
          "Give this URL to the payment provider. The body is what the provider signs, of any content type. What it tells is read again from the provider, and stored before the answer. Repeats change nothing. 400: it is not signed by the provider, or its instant is too far from now. 503: the provider could not be read, and has to send it again.",
      }),
    ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Payment provider",
      description: "What the payment provider sends by itself.",
    }),
  )
