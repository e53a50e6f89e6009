/**
 * The examples of the operations of invoices (see `Examples`).
 */
import type { Example } from "./Example.ts"
import { stepsOfCalls } from "./PlanExamples.ts"

const tax = { category: "O", rate: "0", country: null, reason: "Not subject to tax" }

const line = {
  group: null,
  discount: 0,
  tax,
  credit_of: null,
  burns: null,
  receipt: null,
  subscription_id: "sub_01kb2r9f4sfhx8w6p2n3m5q7tz",
  plan: { key: "pro", version: 2 },
}

const invoice = {
  object: "invoice",
  id: "inv_01kdkf6q3b2me0c9v1x4s6r8tj",
  number: "2026-0042",
  status: "open",
  customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
  subscription_id: "sub_01kb2r9f4sfhx8w6p2n3m5q7tz",
  subscription_ids: ["sub_01kb2r9f4sfhx8w6p2n3m5q7tz"],
  currency: "EUR",
  period_start: "2026-12-21T00:00:00.000Z",
  period_end: "2027-01-21T00:00:00.000Z",
  lines: [
    {
      ...line,
      id: "1.0.base",
      kind: "advance",
      charge: "base",
      description: "base",
      period_start: "2026-12-21T00:00:00.000Z",
      period_end: "2027-01-21T00:00:00.000Z",
      quantity: null,
      amount: 2000,
      net: 2000,
      steps: [
        { type: "flat", amount: "20" },
        { type: "round", digits: 2, amount: "20" },
      ],
    },
    {
      ...line,
      id: "0.0.calls",
      kind: "usage",
      charge: "calls",
      description: "calls",
      period_start: "2026-11-21T00:00:00.000Z",
      period_end: "2026-12-21T00:00:00.000Z",
      quantity: "2000",
      amount: 1180,
      net: 1180,
      steps: stepsOfCalls,
    },
  ],
  discounts: [],
  tax_behavior: "exclusive",
  subtotal: 3180,
  tax: 0,
  taxes: [{ ...tax, taxable: 3180, amount: 0 }],
  total: 3180,
  applied: [],
  credited: 0,
  amount_paid: 0,
  amount_credited: 0,
  amount_waived: 0,
  amount_due: 3180,
  issued_at: "2026-12-21T01:00:00.000Z",
  due_at: "2027-01-04T23:59:59.999Z",
  finalizes_at: null,
  failure: null,
  past_due_since: null,
  collection: "idle",
  available_actions: ["pay", "credit", "void", "mark_uncollectible"],
  sequence: 2,
  livemode: false,
  created_at: "2026-12-21T00:00:00.000Z",
  updated_at: "2026-12-21T01:00:00.000Z",
}

const changed = { ...invoice, sequence: 3, updated_at: "2026-12-22T10:00:00.000Z" }

/** The same one, once its payment has succeeded. */
export const paidInvoice = {
  ...changed,
  status: "paid",
  amount_paid: 3180,
  amount_due: 0,
  collection: "paid",
  available_actions: ["credit"],
} as const

const onboarding = { description: "Onboarding", amount: 4900 }

const draft = {
  ...invoice,
  id: "inv_01kdnqh2t5e8yv3m7w9b4c6p1a",
  number: null,
  status: "draft",
  subscription_id: null,
  period_start: null,
  period_end: null,
  lines: [
    {
      ...line,
      ...onboarding,
      id: "inv_01kdnqh2t5e8yv3m7w9b4c6p1a.1",
      kind: "item",
      charge: null,
      plan: null,
      period_start: null,
      period_end: null,
      quantity: null,
      net: 4900,
      steps: [
        { type: "flat", amount: "49" },
        { type: "round", digits: 2, amount: "49" },
      ],
    },
  ],
  subtotal: 4900,
  taxes: [{ ...tax, taxable: 4900, amount: 0 }],
  total: 4900,
  amount_due: 4900,
  issued_at: null,
  due_at: null,
  available_actions: ["finalize"],
  sequence: 1,
}

const finalized = {
  ...draft,
  number: "2026-0043",
  status: "open",
  issued_at: "2026-12-22T10:00:00.000Z",
  due_at: "2027-01-05T23:59:59.999Z",
  available_actions: ["pay", "credit", "void", "mark_uncollectible"],
  sequence: 2,
}

const upcoming = {
  ...invoice,
  id: "inv_01kdkf6r8w4x2n6c3v7z5t9q0e",
  number: null,
  status: "draft",
  issued_at: null,
  due_at: null,
  finalizes_at: "2026-12-21T01:00:00.000Z",
  available_actions: ["finalize"],
  sequence: 1,
}

export const invoiceExamples = {
  createInvoice: {
    request: { customer_id: draft.customer_id, currency: "EUR", lines: [onboarding] },
    response: draft,
  },
  getUpcomingInvoice: {
    response: {
      object: "upcoming_invoice",
      subscription_id: upcoming.subscription_id,
      invoice: upcoming,
    },
  },
  listInvoiceLineRecords: {
    response: {
      object: "list",
      data: [
        {
          object: "usage_record",
          id: "usg_01kb2r7x8sf2yb5sz3jdzxqj1m",
          customer_id: invoice.customer_id,
          product_id: "api",
          quantity: 2000,
          unit: "call",
          dimensions: {},
          timestamp: "2026-11-22T09:31:00.000Z",
          idempotency_key: "request-8f14",
          voided_at: null,
          livemode: false,
          created_at: "2026-11-22T09:31:00.250Z",
        },
      ],
      has_more: false,
    },
  },
  finalizeInvoice: { response: finalized },
  deleteInvoice: { response: { object: "invoice", id: draft.id, deleted: true } },
  listInvoices: { response: { object: "list", data: [invoice], has_more: false } },
  getInvoice: { response: invoice },
  getInvoicePdf: { response: "%PDF-1.7 …" },
  getInvoiceUbl: { response: `<?xml version="1.0" encoding="UTF-8"?>\n<Invoice>…</Invoice>\n` },
  getInvoiceCii: {
    response: `<?xml version="1.0" encoding="UTF-8"?>\n<rsm:CrossIndustryInvoice>…</rsm:CrossIndustryInvoice>\n`,
  },
  getInvoiceFacturX: { response: "%PDF-1.7 …" },
  getInvoiceHtml: { response: `<!doctype html>\n<html lang="en">…</html>\n` },
  voidInvoice: {
    response: { ...changed, status: "void", amount_due: 0, collection: "stopped", available_actions: [] },
  },
  markInvoiceUncollectible: {
    response: { ...changed, status: "uncollectible", available_actions: ["pay", "credit", "void"] },
  },
} as const satisfies Readonly<Record<string, Example>>
