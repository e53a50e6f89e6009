/**
 * The domain of Billwright: customers, metered usage, API keys, and the ports that storage adapters implement.
 */
export * as ApiKey from "./keys/ApiKey.ts"
export { ApiKeys } from "./keys/ApiKeys.ts"
export { ClientAddress } from "./keys/ApiKeys.ts"
export type { ApiKeysOptions, IssuedApiKey, VerifiedApiKey } from "./keys/ApiKeys.ts"
export * as ApiKeySecret from "./keys/ApiKeySecret.ts"
export { ApiKeyStore } from "./keys/ApiKeyStore.ts"
export type { StoredApiKey } from "./keys/ApiKeyStore.ts"
export * as Billing from "./Billing.ts"
export { Catalog } from "./catalog/Catalog.ts"
export type { CatalogChanges, PushCatalog } from "./catalog/Catalog.ts"
export * as Plan from "./catalog/Plan.ts"
export { Plans } from "./catalog/Plans.ts"
export type { Preview } from "./catalog/Plans.ts"
export { PlanStore } from "./catalog/PlanStore.ts"
export type { RenamedPlan } from "./catalog/PlanStore.ts"
export * as RateCard from "./catalog/RateCard.ts"
export { RateCards } from "./catalog/RateCards.ts"
export * as Actor from "./shared/Actor.ts"
export { CurrentActor } from "./shared/Actor.ts"
export * as AuditRecord from "./audit/AuditRecord.ts"
export { AuditRecords } from "./audit/AuditRecords.ts"
export * as AuditTrail from "./audit/AuditTrail.ts"
export { Trail } from "./audit/AuditTrail.ts"
export * as AuditReplay from "./audit/Replay.ts"
export * as AuditedStores from "./AuditedStores.ts"
export { fieldsOf, type Kind as AuditedKind } from "./audit/ObjectTrail.ts"
export * as Batch from "./shared/Batch.ts"
export * as GroupCommit from "./shared/GroupCommit.ts"
export { BatchTransactor } from "./shared/BatchTransactor.ts"
export { MAX_COST_MONTHS, PlanCosts } from "./subscriptions/PlanCosts.ts"
export type {
  ComparePlans,
  CostProgress,
  CurrencyCosts,
  CustomerCost,
  PlanComparison,
  UnratedSubscription,
} from "./subscriptions/PlanCosts.ts"
export { SnapshotReads } from "./shared/SnapshotReads.ts"
export { SnapshotTooLarge } from "./fork/CustomerSnapshot.ts"
export type { CustomerSnapshot } from "./fork/CustomerSnapshot.ts"
export { forkProvider, providerOf } from "./fork/ForkProvider.ts"
export type { RealProvider } from "./fork/ForkProvider.ts"
export { withoutPersonalData } from "./fork/PersonalData.ts"
export { readSnapshot, snapshotText } from "./fork/SnapshotText.ts"
export { restoreSnapshot } from "./fork/RestoreSnapshot.ts"
export { takeSnapshot } from "./fork/TakeSnapshot.ts"
export { Collections } from "./shared/Collections.ts"
export type { Collection, CollectionFilter, CollectionOf, IdStatus } from "./shared/Collections.ts"
export * as Customer from "./customers/Customer.ts"
export * as TestClock from "./customers/TestClock.ts"
export { Customers } from "./customers/Customers.ts"
export * as Event from "./events/Event.ts"
export { EVENT_ID_PREFIX, EventId } from "./events/EventId.ts"
export { Events } from "./webhooks/Events.ts"
export type { EventWithDeliveries, ListedEvent, TailStep } from "./webhooks/Events.ts"
export { EventStore, MAX_REDACTED } from "./events/EventStore.ts"
export type { EventFilterQuery, PublishOutcome, RedactStep, TailPosition } from "./events/EventStore.ts"
export * as EventCatalogue from "./EventCatalogue.ts"
export { Outbox } from "./events/Outbox.ts"
export type { PublishOptions } from "./events/Outbox.ts"
export * as HostEvents from "./events/HostEvents.ts"
export * as Redaction from "./events/Redaction.ts"
export * as EventType from "./events/EventType.ts"
export { EventTypes } from "./events/EventType.ts"
export { MIN_RETENTION_MILLIS, Retention } from "./events/Retention.ts"
export type { Pruned, PruneOptions } from "./events/Retention.ts"
export { MAX_PRUNE, RetentionStore } from "./events/RetentionStore.ts"
export type { PrunedCounts, PrunedEvents, PruneStep, RetentionCursor } from "./events/RetentionStore.ts"
export * as ExactJson from "./shared/ExactJson.ts"
export * as Field from "./shared/Field.ts"
export type { Field as ResourceField, OptionalField as OptionalResourceField } from "./shared/Field.ts"
export * as Resource from "./shared/Resource.ts"
export * as Search from "./shared/Search.ts"
export type { Resource as ResourceOf } from "./shared/Resource.ts"
export * as Resources from "./Resources.ts"
export * as Id from "./shared/Id.ts"
export { IdGenerator } from "./shared/Id.ts"
export { AnswerErased, Idempotency, IdempotencyKeyReused, RequestInProgress } from "./shared/Idempotency.ts"
export type { IdempotencyOptions, IdempotentAnswer } from "./shared/Idempotency.ts"
export { IdempotencyStore, subjectOfCustomer } from "./shared/IdempotencyStore.ts"
export type { IdempotentRequest, OnceOutcome, StoredResponse } from "./shared/IdempotencyStore.ts"
export * as Instant from "./shared/Instant.ts"
export { InvalidInput } from "./shared/InvalidInput.ts"
export * as Input from "./shared/InvalidInput.ts"
export * as OutageLog from "./shared/OutageLog.ts"
export * as Metadata from "./shared/Metadata.ts"
export * as Page from "./shared/Page.ts"
export * as Signal from "./shared/Signal.ts"
export { StorageError } from "./shared/StorageError.ts"
export { CurrentTenant } from "./shared/Tenant.ts"
export * as Tenant from "./shared/Tenant.ts"
export * as Text from "./shared/Text.ts"
export * as TimeZone from "./shared/TimeZone.ts"
export { Transactor } from "./shared/Transactor.ts"
export * as Dimensions from "./usage/Dimensions.ts"
export * as Threshold from "./usage/Threshold.ts"
export * as ThresholdEvent from "./usage/ThresholdEvent.ts"
export { Thresholds } from "./usage/Thresholds.ts"
export * as Aggregation from "./usage/Aggregation.ts"
export * as Meter from "./usage/Meter.ts"
export { MeterRebuilds, REBUILD_POLL_MILLIS } from "./usage/MeterRebuilds.ts"
export * as MeterFields from "./usage/MeterFields.ts"
export { Meters } from "./usage/Meters.ts"
export * as Rollup from "./usage/Rollup.ts"
export * as RollupValues from "./usage/RollupValues.ts"
export * as RollupWork from "./usage/RollupWork.ts"
export { Usage } from "./usage/Usage.ts"
export type { UsageOptions } from "./usage/Usage.ts"
export * as UsageIngest from "./usage/UsageIngest.ts"
export * as UsagePeriod from "./usage/UsagePeriod.ts"
export * as UsageRecord from "./usage/UsageRecord.ts"
export { UsageStore } from "./usage/UsageStore.ts"
export type {
  MetersQuery,
  AppendOutcome,
  AppendResult,
  RollupAnswer,
  RollupQuery,
  RollupTotal,
  CountedIn,
  TotalsQuery,
  UnfinishedMeter,
  UsageDiscrepancy,
  UsageTotal,
} from "./usage/UsageStore.ts"
export * as UsageSummary from "./usage/UsageSummary.ts"
export { Deliveries } from "./webhooks/Deliveries.ts"
export * as Delivery from "./webhooks/Delivery.ts"
export * as DeliveryMachine from "./webhooks/DeliveryMachine.ts"
export {
  cancelAll,
  DeliveryStore,
  MAX_CANCEL,
  MAX_CLAIM,
  MAX_DELIVERIES_OF_EVENT,
  MAX_RANGE_REPLAY,
  MAX_SETTLE,
} from "./webhooks/DeliveryStore.ts"
export type {
  Claim,
  Claimed,
  ClaimedDelivery,
  ClaimedEndpoint,
  DeliveryFilterQuery,
  Intake,
  Places,
  RangeReplay,
  Settlement,
  StandingOffer,
  UnreadableDelivery,
} from "./webhooks/DeliveryStore.ts"
export * as StoredDelivery from "./webhooks/StoredDelivery.ts"
export { Dispatcher, LEASE_MILLIS, POLL_MILLIS } from "./webhooks/Dispatcher.ts"
export type { DispatcherOptions } from "./webhooks/Dispatcher.ts"
export * as Endpoint from "./webhooks/Endpoint.ts"
export { Endpoints } from "./webhooks/Endpoints.ts"
export type { CreatedEndpoint, EndpointsOptions } from "./webhooks/Endpoints.ts"
export { endpointContext, EndpointStore } from "./webhooks/EndpointStore.ts"
export { checkStoredSecrets, problemOfStoredSecrets } from "./webhooks/StoredSecrets.ts"
export type { SecretsNames } from "./webhooks/StoredSecrets.ts"
export type { EndpointOfTenant } from "./webhooks/EndpointStore.ts"
export * as EndpointUrl from "./webhooks/EndpointUrl.ts"
export * as EndpointVerification from "./webhooks/EndpointVerification.ts"
export { KeyManagementFailed, unwrapKeys } from "./webhooks/KeyManagement.ts"
export type { KeyManagement } from "./webhooks/KeyManagement.ts"
export {
  EncryptionKeyRequired,
  generateKey,
  InvalidKeyring,
  Keyring,
  keyIdOf,
  SecretUnavailable,
} from "./webhooks/Keyring.ts"
export type { SealedSecret } from "./webhooks/Keyring.ts"
export * as NetworkAddress from "./webhooks/NetworkAddress.ts"
export type { NetworkPolicy, NetworkPolicyOptions } from "./webhooks/NetworkAddress.ts"
export * as ReceivedText from "./webhooks/ReceivedText.ts"
export * as RequestHeaders from "./webhooks/RequestHeaders.ts"
export * as RetryPolicy from "./webhooks/RetryPolicy.ts"
export * as Signature from "./webhooks/Signature.ts"
export * as WebhookStatistics from "./webhooks/WebhookStatistics.ts"
export {
  ATTEMPT_DEADLINE_MILLIS,
  MAX_KEPT_HEADER_LENGTH,
  MAX_KEPT_RESPONSE_BYTES,
  MAX_KEPT_RESPONSE_HEADERS,
  MAX_RESPONSE_BYTES,
  WebhookTransport,
} from "./webhooks/WebhookTransport.ts"
export type { TransportError, WebhookRequest, WebhookResponse } from "./webhooks/WebhookTransport.ts"
export * as Due from "./shared/Due.ts"
export { LiveSubscriptions } from "./customers/LiveSubscriptions.ts"
export * as Invoice from "./invoices/Invoice.ts"
export { INVOICE_LIMITS, invoiceView } from "./invoices/InvoiceView.ts"
export type { InvoiceLineView, InvoiceView, ReceiptView } from "./invoices/InvoiceView.ts"
export * as InvoiceItem from "./invoices/InvoiceItem.ts"
export { InvoiceItems } from "./subscriptions/InvoiceItems.ts"
export * as InvoiceProof from "./invoices/InvoiceProof.ts"
export { InvoiceProofs } from "./invoices/InvoiceProofs.ts"
export * as ProofKey from "./invoices/ProofKey.ts"
export * as SpendAlert from "./subscriptions/SpendAlert.ts"
export { SpendAlerts } from "./subscriptions/SpendAlerts.ts"
export { MAX_MARKED_CUSTOMERS, type MarkedCustomer, SpendMarks } from "./subscriptions/SpendMarks.ts"
export { InvoiceStore } from "./invoices/InvoiceStore.ts"
export type {
  BilledLine,
  CouponUse,
  InvoiceFilter,
  LineCredit,
  NumberSeries,
  SeriesName,
} from "./invoices/InvoiceStore.ts"
export * as OneOffInvoice from "./invoices/OneOffInvoice.ts"
export { ShortTransaction } from "./invoices/ShortTransaction.ts"
export * as SubscriptionDrafts from "./subscriptions/SubscriptionDrafts.ts"
export * as ErasedCredits from "./credits/ErasedCredits.ts"
export * as MoneyCredits from "./credits/MoneyCredits.ts"
export { SUBSCRIPTION_ID_PREFIX, SubscriptionId } from "./invoices/SubscriptionId.ts"
export * as Subscription from "./subscriptions/Subscription.ts"
export { subscriptionView } from "./subscriptions/SubscriptionView.ts"
export type { PendingChangeView, SubscriptionView } from "./subscriptions/SubscriptionView.ts"
export { SubscriptionStore } from "./subscriptions/SubscriptionStore.ts"
export type { SubscriptionFilter } from "./subscriptions/SubscriptionStore.ts"
export { Documents, EInvoiceIncomplete, PdfUnavailable } from "./subscriptions/Documents.ts"
export type { DocumentPage, EInvoice, MakePdf, UpcomingDocument } from "./subscriptions/Documents.ts"
export { ReceiptAudit } from "./subscriptions/ReceiptAudit.ts"
export type { AuditReceipts, ReceiptAuditPage, ReceiptDiscrepancy } from "./subscriptions/ReceiptAudit.ts"
export { DueStore, LANES, laneOf, MAX_CLAIMED_SUBJECTS, MAX_SUBJECTS_OF_CUSTOMER } from "./time/DueStore.ts"
export type {
  ClaimedSubject,
  CustomerDue,
  DueClaim,
  DueCounts,
  FirstDue,
  Lane,
  ScheduledSubject,
  Subject,
} from "./time/DueStore.ts"
export { ActionUnavailable } from "./shared/ActionUnavailable.ts"
export { Invoices } from "./invoices/Invoices.ts"
export type { ListInvoices } from "./invoices/Invoices.ts"
export { CreditSettings, creditUnitsOf } from "./catalog/CreditSettings.ts"
export type { CreditsOptions } from "./catalog/CreditSettings.ts"
export { InvoiceSettings, invoiceSettingsOf } from "./invoices/InvoiceSettings.ts"
export { checkInvoicesOptions } from "./invoices/InvoiceSettings.ts"
export type { InvoicesOptions } from "./invoices/InvoiceSettings.ts"
export { TAX_SERVICE_MILLIS } from "./invoices/Taxes.ts"
export type { TaxService } from "./invoices/Taxes.ts"
export { InvoicingUnsupported } from "./invoices/InvoicingUnsupported.ts"
export { PreviewSubscription } from "./subscriptions/SubscriptionPreview.ts"
export type { SubscriptionPreview } from "./subscriptions/SubscriptionPreview.ts"
export { Subscriptions } from "./subscriptions/Subscriptions.ts"
export {
  BOOK_ACCOUNTS,
  Books,
  JOURNAL_FORMATS,
  JOURNAL_KINDS,
  journalHead,
  journalText,
  MAX_JOURNAL_DOCUMENTS,
} from "./subscriptions/Books.ts"
export type {
  JournalCursor,
  JournalEntry,
  JournalFormat,
  JournalPage,
  ReadJournal,
} from "./subscriptions/Books.ts"
export { MAX_PRICED_TERMS, MoneyOverview } from "./subscriptions/MoneyOverview.ts"
export type {
  CurrencyMoney,
  Figure as MoneyFigure,
  Money as MoneyFigures,
} from "./subscriptions/MoneyOverview.ts"
export { amountIn, figuresOf, InvoiceFigure, LATE_DAYS } from "./invoices/InvoiceFigure.ts"
export type { FigureAt, InvoiceSum } from "./invoices/InvoiceFigure.ts"
export { isOfFigure, PaymentFigure } from "./payments/PaymentFigure.ts"
export { daysBefore, MONEY_DAYS } from "./shared/MoneySum.ts"
export { Currency } from "./shared/Currency.ts"
export type { MoneySum } from "./shared/MoneySum.ts"
export type { SameTerms } from "./subscriptions/SubscriptionStore.ts"
export * as BookCheck from "./time/BookCheck.ts"
export { BookChecks } from "./time/BookChecks.ts"
export * as PlanMigration from "./time/PlanMigration.ts"
export { PlanMigrations } from "./time/PlanMigrations.ts"
export { BillingRuns, CALLS_AT_ONCE } from "./time/BillingRuns.ts"
export { FixedClock } from "./time/FixedClock.ts"
export { PACES } from "./time/Pace.ts"
export type { Pace } from "./time/Pace.ts"
export { TestClocks } from "./time/TestClocks.ts"
export type { AdvanceTestClock } from "./time/TestClocks.ts"
export { RUN_POLL_MILLIS } from "./time/RunLoop.ts"
export type { RunDue, RunReport } from "./time/BillingRuns.ts"
export * as CreditNote from "./invoices/CreditNote.ts"
export { creditNoteView } from "./invoices/CreditNoteView.ts"
export type { CreditNoteView } from "./invoices/CreditNoteView.ts"
export { CreditNotes } from "./invoices/CreditNotes.ts"
export { CreditNoteStore } from "./invoices/CreditNoteStore.ts"
export type { CreditNoteFilter } from "./invoices/CreditNoteStore.ts"
export * as Coupon from "./invoices/Coupon.ts"
export { Coupons } from "./invoices/Coupons.ts"
export * as Redemption from "./subscriptions/Redemption.ts"
export { Redemptions } from "./subscriptions/Redemptions.ts"
export * as Payment from "./payments/Payment.ts"
export { PayInvoice, type StartedPayment, StartPayment } from "./payments/PayInvoice.ts"
export { Payments } from "./payments/Payments.ts"
export { PaymentStore } from "./payments/PaymentStore.ts"
export type { PaymentFilter } from "./payments/PaymentStore.ts"
export { BookAudit } from "./payments/BookAudit.ts"
export type { AuditBooks, BookAuditPage, BookDiscrepancy } from "./payments/BookAudit.ts"
export * as Credit from "./credits/Credit.ts"
export * as AutoTopUp from "./credits/AutoTopUp.ts"
export { AutoTopUps } from "./credits/AutoTopUps.ts"
export * as TopUp from "./credits/TopUp.ts"
export * as GrantRun from "./time/GrantRun.ts"
export { GrantQueue } from "./credits/GrantQueue.ts"
export * as TopUpRun from "./time/TopUpRun.ts"
export { TopUpQueue } from "./credits/TopUpQueue.ts"
export { TopUps } from "./credits/TopUps.ts"
export * as CommitHold from "./credits/CommitHold.ts"
export * as TokenUsage from "./credits/TokenUsage.ts"
export { TokenUsages } from "./credits/TokenUsages.ts"
export * as CreditAlert from "./credits/CreditAlert.ts"
export { CreditAlerts } from "./credits/CreditAlerts.ts"
export { CreditAudit } from "./credits/CreditAudit.ts"
export type { CreditAuditPage, CreditDiscrepancy } from "./credits/CreditAudit.ts"
export { Credits } from "./credits/Credits.ts"
export { CreditStore, MAX_AUDITED_GRANTS } from "./credits/CreditStore.ts"
export type {
  AccountSums,
  CreditEntryFilter,
  CreditGrantFilter,
  Settling,
  StoredChange,
  StoredLedger,
} from "./credits/CreditStore.ts"
export * as Entitlement from "./entitlements/Entitlement.ts"
export { Entitlements } from "./entitlements/Entitlements.ts"
export { EntitlementStore } from "./entitlements/EntitlementStore.ts"
export * as Hold from "./credits/Hold.ts"
export { Holds } from "./credits/Holds.ts"
export * as PaymentMethod from "./payments/PaymentMethod.ts"
export { PaymentMethods } from "./time/PaymentMethods.ts"
export * as Refund from "./payments/Refund.ts"
export { Refunds } from "./time/Refunds.ts"
export * as Dispute from "./payments/Dispute.ts"
export { Disputes } from "./payments/Disputes.ts"
export { paymentView } from "./payments/PaymentView.ts"
export type { PaymentView } from "./payments/PaymentView.ts"
export { CurrentProvider, PROVIDER_MILLIS } from "./payments/PaymentProvider.ts"
export type {
  AttemptAnswer,
  AttemptPayment,
  Chargeable,
  Money,
  OpenPayment,
  PaymentProvider,
  PaymentRead,
  Presence,
} from "./payments/PaymentProvider.ts"
export { ProviderFailure } from "./payments/ProviderFailure.ts"
export type {
  CustomerAction,
  MethodProvider,
  ProviderCustomer,
  SavedMethod,
  SetupRead,
  StartedSetup,
  StartSetup,
} from "./payments/MethodProvider.ts"
export type { FaultOf, ProviderCall, ProviderFault } from "./payments/FakeCalls.ts"
export {
  EVENT_RETENTION_DAYS,
  MAX_FORGOTTEN_EVENTS,
  MAX_NOTICE_BYTES,
  NOTICE_TOLERANCE_SECONDS,
} from "./payments/ProviderNotices.ts"
export type {
  Notice,
  NoticeReceipt,
  NoticeRequest,
  NotifyingProvider,
  Received,
} from "./payments/ProviderNotices.ts"
export type {
  ProviderDispute,
  ProviderRefund,
  RefundingProvider,
  RefundPayment,
  RefundQuery,
} from "./payments/ProviderRefunds.ts"
export type { FakeSigning } from "./payments/FakeNotices.ts"
export type { FakeRefundOutcome } from "./payments/FakeRefunds.ts"
export { FakeMethods } from "./payments/FakeMethods.ts"
export type { FakeBehaviour, FakeCard, FakePages, FakeSetup } from "./payments/FakeMethods.ts"
export { FakeProvider } from "./payments/FakeProvider.ts"
export type { FakeOptions, FakeOutcome, FakePayment } from "./payments/FakeProvider.ts"
export * as LinkToken from "./payer/LinkToken.ts"
export {
  INVOICE_LINK_SECONDS,
  LinkOptions,
  MAX_LINK_SECONDS,
  MIN_LINK_SECONDS,
  PayerLinks,
  PORTAL_LINK_SECONDS,
} from "./payer/PayerLinks.ts"
export type { PayerLink } from "./payer/PayerLinks.ts"
export { PayerPagesUnavailable } from "./payer/PayerPagesUnavailable.ts"
export { checkPagesUrl } from "./payer/PayerSettings.ts"
export type { PayerPagesOptions } from "./payer/PayerSettings.ts"
export * as Sha256 from "./shared/Sha256.ts"
