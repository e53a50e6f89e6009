/**
 * A worker process of Billwright, as with `billwright serve --dispatch-only`, that reports how much it has written.
 */
import { Billing, type Claimed, DeliveryStore, Dispatcher, WebhookTransport } from "@billwright/core"
import { UndiciTransport } from "@billwright/node"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { publish, types } from "./BillwrightEvents.ts"
import { counter, IN_FLIGHT, now, obey, type Stages } from "./Scenario.ts"

const count = counter()
/** Whether to record stages, which has a small cost. */
const isStaged = process.env["STAGES"] === "1"
const stages = new Map<string, { -readonly [K in keyof Stages]: Stages[K] }>()

const note = ({ deliveries }: Claimed, isClaimed: boolean) => {
  const leased = now()
  for (const { eventId } of deliveries) {
    if (!stages.has(eventId)) stages.set(eventId, { leased, isClaimed, sent: 0 })
  }
}

const leasing = Layer.effect(
  DeliveryStore,
  Effect.map(DeliveryStore, (store) =>
    DeliveryStore.of({
      ...store,
      claimDue: (claim) =>
        Effect.tap(store.claimDue(claim), (claimed) => Effect.sync(() => note(claimed, true))),
      handTo: (intake) =>
        store.handTo({
          ...intake,
          takeFromOthers: (leased, leaseUntil) => {
            note(leased, false)
            return intake.takeFromOthers(leased, leaseUntil)
          },
        }),
    }),
  ),
)

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

const sending = Layer.effect(
  WebhookTransport,
  Effect.map(WebhookTransport, (transport) =>
    WebhookTransport.of({
      ...transport,
      send: (request) =>
        Effect.suspend(() => {
          const found = stages.get(request.headers["webhook-id"] ?? "")
          if (found?.sent === 0) found.sent = now()
          return transport.send(request)
        }),
    }),
  ),
)

const storage = Storage.layer().pipe(
  Layer.provide(PostgresClient.layer({ url: Redacted.make(process.env["DATABASE_URL"] ?? "") })),
)

const transport = UndiciTransport.layer({ network: { allowLoopback: true } })
const counted = counting.pipe(Layer.provideMerge(storage))

const runtime = ManagedRuntime.make(
  Layer.mergeAll(
    Billing.layerWith({ events: { types } }).pipe(
      Layer.provideMerge(isStaged ? leasing.pipe(Layer.provideMerge(counted)) : counted),
    ),
    isStaged ? sending.pipe(Layer.provide(transport)) : transport,
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
  (index) => runtime.runPromise(publish(index)),
  () => {
    const kept = [...stages]
    stages.clear()
    return kept
  },
)
