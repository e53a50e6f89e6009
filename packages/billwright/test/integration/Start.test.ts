/** The errors at the start on a real Postgres that can't be used. */
import { randomBytes } from "node:crypto"
import {
  type BillingOptions,
  ConfigurationError,
  createBilling,
  generateEncryptionKey,
  type LogEntry,
} from "billwright"
import { postgres } from "billwright/postgres"
import { Pool } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { rejection } from "../Rejection.ts"
import { makeDatabase } from "./Database.ts"

const STRANGER = `stranger_${randomBytes(8).toString("hex")}`

let database: Awaited<ReturnType<typeof makeDatabase>>
let pool: Pool

beforeAll(async () => {
  database = await makeDatabase()
  pool = new Pool({ connectionString: database.url })
  await pool.query(`create role ${STRANGER} login password 'stranger'`)
})
afterAll(async () => {
  await pool.query(`drop role ${STRANGER}`)
  await pool.end()
  await database.drop()
})

const urlWith = (change: (url: URL) => void): string => {
  const url = new URL(database.url)
  change(url)
  return url.href
}

const urlOfStranger = (password: string): string =>
  urlWith((url) => {
    url.username = STRANGER
    url.password = password
  })

/** The error of a start on both kinds of connections. Its cause must be the driver's error, without further causes. */
const refusals = async (url: string): Promise<ReadonlyArray<string>> => {
  const own = new Pool({ connectionString: url })
  const messages: Array<string> = []
  for (const store of [postgres({ url }), postgres({ pool: own })]) {
    const error = await rejection(createBilling({ store, log: false }))
    assert.instanceOf(error, ConfigurationError)
    assert.instanceOf(error.cause, Error)
    assert.isUndefined(error.cause.cause)
    assert.match(String((error.cause as { readonly code?: unknown }).code), /^[0-9A-Z]{5}$/)
    messages.push(error.message)
  }
  await own.end()
  return messages
}

describe("createBilling says", () => {
  it("that there is no such database", async () => {
    for (const message of await refusals(urlWith((url) => (url.pathname = "/nowhere"))))
      assert.match(
        message,
        /^billing can't start: there is no database with this name \(.*"nowhere" does not exist\): create it, or/,
      )
  })

  it("that there is no such user", async () => {
    for (const message of await refusals(urlWith((url) => (url.username = "nobody_here"))))
      assert.match(
        message,
        /^billing can't start: Postgres refused the login of this user \(.*"nobody_here".*\): /,
      )
  })

  it("that the password is wrong", async () => {
    for (const message of await refusals(urlOfStranger("wrong")))
      assert.match(
        message,
        /^billing can't start: Postgres refused the login of this user \(.*password.*\): correct/,
      )
  })

  it("that a password is missing", async () => {
    const store = postgres({ url: urlOfStranger("") })
    const error = await rejection(createBilling({ store, log: false }))
    assert.instanceOf(error, ConfigurationError)
    assert.match(
      error.message,
      /^billing can't start: Postgres refused the login of this user \(.*password.*\): correct/,
    )
  })

  it("that the schema belongs to something else, before anything is written", async () => {
    await pool.query("create table public.orders (id int)")
    const store = postgres({ pool, schema: "public" })
    const error = await rejection(createBilling({ store, log: false }))
    assert.instanceOf(error, ConfigurationError)
    assert.match(error.message, /^the schema "public" has tables that are not Billwright's \(orders\)/)
    const { rows } = await pool.query("select tablename from pg_tables where schemaname = 'public'")
    assert.deepStrictEqual(rows, [{ tablename: "orders" }])
  })

  it("that a user may not migrate", async () => {
    for (const message of await refusals(urlOfStranger("stranger")))
      assert.match(
        message,
        /^billing can't start: the database user lacks a privilege \(permission denied for database .*\): grant it, or let the owner run `npx @billwright\/cli migrate/,
      )
  })

  it("that a pool was ended", async () => {
    const ended = new Pool({ connectionString: database.url })
    const store = postgres({ pool: ended })
    await ended.end()
    assert.throws(() => postgres({ pool: ended }), ConfigurationError, /has been ended: pass an open one$/)
    const error = await rejection(createBilling({ store, log: false }))
    assert.instanceOf(error, ConfigurationError)
    assert.match(error.message, /^billing can't start: the pool has been ended \(.*\): pass an open pool/)
  })
})

describe("a database that is read-only", () => {
  const readOnly = () =>
    postgres({
      url: urlWith((url) => (url.search = "?options=-c%20default_transaction_read_only%3Don")),
      schema,
    })
  const schema = "standing"

  it("can't be migrated", async () => {
    const error = await rejection(createBilling({ store: readOnly(), log: false }))
    assert.instanceOf(error, ConfigurationError)
    assert.match(
      error.message,
      /the database is read-only, but its schema must be migrated \(.*\): connect to/,
    )
  })

  it("can be read, which is logged", async () => {
    await (await createBilling({ store: postgres({ pool, schema }), log: false })).close()
    const { billing, lines } = await started({ store: readOnly() })
    assert.deepStrictEqual((await billing.customers.list().page()).data, [])
    await billing.close()
    const [line] = lines.filter(({ level }) => level === "warn")
    assert.match(line?.message ?? "", /^the database is read-only \(default_transaction_read_only is on\)/)
  })
})

const started = async (options: BillingOptions<[]>) => {
  const lines: Array<LogEntry> = []
  const log = (line: LogEntry) => void lines.push(line)
  return { billing: await createBilling({ dispatcher: "manual", ...options, log }), lines }
}

describe("secrets of webhook endpoints", () => {
  const schema = "sealed"
  const store = () => postgres({ pool, schema })
  const [first, second] = [generateEncryptionKey("first"), generateEncryptionKey("second")]

  const seal = async (encryptionKeys: ReadonlyArray<string>) => {
    const billing = await createBilling({ store: store(), encryptionKeys, dispatcher: false, log: false })
    await billing.endpoints.create({ url: "https://example.com/hooks", eventTypes: ["*"] })
    await billing.close()
  }

  it("without their key are reported, with the missing key", async () => {
    await seal([first])
    await seal([second, first])
    const needs = async (encryptionKeys: ReadonlyArray<string> | undefined, sentence: RegExp) => {
      const options = encryptionKeys === undefined ? {} : { encryptionKeys }
      const error = await rejection(createBilling({ store: store(), ...options, log: false }))
      assert.instanceOf(error, ConfigurationError)
      assert.match(error.message, sentence)
    }
    await needs(
      undefined,
      /were encrypted with the key "(first|second)", which is missing: add it to encryptionKeys/,
    )
    await needs([second], /were encrypted with the key "first", which is missing: add it/)
    await needs(
      [generateEncryptionKey("third"), first],
      /were encrypted with the key "second", which is missing: add it/,
    )
    await needs(
      [first, generateEncryptionKey("second")],
      /with a key that has the id "second" but differs from/,
    )
    await needs(
      [generateEncryptionKey("first"), second],
      /with a key that has the id "first" but differs from/,
    )
    const { billing, lines } = await started({ store: store(), encryptionKeys: [first, second] })
    await billing.close()
    assert.deepStrictEqual(lines, [])
  })

  it("are only checked by processes that send webhooks", async () => {
    const silent = await started({ store: store(), dispatcher: false })
    await silent.billing.close()
    assert.deepStrictEqual(silent.lines, [])
    const sealing = await started({ store: store(), dispatcher: false, encryptionKeys: [second] })
    await sealing.billing.close()
    assert.deepStrictEqual(
      sealing.lines.map(({ level }) => level),
      ["warn"],
    )
    assert.include(sealing.lines[0]?.message, 'with the key "first", which is missing')
  })

  it("need no key once they have expired", async () => {
    const expired = () => postgres({ pool, schema: "expired" })
    const setUp = {
      store: expired(),
      encryptionKeys: [second, first],
      dispatcher: false,
      log: false,
    } as const
    const before = await createBilling({ ...setUp, encryptionKeys: [first] })
    const { id } = await before.endpoints.create({ url: "https://example.com/hooks", eventTypes: ["*"] })
    await before.close()
    const after = await createBilling(setUp)
    await after.endpoints.rotateSecret(id)
    await after.close()
    const start = () => started({ store: expired(), encryptionKeys: [second] })
    const error = await rejection(start())
    assert.match(error.message, /were encrypted with the key "first", which is missing: add it/)
    // As if the day had passed for which the previous secret signs.
    await pool.query(
      "update expired.webhook_endpoints set secrets = jsonb_set(secrets, '{1,expires_at}', '1000')",
    )
    const { billing, lines } = await start()
    await billing.close()
    assert.deepStrictEqual(lines, [])
  })

  it("need a key in live mode, which is logged", async () => {
    const keyless = async (mode: "live" | "test") => {
      const { billing, lines } = await started({ store: postgres({ pool, schema: "keyless" }), mode })
      await billing.close()
      return lines.map(({ level, message }) => `${level} ${message}`)
    }
    assert.match(
      (await keyless("live")).join(),
      /^info no encryptionKeys were given, so webhook endpoints can/,
    )
    assert.deepStrictEqual(await keyless("test"), [])
  })
})
