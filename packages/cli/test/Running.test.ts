/**
 * Servers and workers that start, stop and work together while webhooks are sent.
 */
import { ApiKeys, Billing, CurrentTenant, Tenant as CoreTenant } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as FirstKeys from "../src/FirstKeys.ts"
import * as Cli from "./Cli.ts"
import { Installation, TIMEOUT } from "./Installation.ts"
import { answers, holds, isVerified } from "./Receiver.ts"
import { Tenant } from "./Tenant.ts"
import { until } from "./Until.ts"

const installation = new Installation()
const { receiver } = installation

beforeAll(() => installation.start(), TIMEOUT)
afterAll(() => installation.stop(), TIMEOUT)

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`

const listen = (path: string, key: string, ...args: ReadonlyArray<string>): Promise<Cli.Running> =>
  Cli.runUntil(
    args.includes("--json") ? "{" : "Forwarding to",
    ["listen", "--forward-to", receiver.url(path).replace("http://", ""), ...args],
    {
      env: {
        BILLWRIGHT_URL: installation.server.url,
        BILLWRIGHT_API_KEY: key,
        BILLWRIGHT_LISTEN_SECRET: SECRET,
      },
    },
  )

const idsOf = (path: string) => receiver.received(path).map(({ headers }) => headers["webhook-id"])

describe("billwright keys rotate-encryption", () => {
  it("encrypts secrets again while servers send webhooks", { timeout: TIMEOUT }, async () => {
    const { id, secret } = await installation.tenant.endpoint(receiver.url("/rotated"), ["invoice.paid"])
    const key = (await Cli.run(["keys", "new-encryption-key"])).stdout.trim()
    const old = installation.env
    // Servers get the new key before secrets are encrypted with it.
    const keys = `${key},${old["BILLWRIGHT_ENCRYPTION_KEYS"]}`
    installation.env = { ...old, BILLWRIGHT_ENCRYPTION_KEYS: keys }
    await installation.without(async () => {})
    const rotate = (env: Record<string, string>) =>
      Cli.run(["keys", "rotate-encryption", "--store", "postgres"], { env })
    const first = await rotate(installation.env)
    assert.match(
      first.stdout,
      /^The secrets of [1-9]\d* webhook endpoints? are now encrypted with the first key\.$/m,
    )
    assert.match(
      (await rotate(installation.env)).stdout,
      /^All webhook secrets are already encrypted with the first key\.$/m,
    )
    await installation.tenant.publish()
    assert.isTrue(await isVerified(await receiver.next("/rotated", 1), secret))

    const missing = await rotate(old)
    assert.strictEqual(missing.code, 1)
    assert.match(
      missing.stderr,
      /^billwright: a secret that was encrypted with the key "key_\w+" cannot be decrypted/m,
    )
    assert.notInclude(first.stderr + missing.stderr, key.split(":")[1]!)
    await installation.tenant.drain()
    await installation.tenant.request("DELETE", `/webhook_endpoints/${id}`)
  })
})

describe("processes whose encryption keys can't decrypt the stored secrets", () => {
  it(
    "don't start, and say which key is missing; those that send no webhooks only log it",
    { timeout: TIMEOUT },
    async () => {
      const { id } = await installation.tenant.endpoint(receiver.url("/sealed"), ["invoice.paid"])
      const key = (await Cli.run(["keys", "new-encryption-key"])).stdout.trim()
      const store = ["--store", "postgres"]
      const env = { ...installation.env, BILLWRIGHT_ENCRYPTION_KEYS: key }
      const refused = (...args: ReadonlyArray<string>) => Cli.run(["serve", ...store, ...args], { env })
      const sentence =
        /^billwright: some webhook secrets were encrypted with the key "[a-z0-9_]+", which is missing: add it to BILLWRIGHT_ENCRYPTION_KEYS after the first key/
      for (const args of [["--port", "0"], ["--dispatch-only"]]) {
        const { code, stderr, stdout } = await refused(...args)
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.match(stderr, sentence)
        assert.strictEqual(
          stderr.endsWith(", or pass --no-dispatch if another process sends webhooks\n"),
          args.includes("--port"),
        )
      }
      const silent = await Cli.serve([...store, "--no-dispatch"], { env })
      assert.match(silent.stderr(), /level=WARN .*some webhook secrets were encrypted with the key/)
      assert.strictEqual(await silent.stop(), 0)
      await installation.tenant.request("DELETE", `/webhook_endpoints/${id}`)
    },
  )
})

/** A server on another, empty store of the same Postgres. */
const emptyStore = () =>
  Billing.layer.pipe(
    Layer.provideMerge(Storage.layer({ schema: "first_keys" })),
    Layer.provide(PostgresClient.layer({ url: Redacted.make(installation.env["DATABASE_URL"]!) })),
  )

describe("servers that start on an empty store at the same time", () => {
  it("issue the first keys once, and one server prints both", { timeout: TIMEOUT }, async () => {
    const { keys, shown } = await Effect.gen(function* () {
      const processes = yield* Effect.forEach(Array.from({ length: 6 }), () =>
        Layer.build(Layer.fresh(emptyStore())),
      )
      const shown = yield* Effect.forEach(
        processes,
        (services) => Effect.provideContext(FirstKeys.ensure(), services),
        { concurrency: "unbounded" },
      )
      const again = yield* Effect.provideContext(FirstKeys.ensure(), processes[0]!)
      assert.deepStrictEqual(again, [])
      const keys = yield* Effect.forEach(["test", "live"] as const, (mode) =>
        Effect.flatMap(ApiKeys, (service) => service.list()).pipe(
          Effect.provideService(CurrentTenant, { accountId: CoreTenant.defaultAccountId, mode }),
          Effect.provideContext(processes[0]!),
        ),
      )
      return { shown, keys }
    }).pipe(Effect.scoped, Effect.runPromise)
    assert.deepStrictEqual(
      keys.map(({ data }) => data.map(({ name }) => name)),
      [["first test key"], ["first live key"]],
    )
    assert.deepStrictEqual(
      shown.flat().map(({ mode }) => mode),
      ["test", "live"],
    )
    assert.lengthOf(
      shown.filter((each) => each.length > 0),
      1,
    )
  })
})

describe("a Postgres that refuses the password", () => {
  beforeAll(() => installation.sql("create role locked_out login password 'right'"), TIMEOUT)

  it.each([
    [["serve", "--port", "0"], "hunter2"],
    [["serve", "--port", "0"], ""],
    [["serve", "--dispatch-only"], "hunter2"],
    [["migrate"], "hunter2"],
    [["keys", "list", "--mode", "test"], "hunter2"],
    [["audit", "usage"], "hunter2"],
  ])("ends %j at once, and says how to fix it", { timeout: TIMEOUT }, async (args, password) => {
    const url = new URL(installation.env["DATABASE_URL"]!)
    url.username = "locked_out"
    url.password = password
    const env = { ...installation.env, DATABASE_URL: url.href }
    const { code, stderr, stdout } = await Cli.run([...args, "--store", "postgres"], { env })
    assert.match(
      stderr,
      /^billwright: Postgres refused the login of this user \(.*password.*\): correct the user or password in DATABASE_URL, or the rules in pg_hba.conf\n$/,
    )
    assert.deepStrictEqual([code, stdout], [1, ""])
  })
})

describe("servers and workers", () => {
  it("share the work: a server serves, and a worker sends", { timeout: TIMEOUT }, async () => {
    await installation.without(async () => {}, "--no-dispatch")
    const endpoint = await installation.tenant.endpoint(receiver.url("/shared"), ["invoice.paid"])
    const eventId = await installation.tenant.publish()
    const worker = await Cli.dispatch(["--metrics-port", "0"], { env: installation.env })
    try {
      const metrics = /^Metrics: +(\S+)$/m.exec(worker.stdout())?.[1] ?? ""
      assert.include(await (await fetch(metrics)).text(), "\nbillwright_webhook_oldest_due_seconds ")
      assert.include(await (await fetch(metrics)).text(), "\nbillwright_billing_oldest_due_seconds ")
      assert.strictEqual((await fetch(new URL("/v1/events", metrics))).status, 404)
      const delivered = await installation.tenant.deliveryThat(
        eventId,
        ({ status }) => status === "Delivered",
      )
      assert.strictEqual(delivered.attempt_count, 1)
      // The worker now runs before the event is published, and is notified when another process commits it.
      await installation.tenant.publish()
      await receiver.next("/shared", 2)
    } finally {
      assert.strictEqual(await worker.stop(), 0)
    }
    // Now no process sends webhooks.
    const waited = await installation.run("trigger", "invoice.paid", "--wait", "--timeout-seconds", "1")
    assert.strictEqual(waited.code, 1)
    assert.strictEqual(waited.stderr, "billwright: 1 delivery still Pending after 1 s\n")
    assert.lengthOf(receiver.received("/shared"), 2)
    await installation.without(async () => {})
    await receiver.next("/shared", 3)
    await installation.tenant.drain()
    await installation.tenant.request("DELETE", `/webhook_endpoints/${endpoint.id}`)
  })

  it(
    "stop within seconds while a receiver doesn't answer and billwright listen is connected",
    { timeout: TIMEOUT },
    async () => {
      receiver.script("/silent", holds)
      const endpoint = await installation.tenant.endpoint(receiver.url("/silent"), ["invoice.paid"])
      const listener = await listen("/elsewhere", installation.server.keys.live)
      await installation.tenant.publish()
      await receiver.next("/silent", 1)
      const stoppedAt = Date.now()
      await installation.without(async () => {
        // API and dispatcher may take 5 seconds each. One after the other they would take 10.
        assert.isBelow(Date.now() - stoppedAt, 8_000)
      })
      assert.strictEqual(await listener.stop("SIGINT"), 0)
      await installation.tenant.request("DELETE", `/webhook_endpoints/${endpoint.id}`)
    },
  )
})

describe("billwright listen", () => {
  it("forwards signed events, and misses none while the server restarts", { timeout: TIMEOUT }, async () => {
    const listener = await listen("/local", installation.server.keys.test, "--types", "invoice.paid")
    assert.include(listener.stdout(), `Signing secret  ${SECRET}`)
    const ids = [await installation.tenant.publish()]
    assert.isTrue(await isVerified(await receiver.next("/local", 1), SECRET))
    // An event of another type.
    await installation.run("trigger", "invoice.created")

    receiver.script("/local", answers(500))
    ids.push(await installation.tenant.publish())
    await receiver.next("/local", 2)
    receiver.script("/local", answers(204))

    await installation.without(async () => {
      // Published by another server, to which it is not connected.
      const other = await installation.another()
      const elsewhere = new Tenant(other.url, installation.server.keys.test)
      ids.push(await elsewhere.publish(), await elsewhere.publish())
      await other.stop()
    })
    ids.push(await installation.tenant.publish())
    await receiver.next("/local", 5)
    assert.deepStrictEqual(idsOf("/local"), ids)
    await until("the line of the last", async () => listener.stdout().includes(ids[4]!))
    assert.match(listener.stdout(), new RegExp(`^${ids[0]} {2}invoice\\.paid {2}204 {2}\\d+ ms$`, "m"))
    // When the receiver fails, it prints that, and doesn't send the event again.
    assert.match(listener.stdout(), new RegExp(`^${ids[1]} {2}invoice\\.paid {2}500 {2}\\d+ ms$`, "m"))
    assert.strictEqual(await listener.stop("SIGINT"), 0)
  })

  it("misses no event when the store had none at the start", { timeout: TIMEOUT }, async () => {
    const { live } = installation.server.keys
    const listener = await listen("/first", live, "--json")
    const data = {
      threshold_id: "thr_01kahd3kc8e0fsr8zknzqgf2h2",
      customer_id: "cus_01kahd3kc8e0fsr8zknzqgf2h1",
      product_id: "api",
      unit: "call",
      quantity: 1,
      period: "lifetime",
      period_key: "lifetime",
    }
    // A number that a double can't hold.
    const text = JSON.stringify({ ...data, total_quantity: 0 }).replace(/0\}$/, "9007199254740993}")
    const trigger = (url: string) =>
      Cli.run(["trigger", "usage.threshold", "--data", text, "--json"], {
        env: { BILLWRIGHT_URL: url, BILLWRIGHT_API_KEY: live },
      })
    const ids: Array<string> = []
    await installation.without(async () => {
      const other = await installation.another()
      // An event for a single endpoint, which is not forwarded.
      const elsewhere = new Tenant(other.url, live)
      const endpoint = await elsewhere.endpoint("https://receiver.invalid/")
      await elsewhere.request("POST", `/webhook_endpoints/${endpoint.id}/test`, { type: "usage.threshold" })
      await elsewhere.request("DELETE", `/webhook_endpoints/${endpoint.id}`)
      const { code, stderr, stdout } = await trigger(other.url)
      assert.strictEqual(code, 0, stderr)
      ids.push(String((JSON.parse(stdout) as Record<string, unknown>)["id"]))
      await other.stop()
    })
    const request = await receiver.next("/first", 1)
    assert.match(
      request.body,
      new RegExp(
        `^\\{"id":"${ids[0]}","type":"usage.threshold","timestamp":"[^"]+","livemode":true,"data":\\{`,
      ),
    )
    assert.include(request.body, `"data":${text}}`)
    ids.push(
      String((JSON.parse((await trigger(installation.server.url)).stdout) as Record<string, unknown>)["id"]),
    )
    await receiver.next("/first", 2)
    assert.deepStrictEqual(idsOf("/first"), ids)
    const lines = await until("both lines", async () => {
      const printed = listener.stdout().trim().split("\n")
      return printed.length === 3 && printed
    })
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepInclude(parsed[0], { secret: SECRET, forward_to: receiver.url("/first") })
    assert.deepInclude(parsed[1], { event_id: ids[0], type: "usage.threshold", status: 204, error: null })
    assert.strictEqual(await listener.stop("SIGTERM"), 0)
  })
})
