/**
 * Our side of the webhook benchmarks: publishes through the library. Its workers are `BillwrightWorker.ts`.
 */
import {
  Billing,
  CurrentTenant,
  type Endpoint,
  Endpoints,
  type Events,
  NetworkAddress,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { publish, tenant, types } from "./BillwrightEvents.ts"
import { Worker } from "./Processes.ts"
import { ENDPOINTS, typeOf } from "./Scenario.ts"
import type { Side } from "./Side.ts"

export interface Ours extends Side {
  readonly endpoints: ReadonlyArray<Endpoint.Endpoint>
}

/**
 * Creates the schema and the endpoints. `urlOf`: the URL of an endpoint. `isStaged`: whether workers record `Stages`.
 */
export const make = async (
  name: string,
  databaseUrl: string,
  urlOf: (index: number) => string,
  isStaged = false,
): Promise<Ours> => {
  const runtime = ManagedRuntime.make(
    Billing.layerWith({
      events: { types },
      webhooks: { network: Effect.runSync(NetworkAddress.makePolicy({ allowLoopback: true })) },
    }).pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(databaseUrl) })),
    ),
  )
  const run = <A, E>(effect: Effect.Effect<A, E, Endpoints | Events | CurrentTenant>) =>
    runtime.runPromise(Effect.provideService(effect, CurrentTenant, tenant))
  const endpoints = await run(
    Effect.flatMap(Endpoints, (service) =>
      Effect.forEach(
        Array.from({ length: ENDPOINTS }, (_, index) => index),
        (index) => service.create({ url: urlOf(index), eventTypes: [typeOf(index)] }),
      ),
    ),
  )
  return {
    name,
    databaseUrl,
    endpoints: endpoints.map(({ endpoint }) => endpoint),
    publish: (index) => run(publish(index)),
    startWorker: () =>
      Worker.start("webhooks/BillwrightWorker.ts", {
        DATABASE_URL: databaseUrl,
        STAGES: isStaged ? "1" : "0",
      }),
    close: () => runtime.dispose(),
  }
}
