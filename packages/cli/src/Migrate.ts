/**
 * `billwright migrate`: updates the schema, or prints its SQL.
 */
import { Migrations } from "@billwright/postgres"
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as Store from "./Store.ts"

const print = Flag.Boolean("print").pipe(
  Flag.withDescription("Print the SQL instead of running it, for teams that run DDL themselves."),
  Flag.withDefault(false),
)

const after = Flag.Int("after").pipe(
  Flag.withDescription(
    "With --print: leave out migrations up to this number, which the database already has. Functions are always printed. Default: 0.",
  ),
  Flag.withDefault(0),
)

const apply = Effect.fnUntraced(function* (schema: string) {
  const { functions, migrations } = yield* Migrations.run({ schema })
  if (migrations.length > 0) yield* Console.log(`Applied to the schema ${schema}: ${migrations.join(", ")}.`)
  if (functions.length > 0)
    yield* Console.log(`Wrote functions of the schema ${schema}: ${functions.join(", ")}.`)
  if (migrations.length + functions.length === 0) yield* Console.log(`The schema ${schema} is up to date.`)
})

const applyTo = (options: Store.DatabaseOptions): Effect.Effect<void, Store.StoreFailure> =>
  apply(options.schema).pipe(
    Effect.provide(Store.layerClient({ ...options, isShared: true })),
    Effect.catchTag("StorageError", (error) => Effect.fail(Store.explainStorage(error))),
  )

export const migrate = Command.make(
  "migrate",
  { ...Store.databaseFlags, print, after },
  Effect.fn(function* (options) {
    if (options.print) return yield* Console.log(Migrations.print(options))
    return yield* applyTo(options)
  }),
).pipe(
  Command.withDescription("Update the Postgres schema to this version"),
  Command.withExamples([
    {
      command: "DATABASE_URL=postgres://… billwright migrate --store postgres",
      description: "Migrate your database",
    },
    { command: "billwright migrate --print > billwright.sql", description: "Get the SQL to run yourself" },
  ]),
)
