/**
 * B22: how long a delivery takes when the process that sends also publishes, as in an app that has billing embedded.
 */
import { measure } from "./webhooks/Latency.ts"

/** Runs the benchmark. */
export const run = (): Promise<void> =>
  measure({ name: "webhook-latency-embedded", title: "B22, in one process", isOneProcess: true })
