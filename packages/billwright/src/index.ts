/**
 * Billwright: billing inside your app, by promises.
 */
export type { Billing, BillingAccount, BillingCalls, Fork, Transaction } from "./Billing.ts"
export type {
  BillingOptions,
  DispatcherOptions,
  KeyManagement,
  LogEntry,
  RetryPolicy,
} from "./BillingOptions.ts"
export type { CallOptions, Instant, Metadata, MetadataPatch, Mode } from "./Call.ts"
export { definePlan, tokenRater, tokens } from "@billwright/engine"
export type * from "./catalog/Plans.ts"
export { createBilling } from "./CreateBilling.ts"
export type * from "./credits/Credits.ts"
export type * from "./credits/Tokens.ts"
export type {
  CommitAmount,
  CommitHold,
  CommitTokens,
  ExtendHold,
  Hold,
  Holds,
  HoldStatus,
  ListHolds,
  ReserveCredits,
  ReservedHold,
} from "./credits/Holds.ts"
export type * from "./entitlements/Entitlements.ts"
export * from "./errors/index.ts"
export { defineEvent } from "./events/EventDefinition.ts"
export type { EventDefinition } from "./events/EventDefinition.ts"
export type * from "./events/EventMap.ts"
export type * from "./events/Events.ts"
export type { Prune, Pruned } from "./events/Prune.ts"
export type { BillingRun, RunDue } from "./time/BillingRun.ts"
export type { ExportCustomer, ForkClock } from "./time/Fork.ts"
export type { StandardIssue, StandardResult, StandardSchema } from "./events/StandardSchema.ts"
export type { DashboardHandlers, DashboardOptions } from "./handlers/DashboardHandlers.ts"
export type * from "./handlers/Handlers.ts"
export type {
  PayerPageHandlers,
  PayerPageMount,
  PayerPagesOptions,
  PayerRights,
  PayerTheme,
  PayerThemeColors,
} from "./handlers/PayerPageHandlers.ts"
export type * from "./invoices/Billed.ts"
export type * from "./invoices/CreditNotes.ts"
export type * from "./invoices/Invoices.ts"
export type * from "./invoices/Books.ts"
export type * from "./invoices/Money.ts"
export { generateProofKey, publicProofKey } from "./invoices/ProofKey.ts"
export type { PublicProofKey } from "./invoices/ProofKey.ts"
export type * from "./invoices/PayerLinks.ts"
export type * from "./payments/Payments.ts"
export type * from "./payments/PaymentProvider.ts"
export type * from "./payments/MethodProvider.ts"
export type * from "./payments/ProviderNotices.ts"
export type * from "./payments/ProviderRefunds.ts"
export { EU_COUNTRIES, EU_STANDARD_RATES, EU_STANDARD_RATES_AS_OF } from "@billwright/engine"
export type * from "./invoices/Taxes.ts"
export type * from "./keys/ApiKeys.ts"
export type { Listing, Page, PageQuery } from "./Listing.ts"
export type { Store } from "./Store.ts"
export type * from "./Resources.ts"
export type * from "./subscriptions/Subscriptions.ts"
export type * from "./usage/Usage.ts"
export type * from "./webhooks/Deliveries.ts"
export { generateEncryptionKey } from "./webhooks/EncryptionKey.ts"
export type * from "./webhooks/Endpoints.ts"
