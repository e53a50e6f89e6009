/** Billing as layers: a storage, the services on it, and the dispatcher that sends webhooks. */
import { Billing, CurrentTenant, Dispatcher, NetworkAddress, Tenant } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { UndiciTransport } from "@billwright/node"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Effect, Layer } from "effect"

/** The database of DATABASE_URL. An app with its own `SqlClient` provides that instead. */
const postgres = Storage.layer().pipe(Layer.provide(PostgresClient.layerConfig))
const storage = process.env["DATABASE_URL"] === undefined ? Memory.layer : postgres

/** For this trial: webhooks of test mode may go to this machine, where the receiver is. */
const network = { allowLoopback: true }
const services = Billing.layerWith({
  webhooks: { network: Effect.runSync(NetworkAddress.makePolicy(network)) },
})

/** `Dispatcher.layer` would send in the background. This program sends by a call, and waits for the result. */
const dispatcher = Dispatcher.layerManual().pipe(Layer.provide(UndiciTransport.layer({ network })))

/** An app that serves several accounts provides the tenant for each request. */
const tenant = Layer.succeed(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" })

/** Everything that the program needs. */
export const layer = dispatcher.pipe(
  Layer.provideMerge(services),
  Layer.provideMerge(storage),
  Layer.merge(tenant),
)
