/**
 * Examples of payments for the document.
 */
import type { Example } from "./Example.ts"
import { paidInvoice } from "./InvoiceExamples.ts"

const payment = {
  object: "payment",
  id: "pay_01kb2r9d3vffx9qd6k4v2n1h7c",
  invoice_id: "inv_01kb2r9d3vffx9qd6k4v2n1h7c",
  customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
  currency: "EUR",
  provider: "manual",
  reference: "TRN 4711",
  status: "succeeded",
  amount: 500,
  applied: 500,
  overpaid: 0,
  paid_at: "2026-11-20T09:00:00.000Z",
  attention: null,
  sequence: 1,
  livemode: false,
  created_at: "2026-11-21T09:30:00.000Z",
  updated_at: "2026-11-21T09:30:00.000Z",
} as const

export const paymentExamples = {
  recordPayment: {
    request: {
      invoice_id: payment.invoice_id,
      amount: payment.amount,
      paid_at: payment.paid_at,
      reference: payment.reference,
    },
    response: payment,
  },
  payInvoice: {
    request: { payment_method_id: "mtd_01kb2r9d3vffx9qd6k4v2n1h7c" },
    response: paidInvoice,
  },
  startInvoicePayment: {
    request: { payment_method_id: "mtd_01kb2r9d3vffx9qd6k4v2n1h7c" },
    response: {
      object: "invoice_payment",
      invoice: { ...paidInvoice, status: "open", collection: "awaiting_customer" },
      client_secret: "pi_3QYxQ2LkdIwHu7ix_secret_a1b2c3",
      url: null,
      livemode: false,
    },
  },
  cancelPayment: {
    response: {
      ...payment,
      provider: "stripe",
      reference: "pi_3QYxQ2LkdIwHu7ix",
      status: "closed",
      applied: 0,
      paid_at: null,
    },
  },
  listPayments: { response: { object: "list", data: [payment], has_more: false } },
  getPayment: { response: payment },
} as const satisfies Readonly<Record<string, Example>>
