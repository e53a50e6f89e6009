/**
 * The parts of the host's database clients that are used.
 */

/** Runs statements with the parameters `$1`, `$2`, … inside an open transaction. */
export interface TransactionClient {
  query(text: string, values: Array<unknown>): Promise<{ readonly rows: ReadonlyArray<unknown> }>
}

/** A client of a pool. */
export interface PgPoolClient extends TransactionClient {
  /** Returns the client to the pool. `true` means that the client is broken. */
  release(isBroken?: boolean): void
}

/** `pg.Pool`, or an object with the same interface. */
export interface PgPool {
  connect(): Promise<PgPoolClient>
}
