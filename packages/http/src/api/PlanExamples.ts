/**
 * The examples of the operations of plans (see `Examples`).
 */
import { Plan } from "@billwright/core"
import type { Example } from "./Example.ts"

const terms = {
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  trial: { days: 14 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "20.00" } },
    {
      key: "calls",
      model: "graduated",
      meter: "api_calls",
      free: "100",
      tiers: [{ up_to: "1000", price: { EUR: "0.01" } }, { price: { EUR: "0.002" } }],
    },
  ],
  features: { sso: { type: "boolean" } },
} as const

const pushed = { key: "pro", name: "Pro", ...terms }
const hash = Plan.hashOf(terms)

const plan = {
  object: "plan",
  id: "pln_01kb2r8c7dfzvaqsnv3gg3v8zp",
  key: "pro",
  name: "Pro",
  description: null,
  version: 2,
  version_id: "plv_01kb2r8c7dfzvaqsnv3gg3v8zq",
  hash,
  terms,
  livemode: false,
  created_at: "2026-11-20T09:30:00.000Z",
  updated_at: "2026-11-21T09:30:00.000Z",
}

const version = {
  object: "plan_version",
  id: "plv_01kb2r8c7dfzvaqsnv3gg3v8zq",
  plan_key: "pro",
  version: 2,
  hash,
  terms,
  livemode: false,
  created_at: "2026-11-21T09:30:00.000Z",
}

const changes = {
  object: "list",
  data: [
    {
      object: "plan_change",
      key: "pro",
      status: "changed",
      version: 2,
      previous_version: 1,
      changes: [{ path: "charges.base.price.EUR", from: "19.00", to: "20.00" }],
    },
  ],
  has_more: false,
}

/** The steps of 2,000 calls. */
export const stepsOfCalls = [
  { type: "aggregate", quantity: "2000" },
  { type: "free", free: "100", quantity: "1900" },
  { type: "tier", from: "0", up_to: "1000", quantity: "1000", price: "0.01", flat: "0", amount: "10" },
  { type: "tier", from: "1000", up_to: null, quantity: "900", price: "0.002", flat: "0", amount: "1.8" },
  { type: "round", digits: 2, amount: "11.8" },
] as const

const list = (item: object) => ({ object: "list", data: [item], has_more: false })

export const planExamples = {
  pushCatalog: { request: { plans: [pushed] }, response: changes },
  diffCatalog: { request: { plans: [pushed] }, response: changes },
  previewPlan: {
    request: { plan: pushed, quantities: { calls: "2000" } },
    response: {
      object: "plan_preview",
      plan: "pro",
      version: null,
      currency: "EUR",
      lines: [
        {
          charge: "base",
          name: "base",
          amount: 2000,
          exact: "20",
          steps: [
            { type: "flat", amount: "20.00" },
            { type: "round", digits: 2, amount: "20" },
          ],
        },
        {
          charge: "calls",
          name: "calls",
          amount: 1180,
          exact: "11.8",
          steps: stepsOfCalls,
        },
      ],
      total: 3180,
    },
  },
  listPlans: { response: list(plan) },
  getPlan: { response: plan },
  listPlanVersions: { response: list(version) },
  getPlanVersion: { response: version },
} as const satisfies Readonly<Record<string, Example>>
