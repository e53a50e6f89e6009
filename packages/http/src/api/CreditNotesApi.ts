/**
 * The REST definitions of credit notes.
 */
import { CreditNote, Customer, Invoice, INVOICE_LIMITS } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { HtmlBody, NO_E_INVOICE, PdfBody, XmlBody } from "./DocumentBody.ts"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { InvoiceBody, LineTaxBody, TaxBody } from "./InvoiceBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

const MAX_LINE_ID_LENGTH = 512
const MAX_NUMBER_LENGTH = 64

const LineId = Wire.text(MAX_LINE_ID_LENGTH).annotate({ description: "The id of the line of the invoice." })
const InvoiceIdField = Invoice.InvoiceId.annotate({ description: "The invoice." })
const ReasonField = CreditNote.CreditNoteReason.annotate({
  description: "Why money is given back. `usage_corrected`: less usage than was billed.",
})

const LineBody = Schema.Struct({
  line_id: LineId,
  amount: Wire.amount("What is credited of the line, as amounts of the invoice after discounts are"),
  tax: LineTaxBody,
}).annotate({ identifier: "CreditNoteLine", description: "What a credit note gives back of one line." })

export const CreditNoteBody = Schema.Struct({
  object: Schema.Literal("credit_note"),
  id: CreditNote.CreditNoteId.annotate({ description: "The id of the credit note." }),
  number: Wire.text(MAX_NUMBER_LENGTH).annotate({ description: "Its number. Numbers have no gap." }),
  invoice_id: InvoiceIdField,
  customer_id: Customer.CustomerId.annotate({ description: "The customer." }),
  currency: InvoiceBody.fields.currency,
  reason: ReasonField,
  lines: Schema.Array(LineBody)
    .check(Schema.isMaxLength(INVOICE_LIMITS.lines))
    .annotate({ description: "What it gives back of each line." }),
  tax_behavior: InvoiceBody.fields.tax_behavior,
  net: Wire.amount("The sum of the taxable amounts, without tax"),
  tax: Wire.amount("The sum of the taxes"),
  taxes: Schema.Array(TaxBody)
    .check(Schema.isMaxLength(INVOICE_LIMITS.lines))
    .annotate({ description: "The tax that is given back, by rate." }),
  total: Wire.amount("What is given back, with tax: `waived`, `refund` and `to_balance` together"),
  waived: Wire.amount("What lowered the amount due of the invoice"),
  refund: Wire.amount("What goes back by the way it was paid"),
  to_balance: Wire.amount("What becomes paid credits of the customer"),
  issued_at: Wire.instant("When it was issued."),
  livemode: Wire.Livemode,
  created_at: Wire.instant("When it was created."),
}).annotate({
  identifier: "CreditNote",
  description: "Gives back a part of an issued invoice, or all of it, with its tax. It never changes.",
})

const positive = (description: string, minimum: number) =>
  Wire.exactInteger({
    minimum,
    maximum: 1e30,
    problem: `must be an integer from ${minimum} to 10^30`,
    description,
  })

const CreateBody = Schema.Struct({
  invoiceId: InvoiceIdField,
  lines: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        lineId: LineId,
        amount: positive(
          "What to credit of the line: no more than is left of it. With tax if the taxes of the invoice are inclusive, and without otherwise.",
          1,
        ),
      }).pipe(Schema.encodeKeys({ lineId: "line_id" })),
    )
      .check(Schema.isBetweenLength(1, INVOICE_LIMITS.lines))
      .annotate({
        description:
          "What to credit of lines. Without `lines` and `amount`: all that is left of the invoice.",
      }),
  ),
  amount: Schema.optionalKey(
    positive(
      "One amount instead, as those of lines are. It is spread over the lines in proportion to what is left of each.",
      1,
    ),
  ),
  reason: ReasonField,
  refund: Schema.optionalKey(
    positive(
      "How much of what the customer paid is refunded. What is neither due nor refunded becomes paid credits of the customer. Default: 0.",
      0,
    ),
  ),
})
  .pipe(Schema.encodeKeys({ invoiceId: "invoice_id" }))
  .annotate({ identifier: "CreateCreditNote", description: "A new credit note." })

const ListQuery = Schema.Struct({
  ...Wire.pageFields,
  customerId: Schema.optionalKey(
    Customer.CustomerId.annotate({ description: "Only credit notes of this customer." }),
  ),
  invoiceId: Schema.optionalKey(
    Invoice.InvoiceId.annotate({ description: "Only credit notes of this invoice." }),
  ),
}).pipe(Schema.encodeKeys({ ...Wire.pageKeys, customerId: "customer_id", invoiceId: "invoice_id" }))

const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the credit note." }) })

export const CreditNotesApi = HttpApiGroup.make("creditNotes")
  .add(
    HttpApiEndpoint.post("createCreditNote", "/credit_notes", {
      payload: CreateBody,
      success: CreditNoteBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "invoices:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a credit note",
          description:
            "Gives back a part of an issued invoice, or all that is left of it. It never gives back more than is left of a line, also when several are created at once. What is still due is waived first. A `conflict` says that the invoice does not allow it as it is, and changes nothing.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listCreditNotes", "/credit_notes", {
      query: ListQuery,
      success: Wire.list(CreditNoteBody, "CreditNoteList"),
      error: readErrors("conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "List credit notes",
          description:
            "Lists credit notes, newest first. A page holds at most 4 MiB of lines. With many lines it may be shorter than `limit`, and `has_more` is then true.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getCreditNote", "/credit_notes/:id", {
      params: Params,
      success: CreditNoteBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({ summary: "Get a credit note", description: "Returns one credit note." }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getCreditNotePdf", "/credit_notes/:id/pdf", {
      params: Params,
      success: PdfBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a credit note as PDF",
          description:
            "Returns one credit note as PDF, in the language of the customer. A `conflict` says that the server has nothing that makes PDF: the package `@billwright/pdf` is optional.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getCreditNoteHtml", "/credit_notes/:id/html", {
      params: Params,
      success: HtmlBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a credit note as a page",
          description:
            "Returns one credit note as an HTML page for people, in the language of the customer. The page has no script and loads nothing.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getCreditNoteUbl", "/credit_notes/:id/ubl", {
      params: Params,
      success: XmlBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a credit note as UBL",
          description: `Returns one credit note as an e-invoice by EN 16931, in UBL 2.1. ${NO_E_INVOICE}`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getCreditNoteCii", "/credit_notes/:id/cii", {
      params: Params,
      success: XmlBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a credit note as CII",
          description: `Returns one credit note as an e-invoice by EN 16931, as a Cross Industry Invoice (D16B). ${NO_E_INVOICE}`,
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getCreditNoteFacturX", "/credit_notes/:id/factur_x", {
      params: Params,
      success: PdfBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "invoices:read")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a credit note as Factur-X",
          description: `Returns one credit note as Factur-X or ZUGFeRD in the profile EN 16931: a PDF/A-3 with the CII as \`factur-x.xml\`. ${NO_E_INVOICE} Or the server has nothing that makes PDF: the package \`@billwright/pdf\` is optional.`,
        }),
      ),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Credit notes",
      description: "What is given back of issued invoices, with its tax.",
    }),
  )
