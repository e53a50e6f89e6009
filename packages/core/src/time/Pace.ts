/**
 * How much of the storage a run takes.
 */
import { Duration, Effect } from "effect"

/**
 * - `full`: two transactions at the same time, without a pause. It takes all that the process and the storage have, so
 *   whatever else they do takes longer meanwhile.
 * - `background`: one transaction at a time, each followed by a pause as long as the transaction, at most
 *   `MAX_PAUSE_MILLIS`. So it takes at most half, and what comes in meanwhile hardly waits.
 */
export type Pace = "full" | "background"

export const PACES: ReadonlyArray<Pace> = ["full", "background"]

/** The longest pause after a transaction, however long that took: so the work is done while its lease lasts. */
const MAX_PAUSE_MILLIS = 500

/** How many batches are worked on at the same time: while the storage writes one, the next one is computed. */
export const batchesAtOnce = (pace: Pace): number => (pace === "full" ? 2 : 1)

/** Does some work, and makes the pause after it. */
export const paced = <A, E, R>(pace: Pace, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  pace === "full"
    ? work
    : Effect.flatMap(Effect.timed(work), ([took, done]) =>
        Effect.as(Effect.sleep(Duration.min(took, Duration.millis(MAX_PAUSE_MILLIS))), done),
      )
