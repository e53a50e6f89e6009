/**
 * Storages with deliberate faults.
 */
import { type Billing, type CollectionOf, Collections, CurrentTenant, type Resource } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { Context, Effect, Layer } from "effect"

type Ports = Context.Context<Billing.Storage>

/**
 * Which suites must find a fault: both, or only the contract if the fault shows with concurrency or extreme values
 * only.
 */
export type Fault = readonly [name: string, storage: Layer.Layer<Billing.Storage>, by: "both" | "contract"]

/** Memory with one fault. */
const broken = (breakIt: (ports: Ports) => Ports): Layer.Layer<Billing.Storage> =>
  Layer.effectContext(Effect.map(Layer.build(Memory.layer), breakIt))

/** Memory with some methods of a port replaced. */
export const change = <I, S extends object>(
  key: Context.Key<I, S>,
  patch: (port: S, ports: Ports) => Partial<S>,
) =>
  broken((ports) => {
    const port = Context.getUnsafe(ports, key)
    return Context.add(ports, key, { ...port, ...patch(port, ports) }) as Ports
  })

/** The same collections, with some methods of one resource replaced. */
const changedCollections = <D extends Resource.Definition>(
  collections: Collections["Service"],
  resource: Resource.Resource<D>,
  patch: (collection: CollectionOf<Resource.Resource<D>>) => Partial<CollectionOf<Resource.Resource<D>>>,
): Collections["Service"] => ({
  of: (asked) => {
    const collection = collections.of(asked)
    if (asked.type !== resource.type) return collection
    const changed: object = { ...collection, ...patch(collections.of(resource)) }
    return changed as typeof collection
  },
})

/** Memory with some methods of a resource's collection replaced. */
export const changeCollection = <D extends Resource.Definition>(
  resource: Resource.Resource<D>,
  patch: (collection: CollectionOf<Resource.Resource<D>>) => Partial<CollectionOf<Resource.Resource<D>>>,
) => change(Collections, (collections) => changedCollections(collections, resource, patch))

export const inTestMode = <A, E, R>(effect: Effect.Effect<A, E, R | CurrentTenant>) =>
  Effect.flatMap(CurrentTenant, (tenant) =>
    Effect.provideService(effect, CurrentTenant, { ...tenant, mode: "test" as const }),
  )
