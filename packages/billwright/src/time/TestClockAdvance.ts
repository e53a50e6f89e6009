/**
 * Implements `testClocks.advance`, for `createBilling` and for the client.
 */
import type { CallOptions, Instant } from "../Call.ts"
import type { AdvanceOptions, TestClock, TestClocks } from "./TestClocks.ts"

/** Does some of what is due before an instant, and gives the clock. */
type Step = (id: string, to: Instant, options: CallOptions) => Promise<TestClock>

/** Repeats a step until the clock is ready. Each step is a call of its own, so that no call takes long. */
export const makeAdvance =
  (step: Step): TestClocks["advance"] =>
  async (id, to, { onProgress, ...options }: AdvanceOptions = {}) => {
    for (;;) {
      const clock = await step(id, to, options)
      onProgress?.(clock)
      if (clock.status === "ready") return clock
    }
  }
