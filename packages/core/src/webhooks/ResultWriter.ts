/**
 * Writes what came of attempts, many at a time, and disables endpoints that ask for it.
 */
import { Clock, type DateTime, Effect, Semaphore } from "effect"
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
  /** When its lease ends, in epoch milliseconds: writing it is tried until then. */
  readonly leaseUntil: number
}

export interface ResultWriter {
  /** Takes a result. Synchronous: whoever made an attempt can't be kept from handing it over. */
  readonly push: (result: Result) => void
  /** Writes all that was taken before, and waits for a write that is under way. Gives up on what can't be written. */
  readonly writeAll: Effect.Effect<void>
  /** Results were taken. */
  readonly taken: Signal.Signal
}

export const make = (
  store: DeliveryStore["Service"],
  endpoints: EndpointStore["Service"],
  transactor: Transactor["Service"],
): ResultWriter => {
  const waiting: Array<Result> = []
  const taken = Signal.make()
  const oneAtATime = Semaphore.makeUnsafe(1)

  /** In one step with the result: a crash leaves both or neither. */
  const writeDisabling = ({ disables, settlement }: Result) => {
    const { at } = settlement
    return transactor
      .atomically(
        Effect.gen(function* () {
          const [isWritten] = yield* store.settle([settlement])
          const { endpointId } = settlement
          if (isWritten !== true || endpointId === undefined || disables === undefined) return undefined
          let isDisabled = false
          yield* endpoints.modify(endpointId, (stored) =>
            Effect.sync(() => {
              isDisabled = isDue(stored.endpoint, disables, at)
              return isDisabled ? disabled(stored, disables, at) : stored
            }),
          )
          return isDisabled ? endpointId : undefined
        }),
      )
      .pipe(
        Effect.flatMap((endpointId) =>
          endpointId === undefined ? Effect.void : endPending(endpointId, disables, at),
        ),
      )
  }

  const endPending = (endpointId: EndpointId, reason: DisabledReason | undefined, at: DateTime.Utc) =>
    Effect.andThen(
      Effect.logWarning("a webhook endpoint was disabled", endpointId, reason),
      cancelAll(store, endpointId, "endpoint_disabled", at),
    )

  const write = (results: ReadonlyArray<Result>): Effect.Effect<void, StorageError> => {
    const disabling = results.filter((result) => result.disables !== undefined)
    const plain = results.filter((result) => result.disables === undefined)
    const settle = plain.length === 0 ? Effect.void : store.settle(plain.map(({ settlement }) => settlement))
    return Effect.andThen(
      settle,
      Effect.forEach(
        disabling,
        (result) => Effect.provideService(writeDisabling(result), CurrentTenant, result.settlement.tenant),
        { discard: true },
      ),
    )
  }

  /** Until it is written or its lease has ended: then another worker has it. */
  const persist = (results: ReadonlyArray<Result>): Effect.Effect<void> =>
    Effect.catch(write(results), (error) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const held = results.filter(({ leaseUntil }) => now < leaseUntil)
        if (held.length < results.length) {
          yield* Effect.logError("results of webhook attempts were not written in time", error)
        }
        if (held.length === 0) return
        // A result that was written without our knowing is not written twice: its lease is over then.
        if (error.retryable || error.isOutcomeUnknown === true) {
          yield* Effect.sleep(RETRY_PAUSE_MILLIS)
          return yield* persist(held)
        }
        // One that storage can't take must not keep the others from it.
        if (held.length > 1)
          return yield* Effect.forEach(held, (result) => persist([result]), { discard: true })
        yield* Effect.logError("the result of a webhook attempt cannot be written", error)
      }),
    )

  const writeAll = oneAtATime.withPermit(
    Effect.whileLoop({
      while: () => waiting.length > 0,
      body: () => persist(waiting.splice(0, MAX_SETTLE)),
      step: () => undefined,
    }),
  )

  return {
    push: (result) => {
      waiting.push(result)
      taken.notify()
    },
    writeAll,
    taken,
  }
}

/** Judged again on what is stored: somebody may have enabled it anew since the attempt began. */
const isDue = (endpoint: Endpoint, reason: DisabledReason, at: DateTime.Utc): boolean => {
  if (endpoint.status === "disabled") return false
  if (reason !== "failing") return true
  const { failingSince } = endpoint
  return failingSince !== null && at.epochMilliseconds - failingSince.epochMilliseconds >= MAX_FAILING_MILLIS
}

const disabled = (stored: StoredEndpoint, reason: DisabledReason, at: DateTime.Utc): StoredEndpoint => ({
  ...stored,
  endpoint: {
    ...stored.endpoint,
    status: "disabled",
    disabledReason: reason,
    disabledAt: at,
    updatedAt: at,
  },
})
