/**
 * What the scopes of API keys are about. Each has `:read`, `:write` and `:*`.
 */
export const SCOPED = [
  "customers",
  "catalog",
  "subscriptions",
  "invoices",
  "payments",
  "credits",
  "entitlements",
  "usage",
  "events",
  "webhooks",
  "audit",
] as const
export type Scoped = (typeof SCOPED)[number]
