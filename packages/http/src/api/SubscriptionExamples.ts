/**
 * The examples of the operations of subscriptions (see `Examples`).
 */
import type { Example } from "./Example.ts"
import { invoiceExamples } from "./InvoiceExamples.ts"

const subscription = {
  object: "subscription",
  id: "sub_01kb2r9f4sfhx8w6p2n3m5q7tz",
  customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk",
  phase: "active",
  plan: { key: "pro", version: 2 },
  currency: "EUR",
  quantities: { seats: "5" },
  pending: null,
  anchor: "2026-11-21T00:00:00.000",
  timezone: "UTC",
  start_at: "2026-11-21T00:00:00.000Z",
  trial_end_at: null,
  activated_at: "2026-11-21T00:00:00.000Z",
  current_period_start: "2026-11-21T00:00:00.000Z",
  current_period_end: "2026-12-21T00:00:00.000Z",
  paused_at: null,
  resumes_at: null,
  canceled_at: null,
  ends_at: null,
  ended_at: null,
  next_at: "2026-12-21T00:00:00.000Z",
  failure: null,
  past_due_since: null,
  available_actions: ["change", "pause", "cancel"],
  invoice_group: null,
  metadata: { order: "4711" },
  sequence: 2,
  livemode: false,
  created_at: "2026-11-21T00:00:00.000Z",
  updated_at: "2026-11-21T00:00:00.000Z",
}

const canceled = {
  ...subscription,
  canceled_at: "2026-11-22T10:00:00.000Z",
  ends_at: "2026-12-21T00:00:00.000Z",
  available_actions: ["change", "pause", "cancel", "uncancel"],
  sequence: 3,
  updated_at: "2026-11-22T10:00:00.000Z",
}

const changing = {
  ...subscription,
  pending: { plan: null, quantities: { seats: "4" }, at: "period_end", bill: "now" },
  sequence: 3,
  updated_at: "2026-11-22T10:00:00.000Z",
}

const paused = {
  ...subscription,
  phase: "paused",
  paused_at: "2026-11-22T10:00:00.000Z",
  resumes_at: "2027-01-01T00:00:00.000Z",
  available_actions: ["resume", "cancel"],
  sequence: 3,
  updated_at: "2026-11-22T10:00:00.000Z",
}

const draft = {
  ...invoiceExamples.getInvoice.response,
  number: null,
  status: "draft",
  issued_at: null,
  due_at: null,
  finalizes_at: "2026-11-21T00:00:00.000Z",
  available_actions: ["finalize"],
}

export const subscriptionExamples = {
  createSubscription: {
    request: {
      customer_id: subscription.customer_id,
      plan: "pro",
      quantities: { seats: "5" },
      metadata: { order: "4711" },
    },
    response: subscription,
  },
  previewNewSubscription: {
    request: { customer_id: subscription.customer_id, plan: "pro", quantities: { seats: "5" } },
    response: {
      object: "subscription_preview",
      subscription,
      invoices: [draft],
      next_invoice: null,
    },
  },
  previewSubscription: {
    request: { action: "change", quantities: { seats: "4" }, at: "period_end" },
    response: {
      object: "subscription_preview",
      subscription: changing,
      invoices: [],
      next_invoice: draft,
    },
  },
  listSubscriptions: { response: { object: "list", data: [subscription], has_more: false } },
  getSubscription: { response: subscription },
  changeSubscription: {
    request: { quantities: { seats: "4" }, at: "period_end" },
    response: changing,
  },
  cancelSubscription: { request: { at: "period_end" }, response: canceled },
  uncancelSubscription: { response: { ...subscription, sequence: 4 } },
  pauseSubscription: { request: { resume_at: "2027-01-01T00:00:00Z" }, response: paused },
  resumeSubscription: { request: { anchor: "keep" }, response: { ...subscription, sequence: 4 } },
  reconcileSubscription: {
    response: { object: "reconciliation", subscription_id: subscription.id, invoice: draft },
  },
} as const satisfies Readonly<Record<string, Example>>
