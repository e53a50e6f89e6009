import type { AuditRecords } from "./audit/AuditRecords.ts"
import type { RateCards } from "./catalog/RateCards.ts"
import type { AutoTopUps } from "./credits/AutoTopUps.ts"
import type { CreditAlerts } from "./credits/CreditAlerts.ts"
import type { TokenUsages } from "./credits/TokenUsages.ts"
import type { TopUps } from "./credits/TopUps.ts"
import type { Customers } from "./customers/Customers.ts"
/**
 * The resources of an account in one mode. They are the same for `createBilling` and `createClient`.
 */
import type { Coupons } from "./invoices/Coupons.ts"
import type { InvoiceItems } from "./invoices/InvoiceItems.ts"
import type { InvoiceProofs } from "./invoices/InvoiceProofs.ts"
import type { Disputes } from "./payments/Disputes.ts"
import type { PaymentMethods } from "./payments/PaymentMethods.ts"
import type { Refunds } from "./payments/Refunds.ts"
import type { Redemptions } from "./subscriptions/Redemptions.ts"
import type { SpendAlerts } from "./subscriptions/SpendAlerts.ts"
import type { BookChecks } from "./time/BookChecks.ts"
import type { PlanMigrations } from "./time/PlanMigrations.ts"
import type { TestClocks } from "./time/TestClocks.ts"
import type { Meters } from "./usage/Meters.ts"
import type { Thresholds } from "./usage/Thresholds.ts"

export type * from "./audit/AuditRecords.ts"
export type * from "./catalog/RateCards.ts"
export type * from "./invoices/Coupons.ts"
export type * from "./subscriptions/Redemptions.ts"
export type * from "./credits/CreditAlerts.ts"
export type * from "./credits/AutoTopUps.ts"
export type * from "./credits/TokenUsages.ts"
export type * from "./credits/TopUps.ts"
export type * from "./customers/Customers.ts"
export type * from "./invoices/InvoiceItems.ts"
export type * from "./invoices/InvoiceProofs.ts"
export type * from "./payments/Disputes.ts"
export type * from "./payments/PaymentMethods.ts"
export type * from "./payments/Refunds.ts"
export type * from "./subscriptions/SpendAlerts.ts"
export type * from "./time/BookChecks.ts"
export type * from "./time/PlanMigrations.ts"
export type * from "./time/TestClocks.ts"
export type * from "./usage/Meters.ts"
export type * from "./usage/Thresholds.ts"

/** Calls that `createBilling` and `createClient` have in common. */
export interface ResourceCalls {
  /** The audit log: who changed what. */
  readonly auditRecords: AuditRecords
  /** Automatic top-ups: each buys credits when a customer has less of a unit than a level. */
  readonly autoTopUps: AutoTopUps
  /** Checks of the books: each derives all invoices and balances of credits again. */
  readonly bookChecks: BookChecks
  /** Coupons: discounts that subscriptions redeem. */
  readonly coupons: Coupons
  /** Credit alerts: each publishes an event when a customer's credits of a unit fall below a level. */
  readonly creditAlerts: CreditAlerts
  /** The customers that usage and events belong to. */
  readonly customers: Customers
  /** Disputes of payments, which come from the payment provider. */
  readonly disputes: Disputes
  /** One-off charges and credits, which invoices pick up. */
  readonly invoiceItems: InvoiceItems
  /** Proofs of invoices, which show to others that none was changed, and that none is missing. */
  readonly invoiceProofs: InvoiceProofs
  /** Meters: aggregations of usage other than the sum, and dimensions to filter and group by. */
  readonly meters: Meters
  /** Cards and the like of customers, which the payment provider saves. */
  readonly paymentMethods: PaymentMethods
  /** Plan migrations: each moves the subscriptions of a plan to one of its versions. */
  readonly planMigrations: PlanMigrations
  /** Rate cards: what the tokens of language models cost. */
  readonly rateCards: RateCards
  /** Coupons that subscriptions have. */
  readonly redemptions: Redemptions
  /** Money of payments that goes back to customers. */
  readonly refunds: Refunds
  /** Spend alerts: each publishes an event when what a customer's usage costs reaches an amount, and can block. */
  readonly spendAlerts: SpendAlerts
  /** Test clocks: in test mode, the time of some customers, which moves when you say so. */
  readonly testClocks: TestClocks
  /** Usage thresholds: each publishes an event when a customer's usage reaches a set total. */
  readonly thresholds: Thresholds
  /** Token usage: tokens of language models that customers used, and what they were charged. */
  readonly tokenUsages: TokenUsages
  /** Top-ups: credits that customers buy. */
  readonly topUps: TopUps
}
