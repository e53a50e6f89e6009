/**
 * Writes what came of attempts, many at a time, and disables endpoints that ask for it.
 */
import { Clock, DateTime, Effect, FiberSet, Option, Schedule, type Scope, Semaphore } from "effect"
import * as OutageLog from "../shared/OutageLog.ts"
import * as Signal from "../shared/Signal.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import type { Transactor } from "../shared/Transactor.ts"
import { cancelAll, type DeliveryStore, MAX_SETTLE, type Settlement } from "./DeliveryStore.ts"
import {
  type DisabledReason,
  type Endpoint,
  type EndpointId,
  MAX_FAILING_MILLIS,
  type StoredEndpoint,
} from "./Endpoint.ts"
import type { EndpointStore } from "./EndpointStore.ts"

/** The pause before a write that failed is tried again. */
const RETRY_PAUSE_MILLIS = 500

/** What came of a claimed delivery, on its way to storage. */
interface Result {
  readonly settlement: Settlement
  /** Why its endpoint is to be disabled with it, if it is. */
  readonly disables: DisabledReason | undefined
  /** Where the attempt went. */
  readonly url: string
  /** When its lease ends, in epoch milliseconds: writing it is tried until then. */
  readonly leaseUntil: number
}

export interface ResultWriter {
  /** Takes a result. Whoever made an attempt can't be kept from handing it over. */
  readonly push: (result: Result) => Effect.Effect<void>
  /** Writes all that was taken before, and waits for a write that is under way. Gives up on what can't be written. */
  readonly writeAll: Effect.Effect<void>
  /** The same without the results that disable an endpoint: these are written as they come, each by itself. */
  readonly writeWaiting: Effect.Effect<void>
  /** Results are waiting. */
  readonly taken: Signal.Signal
}

/** A result that is being written when the scope closes is given up. */
export const make = (
  store: DeliveryStore["Service"],
  endpoints: EndpointStore["Service"],
  transactor: Transactor["Service"],
): Effect.Effect<ResultWriter, never, Scope.Scope> =>
  Effect.gen(function* () {
    const waiting: Array<Result> = []
    const taken = Signal.make()
    const oneAtATime = Semaphore.makeUnsafe(1)
    // Somebody may hold an endpoint for long: whatever waits for it must not keep other results from being written.
    const disabling = yield* FiberSet.make<void>()
    const outage = OutageLog.make("results of webhook attempts are written again")
    const notInTime = (error: StorageError) =>
      outage.failed("results of webhook attempts were not written in time", error)
    const notTaken = (error: StorageError) =>
      outage.failed("the result of a webhook attempt cannot be written", error)
    const cancelOutage = OutageLog.make("the deliveries of disabled endpoints end at once again")

    /** Until it is written or its lease has ended: then another worker has it. */
    const persist = (results: ReadonlyArray<Result>): Effect.Effect<void> =>
      Effect.matchEffect(store.settle(results.map(({ settlement }) => settlement)), {
        onSuccess: () => outage.worked,
        onFailure: (error) =>
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            const held = results.filter(({ leaseUntil }) => now < leaseUntil)
            if (held.length < results.length) yield* notInTime(error)
            if (held.length === 0) return
            // A result that was written without our knowing is not written twice: its lease is over then.
            if (mayBeOver(error)) return yield* Effect.delay(persist(held), RETRY_PAUSE_MILLIS)
            // One that storage can't take must not keep the others from it.
            if (held.length > 1)
              return yield* Effect.forEach(held, (result) => persist([result]), { discard: true })
            yield* notTaken(error)
          }),
      })

    /**
     * In one step with the result: a crash leaves both or neither. The endpoint is locked before its delivery, as
     * everybody does. Gives whether it is disabled now.
     */
    const settleDisabling = (result: Result, endpointId: EndpointId) =>
      transactor.atomically(
        Effect.gen(function* () {
          const { settlement } = result
          const changed = yield* endpoints.modify(endpointId, (stored) =>
            Effect.gen(function* () {
              const [isWritten] = yield* store.settle([settlement])
              // Written before, perhaps, by a try whose answer was lost: what follows it is still to be done.
              // And another receiver has neither gone nor failed.
              if (isWritten !== true || stored.endpoint.url !== result.url) return stored
              const failed = failing(stored, yield* sinceWhen(stored.endpoint, settlement))
              return isDue(failed.endpoint, result) ? disabled(failed, result) : failed
            }),
          )
          if (Option.isNone(changed)) yield* store.settle([settlement])
          return Option.exists(changed, ({ endpoint }) => endpoint.status === "disabled")
        }),
      )

    /**
     * Since when the endpoint has nothing but failures, this one among them. A success whose mark could not be
     * written in time is in the counts all the same.
     */
    const sinceWhen = Effect.fnUntraced(function* (endpoint: Endpoint, { attempt, at }: Settlement) {
      const { failingSince, id } = endpoint
      const startedAt = attempt?.startedAt ?? null
      if (failingSince === null || !isLong(failingSince, at)) return failingSince ?? startedAt
      const { hours } = yield* store.counts(DateTime.endOf(failingSince, "hour"))
      const hasSucceeded = hours.some(({ delivered, endpointId }) => endpointId === id && delivered > 0)
      return hasSucceeded ? startedAt : failingSince
    })

    const persistDisabling = (result: Result, endpointId: EndpointId) => {
      const { at } = result.settlement
      const untilLeaseEnds = <A>(write: Effect.Effect<A, StorageError, CurrentTenant>) =>
        Effect.retry(write, {
          schedule: Schedule.spaced(RETRY_PAUSE_MILLIS),
          while: (error) =>
            Effect.map(Clock.currentTimeMillis, (now) => now < result.leaseUntil && mayBeOver(error)),
        })
      return Effect.tap(untilLeaseEnds(settleDisabling(result, endpointId)), outage.worked).pipe(
        Effect.catch((error) => Effect.as(mayBeOver(error) ? notInTime(error) : notTaken(error), false)),
        Effect.flatMap((isDisabledNow) =>
          isDisabledNow
            ? Effect.andThen(
                Effect.logWarning("a webhook endpoint is disabled", endpointId, result.disables),
                Effect.andThen(
                  untilLeaseEnds(cancelAll(store, endpointId, "endpoint_disabled", at)),
                  cancelOutage.worked,
                ),
              )
            : Effect.void,
        ),
        Effect.catch((error) =>
          cancelOutage.failed("the deliveries of a disabled endpoint end when they are due, not now", error),
        ),
        Effect.provideService(CurrentTenant, result.settlement.tenant),
      )
    }

    const writeWaiting = oneAtATime.withPermit(
      Effect.whileLoop({
        while: () => waiting.length > 0,
        body: () => persist(waiting.splice(0, MAX_SETTLE)),
        step: () => undefined,
      }),
    )

    return {
      push: (result) => {
        const { endpointId } = result.settlement
        if (result.disables !== undefined && endpointId !== undefined) {
          return FiberSet.run(disabling, persistDisabling(result, endpointId), { startImmediately: true })
        }
        return Effect.sync(() => {
          waiting.push(result)
          taken.notify()
        })
      },
      writeAll: Effect.andThen(writeWaiting, FiberSet.awaitEmpty(disabling)),
      writeWaiting,
      taken,
    }
  })

/** Whether the same write may succeed later, or has succeeded without our knowing. */
const mayBeOver = (error: StorageError): boolean => error.retryable || error.isOutcomeUnknown === true

const isLong = (since: DateTime.Utc, at: DateTime.Utc): boolean =>
  at.epochMilliseconds - since.epochMilliseconds >= MAX_FAILING_MILLIS

/** Judged again on what is stored: somebody may have changed it since the attempt began. */
const isDue = (endpoint: Endpoint, { disables, settlement }: Result): boolean => {
  const { failingSince, status } = endpoint
  if (status === "disabled") return false
  return disables !== "failing" || (failingSince !== null && isLong(failingSince, settlement.at))
}

/** With the mark that the result makes in storage. */
const failing = (stored: StoredEndpoint, failingSince: DateTime.Utc | null): StoredEndpoint => ({
  ...stored,
  endpoint: { ...stored.endpoint, failingSince },
})

const disabled = (stored: StoredEndpoint, { disables, settlement }: Result): StoredEndpoint => ({
  ...stored,
  endpoint: {
    ...stored.endpoint,
    status: "disabled",
    disabledReason: disables ?? null,
    disabledAt: settlement.at,
    updatedAt: settlement.at,
  },
})
