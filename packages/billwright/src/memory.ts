/**
 * Storage in memory: for tests and trials.
 */
import { Memory } from "@billwright/memory"
import { makeStore } from "./runtime/StoreParts.ts"
import type { Store } from "./Store.ts"

export type { Store } from "./Store.ts"

/**
 * A storage that keeps nothing when the process ends. Each `createBilling` gets an empty one.
 *
 * Atomic and isolated like Postgres: transactions run one after another, so that a transaction holds up every other
 * call while it is open (and one that is made on `billing` inside of it is refused). It has no transactions of a host's to join: `billing.transaction(fn)` begins its own.
 */
export const memory = (): Store => makeStore("memory", { layer: Memory.layer, isSerial: true })
