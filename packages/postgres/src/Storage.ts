/**
 * All ports of core on Postgres, as layers.
 */
import type { BatchTransactor, Billing, SnapshotReads, StorageError } from "@billwright/core"
import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { Commits } from "./Commits.ts"
import { Database, type StorageOptions } from "./Database.ts"
import { Intakes } from "./Intakes.ts"
import * as Migrations from "./migrations/Migrations.ts"
import * as PostgresSnapshotReads from "./PostgresSnapshotReads.ts"
import * as PostgresTransactor from "./PostgresTransactor.ts"
import * as PostgresApiKeyStore from "./stores/PostgresApiKeyStore.ts"
import * as PostgresCollections from "./stores/PostgresCollections.ts"
import * as PostgresCreditNoteStore from "./stores/PostgresCreditNoteStore.ts"
import * as PostgresCreditStore from "./stores/PostgresCreditStore.ts"
import * as PostgresDeliveryStore from "./stores/PostgresDeliveryStore.ts"
import * as PostgresDueStore from "./stores/PostgresDueStore.ts"
import * as PostgresEndpointStore from "./stores/PostgresEndpointStore.ts"
import * as PostgresEntitlementStore from "./stores/PostgresEntitlementStore.ts"
import * as PostgresEventStore from "./stores/PostgresEventStore.ts"
import * as PostgresIdempotencyStore from "./stores/PostgresIdempotencyStore.ts"
import * as PostgresInvoiceStore from "./stores/PostgresInvoiceStore.ts"
import * as PostgresPaymentStore from "./stores/PostgresPaymentStore.ts"
import * as PostgresPlanStore from "./stores/PostgresPlanStore.ts"
import * as PostgresRetentionStore from "./stores/PostgresRetentionStore.ts"
import * as PostgresSpendMarks from "./stores/PostgresSpendMarks.ts"
import * as PostgresSubscriptionStore from "./stores/PostgresSubscriptionStore.ts"
import * as PostgresUsageStore from "./stores/PostgresUsageStore.ts"

export type { StorageOptions } from "./Database.ts"

/** All ports, those of subscriptions and invoices included. */
type AllPorts = BatchTransactor | Billing.InvoicingStorage | Billing.Storage | SnapshotReads

type StorageLayer = Layer.Layer<AllPorts, StorageError | Migrations.IncompatibleSchema, SqlClient.SqlClient>

const stores = (options: StorageOptions): Layer.Layer<AllPorts, StorageError, SqlClient.SqlClient> =>
  Layer.mergeAll(
    PostgresApiKeyStore.layer,
    PostgresCollections.layer,
    PostgresCreditNoteStore.layer,
    PostgresCreditStore.layer,
    PostgresDeliveryStore.layer,
    PostgresDueStore.layer,
    PostgresEndpointStore.layer,
    PostgresEntitlementStore.layer,
    PostgresEventStore.layer,
    PostgresIdempotencyStore.layer,
    PostgresInvoiceStore.layer,
    PostgresPaymentStore.layer,
    PostgresPlanStore.layer,
    PostgresRetentionStore.layer,
    PostgresSpendMarks.layer,
    PostgresSubscriptionStore.layer,
    PostgresSubscriptionStore.layerLive,
    PostgresUsageStore.layer,
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(PostgresTransactor.layer, PostgresTransactor.layerBatches, PostgresSnapshotReads.layer),
    ),
    Layer.provide(Layer.merge(Commits.layer(options), Intakes.layer)),
    Layer.provide(Database.layer(options)),
  )

/** Brings the schema up to date, and provides no service. See `Migrations.run`. */
export const layerMigrations = (
  options: Migrations.RunOptions = {},
): Layer.Layer<never, StorageError | Migrations.IncompatibleSchema, SqlClient.SqlClient> =>
  Layer.effectDiscard(Migrations.run(options))

/**
 * The stores on a schema that is already up to date. Runs no DDL; fails with `IncompatibleSchema` on any other
 * schema.
 */
export const layerStorage = (options: StorageOptions = {}): StorageLayer =>
  stores(options).pipe(Layer.provide(Layer.effectDiscard(Migrations.check(options))))

/** Brings the schema up to date, then provides the stores. */
export const layer = (options: StorageOptions = {}): StorageLayer =>
  stores(options).pipe(Layer.provide(layerMigrations(options)))
