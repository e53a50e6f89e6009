/**
 * Storage in memory, for tests and for trying Billwright out.
 */
import { Memory } from "@billwright/memory"
import { makeStore } from "./runtime/StoreParts.ts"
import type { Store } from "./Store.ts"

export type { Store } from "./Store.ts"

/**
 * A store in memory. Its data is lost when the process ends. Each `createBilling` starts with an empty one.
 *
 * It is atomic and isolated like Postgres, but runs one transaction at a time: every other call waits while a
 * transaction is open. A call on `billing` inside the transaction's function would wait for ever, so it is refused.
 * Only `billing.transaction(fn)` works, because there is no database transaction of yours to join.
 */
export const memory = (): Store => makeStore("memory", { layer: Memory.layer, isSerial: true })
