/**
 * `billwright migrate`: updates the schema, or prints its SQL. With `--roles` it makes the roles of the schema, too.
 */
import { Migrations } from "@billwright/postgres"
import { Console, Effect, Option } from "effect"
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

const rowLevelSecurity = Flag.Literals("row-level-security", ["on", "off"]).pipe(
  Flag.withDescription(
    "With --roles: whether Postgres shows each transaction the rows of its tenant only. Stop servers and workers before you change it. Default: as it is, and off at first.",
  ),
  Flag.optional,
)

interface MigrateOptions extends Store.DatabaseOptions {
  readonly roles: boolean
  readonly rowLevelSecurity: Option.Option<"off" | "on">
}

const runOptions = ({
  roles: withRoles,
  rowLevelSecurity: asked,
  schema,
}: MigrateOptions): Migrations.RunOptions => ({
  schema,
  roles: withRoles,
  ...(Option.isNone(asked) ? {} : { rowLevelSecurity: asked.value === "on" }),
})

/** What each role is for, and how a login gets its rights. */
const explainRoles = ({ app, owner, reader, recorder }: NonNullable<Migrations.Applied["roles"]>): string =>
  `Roles, none of which can log in by itself:
  ${owner}  owns the schema. For migrations, and for commands that make API keys
  ${app}  for applications, servers and workers
  ${reader}  reads what is billed
  ${recorder}  calls record_usage, consume_credits and commit_hold, and nothing else
Give a login the rights of a role, for example:
  create role shop login password '…'; grant ${app} to shop;`

const apply = Effect.fnUntraced(function* (options: MigrateOptions) {
  const { schema } = options
  const { functions, migrations, roles: made } = yield* Migrations.run(runOptions(options))
  if (migrations.length > 0) yield* Console.log(`Applied to the schema ${schema}: ${migrations.join(", ")}.`)
  if (functions.length > 0)
    yield* Console.log(`Wrote functions of the schema ${schema}: ${functions.join(", ")}.`)
  if (migrations.length + functions.length === 0) yield* Console.log(`The schema ${schema} is up to date.`)
  if (made !== undefined) yield* Console.log(explainRoles(made))
})

/** What is wrong with the flags, in a sentence. */
const problemOf = (options: MigrateOptions & { readonly print: boolean }): string | undefined => {
  if (!options.roles)
    return Option.isSome(options.rowLevelSecurity) ? "--row-level-security needs --roles" : undefined
  return options.store === "embedded" && !options.print
    ? "--roles needs --store postgres: an embedded Postgres has one login, which is no superuser"
    : Migrations.problemOfRoles(options.schema)
}

const applyTo = (options: MigrateOptions): Effect.Effect<void, Store.StoreFailure> =>
  apply(options).pipe(
    Effect.provide(Store.layerClient({ ...options, isShared: true })),
    Effect.catchTag("StorageError", (error) => Effect.fail(Store.explainStorage(error))),
  )

export const migrate = Command.make(
  "migrate",
  { ...Store.databaseFlags, print, after, roles, rowLevelSecurity },
  Effect.fn(function* (options) {
    const problem = problemOf(options)
    if (problem !== undefined) return yield* new Store.Misconfigured({ message: problem })
    if (options.print)
      return yield* Console.log(Migrations.print({ ...runOptions(options), after: options.after }))
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
