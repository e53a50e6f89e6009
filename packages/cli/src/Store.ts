import { resolve } from "node:path"
/**
 * The flags that select the data store, and the layers that are made from them.
 */
import type { Billing, StorageError } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { type IncompatibleSchema, isLoginRefused, PostgresClient, Storage } from "@billwright/postgres"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Config, Console, Context, Data, Effect, Layer, Option, Schedule } from "effect"
import { Flag } from "effect/cli"
import type { SqlClient, SqlError } from "effect/sql"

const DEFAULT_SCHEMA = "billwright"

/** The flags of a command that works on a Postgres. */
export const databaseFlags = {
  store: Flag.Literals("store", ["embedded", "postgres"]).pipe(
    Flag.withDescription(
      "Where the data is. embedded: in a Postgres that Billwright runs, in --data-dir. postgres: in the database of DATABASE_URL. Default: BILLWRIGHT_STORE, or embedded.",
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

/** The flags of a command that can work in memory, too. */
export const flags = {
  ...databaseFlags,
  store: Flag.Literals("store", ["embedded", "postgres", "memory"]).pipe(
    Flag.withDescription(
      "Where the data is stored. embedded: in a Postgres that Billwright runs, in --data-dir. postgres: in the database of DATABASE_URL. memory: only in memory, it is lost at the end. Default: BILLWRIGHT_STORE, or embedded.",
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

/** What a command was asked to do can't be done as asked. */
export class Misconfigured extends Data.TaggedError("Misconfigured")<{ readonly message: string }> {}

/** What can keep a command from its data. */
export type StoreFailure =
  | EmbeddedPostgres.EmbeddedPostgresError
  | IncompatibleSchema
  | Misconfigured
  | SqlError.SqlError
  | StorageError

/** Whose environment is wrong, in a sentence. */
export const explainConfig = ({ message }: Config.ConfigError): Misconfigured =>
  new Misconfigured({
    message: message.includes("DATABASE_URL")
      ? "--store postgres needs the environment variable DATABASE_URL, such as postgres://user:password@host:5432/database"
      : `an environment variable is wrong: ${message.replaceAll(/\s+/g, " ")}`,
  })

const start = Effect.fnUntraced(function* (directory: string) {
  yield* Console.error(`starting Postgres in ${directory}`)
  return yield* EmbeddedPostgres.start({ directory })
})

/**
 * The Postgres that a server runs in the directory, else one of our own. Looked for again while a server is
 * starting or stopping there: then the directory is neither free nor of use.
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
 * Fails when the store is gone for good: a Postgres of our own that could not be started again. Who serves from it
 * ends, too: whoever watches over the process starts it again, and Postgres with it.
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

const own = (directory: string) =>
  Layer.unwrap(
    Effect.map(start(directory), ({ ended, url }) =>
      Layer.merge(PostgresClient.layer({ url }), Layer.succeed(StoreEnd, ended)),
    ),
  )

const ofEnvironment = Layer.merge(
  PostgresClient.layerConfig.pipe(
    Layer.catchTag("ConfigError", (error) => Layer.effectContext(Effect.fail(explainConfig(error)))),
  ),
  endless,
)

/**
 * A client of the database that was asked for. An embedded one is started, and stopped with the scope. `isShared`:
 * or used along with the server that runs it.
 */
export const layerClient = ({
  dataDir,
  isShared,
  store,
}: DatabaseOptions & { readonly isShared: boolean }): Layer.Layer<
  SqlClient.SqlClient | StoreEnd,
  StoreFailure
> => {
  if (store === "postgres") return ofEnvironment
  return isShared ? joined(dataDir) : own(dataDir)
}

const REFUSED_BY_POOLER = /unsupported startup parameter[^\n]*/

/** What a pooler said that refuses our settings, wherever it is in the causes of an error. */
const refusalOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const reason: unknown = "reason" in error ? error.reason : undefined
  return REFUSED_BY_POOLER.exec(error.message)?.[0] ?? refusalOf(error.cause) ?? refusalOf(reason)
}

/** Whose password is wrong, and whose proxy wants to be known, in a sentence. */
export const explainStorage = (error: StorageError): StorageError | Misconfigured => {
  if (isLoginRefused(error)) {
    return new Misconfigured({
      message:
        "Postgres refused the login of this user: correct the user or password in DATABASE_URL, or the rules in pg_hba.conf",
    })
  }
  const refusal = refusalOf(error)
  return refusal === undefined
    ? error
    : new Misconfigured({
        message: `there is a proxy before Postgres that pools by transactions (${refusal}): set DATABASE_POOLED=true`,
      })
}

export interface StoreOptions extends Omit<DatabaseOptions, "store"> {
  readonly store: DatabaseOptions["store"] | "memory"
  /** Bring the schema up to date first. */
  readonly migrate: boolean
  /** Whether a server that runs an embedded Postgres there is joined. Servers themselves need one of their own. */
  readonly isShared: boolean
}

/** The storage that was asked for. */
export const layer = (options: StoreOptions): Layer.Layer<Billing.Storage | StoreEnd, StoreFailure> => {
  const { isShared, migrate, schema, store } = options
  if (store === "memory") return Layer.merge(Memory.layer, endless)
  const client = layerClient({ ...options, isShared, store })
  const storage = migrate ? Storage.layer({ schema }) : Storage.layerStorage({ schema })
  return Layer.merge(storage, Layer.effect(StoreEnd, StoreEnd)).pipe(
    Layer.provide(client),
    Layer.catchTag("StorageError", (error) => Layer.effectContext(Effect.fail(explainStorage(error)))),
  )
}

/**
 * Refuses a data directory without a database in it, before anything is made there: only `serve` and `migrate` make
 * one, and to others a directory that isn't there is a mistake.
 */
export const requireData = Effect.fnUntraced(function* ({
  dataDir,
  store,
}: DatabaseOptions): Effect.fn.Return<void, StoreFailure> {
  if (store !== "embedded" || (yield* EmbeddedPostgres.isMade(dataDir))) return
  return yield* new Misconfigured({
    message: `there is no database in ${resolve(dataDir)}: --data-dir says where it is, and "billwright serve" or "billwright migrate" makes one`,
  })
})

/** The storage of a command that works beside servers. */
export const layerBeside = (options: DatabaseOptions): Layer.Layer<Billing.Storage, StoreFailure> =>
  Layer.unwrap(Effect.as(requireData(options), layer({ ...options, migrate: false, isShared: true })))
