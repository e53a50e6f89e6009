/**
 * The REST definitions of invoices.
 */
import {
  Currency,
  Customer,
  Due,
  Invoice,
  InvoiceFigure,
  InvoiceItem,
  OneOffInvoice,
  SubscriptionId,
} from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { HtmlBody, NO_E_INVOICE, PdfBody, XmlBody } from "./DocumentBody.ts"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { CustomerIdField, IdField, InvoiceBody } from "./InvoiceBody.ts"
import { RequiredPermission } from "./Permission.ts"
import { UsageRecordBody } from "./UsageApi.ts"
import * as Wire from "./Wire.ts"

const GivenLineBody = Schema.Struct({
  description: OneOffInvoice.GivenLine.fields.description.annotate({ description: "The text of the line." }),
  amount: Wire.exactInteger({
    minimum: -Number(InvoiceItem.MAX_ITEM_AMOUNT),
    maximum: Number(InvoiceItem.MAX_ITEM_AMOUNT),
    problem: "must be an integer from -10^15 to 10^15, and not 0",
    description: "The amount in the minor unit of the currency, below 0 for a rebate, and not 0.",
  }),
  periodStart: Schema.optionalKey(Wire.instantOrNull("When the service began. Only together with the end.")),
  periodEnd: Schema.optionalKey(
    Wire.instantOrNull("When the service ended. This instant is not part of it."),
  ),
  taxCode: Schema.optionalKey(
    Schema.NullOr(InvoiceItem.TaxCode).annotate({
      description: "What its tax rate depends on. Default: `standard`.",
    }),
  ),
}).pipe(Schema.encodeKeys({ periodStart: "period_start", periodEnd: "period_end", taxCode: "tax_code" }))

const CreateBody = Schema.Struct({
  customerId: CustomerIdField,
  currency: Schema.optionalKey(
    OneOffInvoice.CreateInvoice.fields.currency.schema.annotate({
      description: "The ISO 4217 code of the currency. Default: that of the customer.",
    }),
  ),
  lines: Schema.optionalKey(
    Schema.Array(GivenLineBody).check(Schema.isBetweenLength(1, OneOffInvoice.MAX_GIVEN_LINES)).annotate({
      description:
        "What is billed: 0 or more together. Default: the pending items of the customer in the currency. With lines, items stay pending.",
    }),
  ),
})
  .pipe(Schema.encodeKeys({ customerId: "customer_id" }))
  .annotate({ identifier: "CreateInvoice", description: "A new invoice without a subscription." })

const DeletedBody = Schema.Struct({
  object: Schema.Literal("invoice"),
  id: IdField,
  deleted: Schema.Literal(true),
}).annotate({ identifier: "DeletedInvoice", description: "A draft that was deleted." })

/** The next invoice in an answer. */
const UpcomingInvoiceBody = Schema.Struct({
  object: Schema.Literal("upcoming_invoice"),
  subscription_id: SubscriptionId.annotate({ description: "The subscription." }),
  invoice: Schema.NullOr(InvoiceBody).annotate({
    description:
      "The invoice that it gets next, with the usage that is recorded by now. `null` if it gets none, as while it is paused.",
  }),
}).annotate({
  identifier: "UpcomingInvoice",
  description: "What comes next. Nothing of it is stored: the id of the invoice is of nothing.",
})

const UpcomingQuery = Schema.Struct({
  subscriptionId: SubscriptionId.annotate({ description: "The id of the subscription." }),
}).pipe(Schema.encodeKeys({ subscriptionId: "subscription_id" }))

const ListQuery = Schema.Struct({
  ...Wire.pageFields,
  customerId: Schema.optionalKey(
    Customer.CustomerId.annotate({ description: "Only invoices of this customer." }),
  ),
  subscriptionId: Schema.optionalKey(
    SubscriptionId.annotate({
      description: "Only invoices of this subscription, also those that it shares with others.",
    }),
  ),
  status: Schema.optionalKey(
    Invoice.InvoiceStatus.annotate({ description: "Only invoices with this status." }),
  ),
  currency: Schema.optionalKey(Currency.annotate({ description: "Only invoices in this currency." })),
  figure: Schema.optionalKey(
    InvoiceFigure.annotate({
      description: "Only invoices that make this figure of the overview of money, as of now.",
    }),
  ),
  failure: Schema.optionalKey(
    Due.FailureFilter.annotate({
      description:
        "Only invoices whose last billing run failed: `any`, or `set_aside`, which are not tried again by themselves.",
    }),
  ),
}).pipe(Schema.encodeKeys({ ...Wire.pageKeys, customerId: "customer_id", subscriptionId: "subscription_id" }))

const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the invoice." }) })
const LineParams = Schema.Struct({
  ...Params.fields,
  line: Schema.String.annotate({ description: "The id of the line." }),
})
const UNAVAILABLE = "A `conflict` says that the invoice does not allow it as it is, and changes nothing."

export const InvoicesApi = HttpApiGroup.make("invoices")
  .add(
    HttpApiEndpoint.post("createInvoice", "/invoices", {
      payload: CreateBody,
      success: InvoiceBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "invoices:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create an invoice",
          description:
            "Makes a draft without a subscription, of the customer's pending items or of given lines. It stays a draft until it is finalized or deleted. Without a charge there is no invoice.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listInvoices", "/invoices", {
      query: ListQuery,
      success: Wire.list(InvoiceBody, "InvoiceList"),
      error: readErrors("conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List invoices",
          description:
            "Lists invoices, newest first, drafts included. A page holds at most 4 MiB of lines. With many lines it may be shorter than `limit`, and `has_more` is then true.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getUpcomingInvoice", "/invoices/upcoming", {
      query: UpcomingQuery,
      success: UpcomingInvoiceBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the upcoming invoice",
          description:
            "Returns the invoice that a subscription gets after those that it has, with the usage that is recorded by now and the computation of every line. Stores nothing.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getInvoice", "/invoices/:id", {
      params: Params,
      success: InvoiceBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an invoice",
          description:
            "Returns one invoice, with the computation of every line. A draft has the lines and taxes that it would be issued with now. In lists it is as it was last stored.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getInvoiceHtml", "/invoices/:id/html", {
      params: Params,
      success: HtmlBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an invoice as a page",
          description:
            "Returns one invoice as an HTML page for people, in the language of the customer: for screens and for paper. The page has no script and loads nothing. What was paid and credited is as of now.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getInvoicePdf", "/invoices/:id/pdf", {
      params: Params,
      success: PdfBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an invoice as PDF",
          description:
            "Returns one invoice as PDF, in the language of the customer, with what was paid and credited by now. A `conflict` says that the server has nothing that makes PDF: the package `@billwright/pdf` is optional.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getInvoiceUbl", "/invoices/:id/ubl", {
      params: Params,
      success: XmlBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an invoice as UBL",
          description: `Returns an issued invoice as an e-invoice by EN 16931, in UBL 2.1: as it was issued, without what was paid and credited later. ${NO_E_INVOICE} Or the invoice is a draft or void.`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getInvoiceCii", "/invoices/:id/cii", {
      params: Params,
      success: XmlBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an invoice as CII",
          description: `Returns an issued invoice as an e-invoice by EN 16931, as a Cross Industry Invoice (D16B): as it was issued, without what was paid and credited later. ${NO_E_INVOICE} Or the invoice is a draft or void.`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getInvoiceFacturX", "/invoices/:id/factur_x", {
      params: Params,
      success: PdfBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an invoice as Factur-X",
          description: `Returns an issued invoice as Factur-X or ZUGFeRD in the profile EN 16931: a PDF/A-3 with the CII as \`factur-x.xml\`. Both are as the invoice was issued. ${NO_E_INVOICE} Or the invoice is a draft or void, or the server has nothing that makes PDF: the package \`@billwright/pdf\` is optional.`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listInvoiceLineRecords", "/invoices/:id/lines/:line/records", {
      params: LineParams,
      query: Schema.Struct(Wire.pageFields).pipe(Schema.encodeKeys(Wire.pageKeys)),
      success: Wire.list(UsageRecordBody, "InvoiceLineRecordList"),
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the records behind a line",
          description:
            "Lists the usage records that a line is made of, newest first: those of its meter, filters and service period that count now. Records that came after the invoice was issued are among them, and an adjustment on a later invoice bills them. A line that bills no usage has none.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("finalizeInvoice", "/invoices/:id/finalize", {
      params: Params,
      success: InvoiceBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "invoices:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Finalize an invoice",
          description: `Issues a draft now, with its lines and taxes of now, also one that waits for late usage. Of the drafts of a subscription, the oldest one comes first. If a tax service has to be asked, the answer is still a draft, and it is issued in the background as soon as the service has answered. ${UNAVAILABLE}`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.delete("deleteInvoice", "/invoices/:id", {
      params: Params,
      success: DeletedBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "invoices:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Delete a draft",
          description: `Deletes a draft that bills no subscription. Its items are pending again. ${UNAVAILABLE}`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("voidInvoice", "/invoices/:id/void", {
      params: Params,
      success: InvoiceBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "invoices:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Void an invoice",
          description: `Voids an issued invoice of which nothing was paid. It keeps its number, and nothing of it is due. What it billed is not billed again. ${UNAVAILABLE}`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("markInvoiceUncollectible", "/invoices/:id/mark_uncollectible", {
      params: Params,
      success: InvoiceBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "invoices:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Write an invoice off",
          description: `Marks an open invoice as uncollectible. It may still be paid. ${UNAVAILABLE}`,
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Invoices",
      description:
        "What customers owe, line by line. Subscriptions make them, and one-off invoices are made by call.",
    }),
  )
