/**
 * The REST definitions of payments.
 */
import { Customer, Invoice, Payment } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { InvoiceBody } from "./InvoicesApi.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

const MAX_PROVIDER_LENGTH = 64

const InvoiceIdField = Invoice.InvoiceId.annotate({ description: "The invoice." })
const StatusField = Payment.PaymentStatus.annotate({
  description:
    "`open`: it waits for its money. `succeeded`: it has it, and never changes again. `closed`: it is not waited for any more.",
})

export const PaymentBody = Schema.Struct({
  object: Schema.Literal("payment"),
  id: Payment.PaymentId.annotate({ description: "The id of the payment." }),
  invoice_id: InvoiceIdField,
  customer_id: Customer.CustomerId.annotate({ description: "The customer." }),
  currency: InvoiceBody.fields.currency,
  provider: Wire.text(MAX_PROVIDER_LENGTH).annotate({
    description: "Who takes the money. `manual`: a person recorded what came.",
  }),
  reference: Schema.NullOr(Wire.text(Payment.MAX_REFERENCE_LENGTH)).annotate({
    description: "How the provider names the payment; for a manual one, how the bank does.",
  }),
  status: StatusField,
  amount: Wire.amount("What came, or what is asked for, greater than 0"),
  applied: Wire.amount("The part that paid the invoice, 0 until the payment has succeeded"),
  overpaid: Wire.amount("The rest, which is more than was due: the customer's credit"),
  paid_at: Wire.instantOrNull("When the money came. `null` until then."),
  sequence: Wire.Count.annotate({
    description: "Rises with each change of the payment. Its events have the same number.",
  }),
  livemode: Wire.Livemode,
  created_at: Wire.instant("When it was created."),
  updated_at: Wire.instant("When something of the above last changed."),
}).annotate({ identifier: "Payment", description: "A payment of an invoice." })

const RecordBody = Schema.Struct({
  invoiceId: InvoiceIdField,
  amount: Schema.optionalKey(
    Wire.exactInteger({
      minimum: 1,
      maximum: 1e30,
      problem: "must be an integer from 1 to 10^30",
      description: `What came, in the minor unit of the invoice's currency. Default: what is due. ${Wire.LARGE_INTEGERS}`,
    }),
  ),
  paidAt: Schema.optionalKey(Wire.instant("When it came, not in the future. Default: now.")),
  reference: Schema.optionalKey(
    Wire.text(Payment.MAX_REFERENCE_LENGTH).check(Schema.isMinLength(1)).annotate({
      description:
        "How the bank names it. With a reference, recording the payment again changes nothing and gives the first one.",
    }),
  ),
  acceptOverpayment: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Takes an amount above what is due. The rest is the customer's credit. Default: false.",
    }),
  ),
})
  .pipe(
    Schema.encodeKeys({
      invoiceId: "invoice_id",
      paidAt: "paid_at",
      acceptOverpayment: "accept_overpayment",
    }),
  )
  .annotate({
    identifier: "RecordPayment",
    description: "Money that came without a provider, such as by bank transfer.",
  })

const ListQuery = Schema.Struct({
  ...Wire.pageFields,
  customerId: Schema.optionalKey(
    Customer.CustomerId.annotate({ description: "Only payments of this customer." }),
  ),
  invoiceId: Schema.optionalKey(
    Invoice.InvoiceId.annotate({ description: "Only payments of this invoice." }),
  ),
  status: Schema.optionalKey(
    Payment.PaymentStatus.annotate({ description: "Only payments with this status." }),
  ),
}).pipe(Schema.encodeKeys({ ...Wire.pageKeys, customerId: "customer_id", invoiceId: "invoice_id" }))

const Params = Schema.Struct({ id: Schema.String.annotate({ description: "The id of the payment." }) })

export const PaymentsApi = HttpApiGroup.make("payments")
  .add(
    HttpApiEndpoint.post("recordPayment", "/payments", {
      payload: RecordBody,
      success: PaymentBody.pipe(HttpApiSchema.status(201)),
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "payments:write")
      .annotateMerge(
        OpenApi.annotations({
          summary: "Record a payment",
          description:
            "Records money that came for an open invoice, or for one that was written off: the action `pay` of the invoice. The invoice is `paid` once nothing of it is due. A part of the amount due is allowed; more than that only with `accept_overpayment`. A `conflict` says that the invoice does not allow it as it is, or that another payment of it has the reference, and changes nothing.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.get("listPayments", "/payments", {
      query: ListQuery,
      success: Wire.list(PaymentBody, "PaymentList"),
      error: readErrors("conflict"),
    })
      .annotate(RequiredPermission, "payments:read")
      .annotateMerge(
        OpenApi.annotations({ summary: "List payments", description: "Lists payments, newest first." }),
      ),
  )
  .add(
    HttpApiEndpoint.get("getPayment", "/payments/:id", {
      params: Params,
      success: PaymentBody,
      error: readErrors("not_found", "conflict"),
    })
      .annotate(RequiredPermission, "payments:read")
      .annotateMerge(OpenApi.annotations({ summary: "Get a payment", description: "Returns one payment." })),
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Payments",
      description: "What customers paid of their invoices.",
    }),
  )
