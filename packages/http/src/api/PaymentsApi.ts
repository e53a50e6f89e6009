/**
 * The REST definitions of payments.
 */
import { Currency, Customer, Invoice, Payment, PaymentFigure, PaymentMethod } from "@billwright/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AttemptsPayment, CallsProvider } from "./CallsProvider.ts"
import { actionFields, returnUrlField } from "./CustomerAction.ts"
import { readErrors, writeErrors } from "./ErrorBody.ts"
import { InvoiceBody } from "./InvoiceBody.ts"
import { RequiredPermission } from "./Permission.ts"
import * as Wire from "./Wire.ts"

const MAX_PROVIDER_LENGTH = 64

const InvoiceIdField = Invoice.InvoiceId.annotate({ description: "The invoice." })
const StatusField = Payment.PaymentStatus.annotate({
  description:
    "`open`: it waits for its money. `succeeded`: it has it, and never changes again. `closed`: it is not waited for any more.",
})

const AttentionBody = Schema.Struct({
  code: Payment.PaymentAttentionCode.annotate({
    description:
      "`provider_refused`: the provider refused a call for good. `provider_unreachable`: no call got through. `outcome_unknown`: nobody knows what came of the last attempt. `no_result`: the bank or the customer has done nothing for 30 days. `closed_at_provider`: somebody has closed it at the provider. `not_chargeable`: the provider takes no such amount, or not this currency. `not_closed`: its money is not wanted any more, and the provider does not close it.",
  }),
  message: Wire.text(Payment.MAX_ATTENTION_LENGTH).annotate({
    description: "What happened, and what to do, for people.",
  }),
  since: Wire.instant("Since when."),
}).annotate({ identifier: "PaymentAttention", description: "Why a person has to look at a payment." })

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
  attention: Schema.NullOr(AttentionBody).annotate({
    description: "Why a person has to look at it. `null` if nobody has to.",
  }),
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

const methodField = Schema.optionalKey(
  PaymentMethod.PaymentMethodId.annotate({
    description: "The payment method of the customer to attempt it with. Default: the customer's default.",
  }),
)

const PayBody = Schema.Struct({ paymentMethodId: methodField })
  .pipe(Schema.encodeKeys({ paymentMethodId: "payment_method_id" }))
  .annotate({ identifier: "PayInvoice", description: "How the payment of an invoice is attempted." })

const StartBody = Schema.Struct({
  paymentMethodId: methodField,
  returnUrl: returnUrlField,
})
  .pipe(Schema.encodeKeys({ paymentMethodId: "payment_method_id", returnUrl: "return_url" }))
  .annotate({
    identifier: "StartInvoicePayment",
    description: "How the payment of an invoice is attempted while the customer is there.",
  })

/** An invoice whose payment was attempted while the customer is there. */
const StartedBody = Schema.Struct({
  object: Schema.Literal("invoice_payment"),
  invoice: InvoiceBody,
  ...actionFields,
  livemode: Wire.Livemode,
}).annotate({
  identifier: "InvoicePayment",
  description:
    "How the customer confirms a payment: with the client secret on your page, or on a page of the provider. Both are `null` if nothing has to be confirmed: unless the `collection` of the invoice is `awaiting_customer`.",
})

const InvoiceParams = Schema.Struct({
  id: Schema.String.annotate({ description: "The id of the invoice." }),
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
  currency: Schema.optionalKey(Currency.annotate({ description: "Only payments in this currency." })),
  figure: Schema.optionalKey(
    PaymentFigure.annotate({
      description:
        "`collected`: only payments that succeeded in the last 30 days. `attention`: only those that a person has to look at.",
    }),
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
    HttpApiEndpoint.post("payInvoice", "/invoices/:id/pay", {
      params: InvoiceParams,
      payload: PayBody,
      success: InvoiceBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "payments:write")
      .annotate(CallsProvider, true)
      .annotate(AttemptsPayment, true)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Pay an invoice",
          description:
            "Has the payment provider take what is due of an invoice now: of an open one, or of one that was written off. The answer is the invoice afterwards: its `collection` says what came of it. An invoice that needs attention is read at the provider first. A `conflict` says that there is no payment provider, that an attempt is under way or its outcome unknown, or that the invoice does not allow it as it is, and changes nothing. An invoice that is paid is returned as it is. A repeat with the same `Idempotency-Key` attempts nothing, and gets the invoice as it is by then. To attempt it again, call it with another key.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("startInvoicePayment", "/invoices/:id/payment", {
      params: InvoiceParams,
      payload: StartBody,
      success: StartedBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "payments:write")
      .annotate(CallsProvider, true)
      .annotate(AttemptsPayment, true)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Pay an invoice while the customer is there",
          description:
            "The same as paying the invoice by call, for a page on which the customer is: what the bank asks the customer to confirm is confirmed there with the `client_secret`, or, with a `return_url`, on a page of the provider. An attempt that waits for the customer is read first, and attempted again if it still waits. Call it again when the customer has confirmed it, or wait for the webhook of the provider. A repeat with the same `Idempotency-Key` attempts nothing, and gets the invoice as it is by then. If the customer has to confirm the payment, it gets a `conflict` instead: call it with another key for the `client_secret`.",
        }),
      ),
  )
  .add(
    HttpApiEndpoint.post("cancelPayment", "/payments/:id/cancel", {
      params: Params,
      success: PaymentBody,
      error: writeErrors("not_found"),
    })
      .annotate(RequiredPermission, "payments:write")
      .annotate(CallsProvider, true)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Cancel a payment",
          description:
            "Closes an open payment at its provider, for good. Nothing is attempted for its invoice any more by itself, until the invoice is paid by call. If the provider has taken the money before, the payment has succeeded instead. Canceling it again changes nothing. A `conflict` says that the payment has succeeded, or that its provider is not there.",
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
