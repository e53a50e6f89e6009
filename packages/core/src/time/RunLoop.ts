/**
 * Runs billing in the background.
 */
import { Clock, type DateTime, Effect, Fiber, Option, type Scope } from "effect"
import type { InvoicingUnsupported } from "../invoices/InvoicingUnsupported.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import { lasting } from "../shared/Lasting.ts"
import * as OutageLog from "../shared/OutageLog.ts"
import type { StorageError } from "../shared/StorageError.ts"

/** How often the storage is asked for what is due, at least. */
export const RUN_POLL_MILLIS = 5_000
/** How long to wait when something is due that can't be claimed: somebody else holds it. */
const HELD_MILLIS = 1_000
/** How often the spend alerts of customers with new usage are checked, so that they fire within a second. */
export const SPEND_POLL_MILLIS = 500
/** Most subjects of one round of a lane. */
const ROUND = 500
/** How long the run under way may take to be undone, and its leases to be ended, when the loop stops. */
const STOP_MILLIS = 4_000

type Failure = InvoicingUnsupported | StorageError

/** What the loop calls. */
export interface Runs {
  /** What does what is due in each lane. */
  readonly lanes: ReadonlyArray<
    (input: {
      readonly limit: number
    }) => Effect.Effect<{ readonly hasMore: boolean }, InvalidInput | Failure>
  >
  readonly nextDueAt: Effect.Effect<Option.Option<DateTime.Utc>, Failure>
  /** What checks spend alerts. */
  readonly checkSpend: Effect.Effect<unknown, Failure>
}

const pauseUntil = (next: Option.Option<DateTime.Utc>, now: number): number => {
  if (Option.isNone(next)) return RUN_POLL_MILLIS
  const pause = next.value.epochMilliseconds - now
  return pause > 0 ? Math.min(pause, RUN_POLL_MILLIS) : HELD_MILLIS
}

/**
 * Does what is due, at its instant, until the scope closes. No lane waits for another one. Then the subject under way is undone, and others can claim it
 * and the rest at once. Ends by itself on a storage without subscriptions and invoices.
 */
export const work = Effect.fnUntraced(function* ({
  checkSpend,
  lanes,
  nextDueAt,
}: Runs): Effect.fn.Return<void, never, Scope.Scope> {
  const outage = OutageLog.make("billing works again")
  const problem = "what is due can't be billed"
  const roundOf = (runDue: Runs["lanes"][number]) =>
    Effect.gen(function* () {
      const { hasMore } = yield* runDue({ limit: ROUND })
      yield* outage.worked
      if (hasMore) return
      yield* Effect.sleep(pauseUntil(yield* nextDueAt, yield* Clock.currentTimeMillis))
    })
  const spendRound = Effect.andThen(checkSpend, Effect.sleep(SPEND_POLL_MILLIS))
  // Not forked in the scope, which would wait for a claim that the storage never answers. The finalizer ends it.
  const looping = yield* Effect.forEach([...lanes.map(roundOf), spendRound], (round) =>
    Effect.forkDetach(
      Effect.catchTag(round, "InvalidInput", Effect.die).pipe(
        (checked) => lasting(checked, { outage, problem, pauseMillis: RUN_POLL_MILLIS }),
        Effect.forever,
        Effect.catchTag("InvoicingUnsupported", () => Effect.void),
      ),
    ),
  )
  yield* Effect.addFinalizer(() => Effect.timeoutOption(Fiber.interruptAll(looping), STOP_MILLIS))
})
