/**
 * B4: how many deliveries are made when one process publishes and another one sends.
 */
import { measure } from "./webhooks/Throughput.ts"

/** Runs the benchmark. */
export const run = (): Promise<void> => measure({ name: "webhooks", title: "B4", isOneProcess: false })
