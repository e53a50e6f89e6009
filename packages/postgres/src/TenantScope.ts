/**
 * Says in Postgres whose rows a statement is about, in a schema with row-level security: docs/decisions/0039.
 *
 * The setting is local to a transaction. So it works on any connection, also on one that a proxy lends for a transaction.
 */
import { CurrentTenant } from "@billwright/core"
import { Cause, Context, Effect, Option, Semaphore } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { EVERY_TENANT, TENANT } from "./roles/RowSecurity.ts"
import type { SchemaName } from "./SchemaName.ts"
import { asSqlError } from "./StorageFailure.ts"

type Asked<A> = Effect.Effect<A, SqlError.SqlError>

/** Whose rows: those of the tenant of the current fiber, or everybody's. */
export type Whose = "every" | "own"

export interface TenantScope {
  /** Runs what was asked for in the transaction that the client is in. */
  readonly joined: <A>(sql: SqlClient.SqlClient, whose: Whose, asked: Asked<A>) => Asked<A>
  /** Runs what was asked for in a transaction of its own. */
  readonly alone: <A>(sql: SqlClient.SqlClient, whose: Whose, asked: Asked<A>) => Asked<A>
}

/** Where there is no row-level security. */
export const none: TenantScope = {
  joined: (_sql, _whose, asked) => asked,
  alone: (_sql, _whose, asked) => asked,
}

/** Without a tenant a statement sees nothing. */
const tenantOf = (context: Context.Context<never>, whose: Whose): string =>
  whose === "every"
    ? EVERY_TENANT
    : Option.match(Context.getOption(context, CurrentTenant), {
        onNone: () => "",
        onSome: ({ accountId, mode }) => `${accountId}/${mode}`,
      })

/** What the transaction of a connection was last told. */
interface Told {
  /** The transaction or savepoint in which it was told. The end of a savepoint may take it back. */
  readonly place: object
  readonly tenant: string
}

/** For statements on `own`, and on the clients of hosts' transactions. */
export const make = (own: SqlClient.SqlClient): TenantScope => {
  const told = new WeakMap<object, Told>()
  const turns = new WeakMap<object, Semaphore.Semaphore>()

  /** Fibers may share the connection of a transaction, so what is told and what is asked have to follow each other. */
  const inTurn = <A>(connection: object, asked: Asked<A>): Asked<A> => {
    const turn = turns.get(connection) ?? Semaphore.makeUnsafe(1)
    turns.set(connection, turn)
    return turn.withPermit(asked)
  }

  const joined: TenantScope["joined"] = (sql, whose, asked) =>
    Effect.contextWith((context: Context.Context<never>) => {
      const level = Option.getOrUndefined(Context.getOption(context, sql.transactionService))
      // A host's transaction begins without us, and has one client.
      const connection: object = sql === own && level !== undefined ? level[0] : sql
      const next: Told = { place: level ?? sql, tenant: tenantOf(context, whose) }
      const telling = Effect.suspend(() => {
        const last = told.get(connection)
        if (last?.place === next.place && last.tenant === next.tenant) return Effect.void
        told.delete(connection)
        return Effect.map(sql`select set_config(${TENANT}, ${next.tenant}, true)`, () => {
          told.set(connection, next)
        })
      })
      return inTurn(connection, Effect.andThen(telling, asked))
    })

  const alone: TenantScope["alone"] = (sql, whose, asked) =>
    sql.withTransaction(joined(sql, whose, asked)).pipe(Effect.catchCause(failureOf))

  return { joined, alone }
}

/** A ROLLBACK that can't be sent arrives as a defect, beside the failure of the statement. */
const failureOf = (cause: Cause.Cause<SqlError.SqlError>): Effect.Effect<never, SqlError.SqlError> => {
  const failures = cause.reasons.flatMap((reason) => {
    if (Cause.isFailReason(reason)) return [reason.error]
    const found = Cause.isDieReason(reason) ? asSqlError(reason.defect) : undefined
    return found === undefined ? [] : [found]
  })
  return failures[0] === undefined ? Effect.failCause(cause) : Effect.fail(failures[0])
}

/** Whether a schema has row-level security. */
export const isAsked = (
  sql: SqlClient.SqlClient,
  schema: SchemaName,
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql`select 1 from pg_class where oid = to_regclass(${`"${schema}".customers`}) and relrowsecurity`,
    (rows) => rows.length > 0,
  )
