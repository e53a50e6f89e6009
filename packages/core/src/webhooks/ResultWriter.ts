/**
 * Writes the results of attempts, many at a time, and disables endpoints that have gone or keep failing.
 */
import {
  Clock,
  type Context,
  DateTime,
  Effect,
  FiberSet,
  Option,
  Schedule,
  type Scope,
  Semaphore,
} from "effect"
import { asRunner } from "../shared/Actor.ts"
import * as OutageLog from "../shared/OutageLog.ts"
import * as Signal from "../shared/Signal.ts"
import { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import type { Transactor } from "../shared/Transactor.ts"
import { type DeliveryStore, MAX_SETTLE, type Settlement } from "./DeliveryStore.ts"
import { endPendingOfDisabled } from "./DisabledEndpoint.ts"
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

/** Why a result is not written yet that somebody else's transaction keeps from it. */
const HELD = new StorageError({
  operation: "DeliveryStore.settle",
  retryable: true,
  cause: new Error("another transaction holds the delivery"),
})

/** The result of a claimed delivery that is still to be written. */
interface Result {
  readonly settlement: Settlement
  /** Why the result disables its endpoint; `undefined` when it does not. */
  readonly disables: DisabledReason | undefined
  /** The URL that the attempt was sent to. */
  readonly url: string
  /** When its lease ends, in epoch milliseconds. The write is tried until then. */
  readonly leaseUntil: number
}

export interface ResultWriter {
  /** Takes a result. It never fails or waits. What an endpoint's failure needs further runs with these services. */
  readonly push: (result: Result, context: Context.Context<never>) => void
  /** Writes all results taken before, and waits for a write under way. Drops results that can't be written. */
  readonly writeAll: Effect.Effect<void>
  /**
   * The same without results that disable an endpoint, and those whose deliveries somebody else's transaction holds. Each of the
   * former is written by itself as soon as it is taken, and the latter are tried again apart. Gives how many it wrote, dropped or
   * left to that.
   */
  readonly writeWaiting: Effect.Effect<number>
  /** Signals that results are waiting. */
  readonly taken: Signal.Signal
}

/** Makes a writer. When the scope closes, results that are still being written are dropped. */
export const make = (
  store: DeliveryStore["Service"],
  endpoints: EndpointStore["Service"],
  transactor: Transactor["Service"],
): Effect.Effect<ResultWriter, never, Scope.Scope> =>
  Effect.gen(function* () {
    const waiting: Array<Result> = []
    /** Those whose deliveries somebody else holds, until they are tried again. */
    const held: Array<Result> = []
    let isTryingHeld = false
    const taken = Signal.make()
    const oneAtATime = Semaphore.makeUnsafe(1)
    // Endpoints and deliveries may be locked for long. A write that waits for a lock must not delay other results.
    const apart = yield* FiberSet.make<void>()
    const outage = OutageLog.make("results of webhook attempts are written again")
    const notInTime = (error: StorageError) =>
      outage.failed("results of webhook attempts were not written in time", error)
    const notTaken = (error: StorageError) =>
      outage.failed("the result of a webhook attempt cannot be written", error)
    const cancelOutage = OutageLog.make("pending deliveries of disabled endpoints are ended at once again")

    /** Those whose leases have not ended. The others are dropped. */
    const inTime = (results: ReadonlyArray<Result>, error: StorageError) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const leased = results.filter(({ leaseUntil }) => now < leaseUntil)
        if (leased.length < results.length) yield* notInTime(error)
        return leased
      })

    /** Tries to write results until their leases end. Then another worker has the deliveries. */
    const persist = (results: ReadonlyArray<Result>): Effect.Effect<void> =>
      Effect.matchEffect(bugsRefuse(store.settle(results.map(({ settlement }) => settlement))), {
        onSuccess: (written) =>
          written.includes(undefined)
            ? persistHeld(results.filter((_, index) => written[index] === undefined))
            : outage.worked,
        onFailure: (error) =>
          Effect.gen(function* () {
            const leased = yield* inTime(results, error)
            if (leased.length === 0) return
            // If the write succeeded and its answer was lost, writing again does nothing: the lease is over.
            if (mayBeOver(error)) return yield* Effect.delay(persist(leased), RETRY_PAUSE_MILLIS)
            // A result that the storage refuses must not prevent the others from being written.
            if (leased.length > 1)
              return yield* Effect.forEach(leased, (result) => persist([result]), { discard: true })
            yield* notTaken(error)
          }),
      })

    /** Goes on with results whose deliveries somebody else holds. Others don't wait for them. */
    const persistHeld = (results: ReadonlyArray<Result>): Effect.Effect<void> =>
      Effect.flatMap(inTime(results, HELD), (leased) => {
        held.push(...leased)
        if (isTryingHeld || held.length === 0) return Effect.void
        isTryingHeld = true
        return Effect.asVoid(FiberSet.run(apart, tryHeld))
      })

    /** One fiber for all, so that they take one connection of the storage and no more. */
    const tryHeld = Effect.gen(function* () {
      while (held.length > 0) {
        yield* Effect.sleep(RETRY_PAUSE_MILLIS)
        // Those that are still held come back meanwhile.
        const taken = held.splice(0)
        while (taken.length > 0) yield* persist(taken.splice(0, MAX_SETTLE))
      }
      isTryingHeld = false
    })

    /** Writes one result. It fails when somebody else holds the delivery. */
    const settleOne = (settlement: Settlement) =>
      Effect.flatMap(store.settle([settlement]), ([isWritten]) =>
        isWritten === undefined ? Effect.fail(HELD) : Effect.succeed(isWritten),
      )

    /**
     * Writes the result and disables the endpoint in one transaction. The endpoint is locked before its delivery, in the
     * same order as everywhere else. Gives whether the endpoint is disabled now.
     */
    const settleDisabling = (result: Result, endpointId: EndpointId) =>
      transactor.atomically(
        Effect.gen(function* () {
          const { settlement } = result
          const changed = yield* endpoints.modify(endpointId, (stored) =>
            Effect.gen(function* () {
              const isWritten = yield* settleOne(settlement)
              // Not written: an earlier try may have written it, and its answer was lost. The caller then still cancels
              // the endpoint's deliveries. With another URL, the result is about another receiver.
              if (!isWritten || stored.endpoint.url !== result.url) return stored
              const failed = failing(stored, yield* sinceWhen(stored.endpoint, settlement))
              return isDue(failed.endpoint, result) ? disabled(failed, result) : failed
            }),
          )
          if (Option.isNone(changed)) yield* settleOne(settlement)
          return Option.exists(changed, ({ endpoint }) => endpoint.status === "disabled")
        }),
      )

    /**
     * Since when all attempts to the endpoint have failed, with this one. A success that could not reset `failingSince`
     * in time is still counted in the statistics.
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
        Effect.retry(bugsRefuse(write), {
          schedule: Schedule.spaced(RETRY_PAUSE_MILLIS),
          while: (error) =>
            Effect.map(Clock.currentTimeMillis, (now) => now < result.leaseUntil && mayBeOver(error)),
        })
      return Effect.tap(untilLeaseEnds(asRunner(settleDisabling(result, endpointId))), outage.worked).pipe(
        Effect.catch((error) => Effect.as(mayBeOver(error) ? notInTime(error) : notTaken(error), false)),
        Effect.flatMap((isDisabledNow) =>
          isDisabledNow
            ? Effect.andThen(
                Effect.logWarning("a webhook endpoint is disabled", endpointId, result.disables),
                Effect.andThen(
                  untilLeaseEnds(
                    endPendingOfDisabled({ deliveries: store, endpoints, transactor }, endpointId, at),
                  ),
                  cancelOutage.worked,
                ),
              )
            : Effect.void,
        ),
        Effect.catch((error) =>
          cancelOutage.failed(
            "the pending deliveries of a disabled endpoint were not ended; each ends when it is due",
            error,
          ),
        ),
        Effect.provideService(CurrentTenant, result.settlement.tenant),
      )
    }

    const writeWaiting = oneAtATime.withPermit(
      Effect.suspend(() => {
        let count = 0
        return Effect.map(
          Effect.whileLoop({
            while: () => waiting.length > 0,
            body: () => {
              const results = waiting.splice(0, MAX_SETTLE)
              count += results.length
              return persist(results)
            },
            step: () => undefined,
          }),
          () => count,
        )
      }),
    )

    return {
      push: (result, context) => {
        const { endpointId } = result.settlement
        if (result.disables !== undefined && endpointId !== undefined) {
          const persisting = Effect.runForkWith(context)(persistDisabling(result, endpointId))
          FiberSet.addUnsafe(apart, persisting)
          return
        }
        waiting.push(result)
        taken.notify()
      },
      writeAll: Effect.andThen(writeWaiting, FiberSet.awaitEmpty(apart)),
      writeWaiting,
      taken,
    }
  })

/** A bug in a write is like a refusal of the storage. So it does not end the loop that writes the results of all others. */
const bugsRefuse = <A, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E | StorageError, R> =>
  Effect.catchDefect(write, (cause) =>
    Effect.fail(new StorageError({ operation: "DeliveryStore.settle", retryable: false, cause })),
  )

/** Whether the same write may succeed later, or may have succeeded although its answer was lost. */
const mayBeOver = (error: StorageError): boolean => error.retryable || error.isOutcomeUnknown === true

const isLong = (since: DateTime.Utc, at: DateTime.Utc): boolean =>
  at.epochMilliseconds - since.epochMilliseconds >= MAX_FAILING_MILLIS

/** Checked again on the stored endpoint, which may have changed since the attempt began. */
const isDue = (endpoint: Endpoint, { disables, settlement }: Result): boolean => {
  const { failingSince, status } = endpoint
  if (status === "disabled") return false
  return disables !== "failing" || (failingSince !== null && isLong(failingSince, settlement.at))
}

/** The endpoint with the given `failingSince`. */
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
