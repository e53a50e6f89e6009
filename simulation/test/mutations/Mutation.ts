/**
 * Storages with one planted bug each.
 */
import { type Collection, Collections, EventId, Id } from "@billwright/core"
import { Context, Effect } from "effect"
import type { Invariant } from "../../src/Checkers.ts"
import type { Ports } from "../../src/world/Observer.ts"

/** A bug, and the invariants that it may break. At least one of them must fail. */
export interface Mutation {
  readonly name: string
  readonly breaks: ReadonlyArray<Invariant>
  readonly breakStorage: (ports: Ports) => Ports
}

/** Ports with some methods of one port replaced. The state of `patch` lasts for one simulation. */
export const change =
  <I, S extends object>(key: Context.Key<I, S>, patch: (port: S, ports: Ports) => Partial<S>) =>
  (ports: Ports): Ports => {
    const port = Context.getUnsafe(ports, key)
    return Context.add(ports, key, { ...port, ...patch(port, ports) }) as Ports
  }

/** Ports with some methods of the values of one resource replaced. */
export const changeValues = <A>(type: string, patch: (values: Collection<A>) => Partial<Collection<A>>) =>
  change(Collections, ({ of }) => ({
    of: (resource) => {
      const values = of(resource)
      if (resource.type !== type) return values
      return { ...values, ...(patch(values as object as Collection<A>) as object) }
    },
  }))

/** Stores values of a resource otherwise than they were changed. */
export const storing = <A>(type: string, changed: (value: A) => A) =>
  changeValues<A>(type, ({ modify }) => ({
    modify: (id, by) => modify(id, (value) => Effect.map(by(value), changed)),
  }))

export const mutation = (
  name: string,
  breaks: ReadonlyArray<Invariant>,
  breakStorage: (ports: Ports) => Ports,
): Mutation => ({ name, breaks, breakStorage })

/** An unused id, derived from another one. */
export const otherId = (id: string): EventId =>
  EventId.make(Id.offset("evt", id, 2 ** 40), { disableChecks: true })

/** Returns true once in a number of calls. */
export const everyNth = (n: number) => {
  let count = 0
  return (): boolean => ++count % n === 0
}
