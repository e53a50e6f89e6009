/**
 * Storages with one planted bug each.
 */
import { EventId, Id } from "@billwright/core"
import { Context } from "effect"
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
