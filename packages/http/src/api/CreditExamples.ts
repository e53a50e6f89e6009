/**
 * Examples of credits and holds for the document.
 */
import type { Example } from "./Example.ts"

const account = { customer_id: "cus_01kb2r6ghefxhs59czp23x4vmk", unit: "token" } as const
const made = { livemode: false, created_at: "2026-11-21T09:30:00.000Z" } as const

const grant = {
  object: "credit_grant",
  id: "cgr_01kb2r9d3vffx9qd6k4v2n1h7c",
  ...account,
  kind: "paid",
  amount: 100_000,
  priority: 50,
  scope: null,
  status: "active",
  available: 95_200,
  held: 0,
  rollover: null,
  steps: [],
  source: null,
  effective_at: "2026-11-21T09:30:00.000Z",
  expires_at: "2027-11-21T09:30:00.000Z",
  idempotency_key: "order-4711",
  ...made,
} as const

const consumption = {
  object: "credit_consumption",
  id: "ccn_01kb2r9d3vffx9qd6k4v2n1h7d",
  ...account,
  amount: 4_800,
  purpose: null,
  idempotency_key: "request-8f14",
  balance: { available: 95_200, held: 0, debt: 0 },
  ...made,
} as const

const entry = {
  object: "credit_entry",
  id: "cen_01kb2r9d3vffx9qd6k4v2n1h7e",
  ...account,
  sequence: 2,
  kind: "consume",
  grant_id: grant.id,
  hold_id: null,
  consumption_id: consumption.id,
  invoice_id: null,
  purpose: null,
  available: -4_800,
  scoped: 0,
  held: 0,
  debt: 0,
  at: "2026-11-21T09:30:00.000Z",
  livemode: false,
} as const

const hold = {
  object: "hold",
  id: "hld_01kb2r9d3vffx9qd6k4v2n1h7f",
  ...account,
  amount: 8_000,
  purpose: null,
  status: "open",
  committed: null,
  is_late: false,
  expires_at: "2026-11-21T09:35:00.000Z",
  settled_at: null,
  idempotency_key: "stream-8f15",
  ...made,
} as const

export const creditExamples = {
  grantCredits: {
    request: {
      ...account,
      kind: grant.kind,
      amount: grant.amount,
      expires_at: grant.expires_at,
      idempotency_key: grant.idempotency_key,
    },
    response: { ...grant, available: grant.amount },
  },
  listCreditGrants: { response: { object: "list", data: [grant], has_more: false } },
  getCreditGrant: { response: grant },
  voidCreditGrant: { response: { ...grant, status: "voided", available: 0 } },
  getCreditBalance: {
    response: {
      object: "credit_balance",
      ...account,
      decimals: 0,
      purpose: null,
      available: 95_200,
      scoped: 0,
      held: 0,
      debt: 0,
      sequence: 2,
      livemode: false,
    },
  },
  consumeCredits: {
    request: { ...account, amount: consumption.amount, idempotency_key: consumption.idempotency_key },
    response: consumption,
  },
  listCreditEntries: { response: { object: "list", data: [entry], has_more: false } },
  reserveCredits: {
    request: { ...account, amount: hold.amount, ttl_seconds: 300, idempotency_key: hold.idempotency_key },
    response: hold,
  },
  listHolds: { response: { object: "list", data: [hold], has_more: false } },
  getHold: { response: hold },
  extendHold: {
    request: { ttl_seconds: 600 },
    response: { ...hold, expires_at: "2026-11-21T09:41:00.000Z" },
  },
  commitHold: {
    request: { amount: 5_150 },
    response: {
      ...hold,
      status: "committed",
      committed: 5_150,
      settled_at: "2026-11-21T09:31:00.000Z",
      token_usage: null,
    },
  },
  releaseHold: {
    response: { ...hold, status: "released", settled_at: "2026-11-21T09:31:00.000Z" },
  },
} as const satisfies Readonly<Record<string, Example>>
