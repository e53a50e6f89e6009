/**
 * The in-memory storage: all ports over one set of tables.
 *
 * It keeps the contract of every port as the PostgreSQL adapter does, and nothing when the process ends. Its
 * transactions run one after another: a transaction holds up every other use of the storage while it is open,
 * so it needs no retries and never deadlocks with another.
 */
import {
  ApiKeyStore,
  type Billing,
  Collections,
  CustomerStore,
  DeliveryStore,
  EndpointStore,
  EventStore,
  IdempotencyStore,
  RetentionStore,
  Threshold,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { Context, Effect, Layer } from "effect"
import { apiKeyStore, ApiKeyTable } from "./ApiKeyTable.ts"
import { customerStore, CustomerTable } from "./CustomerTable.ts"
import { DeliveryTable } from "./DeliveryTable.ts"
import { endpointStore, EndpointTable } from "./EndpointTable.ts"
import { deliveryStore, eventStore } from "./EventStorage.ts"
import { EventTable } from "./EventTable.ts"
import { idempotencyStore, IdempotencyTable } from "./IdempotencyTable.ts"
import { Journal } from "./Journal.ts"
import { MemoryCollections } from "./MemoryCollections.ts"
import { inspector, MemoryInspector } from "./MemoryInspector.ts"
import { Outbox } from "./Outbox.ts"
import { retentionStore } from "./RetentionStorage.ts"
import { usageStore } from "./UsageStorage.ts"
import { UsageTable } from "./UsageTable.ts"

const make = (): Context.Context<Billing.Storage | MemoryInspector> => {
  const journal = new Journal()
  const collections = new MemoryCollections(journal)
  const customers = new CustomerTable(journal)
  const events = new EventTable(journal)
  const endpoints = new EndpointTable(journal)
  const deliveries = new DeliveryTable(journal, events, endpoints)
  const outbox = new Outbox(journal, { customers, events, endpoints, deliveries })
  const usage = new UsageTable(journal, customers, collections.tableOf(Threshold.thresholds), outbox)
  const keys = new ApiKeyTable(journal)
  const idempotency = new IdempotencyTable(journal)
  const transactor = Transactor.of({
    atomically: (effect) => journal.atomically(effect),
    inTransaction: Effect.withFiberSucceed((fiber) => journal.transactionOf(fiber) !== undefined),
  })
  return Context.make(Transactor, transactor).pipe(
    Context.add(Collections, collections.service),
    Context.add(CustomerStore, customerStore(customers, journal)),
    Context.add(UsageStore, usageStore(usage, journal)),
    Context.add(ApiKeyStore, apiKeyStore(keys, journal)),
    Context.add(IdempotencyStore, idempotencyStore(idempotency, journal)),
    Context.add(EventStore, eventStore(events, outbox, journal)),
    Context.add(EndpointStore, endpointStore(endpoints, journal)),
    Context.add(DeliveryStore, deliveryStore(deliveries, events, outbox, journal)),
    Context.add(RetentionStore, retentionStore(events, deliveries, journal)),
    Context.add(
      MemoryInspector,
      inspector({ collections, customers, usage, keys, idempotency, events, endpoints, deliveries }, journal),
    ),
  )
}

/**
 * A storage of its own, empty, each time it is built.
 *
 * - Atomic and isolated as `Transactor` says: transactions are serial, nested ones are savepoints, and no verb
 *   outside of a transaction sees what may yet be undone. Fibers forked inside a transaction belong to it; one
 *   that goes on using it after its end dies with `TransactionEnded`.
 * - `DeliveryStore.claimDue` waits for open transactions like every other verb. Called inside of one, where it would
 *   wait for itself, it joins it.
 * - Verbs never fail with `StorageError`, but for ids that were used before.
 * - Values given out are copies.
 * - `MemoryInspector` shows what is stored.
 */
export const layer: Layer.Layer<Billing.Storage | MemoryInspector> = Layer.syncContext(make)
