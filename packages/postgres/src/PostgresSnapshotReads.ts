/**
 * Reads as of one instant, on Postgres.
 */
import { SnapshotReads } from "@billwright/core"
import { Effect, Layer } from "effect"
import { SqlError } from "effect/sql"
import { Database } from "./Database.ts"
import { kindOf, toStorageError } from "./StorageFailure.ts"

const OPERATION = "SnapshotReads.consistently"

/**
 * A transaction at REPEATABLE READ, READ ONLY: Postgres refuses any write in it. Each statement has the time limit of all
 * statements. The whole has none, because nobody waits for it.
 */
export const layer: Layer.Layer<SnapshotReads, never, Database> = Layer.effect(
  SnapshotReads,
  Effect.map(Database, ({ client, inTransaction }) =>
    SnapshotReads.of({
      consistently: (effect) =>
        Effect.flatMap(Effect.all([client, inTransaction]), ([sql, isInside]) => {
          if (isInside) return effect
          const asOfNow = sql`set transaction isolation level repeatable read, read only`
          return Effect.catchIf(
            sql.withTransaction(Effect.andThen(asOfNow, effect)),
            (error): error is SqlError.SqlError & typeof error => SqlError.isSqlError(error),
            (error) => Effect.fail(toStorageError(OPERATION, error, kindOf(error) !== "permanent")),
          )
        }),
    }),
  ),
)
