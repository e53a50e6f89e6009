/**
 * An example request and answer for each operation. The API reference shows them, and tests check them against the
 * definitions.
 */
import { Resources } from "@billwright/core"
import { bookExamples } from "./BookExamples.ts"
import { creditExamples } from "./CreditExamples.ts"
import { creditNoteExamples } from "./CreditNoteExamples.ts"
import { entitlementExamples } from "./EntitlementExamples.ts"
import type { Example } from "./Example.ts"
import { invoiceExamples } from "./InvoiceExamples.ts"
import { moneyExamples } from "./MoneyExamples.ts"
import { paymentExamples } from "./PaymentExamples.ts"
import { planExamples } from "./PlanExamples.ts"
import * as ResourceApi from "./ResourceApi.ts"
import { subscriptionExamples } from "./SubscriptionExamples.ts"
import { tokenUsageExamples } from "./TokenUsageExamples.ts"
import { webhookExamples } from "./WebhookExamples.ts"

const customerId = "cus_01kb2r6ghefxhs59czp23x4vmk"
const recordId = "usg_01kb2r7x8sf2yb5sz3jdzxqj1m"

const usage = {
  customer_id: customerId,
  product_id: "api",
  quantity: 5,
  unit: "call",
  dimensions: { region: "eu" },
}

const record = {
  object: "usage_record",
  id: recordId,
  ...usage,
  timestamp: "2026-11-21T09:31:00.000Z",
  idempotency_key: "request-8f14",
  voided_at: null,
  livemode: false,
  created_at: "2026-11-21T09:31:00.250Z",
}

const list = (item: object) => ({ object: "list", data: [item], has_more: false })

const meterExamples = ResourceApi.examples(Resources.all.meters.definition)

export const examples: Readonly<Record<string, Example>> = {
  ...Object.assign(
    {},
    ...Object.values(Resources.all).map(({ definition }) => ResourceApi.examples(definition)),
  ),
  exportAuditRecords: {
    response: `${JSON.stringify(ResourceApi.examples(Resources.all.auditRecords.definition).getAuditRecord?.response)}\n`,
  },
  exportCustomer: {
    response: [
      ResourceApi.examples(Resources.all.customers.definition).getCustomer?.response,
      { object: "customer_export", customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk", lines: 1, livemode: false },
    ]
      .map((value) => `${JSON.stringify(value)}\n`)
      .join(""),
  },
  recordUsage: {
    request: { ...usage, timestamp: "2026-11-21T09:31:00Z", idempotency_key: "request-8f14" },
    response: record,
  },
  recordUsageBatch: {
    request: { records: [{ ...usage, idempotency_key: "request-8f14" }] },
    response: {
      object: "usage_batch",
      recorded: 1,
      duplicates: 0,
      data: [{ id: recordId, status: "recorded" }],
    },
  },
  summarizeUsage: {
    response: {
      object: "usage_summary",
      customer_id: customerId,
      meter: "calls",
      product_id: "api",
      total_quantity: 5,
      denominator: 1,
      unit: "call",
      record_count: 1,
      groups: [{ dimensions: { region: "eu" }, total_quantity: 5, denominator: 1, record_count: 1 }],
      start_date: "2026-11-01",
      end_date: "2026-11-30",
      timezone: "UTC",
      period_start: "2026-11-01T00:00:00.000Z",
      period_end: "2026-12-01T00:00:00.000Z",
    },
  },
  listUsageSeries: {
    response: list({
      start: "2026-11-21T00:00:00.000Z",
      end: "2026-11-22T00:00:00.000Z",
      product_id: "api",
      unit: "call",
      quantity: 5,
      denominator: 1,
      record_count: 1,
    }),
  },
  listUsageRecords: { response: list(record) },
  getUsageRecord: { response: record },
  voidUsageRecord: { response: { ...record, voided_at: "2026-11-21T10:00:00.000Z" } },
  advanceTestClock: {
    request: { to: "2029-12-01T00:00:00.000Z" },
    response: {
      ...Resources.all.testClocks.definition.example,
      object: "test_clock",
      livemode: false,
      status: "advancing",
      advancing_to: "2029-12-01T00:00:00.000Z",
    },
  },
  startPaymentMethodSetup: {
    request: { return_url: "https://shop.example/account" },
    response: {
      object: "payment_method_setup",
      payment_method_id: Resources.all.paymentMethods.definition.example.id,
      client_secret: null,
      url: "https://checkout.example/c/pay/cs_a1b2c3",
      livemode: false,
    },
  },
  refreshPaymentMethod: {
    response: ResourceApi.examples(Resources.all.paymentMethods.definition)["getPaymentMethod"]!.response,
  },
  refreshRefund: {
    response: ResourceApi.examples(Resources.all.refunds.definition)["getRefund"]!.response,
  },
  resolveRefund: {
    request: { status: "succeeded", reference: "re_3QYxQ2LkdIwHu7ix" },
    response: {
      ...Resources.all.refunds.definition.example,
      object: "refund",
      livemode: false,
      status: "succeeded",
      reference: "re_3QYxQ2LkdIwHu7ix",
      reversed: 500,
      sent_at: "2026-11-21T09:32:01.000Z",
      succeeded_at: "2026-11-22T10:00:00.000Z",
    },
  },
  ...tokenUsageExamples,
  createInvoiceLink: {
    request: { expires_in_seconds: 2_592_000, language: "de" },
    response: {
      object: "payer_link",
      url: "https://shop.example/billing/invoices/i.key_1.default.test.inv_01kb2r8m4n5p6q7r8s9tabcdef.1798450260.de.c2lnbmVkLWJ5LXRoZS1zZXJ2ZXItb25seS0wMTIzNDU2",
      expires_at: "2026-12-21T09:31:00.000Z",
      livemode: false,
    },
  },
  createPortalLink: {
    request: {},
    response: {
      object: "payer_link",
      url: `https://shop.example/billing/account/p.key_1.default.test.${customerId}.1795858260.-.c2lnbmVkLWJ5LXRoZS1zZXJ2ZXItb25seS02NTQzMjEw`,
      expires_at: "2026-11-22T09:31:00.000Z",
      livemode: false,
    },
  },
  rebuildMeter: { response: meterExamples["getMeter"]!.response },
  ...planExamples,
  ...subscriptionExamples,
  ...invoiceExamples,
  ...creditNoteExamples,
  ...bookExamples,
  ...moneyExamples,
  ...paymentExamples,
  ...creditExamples,
  ...entitlementExamples,
  ...webhookExamples,
  isLive: { response: { status: "ok" } },
  isReady: { response: { status: "ok" } },
  receiveProviderNotice: { response: { outcome: "accepted" } },
}
