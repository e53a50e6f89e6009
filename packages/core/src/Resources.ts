/**
 * All resources: the definition of each, and its use cases under common names. What serves, calls or tests every
 * resource takes them from here.
 */
import { Context, type Effect, Layer } from "effect"
import * as AuditRecord from "./audit/AuditRecord.ts"
import { AuditRecords } from "./audit/AuditRecords.ts"
import * as RateCard from "./catalog/RateCard.ts"
import { RateCards } from "./catalog/RateCards.ts"
import * as AutoTopUp from "./credits/AutoTopUp.ts"
import { AutoTopUps } from "./credits/AutoTopUps.ts"
import * as CreditAlert from "./credits/CreditAlert.ts"
import { CreditAlerts } from "./credits/CreditAlerts.ts"
import * as TokenUsage from "./credits/TokenUsage.ts"
import { TokenUsages } from "./credits/TokenUsages.ts"
import * as TopUp from "./credits/TopUp.ts"
import { TopUps } from "./credits/TopUps.ts"
import * as Customer from "./customers/Customer.ts"
import { Customers } from "./customers/Customers.ts"
import * as TestClock from "./customers/TestClock.ts"
import * as Coupon from "./invoices/Coupon.ts"
import { Coupons } from "./invoices/Coupons.ts"
import * as InvoiceItem from "./invoices/InvoiceItem.ts"
import * as InvoiceProof from "./invoices/InvoiceProof.ts"
import { InvoiceProofs } from "./invoices/InvoiceProofs.ts"
import * as Dispute from "./payments/Dispute.ts"
import { Disputes } from "./payments/Disputes.ts"
import * as PaymentMethod from "./payments/PaymentMethod.ts"
import * as Refund from "./payments/Refund.ts"
import type { Page } from "./shared/Page.ts"
import type { StorageError } from "./shared/StorageError.ts"
import type { CurrentTenant } from "./shared/Tenant.ts"
import { InvoiceItems } from "./subscriptions/InvoiceItems.ts"
import * as Redemption from "./subscriptions/Redemption.ts"
import { Redemptions } from "./subscriptions/Redemptions.ts"
import * as SpendAlert from "./subscriptions/SpendAlert.ts"
import { SpendAlerts } from "./subscriptions/SpendAlerts.ts"
import * as BookCheck from "./time/BookCheck.ts"
import { BookChecks } from "./time/BookChecks.ts"
import { PaymentMethods } from "./time/PaymentMethods.ts"
import * as PlanMigration from "./time/PlanMigration.ts"
import { PlanMigrations } from "./time/PlanMigrations.ts"
import { Refunds } from "./time/Refunds.ts"
import { TestClocks } from "./time/TestClocks.ts"
import * as Meter from "./usage/Meter.ts"
import { Meters } from "./usage/Meters.ts"
import * as Threshold from "./usage/Threshold.ts"
import { Thresholds } from "./usage/Thresholds.ts"

/** The services of resources. */
export type Services =
  | AuditRecords
  | AutoTopUps
  | BookChecks
  | Coupons
  | CreditAlerts
  | Customers
  | Disputes
  | InvoiceItems
  | InvoiceProofs
  | Meters
  | PaymentMethods
  | PlanMigrations
  | RateCards
  | Redemptions
  | Refunds
  | SpendAlerts
  | TestClocks
  | Thresholds
  | TokenUsages
  | TopUps

/** The services of resources, over the storage ports. Those of credit alerts, top-ups, token usage, payment methods, refunds and test clocks are
 * with subscriptions and invoices. */
export const layer = Layer.mergeAll(
  AuditRecords.layer,
  BookChecks.layer,
  Coupons.layer,
  Customers.layer,
  Disputes.layer,
  InvoiceItems.layer,
  InvoiceProofs.layer,
  Meters.layer,
  PlanMigrations.layer,
  RateCards.layer,
  Redemptions.layer,
  SpendAlerts.layer,
  Thresholds.layer,
)

/** A value of any resource. */
export interface Value {
  readonly id: string
}

/** What the use case of a resource fails with. */
export interface Failure {
  readonly _tag: string
  readonly message: string
  /** The part of the input that it is about, if it is about one. */
  readonly field?: string | undefined
}

type Asked<A> = Effect.Effect<A, Failure | StorageError, CurrentTenant>

/** The use cases of a resource. Each checks its input by the definition of the resource. */
export interface UseCases {
  /** Missing if no call creates values. */
  readonly create?: (input: never) => Asked<Value>
  readonly get: (id: string) => Asked<Value>
  readonly list: (query: never) => Asked<Page<Value>>
  /** Missing if values can't be changed. */
  readonly update?: (id: string, input: never) => Asked<Value>
  /** Missing if values can't be removed. */
  readonly remove?: (id: string) => Asked<void>
}

const useCases =
  <Id extends Services, Service>(key: Context.Key<Id, Service>, of: (service: Service) => UseCases) =>
  (context: Context.Context<Services>): UseCases =>
    of(Context.get(context, key))

/** A resource, and how it is used. */
export interface Entry<D> {
  readonly definition: D
  /** The name of the call that removes one. Missing if values can't be removed. */
  readonly removal?: "archive" | "delete" | "detach" | "end" | "erase"
  readonly useCases: (context: Context.Context<Services>) => UseCases
}

/** By the name that calls have: `billing.customers.create`. */
export const all: {
  readonly auditRecords: Entry<typeof AuditRecord.auditRecords>
  readonly autoTopUps: Entry<typeof AutoTopUp.autoTopUps>
  readonly bookChecks: Entry<typeof BookCheck.bookChecks>
  readonly coupons: Entry<typeof Coupon.coupons>
  readonly creditAlerts: Entry<typeof CreditAlert.creditAlerts>
  readonly customers: Entry<typeof Customer.customers>
  readonly disputes: Entry<typeof Dispute.disputes>
  readonly invoiceItems: Entry<typeof InvoiceItem.invoiceItems>
  readonly invoiceProofs: Entry<typeof InvoiceProof.invoiceProofs>
  readonly meters: Entry<typeof Meter.meters>
  readonly paymentMethods: Entry<typeof PaymentMethod.paymentMethods>
  readonly planMigrations: Entry<typeof PlanMigration.planMigrations>
  readonly rateCards: Entry<typeof RateCard.rateCards>
  readonly redemptions: Entry<typeof Redemption.redemptions>
  readonly refunds: Entry<typeof Refund.refunds>
  readonly spendAlerts: Entry<typeof SpendAlert.spendAlerts>
  readonly testClocks: Entry<typeof TestClock.testClocks>
  readonly thresholds: Entry<typeof Threshold.thresholds>
  readonly tokenUsages: Entry<typeof TokenUsage.tokenUsages>
  readonly topUps: Entry<typeof TopUp.topUps>
} = {
  auditRecords: {
    definition: AuditRecord.auditRecords,
    useCases: useCases(AuditRecords, (service) => service),
  },
  autoTopUps: {
    definition: AutoTopUp.autoTopUps,
    removal: "delete",
    useCases: useCases(AutoTopUps, (service) => ({ ...service, remove: service.delete })),
  },
  bookChecks: {
    definition: BookCheck.bookChecks,
    useCases: useCases(BookChecks, (service) => service),
  },
  coupons: {
    definition: Coupon.coupons,
    removal: "archive",
    useCases: useCases(Coupons, (service) => ({ ...service, remove: service.archive })),
  },
  creditAlerts: {
    definition: CreditAlert.creditAlerts,
    removal: "delete",
    useCases: useCases(CreditAlerts, (service) => ({ ...service, remove: service.delete })),
  },
  customers: {
    definition: Customer.customers,
    removal: "erase",
    useCases: useCases(Customers, (service) => ({ ...service, remove: service.erase })),
  },
  disputes: {
    definition: Dispute.disputes,
    useCases: useCases(Disputes, (service) => service),
  },
  invoiceItems: {
    definition: InvoiceItem.invoiceItems,
    removal: "delete",
    useCases: useCases(InvoiceItems, (service) => ({ ...service, remove: service.delete })),
  },
  invoiceProofs: {
    definition: InvoiceProof.invoiceProofs,
    useCases: useCases(InvoiceProofs, (service) => service),
  },
  meters: {
    definition: Meter.meters,
    removal: "archive",
    useCases: useCases(Meters, (service) => ({ ...service, remove: service.archive })),
  },
  paymentMethods: {
    definition: PaymentMethod.paymentMethods,
    removal: "detach",
    useCases: useCases(PaymentMethods, (service) => ({ ...service, remove: service.detach })),
  },
  planMigrations: {
    definition: PlanMigration.planMigrations,
    removal: "delete",
    useCases: useCases(PlanMigrations, (service) => ({ ...service, remove: service.delete })),
  },
  rateCards: {
    definition: RateCard.rateCards,
    useCases: useCases(RateCards, (service) => service),
  },
  redemptions: {
    definition: Redemption.redemptions,
    removal: "end",
    useCases: useCases(Redemptions, (service) => ({ ...service, remove: service.end })),
  },
  refunds: {
    definition: Refund.refunds,
    useCases: useCases(Refunds, (service) => service),
  },
  spendAlerts: {
    definition: SpendAlert.spendAlerts,
    removal: "delete",
    useCases: useCases(SpendAlerts, (service) => ({ ...service, remove: service.delete })),
  },
  testClocks: {
    definition: TestClock.testClocks,
    removal: "delete",
    useCases: useCases(TestClocks, (service) => ({ ...service, remove: service.delete })),
  },
  thresholds: {
    definition: Threshold.thresholds,
    removal: "delete",
    useCases: useCases(Thresholds, (service) => ({ ...service, remove: service.delete })),
  },
  tokenUsages: {
    definition: TokenUsage.tokenUsages,
    useCases: useCases(TokenUsages, (service) => service),
  },
  topUps: {
    definition: TopUp.topUps,
    useCases: useCases(TopUps, (service) => service),
  },
}

/** The definition of any of them. */
export type AnyDefinition = (typeof all)[keyof typeof all]["definition"]
