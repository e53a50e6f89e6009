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

/** Those whose objects a person of finance may change. */
export const OF_FINANCE = [
  "customers",
  "subscriptions",
  "invoices",
  "payments",
  "credits",
] as const satisfies ReadonlyArray<Scoped>
