/**
 * The state of the transaction that the current fiber is in, besides its connection.
 */
import type { StorageError } from "@billwright/core"
import { Context, Effect, Exit, Option } from "effect"
import { Statement } from "effect/sql"
import type { FailureKind } from "./StorageFailure.ts"

/** One attempt at an outermost transaction. */
export class TransactionState<A, E> {
  /** How the transaction's effect ended. `undefined` while it runs. */
  exit: Exit.Exit<A, E> | undefined
  /** The worst failure of a statement. Kept apart from the effect's own errors, because those may wrap it. */
  failure: { readonly kind: FailureKind; readonly error: StorageError } | undefined
  /** The transaction's number in Postgres, once one of our stores has written in it. */
  xid: string | undefined
  /** When it began, in milliseconds of this process's monotonic clock. */
  readonly startedAt = performance.now()
  /** The caller has stopped waiting, so it must not commit. */
  isAbandoned = false

  noteFailure(kind: FailureKind, error: StorageError): void {
    if (this.failure === undefined || this.failure.kind === "permanent") this.failure = { kind, error }
  }

  /** COMMIT has been sent, and perhaps answered. */
  get isCommitting(): boolean {
    return this.exit !== undefined && Exit.isSuccess(this.exit)
  }
}

export class CurrentTransaction extends Context.Service<
  CurrentTransaction,
  TransactionState<unknown, unknown>
>()("@billwright/postgres/CurrentTransaction") {}

/** The column of a statement's answer that `noteXid` takes: null as long as the transaction has written nothing. */
export const XID = Statement.fragment([Statement.literal("pg_current_xact_id_if_assigned()::text as xid")])

/**
 * Notes the number that Postgres gave the transaction. With it, Postgres can be asked for the outcome of a lost
 * COMMIT.
 */
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
