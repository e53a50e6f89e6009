/**
 * The in-memory storage: all ports over one set of tables.
 *
 * It keeps the contract of every port as the PostgreSQL adapter does. Its data is lost when the process ends.
 * Transactions run one after another: while one is open, every other use of the storage waits. So transactions need no
 * retries and never deadlock with each other.
 */
import {
  ApiKeyStore,
  type Billing,
  Collections,
  CreditNoteStore,
  CreditStore,
  Customer,
  DeliveryStore,
  DueStore,
  EndpointStore,
  EntitlementStore,
  EventStore,
  IdempotencyStore,
  InvoiceStore,
  LiveSubscriptions,
  Meter,
  PaymentStore,
  PlanStore,
  RetentionStore,
  SnapshotReads,
  SpendAlert,
  SpendMarks,
  SubscriptionStore,
  Threshold,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { Context, Effect, Layer } from "effect"
import { apiKeyStore, ApiKeyTable } from "./ApiKeyTable.ts"
import { creditNoteStore, CreditNoteTable } from "./CreditNoteTable.ts"
import { creditStore, CreditTable } from "./CreditTable.ts"
import { DeliveryTable } from "./DeliveryTable.ts"
import { dueStore, DueTable } from "./DueTable.ts"
import { endpointStore, EndpointTable } from "./EndpointTable.ts"
import { entitlementStore, EntitlementTable } from "./EntitlementTable.ts"
import { deliveryStore, eventStore } from "./EventStorage.ts"
import { EventTable } from "./EventTable.ts"
import { idempotencyStore, IdempotencyTable } from "./IdempotencyTable.ts"
import { invoiceStore, InvoiceTable } from "./InvoiceTable.ts"
import { Journal } from "./Journal.ts"
import { MemoryCollections } from "./MemoryCollections.ts"
import { inspector, MemoryInspector } from "./MemoryInspector.ts"
import { Outbox } from "./Outbox.ts"
import { paymentStore, PaymentTable } from "./PaymentTable.ts"
import { planStore, PlanTable } from "./PlanTable.ts"
import { retentionStore } from "./RetentionStorage.ts"
import { spendMarks, SpendMarkTable } from "./SpendMarkTable.ts"
import { liveSubscriptions, subscriptionStore, SubscriptionTable } from "./SubscriptionTable.ts"
import { usageStore } from "./UsageStorage.ts"
import { UsageTable } from "./UsageTable.ts"

type AllPorts = Billing.Storage | Billing.InvoicingStorage | MemoryInspector | SnapshotReads

const make = (): Context.Context<AllPorts> => {
  const journal = new Journal()
  const collections = new MemoryCollections(journal)
  const customers = collections.tableOf<Customer.Customer>(Customer.customers)
  const events = new EventTable(journal)
  const endpoints = new EndpointTable(journal)
  const deliveries = new DeliveryTable(journal, events, endpoints)
  const outbox = new Outbox(journal, { customers, events, endpoints, deliveries })
  const marks = new SpendMarkTable(journal, collections.tableOf(SpendAlert.spendAlerts))
  const usage = new UsageTable(
    journal,
    customers,
    collections.tableOf(Threshold.thresholds),
    collections.tableOf(Meter.meters),
    outbox,
    marks,
  )
  const keys = new ApiKeyTable(journal)
  const idempotency = new IdempotencyTable(journal)
  const plans = new PlanTable(journal)
  const due = new DueTable(journal, customers)
  const subscriptions = new SubscriptionTable(journal, due)
  const creditNotes = new CreditNoteTable(journal)
  const invoices = new InvoiceTable(journal, due, creditNotes)
  const payments = new PaymentTable(journal, due)
  const credits = new CreditTable(journal)
  const entitlements = new EntitlementTable(journal)
  const transactor = Transactor.of({
    atomically: (effect) => journal.atomically(effect),
    inTransaction: Effect.withFiberSucceed((fiber) => journal.transactionOf(fiber) !== undefined),
  })
  // Transactions run one after another, so that each reads as of one instant.
  const snapshots = SnapshotReads.of({ consistently: (effect) => journal.atomically(effect) })
  return Context.make(Transactor, transactor).pipe(
    Context.add(SnapshotReads, snapshots),
    Context.add(Collections, collections.service),
    Context.add(UsageStore, usageStore(usage, journal)),
    Context.add(ApiKeyStore, apiKeyStore(keys, journal)),
    Context.add(IdempotencyStore, idempotencyStore(idempotency, journal)),
    Context.add(PlanStore, planStore(plans, journal)),
    Context.add(SubscriptionStore, subscriptionStore(subscriptions, invoices, journal)),
    Context.add(LiveSubscriptions, liveSubscriptions(subscriptions, journal)),
    Context.add(InvoiceStore, invoiceStore(invoices, journal)),
    Context.add(CreditNoteStore, creditNoteStore(creditNotes, journal)),
    Context.add(PaymentStore, paymentStore(payments, journal)),
    Context.add(CreditStore, creditStore(credits, journal)),
    Context.add(EntitlementStore, entitlementStore(entitlements, journal)),
    Context.add(SpendMarks, spendMarks(marks, journal)),
    Context.add(DueStore, dueStore(due, journal)),
    Context.add(EventStore, eventStore(events, outbox, journal)),
    Context.add(EndpointStore, endpointStore(endpoints, journal)),
    Context.add(DeliveryStore, deliveryStore(deliveries, events, outbox, journal)),
    Context.add(RetentionStore, retentionStore(events, deliveries, journal)),
    Context.add(
      MemoryInspector,
      inspector(
        {
          collections,
          usage,
          keys,
          idempotency,
          plans,
          subscriptions,
          invoices,
          creditNotes,
          credits,
          payments,
          events,
          endpoints,
          deliveries,
        },
        journal,
      ),
    ),
  )
}

/**
 * The in-memory storage. Each time the layer is built, it makes a new, empty storage.
 *
 * - It is atomic and isolated as `Transactor` describes: transactions are serial, nested ones are savepoints, and no
 *   verb outside a transaction sees its writes before it commits. Fibers forked inside a transaction belong to it. A
 *   fiber that uses the transaction after its end dies with `TransactionEnded`.
 * - `DeliveryStore.claimDue` waits for open transactions like every other verb. Inside a transaction it joins it, because
 *   otherwise it would wait for itself.
 * - Verbs fail with `StorageError` only for ids that were used before.
 * - Values given out are copies, or objects that can't be changed.
 * - `MemoryInspector` shows what is stored.
 */
export const layer: Layer.Layer<AllPorts> = Layer.syncContext(make)
