import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
/**
 * After a crash, Postgres has forgotten transactions that it had not yet written to disk, and reuses their numbers.
 */
import { Billing, Customers, StorageError, Transactor } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { EmbeddedPostgres } from "@billwright/postgres/embedded"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Result } from "effect"
import { Client } from "pg"
import * as Proxy from "./Proxy.ts"
import { asTenant } from "./Tenants.ts"

const TIMEOUT = 60_000

const directory = Effect.acquireRelease(
  Effect.sync(() => {
    const made = mkdtempSync(join(tmpdir(), "billwright-crash-"))
    chmodSync(made, 0o711) // for root, whose Postgres runs as another user
    return made
  }),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true })),
)

const connected = async (connectionString: string): Promise<Client> => {
  const client = new Client({ connectionString })
  client.on("error", () => {})
  await client.connect()
  return client
}

/** Connects as soon as Postgres accepts connections again. */
const reconnected = (url: string): Promise<Client> => connected(url).catch(() => reconnected(url))

const number = async (client: Client, text: string): Promise<number> =>
  Number(Object.values((await client.query(text)).rows[0] as object)[0])

/**
 * Kills a backend, which makes Postgres restart all of them. Then uses up as many transaction numbers as it has
 * forgotten.
 */
const crash = async (url: string): Promise<void> => {
  const admin = await connected(url)
  const next = await number(admin, "select pg_snapshot_xmax(pg_current_snapshot())::text")
  const pid = await number(admin, "select pg_backend_pid()")
  const ended = new Promise((done) => admin.once("end", done))
  process.kill(pid, "SIGKILL")
  await ended
  const after = await reconnected(url)
  while ((await number(after, "select pg_current_xact_id()::text")) <= next);
  await after.end()
}

it.live(
  "a COMMIT lost in a crash is not reported as done because a later transaction got its number",
  () =>
    Effect.gen(function* () {
      // Uncommitted changes stay in memory: nothing writes them to disk in the background.
      const settings = { wal_writer_delay: "10s", autovacuum: "off", bgwriter_lru_maxpages: "0" }
      const server = yield* EmbeddedPostgres.start({ directory: join(yield* directory, "data"), settings })
      const url = Redacted.value(server.url)
      yield* Effect.provide(
        Effect.void,
        Layer.provide(Storage.layer(), PostgresClient.layer({ url: Redacted.make(url) })),
      )
      const proxy = yield* Proxy.make(url)
      const services = Billing.layer.pipe(
        Layer.provideMerge(Storage.layerStorage({ deadlineMillis: 20_000 })),
        Layer.provide(PostgresClient.layer({ url: Redacted.make(proxy.url), poolSize: 1 })),
      )
      yield* Effect.gen(function* () {
        const customers = yield* Customers
        const transactor = yield* Transactor
        proxy.commit = "cut before"
        const creating = yield* Effect.forkChild(
          Effect.result(transactor.atomically(customers.create({ name: "A", email: "a@example.com" }))),
        )
        yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => proxy.commit === "pass" })
        proxy.isOpen = false
        yield* Effect.promise(() => crash(url))
        proxy.isOpen = true
        const result = yield* Fiber.join(creating)
        const { data } = yield* customers.list({})
        if (Result.isSuccess(result)) {
          assert.deepStrictEqual(data, [result.success])
        } else {
          // Either the outcome is unknown, or nothing was stored because a second attempt was refused while Postgres
          // started.
          assert.instanceOf(result.failure, StorageError)
          assert.isTrue(result.failure.isOutcomeUnknown === true || result.failure.retryable)
          assert.deepStrictEqual(data, [])
        }
      }).pipe(asTenant, Effect.provide(services))
    }).pipe(Effect.scoped),
  TIMEOUT,
)
