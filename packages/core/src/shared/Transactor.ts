/**
 * What commits together: the transaction port.
 *
 * Its own port, because one transaction joins several stores (a usage record, its roll-up, the thresholds
 * it crosses, the idempotency row of the request). An adapter without atomicity must not exist.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "./StorageError.ts"

/**
 * Runs effects as transactions.
 *
 * Guarantees of `atomically(effect)`:
 * - all writes of `effect` through the stores of the same adapter become visible together, when it succeeds;
 * - when it fails, dies or is interrupted, none of them ever was;
 * - others see nothing of it before it commits, and two of them never both build on the same old value
 *   of a row (row locks or serial execution; see each adapter);
 * - a nested `atomically` joins the outer transaction as a savepoint: when the inner one fails and the outer
 *   one recovers, just the inner writes are undone.
 *
 * Keep I/O to others (HTTP calls) out of `effect`: locks are held while it runs.
 */
export class Transactor extends Context.Service<
  Transactor,
  {
    readonly atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>
    /** Whether the current fiber is inside a transaction. */
    readonly inTransaction: Effect.Effect<boolean>
  }
>()("@billwright/core/shared/Transactor") {}
