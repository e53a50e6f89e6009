import { Billing, Customers, Transactor, Usage } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Proxy from "./Proxy.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const settings = Effect.flatMap(
  SqlClient.SqlClient,
  (
    sql,
  ) => sql`select current_setting('application_name') as name, current_setting('statement_timeout') as timeout,
  current_setting('idle_in_transaction_session_timeout') as idle`,
)

/** The messages that a client sent after its startup packet: their types and contents. */
const messages = (bytes: Buffer): ReadonlyArray<{ readonly type: string; readonly body: Buffer }> => {
  const found: Array<{ type: string; body: Buffer }> = []
  for (let at = bytes.readInt32BE(0); at < bytes.length;) {
    const length = bytes.readInt32BE(at + 1)
    found.push({ type: String.fromCharCode(bytes[at]!), body: bytes.subarray(at + 5, at + 1 + length) })
    at += 1 + length
  }
  return found
}

const work = Effect.gen(function* () {
  const customers = yield* Customers
  const usage = yield* Usage
  const transactor = yield* Transactor
  const customer = yield* customers.create({ name: "A", email: "a@b" })
  const record = usage.record({ customerId: customer.id, productId: "p", unit: "u", quantity: 1 })
  yield* transactor.atomically(Effect.andThen(record, transactor.atomically(record)))
  yield* usage.summary({ customerId: customer.id })
})

describe("PostgresClient", () => {
  it.live("sets time-outs and a name", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* settings, [{ name: "billwright", timeout: "4s", idle: "30s" }])
    }).pipe(Effect.provide(TestDatabase.layerClient())),
  )

  it.live("reads its settings from the environment", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const environment = {
        DATABASE_URL: url,
        DATABASE_STATEMENT_TIMEOUT_MS: "1500",
        DATABASE_POOL_SIZE: "1",
      }
      const configured = Layer.provide(
        PostgresClient.layerConfig,
        ConfigProvider.layer(ConfigProvider.fromUnknown(environment)),
      )
      const [row] = yield* Effect.provide(settings, configured)
      assert.strictEqual(row!["timeout"], "1500ms")
      const missing = Layer.provide(
        PostgresClient.layerConfig,
        ConfigProvider.layer(ConfigProvider.fromUnknown({})),
      )
      const error = yield* Effect.flip(Effect.provide(settings, missing))
      assert.instanceOf(error, Config.ConfigError)
    }).pipe(Effect.scoped),
  )

  it.live("gives texts back as they were stored", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const texts = ["", "a", "\uFEFF", "\uFEFFa", "\uFEFF\uFFFD", "\uFEFF\uFEFF\uFFFD", "\uFFFD\uFEFF", "é🗝"]
      for (const text of texts) {
        const rows = yield* sql`select ${text}::text as text, array[${text}::text, 'a'] as texts`
        assert.deepStrictEqual(rows, [{ text, texts: [text, "a"] }])
      }
    }).pipe(Effect.provide(TestDatabase.layerClient()), Effect.scoped),
  )

  it.live("names no statement and sets nothing for the session behind a transaction-pooling proxy", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.make
      const proxy = yield* Proxy.make(url)
      const services = Billing.layer.pipe(
        Layer.provideMerge(Storage.layer()),
        Layer.provide(PostgresClient.layer({ url: Redacted.make(proxy.url), isPooled: true, poolSize: 1 })),
      )
      yield* Effect.provide(asTenant(work), services)
      const sent = Buffer.concat(proxy.sent)
      const startup = sent.subarray(8, sent.readInt32BE(0)).toString().split("\0")
      const names = startup.filter((_, index) => index % 2 === 0).filter((name) => name !== "")
      assert.deepStrictEqual(names.sort(), ["application_name", "client_encoding", "database", "user"])
      const parses = messages(sent).filter(({ type }) => type === "P")
      assert.isAbove(parses.length, 10)
      for (const { body } of parses) {
        const [name, text] = body.toString().split("\0")
        assert.strictEqual(name, "")
        assert.notMatch(text!, /^\s*(set|listen|prepare|declare|load)\b/i)
        assert.notMatch(text!, /pg_(try_)?advisory_lock/i)
        assert.notMatch(text!, /set_config\([^)]*false\)/i)
      }
    }).pipe(Effect.scoped),
  )
})
