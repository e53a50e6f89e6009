/**
 * `keys issue` with an expiry, `keys list`, the file of the first keys, and the pepper that servers and commands share, on
 * one Postgres.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ApiKeys, Billing, CurrentTenant, StorageError, Tenant } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Console, Effect, Layer, Redacted } from "effect"
import * as Proxy from "../../postgres/test/Proxy.ts"
import * as KeysFile from "../src/KeysFile.ts"
import * as Cli from "./Cli.ts"
import { Installation, TIMEOUT } from "./Installation.ts"

const installation = new Installation()
const directory = mkdtempSync(join(tmpdir(), "billwright-pepper-"))
const pepper = join(directory, "pepper")

beforeAll(async () => {
  writeFileSync(pepper, "a secret of the host\n", { mode: 0o600 })
  await installation.start()
}, TIMEOUT)
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
  await installation.stop()
}, TIMEOUT)

const issue = (args: ReadonlyArray<string>, env = {}) =>
  Cli.runHere(
    ["keys", "issue", "--store", "postgres", "--mode", "test", "--name", "trial", "--json", ...args],
    {
      env: { ...installation.env, ...env },
    },
  )
const issued = async (args: ReadonlyArray<string>, env = {}) =>
  JSON.parse((await issue(args, env)).stdout) as {
    readonly secret: string
    readonly created_at: string
    readonly expires_at: string | null
  }
const status = async (url: string, secret: string) =>
  (await Cli.call(url, secret, "GET", "/v1/customers")).status

describe("keys issue", () => {
  it("accepts how long a key is valid, or until when", { timeout: TIMEOUT }, async () => {
    const [thirty, until, forever] = await Promise.all([
      issued(["--expires-in", "30d"]),
      issued(["--expires-at", "2099-12-31T00:00:00+01:00"]),
      issued([]),
    ])
    const days = (Date.parse(thirty.expires_at!) - Date.parse(thirty.created_at)) / 86_400_000
    assert.approximately(days, 30, 0.01)
    assert.strictEqual(until.expires_at, "2099-12-30T23:00:00.000Z")
    assert.isNull(forever.expires_at)
    assert.strictEqual(await status(installation.server.url, thirty.secret), 200)
  })

  it.each([
    [
      ["--expires-in", "30"],
      /--expires-in must be a number of minutes, hours or days, such as 90m, 12h or 30d\. It is 30$/m,
    ],
    [["--expires-in", "0d"], /--expires-in must be a number of minutes, hours or days/],
    [["--expires-in", "999999d"], /--expires-in must be at most 36500d/],
    [["--expires-at", "2026-02-30T00:00:00Z"], /--expires-at must be an instant such as/],
    [["--expires-at", "2020-01-01T00:00:00Z"], /expiresAt must be in the future/],
    [["--expires-in", "1d", "--expires-at", "2099-01-01T00:00:00Z"], /give one of them/],
  ])("refuses %j", { timeout: TIMEOUT }, async (args, sentence) => {
    const { code, stderr, stdout } = await issue(args)
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.match(stderr, sentence)
  })
})

/** The services on a schema of the database, with one connection to an address. */
const servicesAt = (url: string, storage: Parameters<typeof Storage.layerStorage>[0]) =>
  Billing.layer.pipe(
    Layer.provideMerge(Storage.layerStorage(storage)),
    Layer.provide(PostgresClient.layer({ url: Redacted.make(url), poolSize: 1 })),
  )

describe("keys list", () => {
  it("lists all keys, however many pages they are", { timeout: TIMEOUT }, async () => {
    const tenant = { accountId: Tenant.AccountId.make("many"), mode: "test" as const }
    const issuing = Effect.gen(function* () {
      const { issue: issueKey } = yield* ApiKeys
      const all = yield* Effect.forEach(Array.from({ length: 101 }), () => issueKey({ name: "one of many" }))
      return all.map(({ key }) => key.id).toReversed()
    })
    const ids = await issuing.pipe(
      Effect.provideService(CurrentTenant, tenant),
      Effect.provide(servicesAt(installation.env["DATABASE_URL"]!, {})),
      Effect.runPromise,
    )
    const list = ["keys", "list", "--store", "postgres", "--mode", "test", "--account", "many"]
    const json = await Cli.runHere([...list, "--json"], { env: installation.env })
    const listed = JSON.parse(json.stdout) as ReadonlyArray<{ readonly id: string }>
    assert.deepStrictEqual(
      listed.map(({ id }) => id),
      ids,
    )
    const text = await Cli.runHere(list, { env: installation.env })
    assert.deepStrictEqual(
      text.stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(" ")[0]),
      ids,
    )
  })
})

describe("serve --keys-file", () => {
  /** Long enough for a transaction on a busy machine. Then nobody knows how a lost COMMIT ended. */
  const deadlineMillis = 2_000

  /** Issues the first keys of a new schema into a file, while what a fault does to the connection can't be repaired. */
  const ensuring = (schema: string, path: string, fault: (proxy: Proxy.Proxy) => void) =>
    Effect.gen(function* () {
      const migrate = ["migrate", "--store", "postgres", "--schema", schema]
      yield* Effect.promise(() => Cli.runHere(migrate, { env: installation.env }))
      const proxy = yield* Proxy.make(installation.env["DATABASE_URL"]!)
      const services = yield* Layer.build(servicesAt(proxy.url, { schema, deadlineMillis, listen: false }))
      proxy.isOpen = false
      fault(proxy)
      const said: Array<string> = []
      const printing: Console.Console = { ...globalThis.console, error: (text: string) => said.push(text) }
      const error = yield* Effect.flip(Effect.provideContext(KeysFile.ensure(path), services)).pipe(
        Effect.provideService(Console.Console, printing),
      )
      proxy.isOpen = true
      assert.instanceOf(error, StorageError)
      return { error, said, services }
    })

  it("keeps the file when nobody knows whether the keys were issued", { timeout: TIMEOUT }, () =>
    Effect.gen(function* () {
      const path = join(directory, "unknown")
      const { error, said, services } = yield* ensuring("unknown_keys", path, (proxy) => {
        proxy.commit = "cut answer"
      })
      assert.isTrue(error.isOutcomeUnknown)
      const secret = /^test key {2}(\S+)$/m.exec(readFileSync(path, "utf8"))![1]!
      const { verify } = yield* Effect.provideContext(ApiKeys, services)
      const { tenant } = yield* verify(Redacted.make(secret))
      assert.strictEqual(tenant.mode, "test")
      assert.match(said.join(), /^It is unknown whether the keys in \S+unknown were issued\./)
    }).pipe(Effect.scoped, Effect.runPromise),
  )

  it("removes the file when the keys were certainly not issued", { timeout: TIMEOUT }, () =>
    Effect.gen(function* () {
      const path = join(directory, "none")
      const { error, said } = yield* ensuring("no_keys", path, (proxy) => {
        // The last statement before COMMIT.
        proxy.loseAnswerTo = "idempotency_keys as k"
      })
      assert.isUndefined(error.isOutcomeUnknown)
      assert.deepStrictEqual(said, [])
      assert.isFalse(existsSync(path))
    }).pipe(Effect.scoped, Effect.runPromise),
  )
})

describe("the pepper", () => {
  it(
    "has to be the same for servers and commands, and comes from a file or the environment",
    { timeout: TIMEOUT },
    async () => {
      const variable = { BILLWRIGHT_API_KEY_PEPPER: "a secret of the host" }
      const server = await installation.another("--pepper-file", pepper)
      const [fromFile, fromVariable, without] = await Promise.all([
        issued(["--pepper-file", pepper]),
        issued([], variable),
        issued([]),
      ])
      const of = (url: string) =>
        Promise.all([fromFile, fromVariable, without].map(({ secret }) => status(url, secret)))
      assert.deepStrictEqual(await of(server.url), [200, 200, 401])
      assert.deepStrictEqual(await of(installation.server.url), [401, 401, 200])
      await server.stop()
    },
  )
})
