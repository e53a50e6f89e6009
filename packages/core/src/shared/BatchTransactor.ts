/**
 * The port for storages that do the same work on many values faster in one transaction than in many.
 *
 * It is optional: without it, each effect has a transaction of its own.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "./StorageError.ts"

export class BatchTransactor extends Context.Service<
  BatchTransactor,
  {
    /**
     * Runs effects as one transaction, side by side: their calls of stores take turns in any order. So no effect may depend
     * on what another one reads or writes. Gives their results in their order. When one of them fails, dies or is
     * interrupted, none of their writes is ever visible.
     *
     * A nested `Transactor.atomically` is no savepoint here: when it fails, everything fails, even if its effect recovers.
     * Not within a transaction.
     */
    readonly atomicallyAll: <A, E, R>(
      effects: ReadonlyArray<Effect.Effect<A, E, R>>,
    ) => Effect.Effect<ReadonlyArray<A>, E | StorageError, R>
  }
>()("@billwright/core/shared/BatchTransactor") {}
