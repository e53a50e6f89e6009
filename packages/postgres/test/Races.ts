/**
 * Two calls at once, of which one is first.
 */
import { Transactor } from "@billwright/core"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Runs an effect in a transaction, which stays open until the other effect waits for a lock, and does the rest then. Gives how
 * both ended.
 */
export const inTurn = <A, B, E1, E2, R1, R2, E3 = never, R3 = never>(
  first: Effect.Effect<A, E1, R1>,
  second: Effect.Effect<B, E2, R2>,
  rest: Effect.Effect<unknown, E3, R3> = Effect.void,
) =>
  Effect.gen(function* () {
    const { atomically } = yield* Transactor
    const sql = yield* SqlClient.SqlClient
    // A waiting session also holds locks on tables of its database.
    const hasWaiting = sql`select 1 from pg_locks w where not w.granted and exists (
  select from pg_locks l join pg_database d on d.oid = l.database
  where l.pid = w.pid and d.datname = current_database()
)`.pipe(Effect.repeat({ until: (rows) => rows.length > 0 }))
    const done = yield* Deferred.make<void>()
    const open = first.pipe(
      Effect.tap(() => Deferred.succeed(done, undefined)),
      Effect.tap(() => hasWaiting),
      Effect.tap(() => rest),
    )
    const one = yield* Effect.forkChild(Effect.exit(atomically(open)))
    yield* Deferred.await(done)
    const two = yield* Effect.exit(second)
    return [yield* Fiber.join(one), two] as const
  })
