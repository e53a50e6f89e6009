/**
 * Publications are not planned anew each time: after the first five executions Postgres keeps the generic plan, because it seems
 * to cost no more than plans for given values.
 */
import { IdGenerator } from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { publish } from "./Webhooks.ts"

const live = IdGenerator.layer.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient({ poolSize: 1 })),
)

const EXECUTIONS = 20
/** How many executions Postgres plans for their values before it compares the costs. */
const PLANNED = 5

/** How often the statement with a function was planned for given values, and how often the generic plan was used. */
const plansOf = Effect.fnUntraced(function* (called: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ custom: number; generic: number }>`
select coalesce(sum(custom_plans), 0)::integer as custom, coalesce(sum(generic_plans), 0)::integer as generic
from pg_prepared_statements where strpos(statement, ${called}) > 0`
  return rows[0]!
})

const times = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.forEach(
    Array.from({ length: EXECUTIONS }, (_, index) => index),
    () => effect,
    { discard: true },
  )

describe("the plan of", () => {
  layer(live)((it) => {
    it.effect("a publication is kept", () =>
      asTenant(
        Effect.gen(function* () {
          yield* times(Effect.suspend(() => publish({ idempotencyKey: crypto.randomUUID() })))
          const { custom, generic } = yield* plansOf("publish_event_row(")
          assert.isAtMost(custom, PLANNED)
          assert.isAtLeast(generic, EXECUTIONS - PLANNED)
        }),
      ),
    )

    it.effect("a group of publications is kept", () =>
      asTenant(
        Effect.gen(function* () {
          yield* times(Effect.all([publish(), publish(), publish()], { concurrency: "unbounded" }))
          const { custom, generic } = yield* plansOf("publish_event_rows(")
          assert.isAtMost(custom, PLANNED)
          assert.isAtLeast(generic, EXECUTIONS - PLANNED)
        }),
      ),
    )
  })
})
