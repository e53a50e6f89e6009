/**
 * B23: how many deliveries are made when the process that sends also publishes, as in an app that has billing embedded.
 */
import { measure } from "./webhooks/Throughput.ts"

/** Runs the benchmark. */
export const run = (): Promise<void> =>
  measure({ name: "webhooks-embedded", title: "B23, in one process", isOneProcess: true })
