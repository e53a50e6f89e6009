/**
 * Clients of the host's database, as far as they are used.
 */

/** What runs a statement with `$1`, `$2`, … in it, inside a transaction that is open. */
export interface TransactionClient {
  query(text: string, values: Array<unknown>): Promise<{ readonly rows: ReadonlyArray<unknown> }>
}

/** A client that a pool lent. */
export interface PgPoolClient extends TransactionClient {
  /** Gives it back; `true`: it is broken. */
  release(isBroken?: boolean): void
}

/** `pg.Pool`, and what looks like it. */
export interface PgPool {
  connect(): Promise<PgPoolClient>
}
