/**
 * A memory storage that shows the subscriptions to its events, and whose signals can be turned off.
 */
import { type Billing, EventStore } from "@billwright/core"
import { Memory, type MemoryInspector } from "@billwright/memory"
import { Context, Effect, Layer } from "effect"
import type { Storage } from "./ApiServer.ts"

export interface TailWatch {
  readonly storage: Storage
  /** The number of open subscriptions to the signal. */
  readonly subscriptions: () => number
  /** How many times the tail was read. */
  readonly reads: () => number
  /** Waits until this many subscriptions are open. */
  readonly untilSubscriptions: (count: number) => Effect.Effect<void>
}

export interface TailWatchOptions {
  /** Turns off signals, as for commits of another process. */
  readonly isSilent?: boolean
  /** Runs before the storage returns the position at which a stream begins. */
  readonly opening?: Effect.Effect<void>
}

export const make = ({ isSilent = false, opening = Effect.void }: TailWatchOptions = {}): TailWatch => {
  let subscriptions = 0
  let reads = 0
  const waiting = new Set<() => void>()
  const change = (by: 1 | -1) =>
    Effect.sync(() => {
      subscriptions += by
      waiting.forEach((check) => check())
    })
  const storage: Storage = Layer.effectContext(
    Effect.map(Effect.context<Billing.Storage | MemoryInspector>(), (context) => {
      const store = Context.get(context, EventStore)
      return Context.add(context, EventStore, {
        ...store,
        tailPosition: (after) => Effect.andThen(opening, store.tailPosition(after)),
        tail: (...args) =>
          Effect.andThen(
            Effect.sync(() => reads++),
            store.tail(...args),
          ),
        committed: Effect.andThen(
          Effect.acquireRelease(change(1), () => change(-1)),
          isSilent ? Effect.succeed(Effect.never) : store.committed,
        ),
      })
    }),
  ).pipe(Layer.provide(Memory.layer))
  return {
    storage,
    subscriptions: () => subscriptions,
    reads: () => reads,
    untilSubscriptions: (count) =>
      Effect.callback<void>((resume) => {
        const check = () => {
          if (subscriptions !== count) return
          waiting.delete(check)
          resume(Effect.void)
        }
        waiting.add(check)
        check()
        return Effect.sync(() => waiting.delete(check))
      }),
  }
}
