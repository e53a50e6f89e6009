/**
 * The port for storages that can read many things as of one instant.
 *
 * It is optional: without it, what is read together is read in one transaction.
 */
import { Context, Effect, Option } from "effect"
import type { StorageError } from "./StorageError.ts"
import { Transactor } from "./Transactor.ts"

export class SnapshotReads extends Context.Service<
  SnapshotReads,
  {
    /**
     * Runs an effect that only reads. All that it reads through the stores of the adapter is as of one instant. It holds
     * nothing, waits for nobody, and nobody waits for it. A write in it fails. It may take longer than a transaction.
     *
     * In a transaction it joins that: then it reads what the transaction would read, with its own writes.
     */
    readonly consistently: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>
  }
>()("@billwright/core/shared/SnapshotReads") {}

/** Runs an effect that only reads, as of one instant where the storage can do that. */
export const consistently = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R | Transactor> =>
  Effect.flatMap(Effect.serviceOption(SnapshotReads), (port) =>
    Option.isSome(port)
      ? port.value.consistently(effect)
      : Effect.flatMap(Transactor, ({ atomically }) => atomically(effect)),
  )
