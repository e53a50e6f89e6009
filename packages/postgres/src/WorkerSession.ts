/**
 * Shows other processes that this one lives, so that they take its leases over soon after it died.
 *
 * A worker is named by the first characters of its leases' tokens. Its session holds an advisory lock. Postgres frees
 * the lock as soon as the session ends, which a killed process can't prevent. Then `watch_workers` of another process
 * notes it, and claims take the dead worker's leases for ended.
 *
 * A worker without such a session is not in the table of workers. Its leases end when they end. That is so behind a
 * proxy that lends connections for one transaction at a time, and on a host's pool.
 */
import type { StorageError } from "@billwright/core"
import type { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, type Scope } from "effect"
import type { DatabaseService } from "./Database.ts"
import { answeredWithin, waited } from "./Deadline.ts"
import { lockOf, WORKER_LENGTH } from "./functions/WorkerFunctions.ts"

/** The pause before the removal of a worker is tried again, in milliseconds. */
const AGAIN_MILLIS = 200
/** How long the removal of a worker may take when its session is closed in order, in milliseconds. */
const LEAVE_MILLIS = 1_000

export interface Worker {
  /** A new token for the leases of one claim. */
  readonly token: () => string
  /** The worker in SQL: the start of its tokens. */
  readonly name: () => string
  /**
   * Takes a lock in a session that was just opened, and then enters the worker in the table. Leases that it had before
   * are watched from then on. A user who may not write the table is not entered.
   *
   * When the scope is interrupted, the session is closed in order, and the worker may go on without one. So it removes
   * itself first. It tries once, for a second at most: nobody waits for a server that does not answer. Then it takes a
   * new name.
   */
  readonly begin: (session: PgConnection.PgConnection) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Removes the worker from the table after its session was lost, until it is removed. Otherwise others would send
   * what this process is sending. Then it takes a new name, because the server may still hold the lock of the session
   * that was lost. It takes one also when this is interrupted.
   */
  readonly lost: Effect.Effect<void>
}

const newName = (): string => crypto.randomUUID().slice(0, WORKER_LENGTH)

export const make = ({ everyTenant: { write }, schema }: DatabaseService): Worker => {
  const table = `${schema}.webhook_workers`
  const enter = `insert into ${table} (worker) select $1
where pg_try_advisory_lock(${lockOf(schema, "$1::text")}) on conflict do nothing`
  const leaving = `delete from ${table} where worker = $1`
  let name = newName()

  const rename = Effect.sync(() => {
    name = newName()
  })

  const leave = (session: PgConnection.PgConnection) =>
    Effect.suspend(() =>
      answeredWithin(
        Effect.interruptible(session.query(leaving, [name])),
        LEAVE_MILLIS,
        () => new Error("too late"),
      ),
    ).pipe(Effect.ignore, Effect.andThen(rename))

  const begin = Effect.fnUntraced(function* (session: PgConnection.PgConnection) {
    yield* Effect.addFinalizer((exit) => (Exit.hasInterrupts(exit) ? leave(session) : Effect.void))
    yield* Effect.ignore(session.query(enter, [name]))
  })

  const remove = Effect.suspend((): Effect.Effect<unknown, StorageError> =>
    write("DeliveryStore.claimDue", (sql) => sql.unsafe(leaving, [name])),
  )
  const removed: Effect.Effect<void> = Effect.matchEffect(remove, {
    onSuccess: () => Effect.void,
    onFailure: () => Effect.andThen(waited(AGAIN_MILLIS), removed),
  })
  const lost = Effect.ensuring(removed, rename)

  return { token: () => name + crypto.randomUUID().slice(WORKER_LENGTH), name: () => name, begin, lost }
}
