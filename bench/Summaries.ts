/**
 * Rounds of summaries, for the benchmarks that compare them with adding up the records.
 */
import type { Contender } from "./Comparison.ts"
import { median } from "./Statistics.ts"

const SAMPLES = 200

/** How long work takes, in milliseconds. */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** A side whose figure is the median of `SAMPLES` answers in a row. */
export const summaries = (name: string, summary: () => Promise<unknown>): Contender => ({
  name,
  round: async () => {
    const times: Array<number> = []
    for (let sample = 0; sample < SAMPLES; sample++) times.push(await timed(summary))
    return median(times)
  },
})
