/** Billing as layers: a storage, the services over it, and what sends their webhooks. */
import { Billing, CurrentTenant, Dispatcher, Tenant } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { UndiciTransport } from "@billwright/node"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Layer } from "effect"

/** On the database that DATABASE_URL names. An app with a `SqlClient` of its own provides that instead. */
const postgres = Storage.layer().pipe(Layer.provide(PostgresClient.layerConfig))
const storage = process.env["DATABASE_URL"] === undefined ? Memory.layer : postgres

/** `Dispatcher.layer` would send in the background; this program sends when it says so, and waits. */
const dispatcher = Dispatcher.layerManual().pipe(Layer.provide(UndiciTransport.layer()))

/** Test mode may send to this machine. An app that serves several accounts provides the tenant for each request. */
const tenant = Layer.succeed(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" })

/** Everything that the program needs. */
export const layer = dispatcher.pipe(
  Layer.provideMerge(Billing.layer),
  Layer.provideMerge(storage),
  Layer.merge(tenant),
)
