/**
 * B5: how long a delivery takes when one process publishes and another one sends.
 */
import { measure } from "./webhooks/Latency.ts"

/** Runs the benchmark. */
export const run = (): Promise<void> => measure({ name: "webhook-latency", title: "B5", isOneProcess: false })
