/**
 * Implements `meters.rebuild`, for `createBilling` and for the client.
 */
import type { CallOptions } from "../Call.ts"
import type { Meter, Meters, RebuildOptions } from "./Meters.ts"

/** Does some of the work that is left on a meter, and gives the meter. */
type Step = (id: string, options: CallOptions) => Promise<Meter>

const isUnfinished = ({ rebuild }: Meter): boolean => rebuild !== null && rebuild.status !== "failed"

/** Repeats a step until no work is left. Each step is a call of its own, so that no call takes long. */
export const makeRebuild =
  (step: Step): Meters["rebuild"] =>
  async (id, { onProgress, ...options }: RebuildOptions = {}) => {
    let meter: Meter
    do {
      meter = await step(id, options)
      onProgress?.(meter)
    } while (isUnfinished(meter))
    return meter
  }
