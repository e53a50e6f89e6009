import { randomBytes } from "node:crypto"
/**
 * I14 over a whole run of servers, a worker and commands. The tests make as much as possible fail. Then everything that
 * was printed is searched for every secret.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "../Cli.ts"
import { FaultyPostgres } from "../FaultyPostgres.ts"
import { Receiver } from "../Receiver.ts"
import { Tenant } from "../Tenant.ts"
import { until } from "../Until.ts"

const TIMEOUT = 120_000
const WAITING = { timeout: TIMEOUT }
const STORE = ["--mode", "test", "--store", "postgres"]
/** The number of commands that run at the same time. */
const AT_ONCE = 4
const LEASE = ["--lease-seconds", "3", "--attempt-seconds", "2"]

const word = (): string => randomBytes(24).toString("hex")
const encryptionKey = (id: string) => ({ id, bytes: randomBytes(32).toString("base64") })

const password = word()
const [oldKey, newKey] = [encryptionKey("old"), encryptionKey("new")]
const credentials = { authorization: `Bearer ${word()}`, "x-anything": word(), cookie: `session=${word()}` }

/** The secrets by name. A text also contains a secret if it has it in another spelling. */
const secrets = new Map<string, string>()
const remember = (name: string, secret: string): string => {
  secrets.set(name, secret)
  return secret
}
const spellings = (secret: string): ReadonlyArray<string> => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64").replace(/.?=*$/, ""),
]

/** The printed text of each process. */
const heard = new Map<string, string>()
const listen = (who: string, text: string): void => void heard.set(who, `${heard.get(who) ?? ""}${text}\n`)

const postgres = new FaultyPostgres({ max_connections: "30", autovacuum: "off" })
const receiver = new Receiver()
let server: Cli.Serving
let worker: Cli.Running
let env: Record<string, string> = {}
let tenant: Tenant

beforeAll(async () => {
  await Promise.all([postgres.start(), receiver.start()])
  await postgres.query(`alter role service password '${remember("database password", password)}'`)
  const url = new URL(postgres.url)
  url.password = password
  remember("old encryption key", oldKey.bytes)
  remember("new encryption key", newKey.bytes)
  for (const [name, value] of Object.entries(credentials)) {
    remember(`header ${name}`, value.replace(/^Bearer |^session=/, ""))
  }
  env = {
    DATABASE_URL: url.href,
    // `plain`, because one test stores a secret that is not encrypted.
    BILLWRIGHT_ENCRYPTION_KEYS: `${newKey.id}:${newKey.bytes},${oldKey.id}:${oldKey.bytes},plain`,
  }
  server = await Cli.serve(["--store", "postgres", "--no-dispatch"], { env })
  remember("test key", server.keys.test)
  remember("live key", server.keys.live)
  worker = await Cli.dispatch(LEASE, { env })
  tenant = new Tenant(server.url, server.keys.test)
}, TIMEOUT)

afterAll(async () => {
  await worker.stop()
  await server.stop()
  await receiver.stop()
  await postgres.remove()
}, TIMEOUT)

/** Runs a command and keeps its output, except secrets that the command has to print. */
const run = async (args: ReadonlyArray<string>, more: Record<string, string> = {}): Promise<Cli.Finished> => {
  const finished = await Cli.run(args, { env: { ...env, ...more } })
  listen(`billwright ${args.join(" ")}`, finished.stderr)
  return finished
}

const endpointAt = async (path: string, more: object = {}) => {
  const made = await tenant.endpoint(receiver.url(path), ["invoice.paid"], { headers: credentials, ...more })
  if (made.secret !== undefined) remember(`secret of ${path}`, made.secret)
  return made
}

describe("the output", () => {
  it("while everything goes well", WAITING, async () => {
    const issued = await run(["keys", "issue", "--name", "ci", "--json", ...STORE])
    const { id, secret } = JSON.parse(issued.stdout) as { readonly id: string; readonly secret: string }
    remember("issued key", secret)
    const rolled = await run(["keys", "roll", id, "--json", ...STORE])
    remember("rolled key", String((JSON.parse(rolled.stdout) as Record<string, unknown>)["secret"]))
    listen("keys list", (await run(["keys", "list", ...STORE])).stdout)
    listen("keys revoke", (await run(["keys", "revoke", id, ...STORE])).stdout)
    const made = await run(["keys", "new-encryption-key"])
    remember("new-encryption-key", made.stdout.trim().split(":").at(-1)!)

    const good = await endpointAt("/good")
    await endpointAt("/ed25519", { signature: "ed25519" })
    const rotated = await tenant.request("POST", `/webhook_endpoints/${good.id}/rotate_secret`, {})
    remember("rotated secret", String(rotated["secret"]))
    listen("an endpoint", JSON.stringify(await tenant.request("GET", `/webhook_endpoints/${good.id}`)))
    await tenant.publish()
    const received = await receiver.next("/good", 1)
    assert.strictEqual(received.headers["x-anything"], credentials["x-anything"])
    const reencrypted = await run(["keys", "rotate-encryption", "--json", "--store", "postgres"])
    listen("rotate-encryption", reencrypted.stdout)
    assert.deepStrictEqual(
      [issued, rolled, made, reencrypted].map(({ code }) => code),
      [0, 0, 0, 0],
    )
  })

  it("while receivers answer with what they were sent, hang up and don't answer", WAITING, async () => {
    receiver.script("/echo", ({ answer, headers }) => answer(500, { "x-echo": headers["x-anything"]! }))
    receiver.script("/hangs", () => {})
    for (const path of ["/echo", "/hangs"]) await endpointAt(path)
    const event = await tenant.publish()
    await Promise.all([receiver.next("/echo", 1), receiver.next("/hangs", 1)])
    receiver.drop()
    await until("attempts that failed", async () => {
      const failed = await tenant.deliveries({ event_id: event, status: "Pending" })
      return failed.length === 2 && failed.every(({ attempt_count }) => attempt_count > 0)
    })
    for (const { id } of await tenant.deliveries()) {
      listen("attempts", JSON.stringify(await tenant.delivery(id)))
    }
    assert.include(heard.get("attempts"), `"x-echo":"***"`)
  })

  it("while rows can't be read, secrets can't be opened, and signing has a bug", WAITING, async () => {
    const change = async (path: string, set: string) => {
      const { id } = await endpointAt(path)
      const [row] = await postgres.query(
        `update billwright.webhook_endpoints set ${set} where url like '%${path}' returning id`,
      )
      assert.isDefined(row, id)
    }
    await change("/unreadable", `headers = headers || '{"x-number": 1}'`)
    await change("/unopened", `secrets = jsonb_set(secrets, '{0,sealed}', '"gone.AAAA"')`)
    // The stored text is not a valid secret, so signing throws.
    const stray = remember("stray secret", word())
    await change("/stray", `secrets = jsonb_set(secrets, '{0,sealed}', '"plain.${stray}"')`)
    await tenant.publish()
    await until("the log", async () =>
      [/set aside as Failed/, /a webhook attempt died/, /secret/].every((line) => line.test(worker.stderr())),
    )
    await postgres.query(
      `update billwright.webhook_endpoints set headers = '{}' where url like '%/unreadable'`,
    )
  })

  it("while requests are wrong and contain keys in the wrong places", WAITING, async () => {
    const key = server.keys.test
    for (const path of [`/v1/customers/${key}`, `/v1/${key}`, `/v1/customers?${key}=1`, `/${key}`]) {
      listen("answers", (await Cli.call(server.url, key, "GET", path)).text)
    }
    const bodies = [`{"${key}":1}`, `{"name":"${key}","email":"${key}"}`, `"${key}"`, `{"a":"${key}`]
    for (const body of bodies)
      listen("answers", (await Cli.call(server.url, key, "POST", "/v1/customers", body)).text)
    listen("answers", (await Cli.call(server.url, `${key}x`, "GET", "/v1/customers")).text)
    const headers = { authorization: `Bearer ${key}` }
    const own = { url: receiver.url("/own"), event_types: ["*"], headers }
    const refused = await Cli.call(server.url, key, "POST", "/v1/webhook_endpoints", own)
    assert.strictEqual(refused.status, 400)
    listen("answers", refused.text)
  })

  it("while commands get wrong input", WAITING, async () => {
    const { port } = new URL(postgres.url)
    const commands: ReadonlyArray<readonly [ReadonlyArray<string>, Record<string, string>]> = [
      ...[
        `postgres://nobody:${password}@127.0.0.1:${port}/postgres`,
        `postgres://service:${password}@127.0.0.1:1/postgres`,
        `postgres://service:${password}@127.0.0.1:99999/postgres`,
        `postgres//service:${password}`,
        password,
      ].map((url) => [["keys", "list", ...STORE], { DATABASE_URL: url }] as const),
      [["migrate", "--store", "postgres"], { DATABASE_URL: `postgres://service:${password}@[/postgres` }],
      ...[
        `test:${newKey.bytes}x`,
        newKey.bytes,
        `:${newKey.bytes}`,
        `a:${newKey.bytes},a:${oldKey.bytes}`,
      ].map(
        (keys) =>
          [["serve", "--store", "postgres", "--port", "0"], { BILLWRIGHT_ENCRYPTION_KEYS: keys }] as const,
      ),
      ...[`${server.keys.test}x`, password, "\n"].map(
        (key) => [["trigger", "invoice.paid", "--url", server.url], { BILLWRIGHT_API_KEY: key }] as const,
      ),
      [["trigger", "invoice.paid", "--url", "http://127.0.0.1:1"], { BILLWRIGHT_API_KEY: server.keys.test }],
    ]
    for (let at = 0; at < commands.length; at += AT_ONCE) {
      const some = commands.slice(at, at + AT_ONCE)
      const ended = await Promise.all(some.map(([args, more]) => run(args, more)))
      for (const [index, { code, stderr, stdout }] of ended.entries()) {
        const what = some[index]![0].join(" ")
        assert.strictEqual(code, 1, what)
        // The error is not about the flags.
        assert.match(stderr, /billwright: /, what)
        listen("commands that fail", stdout)
      }
    }
  })

  it("while Postgres stops under load and starts again", WAITING, async () => {
    const customer = await tenant.request("POST", "/customers", { name: "Ada", email: "ada@example.com" })
    const usage = { customer_id: customer["id"], product_id: "api", unit: "call", quantity: 1 }
    const requests: ReadonlyArray<readonly [string, string, unknown?]> = [
      ["POST", "/usage", usage],
      ["GET", "/webhook_endpoints"],
      ["POST", "/events", { type: "invoice.paid", data: {} }],
      ["POST", "/webhook_endpoints", { url: receiver.url("/x"), event_types: ["*"], headers: credentials }],
      ["GET", `/customers/${server.keys.live}`],
    ]
    const failing = async () => {
      const answers = await Promise.all(
        requests.map(([method, path, body]) => tenant.call(method, path, body)),
      )
      for (const { text } of answers) listen("answers", text)
      return answers.some(({ status }) => status === 503)
    }
    await tenant.publish()
    await postgres.crash()
    await until("refusals", failing)
    await until("the worker's log", async () => worker.stderr().includes("can't be claimed"))
    await postgres.start()
    await until("answers again", async () => (await tenant.call("GET", "/customers")).status === 200)
    await postgres.terminate()
    await failing()
  })

  it("contains no secret", WAITING, async () => {
    assert.strictEqual(await worker.stop(), 0)
    assert.strictEqual(await server.stop(), 0)
    // The first keys are printed once, before the line with the address of the API reference.
    const [, afterwards = ""] = server.stdout().split("API reference")
    listen("the server", server.stderr() + afterwards)
    listen("the worker", worker.stderr() + worker.stdout())
    assert.isAtLeast(secrets.size, 15)
    assert.include(heard.get("the server"), "was answered 503")
    for (const [who, text] of heard) {
      for (const [name, secret] of secrets) {
        for (const spelling of spellings(secret)) {
          assert.isFalse(text.includes(spelling), `${who} tells the ${name}`)
        }
      }
    }
  })
})
