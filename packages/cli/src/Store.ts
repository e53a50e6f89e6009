import { resolve } from "node:path"
/**
 * The flags that select the data store, and the layers that are made from them.
 */
import type { Billing, StorageError } from "@billwright/core"
import { type IncompatibleSchema, PostgresClient, startProblemOf, Storage } from "@billwright/postgres"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Config, Console, Context, Data, Effect, Layer, Option, Redacted, Schedule } from "effect"
import { Flag } from "effect/cli"
import type { SqlClient, SqlError } from "effect/sql"
import { rootOf } from "./RootMessage.ts"

export const DEFAULT_SCHEMA = "billwright"

/** The flags of a command that needs a Postgres. */
export const databaseFlags = {
  store: Flag.Literals("store", ["embedded", "postgres"]).pipe(
    Flag.withDescription(
      "Where the data is stored. embedded: in a Postgres that Billwright runs, in --data-dir. postgres: in the database of DATABASE_URL. Default: BILLWRIGHT_STORE, or embedded.",
    ),
    Flag.withFallbackConfig(
      Config.Literals(["embedded", "postgres"], "BILLWRIGHT_STORE").pipe(
        Config.withDefault("embedded" as const),
      ),
    ),
  ),
  dataDir: Flag.String("data-dir").pipe(
    Flag.withDescription(
      `The directory of the embedded Postgres. Default: ${EmbeddedPostgres.DEFAULT_DIRECTORY}.`,
    ),
    Flag.withDefault(EmbeddedPostgres.DEFAULT_DIRECTORY),
  ),
  schema: Flag.String("schema").pipe(
    Flag.withDescription(`The Postgres schema that holds Billwright's tables. Default: ${DEFAULT_SCHEMA}.`),
    Flag.withDefault(DEFAULT_SCHEMA),
  ),
}

/** The flags of a command that can also work in memory. */
export const flags = {
  ...databaseFlags,
  store: Flag.Literals("store", ["embedded", "postgres", "memory"]).pipe(
    Flag.withDescription(
      "Where the data is stored. embedded: in a Postgres that Billwright runs, in --data-dir. postgres: in the database of DATABASE_URL. memory: only in memory, and lost when the command ends. Default: BILLWRIGHT_STORE, or embedded.",
    ),
    Flag.withFallbackConfig(
      Config.Literals(["embedded", "postgres", "memory"], "BILLWRIGHT_STORE").pipe(
        Config.withDefault("embedded" as const),
      ),
    ),
  ),
}

export interface DatabaseOptions {
  readonly store: "embedded" | "postgres"
  readonly dataDir: string
  readonly schema: string
}

/** The flags or the environment of a command are wrong. */
export class Misconfigured extends Data.TaggedError("Misconfigured")<{ readonly message: string }> {}

/** Why a command can't use its data. */
export type StoreFailure =
  | EmbeddedPostgres.EmbeddedPostgresError
  | IncompatibleSchema
  | Misconfigured
  | SqlError.SqlError
  | StorageError

/** Says in a sentence what is wrong with the environment. */
export const explainConfig = ({ message }: Config.ConfigError): Misconfigured =>
  new Misconfigured({
    message: message.includes("DATABASE_URL")
      ? "--store postgres needs the environment variable DATABASE_URL, such as postgres://user:password@host:5432/database"
      : `an environment variable is wrong: ${message.replaceAll(/\s+/g, " ")}`,
  })

type Settings = NonNullable<EmbeddedPostgres.EmbeddedPostgresOptions["settings"]>

const start = Effect.fnUntraced(function* (directory: string, settings: Settings = {}) {
  yield* Console.error(`starting Postgres in ${directory}`)
  return yield* EmbeddedPostgres.start({ directory, settings })
})

/**
 * The Postgres that a server runs in the directory, or else a new one. It tries again for 10 seconds while a server is
 * starting or stopping there, because then the directory is in use but its Postgres doesn't answer.
 */
const attachOrStart = (directory: string) =>
  EmbeddedPostgres.attach(directory).pipe(
    Effect.flatMap((running) => (Option.isSome(running) ? Effect.succeed(running.value) : start(directory))),
    Effect.retry({
      while: ({ reason }) => reason === "in_use",
      schedule: Schedule.spaced("200 millis"),
      times: 50,
    }),
  )

/**
 * Fails when the store has ended: the embedded Postgres of this process has stopped and could not be started again.
 * The process then ends too, so that a process manager can start it again, together with Postgres.
 */
export class StoreEnd extends Context.Service<
  StoreEnd,
  Effect.Effect<never, EmbeddedPostgres.EmbeddedPostgresError>
>()("@billwright/cli/StoreEnd") {}

const endless = Layer.succeed(StoreEnd, Effect.never)

const joined = (directory: string) =>
  Layer.unwrap(
    Effect.map(attachOrStart(directory), ({ url }) => Layer.merge(PostgresClient.layer({ url }), endless)),
  )

const own = (directory: string, settings?: Settings) =>
  Layer.unwrap(
    Effect.map(start(directory, settings), ({ ended, url }) =>
      Layer.merge(PostgresClient.layer({ url }), Layer.succeed(StoreEnd, ended)),
    ),
  )

/** The driver would refuse another URL, too, but not say which variable is wrong. */
const checkUrl = Effect.gen(function* () {
  const url = yield* Effect.mapError(Config.Redacted("DATABASE_URL"), explainConfig)
  const problem = PostgresClient.problemOfUrl(Redacted.value(url))
  if (problem !== undefined) yield* new Misconfigured({ message: `DATABASE_URL ${problem}` })
})

const ofEnvironment = Layer.merge(
  Layer.unwrap(Effect.as(checkUrl, PostgresClient.layerConfig)).pipe(
    Layer.catchTag("ConfigError", (error) => Layer.effectContext(Effect.fail(explainConfig(error)))),
  ),
  endless,
)

/**
 * A client of the database of the options. An embedded Postgres is started, and stopped when the scope closes. With
 * `isShared`, the Postgres of a server that runs in the directory is used if there is one.
 */
export const layerClient = ({
  dataDir,
  isShared,
  settings,
  store,
}: DatabaseOptions & Pick<StoreOptions, "isShared" | "settings">): Layer.Layer<
  SqlClient.SqlClient | StoreEnd,
  StoreFailure
> => {
  if (store === "postgres") return ofEnvironment
  return isShared ? joined(dataDir) : own(dataDir, settings)
}

const REFUSED_BY_POOLER = /unsupported startup parameter[^\n]*/

/** The message of a connection pooler that refuses our settings, from the error or one of its causes. */
const refusalOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const reason: unknown = "reason" in error ? error.reason : undefined
  return REFUSED_BY_POOLER.exec(error.message)?.[0] ?? refusalOf(error.cause) ?? refusalOf(reason)
}

const NAMES = {
  connection: "DATABASE_URL",
  privilege: "grant it, or run `billwright migrate --store postgres` with a login of the owner",
}

/** Explains a database that can't be used, and a connection pooler that DATABASE_POOLED doesn't mention. */
export const explainStorage = (error: StorageError): StorageError | Misconfigured => {
  const found = startProblemOf(error, NAMES)
  if (found !== undefined) {
    return new Misconfigured({ message: `${found.problem} (${rootOf(error)}): ${found.advice}` })
  }
  const refusal = refusalOf(error)
  return refusal === undefined
    ? error
    : new Misconfigured({
        message: `DATABASE_URL leads to a connection pooler in transaction mode (${refusal}): set DATABASE_POOLED=true`,
      })
}

export interface StoreOptions extends Omit<DatabaseOptions, "store"> {
  readonly store: DatabaseOptions["store"] | "memory"
  /** Whether to bring the schema up to date first. */
  readonly migrate: boolean
  /** Whether to use the embedded Postgres of a server that runs in the directory. A server needs its own. */
  readonly isShared: boolean
  /** Settings of an embedded Postgres of its own, as in postgresql.conf. */
  readonly settings?: Settings
}

/** Loaded when it is asked for: most servers have a database. */
const inMemory = Layer.unwrap(
  Effect.map(
    Effect.promise(() => import("@billwright/memory")),
    ({ Memory }) => Memory.layer,
  ),
)

/** The storage of the options. */
export const layer = (options: StoreOptions): Layer.Layer<Billing.Storage | StoreEnd, StoreFailure> => {
  const { isShared, migrate, schema, store } = options
  if (store === "memory") return Layer.merge(inMemory, endless)
  const client = layerClient({ ...options, isShared, store })
  const storage = migrate ? Storage.layer({ schema }) : Storage.layerStorage({ schema })
  return Layer.merge(storage, Layer.effect(StoreEnd, StoreEnd)).pipe(
    Layer.provide(client),
    Layer.catchTag("StorageError", (error) => Layer.effectContext(Effect.fail(explainStorage(error)))),
  )
}

/**
 * Refuses a data directory without a database, before anything is created there. Only `serve` and `migrate` create a
 * database. With other commands, a wrong directory is most likely a mistake.
 */
export const requireData = Effect.fnUntraced(function* ({
  dataDir,
  store,
}: DatabaseOptions): Effect.fn.Return<void, StoreFailure> {
  if (store !== "embedded" || (yield* EmbeddedPostgres.isMade(dataDir))) return
  return yield* new Misconfigured({
    message: `there is no database in ${resolve(dataDir)}: give its directory by --data-dir, or create one by "billwright serve" or "billwright migrate"`,
  })
})

/** The storage of a command that can run while servers run. */
export const layerBeside = (options: DatabaseOptions): Layer.Layer<Billing.Storage, StoreFailure> =>
  Layer.unwrap(Effect.as(requireData(options), layer({ ...options, migrate: false, isShared: true })))
