/**
 * A worker process of ours, as `billwright serve --dispatch-only` is one, that tells how much it has written.
 */
import { Billing, DeliveryStore, Dispatcher } from "@billwright/core"
import { UndiciTransport } from "@billwright/node"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { counter, IN_FLIGHT, obey } from "./Scenario.ts"

const count = counter()

const counting = Layer.effect(
  DeliveryStore,
  Effect.map(DeliveryStore, (store) =>
    DeliveryStore.of({
      ...store,
      settle: (settlements) =>
        Effect.tap(store.settle(settlements), (written) =>
          Effect.sync(() =>
            count(
              settlements.filter(
                ({ state }, index) => written[index] === true && state.status === "Delivered",
              ).length,
            ),
          ),
        ),
    }),
  ),
)

const storage = Storage.layer().pipe(
  Layer.provide(PostgresClient.layer({ url: Redacted.make(process.env["DATABASE_URL"] ?? "") })),
)

const runtime = ManagedRuntime.make(
  Layer.mergeAll(
    Billing.layer.pipe(Layer.provideMerge(counting.pipe(Layer.provideMerge(storage)))),
    UndiciTransport.layer(),
  ),
)

let scope = Scope.makeUnsafe()

await runtime.context()
obey(
  async () => {
    scope = Scope.makeUnsafe()
    await runtime.runPromise(Layer.buildWithScope(Dispatcher.layerWith({ maxInFlight: IN_FLIGHT }), scope))
  },
  () => runtime.runPromise(Scope.close(scope, Exit.void)),
)
