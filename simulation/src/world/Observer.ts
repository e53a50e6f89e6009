/**
 * Ports that record their calls and results in the order of commits. Calls in a transaction are recorded when it has
 * committed, or not at all.
 */
import {
  type Billing,
  Collections,
  CurrentTenant,
  DeliveryStore,
  type Endpoint,
  EndpointStore,
  EventStore,
  IdempotencyStore,
  Tenant,
  Threshold,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { Context, Effect, Option } from "effect"
import type { StorageEntry, TenantName } from "../History.ts"
import type { Recorder } from "./Recorder.ts"

export type Ports = Context.Context<Billing.Storage | Billing.InvoicingStorage>

/** The entries of the transaction that the fiber is in. */
const CurrentWrites = Context.Reference<Array<StorageEntry> | undefined>(
  "@billwright/simulation/CurrentWrites",
  { defaultValue: () => undefined },
)

const observer = (recorder: Recorder) => {
  const write = (...entries: ReadonlyArray<StorageEntry>) =>
    Effect.map(CurrentWrites, (writes) => {
      if (writes === undefined) recorder.commits(entries)
      else writes.push(...entries)
    })

  const transaction = <A, E, R, A2, E2, R2>(
    effect: Effect.Effect<A, E, R>,
    run: (inner: Effect.Effect<A, E, R>) => Effect.Effect<A2, E2, R2>,
  ) =>
    Effect.suspend(() => {
      const writes: Array<StorageEntry> = []
      const inner = Effect.provideService(effect, CurrentWrites, writes)
      return Effect.tap(run(inner), () => write(...writes))
    })

  return { write, transaction }
}

type Observer = ReturnType<typeof observer>

const tenantName = Effect.map(CurrentTenant, Tenant.tenantKey)

const deliveryStore = (
  store: DeliveryStore["Service"],
  { write }: Observer,
  process: string,
): Partial<DeliveryStore["Service"]> => {
  const see = Effect.fnUntraced(function* (
    deliveries: ReadonlyArray<{ readonly tenant: Tenant.Tenant; readonly id: DeliverySettled["id"] }>,
  ) {
    for (const { id, tenant } of deliveries) {
      const found = Option.getOrUndefined(yield* Effect.provideService(store.find(id), CurrentTenant, tenant))
      if (found === undefined) continue
      const { attemptCount, reason, status } = found.delivery
      const attempts = found.attempts.map(({ error, number, responseStatus }) => ({
        number,
        status: responseStatus,
        error,
      }))
      const name = Tenant.tenantKey(tenant)
      yield* write({ _tag: "DeliverySeen", id, tenant: name, status, reason, attemptCount, attempts })
    }
  })

  return {
    claimDue: (claim) =>
      Effect.tap(store.claimDue(claim), ({ deliveries }) => {
        if (deliveries.length === 0) return Effect.void
        const claimed = deliveries.map(({ endpoint, eventId, id, token }) => ({
          id,
          token,
          eventId,
          endpointId: endpoint.id,
        }))
        return Effect.andThen(write({ _tag: "Claimed", process, deliveries: claimed }), see(deliveries))
      }),
    settle: (settlements) =>
      Effect.tap(store.settle(settlements), (written) => {
        const results = settlements.map(({ id, token }, index) => ({
          id,
          token,
          isWritten: written[index] === true,
        }))
        return Effect.andThen(write({ _tag: "Settled", process, results }), see(settlements))
      }),
  }
}

type DeliverySettled = Parameters<DeliveryStore["Service"]["settle"]>[0][number]

const endpointSeen = (tenant: TenantName, { eventTypes, id, status, url }: Endpoint.Endpoint) => ({
  _tag: "EndpointSeen" as const,
  tenant,
  id,
  status,
  url,
  eventTypes,
})

const endpointStore = (
  store: EndpointStore["Service"],
  { write }: Observer,
): Partial<EndpointStore["Service"]> => ({
  insert: (stored) =>
    Effect.tap(store.insert(stored), (isStored) =>
      isStored
        ? Effect.flatMap(tenantName, (tenant) => write(endpointSeen(tenant, stored.endpoint)))
        : Effect.void,
    ),
  modify: (id, change) =>
    Effect.tap(store.modify(id, change), (changed) =>
      Option.match(changed, {
        onNone: () => Effect.void,
        onSome: ({ endpoint }) =>
          Effect.flatMap(tenantName, (tenant) => write(endpointSeen(tenant, endpoint))),
      }),
    ),
  delete: (id, at) =>
    Effect.flatMap(Effect.all([store.find(id), tenantName]), ([found, tenant]) =>
      Effect.tap(store.delete(id, at), () =>
        Option.isNone(found)
          ? Effect.void
          : write({ ...endpointSeen(tenant, found.value), status: "deleted" }),
      ),
    ),
})

const eventStore = (store: EventStore["Service"], { write }: Observer): Partial<EventStore["Service"]> => ({
  publish: (event) =>
    Effect.tap(store.publish(event), (outcome) =>
      outcome._tag === "Published"
        ? Effect.flatMap(tenantName, (tenant) => {
            const { endpointId, id, type } = event
            return write({ _tag: "Published", tenant, eventId: id, type, endpointId })
          })
        : Effect.void,
    ),
  redact: (step, redacted) =>
    Effect.suspend(() => {
      const eventIds: Array<string> = []
      const redact = store.redact(step, (event) => {
        eventIds.push(event.id)
        return redacted(event)
      })
      return Effect.tap(redact, () =>
        eventIds.length === 0
          ? Effect.void
          : Effect.flatMap(tenantName, (tenant) => write({ _tag: "Redacted", tenant, eventIds })),
      )
    }),
})

const usageStore = (store: UsageStore["Service"], { write }: Observer): Partial<UsageStore["Service"]> => ({
  append: (records) =>
    Effect.tap(store.append(records), ({ crossings, outcomes }) =>
      Effect.flatMap(tenantName, (tenant) =>
        write({
          _tag: "Appended",
          tenant,
          records: outcomes.flatMap((outcome) => (outcome._tag === "Recorded" ? [outcome.record] : [])),
          crossings: crossings.map(({ periodKey, threshold }) => ({ thresholdId: threshold.id, periodKey })),
        }),
      ),
    ),
})

const observedCollections = (
  collections: Collections["Service"],
  { write }: Observer,
): Collections["Service"] => ({
  of: (resource) => {
    const collection = collections.of(resource)
    if (resource.type !== Threshold.thresholds.type) return collection
    return {
      ...collection,
      insert: (value) =>
        Effect.tap(collection.insert(value), () =>
          Effect.flatMap(tenantName, (tenant) =>
            write({ _tag: "ThresholdStored", tenant, threshold: value as object as Threshold.Threshold }),
          ),
        ),
    }
  },
})

/** The ports of a process, with recording. */
export const observed = (ports: Ports, recorder: Recorder, process: string): Ports => {
  const watching = observer(recorder)
  const transactor = Context.get(ports, Transactor)
  const answers = Context.get(ports, IdempotencyStore)
  const deliveries = Context.get(ports, DeliveryStore)
  const endpoints = Context.get(ports, EndpointStore)
  const events = Context.get(ports, EventStore)
  const usage = Context.get(ports, UsageStore)
  return ports.pipe(
    Context.add(Collections, observedCollections(Context.get(ports, Collections), watching)),
    Context.add(Transactor, {
      ...transactor,
      atomically: (effect) => watching.transaction(effect, transactor.atomically),
    }),
    Context.add(IdempotencyStore, {
      ...answers,
      once: (request, lifetime, effect) =>
        watching.transaction(effect, (inner) => answers.once(request, lifetime, inner)),
    }),
    Context.add(DeliveryStore, { ...deliveries, ...deliveryStore(deliveries, watching, process) }),
    Context.add(EndpointStore, { ...endpoints, ...endpointStore(endpoints, watching) }),
    Context.add(EventStore, { ...events, ...eventStore(events, watching) }),
    Context.add(UsageStore, { ...usage, ...usageStore(usage, watching) }),
  )
}
