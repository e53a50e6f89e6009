/**
 * Examples of entitlements for the document.
 */
import type { Example } from "./Example.ts"

const asked = { customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk", feature: "exports" } as const
const consumed = { ...asked, quantity: 1, idempotency_key: "export-8f14" } as const

const entitlement = {
  ...asked,
  type: "metered",
  allowed: true,
  reason: "included",
  value: null,
  subscription_id: "sub_01kb2r9d3vffx9qd6k4v2n1h7c",
  meter: "exports",
  limit_type: "hard",
  limit: 50,
  used: 12,
  balance: 38,
  overage: 0,
  period_start: "2026-11-01T00:00:00.000Z",
  resets_at: "2026-12-01T00:00:00.000Z",
} as const

const answer = { object: "entitlement", ...entitlement, rolled_over: 10, livemode: false } as const

export const entitlementExamples = {
  listEntitlements: { response: { object: "list", data: [answer], has_more: false } },
  checkEntitlement: { request: { ...asked, quantity: 1 }, response: answer },
  consumeEntitlement: {
    request: consumed,
    response: {
      object: "entitlement_consumption",
      ...entitlement,
      used: 13,
      balance: 37,
      ...consumed,
      usage_record_id: "usg_01kb2r9d3vffx9qd6k4v2n1h7d",
      livemode: false,
    },
  },
} as const satisfies Readonly<Record<string, Example>>
