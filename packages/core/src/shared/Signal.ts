/**
 * A signal between fibers that says "look again", and nothing else.
 */
import { Deferred, Effect, type Scope } from "effect"

/** Waits for a `notify` since the last wait ended. When there was one already, it returns at once. */
export type Awaiting = Effect.Effect<void>

/**
 * Any number of fibers can wait, each with its own subscription. `notify` wakes all of them. Several notifications
 * before a subscriber waits count as one. A signal carries no data and may come without a reason: read the storage
 * after it.
 */
export interface Signal {
  /** Wakes every subscriber. Synchronous, so that storage can call it right after a commit. */
  readonly notify: () => void
  readonly subscribe: Effect.Effect<Awaiting, never, Scope.Scope>
}

interface Subscriber {
  isNotified: boolean
  waiting: Deferred.Deferred<void> | undefined
}

export const make = (): Signal => {
  const subscribers = new Set<Subscriber>()

  const notify = (): void => {
    for (const subscriber of subscribers) {
      const { waiting } = subscriber
      subscriber.isNotified = true
      // Cleared before `doneUnsafe`, because the waiting fiber continues inside it and may wait again there.
      subscriber.waiting = undefined
      if (waiting !== undefined) Deferred.doneUnsafe(waiting, Effect.void)
    }
  }

  const awaiting = (subscriber: Subscriber): Awaiting =>
    Effect.suspend(() => {
      if (subscriber.isNotified) {
        subscriber.isNotified = false
        return Effect.void
      }
      const waiting = (subscriber.waiting ??= Deferred.makeUnsafe<void>())
      return Effect.tap(Deferred.await(waiting), () =>
        Effect.sync(() => {
          subscriber.isNotified = false
        }),
      )
    })

  const subscribe = Effect.acquireRelease(
    Effect.sync(() => {
      const subscriber: Subscriber = { isNotified: false, waiting: undefined }
      subscribers.add(subscriber)
      return subscriber
    }),
    (subscriber) => Effect.sync(() => subscribers.delete(subscriber)),
  ).pipe(Effect.map(awaiting))

  return { notify, subscribe }
}
