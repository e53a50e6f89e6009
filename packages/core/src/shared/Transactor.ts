/**
 * The transaction port: it makes several writes commit together.
 *
 * It is a port of its own because one transaction joins several stores (a usage record, its roll-up, the thresholds
 * it crosses, the idempotency row of the request). Every adapter must be atomic.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "./StorageError.ts"

/**
 * Runs effects as transactions.
 *
 * Guarantees of `atomically(effect)`:
 * - all writes of `effect` through the stores of the same adapter become visible together, when it succeeds;
 * - when it fails, dies or is interrupted, none of them is ever visible;
 * - other transactions see none of its writes before it commits, and two transactions never both build on the same
 *   old value of a row (row locks or serial execution; see each adapter);
 * - a nested `atomically` joins the outer transaction as a savepoint: when the inner one fails and the outer
 *   one recovers, only the inner writes are undone.
 *
 * Do not call other systems (HTTP) inside `effect`: locks are held while it runs.
 */
export class Transactor extends Context.Service<
  Transactor,
  {
    readonly atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>
    /** Whether the current fiber is inside a transaction. */
    readonly inTransaction: Effect.Effect<boolean>
  }
>()("@billwright/core/shared/Transactor") {}
