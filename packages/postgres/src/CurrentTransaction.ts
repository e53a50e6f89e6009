/**
 * What is known of the transaction that the current fiber is in, beyond its connection.
 */
import type { StorageError } from "@billwright/core"
import { Context, Effect, Exit, Option } from "effect"
import type { FailureKind } from "./StorageFailure.ts"

/** One try of an outermost transaction. */
export class TransactionState<A, E> {
  /** How the effect of the transaction ended. `undefined` while it runs. */
  exit: Exit.Exit<A, E> | undefined
  /** The worst that a statement met. Kept apart from the effect's own errors, which may wrap it. */
  failure: { readonly kind: FailureKind; readonly error: StorageError } | undefined
  /** The transaction's number in Postgres, once it has written something through our stores. */
  xid: string | undefined
  /** When it began, on the monotonic clock of this process, in milliseconds. */
  readonly startedAt = performance.now()
  /** Nobody waits for it any more, so it must not commit. */
  isAbandoned = false

  noteFailure(kind: FailureKind, error: StorageError): void {
    if (this.failure === undefined || this.failure.kind === "permanent") this.failure = { kind, error }
  }

  /** A COMMIT is on its way or answered. */
  get isCommitting(): boolean {
    return this.exit !== undefined && Exit.isSuccess(this.exit)
  }
}

export class CurrentTransaction extends Context.Service<
  CurrentTransaction,
  TransactionState<unknown, unknown>
>()("@billwright/postgres/CurrentTransaction") {}

/** Remembers the number that Postgres gave the transaction: by it the outcome of a lost COMMIT can be asked. */
export const noteXid = (xid: unknown): Effect.Effect<void> =>
  typeof xid === "string"
    ? Effect.map(
        Effect.serviceOption(CurrentTransaction),
        Option.match({
          onNone: () => undefined,
          onSome: (transaction) => {
            transaction.xid = xid
          },
        }),
      )
    : Effect.void
