/**
 * All services of the library as one Layer over the storage ports.
 */
import { type Context, Layer, type Redacted } from "effect"
import * as AuditTrail from "./audit/AuditTrail.ts"
import * as AuditedStores from "./AuditedStores.ts"
import { Catalog } from "./catalog/Catalog.ts"
import { CreditSettings, type CreditsOptions, creditUnitsOf } from "./catalog/CreditSettings.ts"
import { Plans } from "./catalog/Plans.ts"
import { PlanStore } from "./catalog/PlanStore.ts"
import { AutoTopUps } from "./credits/AutoTopUps.ts"
import { CreditAlerts } from "./credits/CreditAlerts.ts"
import { CreditAudit } from "./credits/CreditAudit.ts"
import { Credits } from "./credits/Credits.ts"
import { CreditStore } from "./credits/CreditStore.ts"
import * as ErasedCredits from "./credits/ErasedCredits.ts"
import { Holds } from "./credits/Holds.ts"
import * as MoneyCredits from "./credits/MoneyCredits.ts"
import { TokenUsages } from "./credits/TokenUsages.ts"
import { TopUps } from "./credits/TopUps.ts"
import { LiveSubscriptions } from "./customers/LiveSubscriptions.ts"
import { Entitlements } from "./entitlements/Entitlements.ts"
import { EntitlementStore } from "./entitlements/EntitlementStore.ts"
import * as EventCatalogue from "./EventCatalogue.ts"
import { EventStore } from "./events/EventStore.ts"
import type { EventType, EventTypes } from "./events/EventType.ts"
import { Outbox } from "./events/Outbox.ts"
import { Retention } from "./events/Retention.ts"
import { RetentionStore } from "./events/RetentionStore.ts"
import { CreditNotes } from "./invoices/CreditNotes.ts"
import { CreditNoteStore } from "./invoices/CreditNoteStore.ts"
import { Invoices } from "./invoices/Invoices.ts"
import { InvoiceSettings, type InvoicesOptions, invoiceSettingsOf } from "./invoices/InvoiceSettings.ts"
import { InvoiceStore } from "./invoices/InvoiceStore.ts"
import type { ProofSigner } from "./invoices/ProofKey.ts"
import { Proving } from "./invoices/Proving.ts"
import { ApiKeys, type ApiKeysOptions } from "./keys/ApiKeys.ts"
import { ApiKeyStore } from "./keys/ApiKeyStore.ts"
import { PayerLinks } from "./payer/PayerLinks.ts"
import type { PayerPagesOptions } from "./payer/PayerSettings.ts"
import { BookAudit } from "./payments/BookAudit.ts"
import * as Collector from "./payments/Collector.ts"
import { CurrentProvider, type PaymentProvider } from "./payments/PaymentProvider.ts"
import { Payments } from "./payments/Payments.ts"
import { PaymentStore } from "./payments/PaymentStore.ts"
import * as Resources from "./Resources.ts"
import { Collections } from "./shared/Collections.ts"
import { IdGenerator } from "./shared/Id.ts"
import { Idempotency, type IdempotencyOptions } from "./shared/Idempotency.ts"
import { IdempotencyStore } from "./shared/IdempotencyStore.ts"
import { Transactor } from "./shared/Transactor.ts"
import { Books } from "./subscriptions/Books.ts"
import { Documents, type MakePdf, PdfMaker } from "./subscriptions/Documents.ts"
import { MoneyOverview } from "./subscriptions/MoneyOverview.ts"
import { PlanCosts } from "./subscriptions/PlanCosts.ts"
import { ReceiptAudit } from "./subscriptions/ReceiptAudit.ts"
import { SpendMarks } from "./subscriptions/SpendMarks.ts"
import * as SubscriptionDrafts from "./subscriptions/SubscriptionDrafts.ts"
import { Subscriptions } from "./subscriptions/Subscriptions.ts"
import { SubscriptionStore } from "./subscriptions/SubscriptionStore.ts"
import { BillingRuns } from "./time/BillingRuns.ts"
import { DueStore } from "./time/DueStore.ts"
import * as Erasure from "./time/Erasure.ts"
import * as GrantRun from "./time/GrantRun.ts"
import * as KeyReminders from "./time/KeyReminders.ts"
import * as MethodErasure from "./time/MethodErasure.ts"
import * as NoteRefunds from "./time/NoteRefunds.ts"
import { PaymentMethods } from "./time/PaymentMethods.ts"
import { Refunds } from "./time/Refunds.ts"
import * as RefundsToRead from "./time/RefundsToRead.ts"
import { TestClocks } from "./time/TestClocks.ts"
import * as TopUpRun from "./time/TopUpRun.ts"
import * as ArchivedMeters from "./usage/ArchivedMeters.ts"
import { Usage, type UsageOptions } from "./usage/Usage.ts"
import { UsageStore } from "./usage/UsageStore.ts"
import { Deliveries } from "./webhooks/Deliveries.ts"
import { DeliveryStore } from "./webhooks/DeliveryStore.ts"
import { Endpoints, type EndpointsOptions } from "./webhooks/Endpoints.ts"
import { EndpointStore } from "./webhooks/EndpointStore.ts"
import { Events } from "./webhooks/Events.ts"
import { type InvalidKeyring, Keyring } from "./webhooks/Keyring.ts"

/** The ports that a storage adapter provides. */
const PORTS = [
  ApiKeyStore,
  Collections,
  DeliveryStore,
  EndpointStore,
  EventStore,
  IdempotencyStore,
  PlanStore,
  RetentionStore,
  Transactor,
  UsageStore,
] as const

/** The services that a storage adapter provides: all ports over one storage, with one `Transactor` for all of them. */
export type Storage = InstanceType<(typeof PORTS)[number]>

/** The ports of subscriptions and invoices. */
const INVOICING_PORTS = [
  CreditNoteStore,
  CreditStore,
  DueStore,
  EntitlementStore,
  InvoiceStore,
  LiveSubscriptions,
  PaymentStore,
  SpendMarks,
  SubscriptionStore,
] as const

/**
 * What a storage provides in addition so that customers can have subscriptions and invoices. A storage without it is
 * complete for usage and webhooks.
 */
export type InvoicingStorage = InstanceType<(typeof INVOICING_PORTS)[number]>

/** The names of the ports that a storage lacks, such as `UsageStore`. */
export const missingPorts = (storage: Context.Context<never>): ReadonlyArray<string> =>
  PORTS.filter(({ key }) => !storage.mapUnsafe.has(key)).map(({ key }) => key.slice(key.lastIndexOf("/") + 1))

/** The services that a host uses. */
export type Services =
  | ApiKeys
  | CreditNotes
  | Credits
  | Deliveries
  | Documents
  | Endpoints
  | Entitlements
  | Events
  | EventTypes
  | IdGenerator
  | BillingRuns
  | BookAudit
  | Books
  | Catalog
  | Holds
  | Idempotency
  | Invoices
  | MoneyOverview
  | Keyring
  | Outbox
  | PayerLinks
  | Payments
  | Plans
  | CreditAudit
  | PlanCosts
  | ReceiptAudit
  | Resources.Services
  | Retention
  | Subscriptions
  | Usage

export interface BillingOptions {
  readonly keys?: ApiKeysOptions
  readonly usage?: UsageOptions
  readonly idempotency?: IdempotencyOptions
  /** The units of credits, and how many decimals they have. */
  readonly credits?: CreditsOptions
  /** How invoices are numbered, and when they have to be paid. */
  readonly invoices?: InvoicesOptions
  /** Signs a proof of each invoice when it is issued (`ProofKey.signer`). Without it, invoices have no proofs. */
  readonly proofs?: ProofSigner
  /** Makes PDF of invoices: `documentPdf` of `@billwright/pdf`. Without it, nothing does. */
  readonly pdf?: MakePdf
  /** Who takes the money of invoices. Without it, nobody is charged: payments are recorded. */
  readonly payments?: PaymentProvider
  /** Where the pages for payers are, and which keys sign links to them. Without it, there are no links. */
  readonly payerPages?: PayerPagesOptions
  readonly events?: {
    /** The host's own event types (`EventType.make`), in addition to the built-in ones. */
    readonly types?: ReadonlyArray<EventType>
  }
  readonly webhooks?: EndpointsOptions
  /**
   * The keys that encrypt webhook secrets (see `Keyring.layer`), or `"none"` to store secrets without encryption.
   * Without this option, secrets of test mode are stored without encryption, and live endpoints can't be created.
   */
  readonly encryption?: Redacted.Redacted<string> | "none"
}

const keyring = (encryption: BillingOptions["encryption"]): Layer.Layer<Keyring, InvalidKeyring> => {
  if (encryption === undefined) return Keyring.layerTestOnly
  return encryption === "none" ? Keyring.layerPlain : Keyring.layer(encryption)
}

/** The services over the provided storage. They include a source of ids. */
export const layerWith = (options: BillingOptions): Layer.Layer<Services, InvalidKeyring, Storage> =>
  layerWithIds(options).pipe(Layer.provideMerge(IdGenerator.layer))

/** The services over a provided source of ids. With a seeded source, tests are repeatable. */
export const layerWithIds = (
  options: BillingOptions,
): Layer.Layer<Exclude<Services, IdGenerator>, InvalidKeyring, Storage | IdGenerator> =>
  withKeyring(options, keyring(options.encryption))

/** Subscriptions and invoices. On a storage without them, each use fails with `InvoicingUnsupported`. */
const invoicing = ({ invoices = {}, payments, pdf, proofs }: BillingOptions) =>
  Layer.mergeAll(
    Subscriptions.layer,
    Documents.layer.pipe(
      Layer.provideMerge(Layer.merge(Invoices.layer, CreditNotes.layer)),
      Layer.provide(Layer.succeed(PdfMaker, pdf ?? null)),
    ),
    MoneyOverview.layer,
    Payments.layer,
    AutoTopUps.layer,
    CreditAlerts.layer,
    TokenUsages.layer,
    TopUps.layer.pipe(Layer.provide(Invoices.layer)),
    Credits.layer,
    Holds.layer,
    BillingRuns.layerManual,
    PaymentMethods.layer,
    BookAudit.layer,
    Books.layer,
    CreditAudit.layer,
    PlanCosts.layer,
    ReceiptAudit.layer,
    Refunds.layer,
    TestClocks.layer,
  ).pipe(
    Layer.provide(Layer.mergeAll(SubscriptionDrafts.layer, NoteRefunds.layer, RefundsToRead.layer)),
    Layer.provideMerge(Collector.layer),
    Layer.provideMerge(MoneyCredits.layer),
    Layer.provideMerge(TopUpRun.layer),
    Layer.provideMerge(GrantRun.layer),
    Layer.provide(Outbox.layer),
    Layer.provideMerge(Proving.layerWith(proofs)),
    // Kept for `BillingRuns.layer`, which hosts add.
    Layer.provideMerge(Layer.succeed(InvoiceSettings, invoiceSettingsOf(invoices))),
    Layer.provideMerge(Layer.succeed(CurrentProvider, payments ?? null)),
  )

const withKeyring = <E>(options: BillingOptions, keys: Layer.Layer<Keyring, E>) =>
  Layer.mergeAll(
    ApiKeys.layerWith(options.keys ?? {}),
    Deliveries.layer,
    Endpoints.layerWith(options.webhooks ?? {}),
    Events.layer,
    Outbox.layer,
    Idempotency.layerWith(options.idempotency ?? {}),
    PayerLinks.layerWith(options.payerPages).pipe(Layer.provideMerge(invoicing(options))),
    Catalog.layer.pipe(
      Layer.provideMerge(
        Layer.merge(
          Plans.layer.pipe(Layer.provide(ArchivedMeters.layer)),
          Resources.layer.pipe(
            Layer.provide(
              Layer.merge(ErasedCredits.layer.pipe(Layer.provide(MethodErasure.layer)), Erasure.layer),
            ),
            Layer.provide(Outbox.layer),
          ),
        ),
      ),
    ),
    Retention.layer,
    Entitlements.layer.pipe(
      Layer.provide(Outbox.layer),
      Layer.provideMerge(Usage.layerWith(options.usage ?? {})),
    ),
  ).pipe(
    Layer.provideMerge(Layer.merge(keys, EventCatalogue.layerWith(options.events?.types ?? []))),
    // Kept for what hosts add, such as `BillingRuns.layer`: its changes are noted, too.
    Layer.provideMerge(KeyReminders.layer.pipe(Layer.provideMerge(AuditedStores.layer))),
    Layer.provideMerge(Layer.succeed(CreditSettings, creditUnitsOf(options.credits ?? {}))),
    Layer.provideMerge(AuditTrail.layer),
  )

/** The services with default options. */
export const layer: Layer.Layer<Services, never, Storage> = withKeyring({}, Keyring.layerTestOnly).pipe(
  Layer.provideMerge(IdGenerator.layer),
  // Without keys, none is wrong.
  Layer.orDie,
)
