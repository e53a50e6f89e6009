/**
 * The REST definitions of links for payers.
 */
import { LinkToken, MAX_LINK_SECONDS, MIN_LINK_SECONDS } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { writeErrors } from "./ErrorBody.ts"
import { RequiredPermission } from "./Permission.ts"
import { SecretAnswer } from "./SecretAnswer.ts"
import * as Wire from "./Wire.ts"

/** The longest address of a link, in characters. */
const MAX_LINK_LENGTH = 2_000

const expiryMessage = { message: `must be an integer from ${MIN_LINK_SECONDS} to ${MAX_LINK_SECONDS}` }

const LinkBody = Schema.Struct({
  expiresInSeconds: Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween({ minimum: MIN_LINK_SECONDS, maximum: MAX_LINK_SECONDS }, expiryMessage),
    ).annotate({
      ...expiryMessage,
      description:
        "For how many seconds the link is valid, at most 90 days. Default: 30 days for an invoice, a day for the pages of a customer.",
    }),
  ),
  language: Schema.optionalKey(
    Schema.NullOr(LinkToken.PayerLanguage).annotate({
      description:
        "The language of the pages. Default: that of the customer. The invoice itself keeps its own.",
    }),
  ),
})
  .pipe(Schema.encodeKeys({ expiresInSeconds: "expires_in_seconds" }))
  .annotate({ identifier: "CreatePayerLink", description: "How long a link is valid." })

/** A link in an answer. */
export const PayerLinkBody = Schema.Struct({
  object: Schema.Literal("payer_link"),
  url: Wire.text(MAX_LINK_LENGTH).annotate({
    description: "The address. Whoever has it may do what it is for. It is not stored.",
  }),
  expires_at: Wire.instant("From then on, the link is not valid."),
  livemode: Wire.Livemode,
}).annotate({ identifier: "PayerLink", description: "A link to pages for payers, without a login." })

const paramsOf = (noun: string) =>
  Schema.Struct({ id: Schema.String.annotate({ description: `The id of the ${noun}.` }) })

const UNAVAILABLE = "A `conflict` says that the server has no such pages."

export const PayerLinksApi = HttpApiGroup.make("payer_links")
  .add(
    HttpApiEndpoint.post("createInvoiceLink", "/invoices/:id/link", {
      params: paramsOf("invoice"),
      payload: LinkBody,
      success: PayerLinkBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "invoices:write")
      .annotate(SecretAnswer, true)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a link to an invoice",
          description: `Makes a link for the payer of an issued invoice: it shows the invoice and its PDF, and how to pay it. ${UNAVAILABLE} Or the invoice is a draft.`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("createPortalLink", "/customers/:id/portal_link", {
      params: paramsOf("customer"),
      payload: LinkBody,
      success: PayerLinkBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "customers:write")
      .annotate(SecretAnswer, true)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a link to the pages of a customer",
          description: `Makes a link for a customer: it shows plan, usage, invoices and payment methods, and can cancel. Give it to the customer alone. ${UNAVAILABLE}`,
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Links for payers",
      description: "Links to pages for payers, which need no login.",
    }),
  )
