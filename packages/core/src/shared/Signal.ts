/**
 * A signal between fibers that says "look again", and nothing else.
 */
import { Deferred, Effect, type Scope } from "effect"

/** Waits for the next `notify` since it last returned: one that came before it is waited for counts. */
export type Awaiting = Effect.Effect<void>

/**
 * Any number of fibers wait, each by a subscription of its own; `notify` wakes all of them. Many notifications
 * before a subscriber looks are one. What matters must be read from storage afterwards: a signal carries no data
 * and may come without a reason.
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
      // First, since the fiber that waits goes on within `doneUnsafe`, and may wait again there.
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
