/**
 * Storages with a bug: what the library would be if somebody had got one thing wrong.
 */
import { EventId, Id } from "@billwright/core"
import { Context } from "effect"
import type { Invariant } from "../../src/Checkers.ts"
import type { Ports } from "../../src/world/Observer.ts"

/** A bug, and the invariants that it may break: one of them must be seen broken. */
export interface Mutation {
  readonly name: string
  readonly breaks: ReadonlyArray<Invariant>
  readonly breakStorage: (ports: Ports) => Ports
}

/** Ports with some verbs of one of them replaced. What `patch` remembers, it remembers for one simulation. */
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

/** An id that nobody has, and that follows from another. */
export const otherId = (id: string): EventId =>
  EventId.make(Id.offset("evt", id, 2 ** 40), { disableChecks: true })

/** Says yes every so many times. */
export const everyNth = (n: number) => {
  let count = 0
  return (): boolean => ++count % n === 0
}
