/**
 * `billwright migrate`: updates the schema, or prints its SQL. With `--roles` it makes the roles of the schema, too.
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

const roles = Flag.Boolean("roles").pipe(
  Flag.withDescription(
    "Also make the roles of the schema: one that owns it, one for applications, one for readers and one that records usage. Each gets exactly its rights. Needs the right to make roles, and --store postgres. Run it again after an upgrade that prints SQL.",
  ),
  Flag.withDefault(false),
)

interface MigrateOptions extends Store.DatabaseOptions {
  readonly roles: boolean
}

/** What each role is for, and how a login gets its rights. */
const explainRoles = ({ app, owner, reader, recorder }: NonNullable<Migrations.Applied["roles"]>): string =>
  `Roles, none of which can log in by itself:
  ${owner}  owns the schema. For migrations, and for commands that make API keys
  ${app}  for applications, servers and workers
  ${reader}  reads what is billed
  ${recorder}  calls record_usage, consume_credits and commit_hold, and nothing else
Give a login the rights of a role, for example:
  create role shop login password '…'; grant ${app} to shop;`

const apply = Effect.fnUntraced(function* (schema: string, withRoles: boolean) {
  const { functions, migrations, roles: made } = yield* Migrations.run({ schema, roles: withRoles })
  if (migrations.length > 0) yield* Console.log(`Applied to the schema ${schema}: ${migrations.join(", ")}.`)
  if (functions.length > 0)
    yield* Console.log(`Wrote functions of the schema ${schema}: ${functions.join(", ")}.`)
  if (migrations.length + functions.length === 0) yield* Console.log(`The schema ${schema} is up to date.`)
  if (made !== undefined) yield* Console.log(explainRoles(made))
})

/** Why there can be no roles. */
const problemOf = ({ print: isPrinted, schema, store }: MigrateOptions & { readonly print: boolean }) =>
  store === "embedded" && !isPrinted
    ? "--roles needs --store postgres: an embedded Postgres has one login, which is no superuser"
    : Migrations.problemOfRoles(schema)

const applyTo = (options: MigrateOptions): Effect.Effect<void, Store.StoreFailure> =>
  apply(options.schema, options.roles).pipe(
    Effect.provide(Store.layerClient({ ...options, isShared: true })),
    Effect.catchTag("StorageError", (error) => Effect.fail(Store.explainStorage(error))),
  )

export const migrate = Command.make(
  "migrate",
  { ...Store.databaseFlags, print, after, roles },
  Effect.fn(function* (options) {
    const problem = options.roles ? problemOf(options) : undefined
    if (problem !== undefined) return yield* new Store.Misconfigured({ message: problem })
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
    {
      command: "DATABASE_URL=postgres://… billwright migrate --store postgres --roles",
      description: "Also make roles with the rights of an owner, an application, a reader and a recorder",
    },
    { command: "billwright migrate --print > billwright.sql", description: "Get the SQL to run yourself" },
  ]),
)
