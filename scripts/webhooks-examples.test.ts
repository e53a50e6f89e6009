/** The examples of docs/webhooks.md work, in its languages, and other libraries verify what we sign. */
import { spawnSync } from "node:child_process"
import { createHmac, randomBytes } from "node:crypto"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { Event, type EventId } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { verify, WebhookVerificationError } from "billwright/verify"
import { DateTime } from "effect"
import { blocks, read, root, section, startPostgres, startServer, table } from "./Documents.ts"
import { inWorkspace, runExample } from "./Examples.ts"
import { Terminal } from "./Terminal.ts"

const text = read("docs/webhooks.md")
const plain = (cell: string): string => cell.replaceAll("`", "")
const SECOND = 1_000

/** A message as a sender makes it, with node:crypto only. */
const messageOf = (body: string, key: Buffer, now = Date.now()) => {
  const id = "evt_01m7y9enz5fw2tyjv9s8c0qx7r"
  const timestamp = String(Math.floor(now / SECOND))
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${"A".repeat(43)}= v1,${signature}`,
  }
  return { headers, body }
}

const key = randomBytes(32)
const secret = `${"whsec"}_${key.toString("base64")}`
const PAYLOAD =
  '{"id":"evt_1","type":"usage.threshold","data":{"total_quantity":9007199254740993,"name":"Zoë"}}'

describe("docs/webhooks.md: examples", () => {
  const typescript = blocks(text, "ts")

  it("shows the receivers that are tested", () => {
    for (const name of ["node", "express", "fastify", "hono", "next"])
      assert.include(typescript, read(`packages/billwright/test/readme/${name}.ts`), name)
  })

  it("allows the sender, in each framework", { timeout: 60_000 }, () => {
    const [express = "", fastify = "", hono = "", next = ""] = blocks(section(text, "Allow the sender"), "ts")
    const ends = [
      [
        express,
        `const server = app.listen(0, "127.0.0.1")
await new Promise((listening) => server.on("listening", listening))
const response = await fetch(\`http://127.0.0.1:\${server.address().port}/webhooks\`, { method: "OPTIONS" })
const { status, headers } = response
server.close()`,
      ],
      [
        fastify,
        `const reply = await app.inject({ method: "OPTIONS", url: "/webhooks" })
const [status, headers] = [reply.statusCode, new Headers(reply.headers)]`,
      ],
      [hono, 'const { status, headers } = await app.request("/webhooks", { method: "OPTIONS" })'],
      [next, "const { status, headers } = OPTIONS()"],
    ]
    for (const [code, ask] of ends) {
      runExample(
        `${code}\n${ask}\nconsole.log(status, headers.get("webhook-allowed-origin")) // 204 billing.example.com\n`,
      )
    }
  })

  it("stores each event once in the inbox", { timeout: 60_000 }, async () => {
    const code = typescript.find((each) => each.includes("inbox")) ?? ""
    const { stop, url } = await startPostgres()
    try {
      const { body, headers } = messageOf(PAYLOAD, key)
      const deliver = `await receive({ headers: new Headers(${JSON.stringify(headers)}), body: ${JSON.stringify(body)} })`
      const rest = [
        `console.log(${deliver}) // 204`,
        `console.log(${deliver}) // 204`,
        'console.log((await pool.query("select payload from inbox")).rows.length) // 1',
        // The query of the section about the dispatcher, on an empty queue.
        'const { PostgresClient, Storage } = await import("@billwright/postgres")',
        'const { Effect, Layer, Redacted } = await import("effect")',
        `const client = PostgresClient.layer({ url: Redacted.make(${JSON.stringify(url)}) })`,
        "const migrations = Layer.provide(Storage.layerMigrations(), client)",
        "await Effect.runPromise(Effect.scoped(Layer.build(migrations)))",
        `const [row] = (await pool.query(${JSON.stringify(blocks(text, "sql")[0])})).rows`,
        "console.log(Object.values(row)) // [ null ]",
        "await pool.end()",
      ].join("\n")
      runExample(`${code}\n${rest}\n`, { DATABASE_URL: url, WEBHOOK_SECRET: secret })
    } finally {
      await stop()
    }
  })

  it("shows the request that arrives, and other libraries verify it", { timeout: 60_000 }, () => {
    const [sample = ""] = blocks(text, "http")
    const names = [...sample.matchAll(/^([a-z-]+): /gm)].map(([, name]) => name)
    const payload = JSON.parse(sample.split("\n\n")[1] ?? "") as {
      readonly id: EventId
      readonly type: string
      readonly timestamp: string
      readonly data: unknown
    }
    const event = { ...payload, timestamp: DateTime.makeUnsafe(payload.timestamp) }
    assert.include(sample, `\n\n${Event.render(event, "test", payload.data)}\n`)
    assert.include(sample, `webhook-id: ${payload.id}\n`)
    runExample(
      `
import { Billing, CurrentTenant, Dispatcher, Endpoints, Events, Tenant } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { ScriptedReceivers } from "@billwright/testing"
import { Effect, Layer, Redacted } from "effect"
import * as StandardWebhooks from "standardwebhooks"
import * as Svix from "svix"

const sent = Effect.gen(function* () {
  const endpoint = { url: "https://hooks.example.com/", eventTypes: ["*"] }
  const { secret } = yield* (yield* Endpoints).create(endpoint)
  yield* (yield* Events).publish({ type: "invoice.paid", data: ${JSON.stringify(payload.data)} })
  yield* (yield* Dispatcher).runDue
  const [request] = yield* (yield* ScriptedReceivers).requests()
  return { request, secret: Redacted.value(secret) }
})
const { request, secret } = await sent.pipe(
  Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" }),
  Effect.provide(
    Dispatcher.layerManual().pipe(
      Layer.provideMerge(Billing.layer),
      Layer.provideMerge(Layer.merge(Memory.layer, ScriptedReceivers.layer)),
    ),
  ),
  Effect.runPromise,
)
console.log(Object.keys(request.headers).join(" ")) // ${names.join(" ")}
console.log(request.headers["user-agent"]) // ${/^user-agent: (.*)$/m.exec(sample)?.[1]}
new StandardWebhooks.Webhook(secret).verify(request.body, request.headers)
new Svix.Webhook(secret).verify(request.body, request.headers)
`,
    )
  })

  it("forwards events to your machine", { timeout: 120_000 }, async () => {
    const { key: apiKey, stop, url } = await startServer()
    const terminal = new Terminal(root)
    const received: Array<{ readonly headers: IncomingHttpHeaders; readonly body: Buffer }> = []
    const receiver = createServer(async (request, response) => {
      received.push({ headers: request.headers, body: await buffer(request) })
      response.writeHead(204).end()
    }).listen(0, "127.0.0.1")
    await once(receiver, "listening")
    const { port } = receiver.address() as AddressInfo
    try {
      const [listen = "", trigger = ""] = blocks(section(text, "Try it on your machine"), "sh")
      const mine = listen
        .replace("http://127.0.0.1:4100", url)
        .replace("a key of yours", apiKey)
        .replace("localhost:3000", `127.0.0.1:${port}`)
      await terminal.run(`export PATH="${root}/node_modules/.bin:$PATH"`)
      await terminal.run(`${mine.trimEnd()} &`)
      await terminal.shows(`Forwarding to http://127.0.0.1:${port}/webhooks`)
      await terminal.run(trigger)
      await terminal.run("billwright trigger usage.threshold")
      await terminal.shows(/ usage\.threshold {2}204 /)
      const printed = terminal.lines.join("\n")
      const [, signing = ""] = /^Signing secret {2}(\S+)$/m.exec(printed) ?? []
      const events = await Promise.all(received.map((each) => verify({ secret: signing, ...each })))
      assert.deepStrictEqual(
        events.map(({ event }) => event.type),
        ["invoice.paid", "invoice.paid", "usage.threshold"],
      )
      assert.include(printed, "payment.failed\nNo endpoint subscribes to its type.")
      assert.strictEqual(terminal.errors, "")
    } finally {
      await terminal.close()
      receiver.close()
      await stop()
    }
  })

  it("keeps the raw bytes next to Express's JSON parser", { timeout: 60_000 }, () => {
    const [, parser = ""] = /`(express\.json\(\{.*\}\))`/.exec(text) ?? []
    const { body, headers } = messageOf(PAYLOAD, key)
    runExample(
      `
import { once } from "node:events"
import { verify } from "billwright/verify"
import express from "express"

const app = express()
app.use(${parser})
app.post("/", async ({ headers, rawBody, body }, response) => {
  const secret = process.env["WEBHOOK_SECRET"]
  const { id } = await verify({ secret, headers, body: rawBody })
  const { code } = await verify({ secret, headers, body }).catch((error) => error)
  response.json({ id, code })
})
const server = app.listen(0, "127.0.0.1")
await once(server, "listening")
const url = "http://127.0.0.1:" + server.address().port
const headers = { ...${JSON.stringify(headers)}, "content-type": "application/json" }
const response = await fetch(url, { method: "POST", headers, body: ${JSON.stringify(body)} })
const { id, code } = await response.json()
console.log(id, code) // ${headers["webhook-id"]} invalid_body
server.close()
`,
      { WEBHOOK_SECRET: secret },
    )
  })

  it("names the errors for bodies that are not raw", async () => {
    const { body, headers } = messageOf(PAYLOAD, key)
    const codeOf = async (given: unknown, now = new Date()) => {
      try {
        await verify({ secret, headers, body: given as string, now })
        return "verified"
      } catch (error) {
        return error instanceof WebhookVerificationError ? error.code : error
      }
    }
    assert.strictEqual(await codeOf(body), "verified")
    assert.strictEqual(await codeOf(JSON.parse(body)), "invalid_body")
    assert.strictEqual(await codeOf(JSON.stringify(JSON.parse(body))), "no_matching_signature")
    const told = table(section(text, "Verify"), "what was done").map(([, code]) => code)
    assert.deepStrictEqual(
      told.map((code = "") => code.match(/`(\w+)`/g)?.map(plain)),
      [
        ["invalid_body"],
        ["no_matching_signature"],
        ["no_matching_signature"],
        ["timestamp_too_old", "timestamp_too_new"],
      ],
    )
    assert.strictEqual(await codeOf(body, new Date(Date.now() + 400 * SECOND)), "timestamp_too_old")
    assert.strictEqual(await codeOf(body, new Date(Date.now() - 400 * SECOND)), "timestamp_too_new")
  })

  const [openssl = ""] = blocks(text, "sh").filter((block) => block.includes("openssl"))
  it("verifies in a shell", () => {
    inWorkspace((folder) => {
      const { body, headers } = messageOf(PAYLOAD, key)
      const run = (sent: string) => {
        writeFileSync(join(folder, "body.json"), sent)
        const env = {
          ...process.env,
          WEBHOOK_SECRET: secret,
          id: headers["webhook-id"],
          timestamp: headers["webhook-timestamp"],
          signatures: headers["webhook-signature"],
        }
        const { stderr, stdout } = spawnSync("bash", ["--norc", "-euc", openssl], {
          cwd: folder,
          env,
          encoding: "utf8",
        })
        return stdout + stderr
      }
      assert.strictEqual(run(body), "verified\n")
      assert.strictEqual(run(`${body} `), "refused\n")
    })
  })

  const [python = ""] = blocks(text, "python")
  it.runIf(spawnSync("python3", ["--version"]).status === 0)("verifies in Python", () => {
    const run = (message: ReturnType<typeof messageOf>) => {
      const call = `import json, sys\nm = json.load(sys.stdin)\nprint(verify(m["secret"], m["headers"], m["body"].encode()))`
      const input = JSON.stringify({ secret, ...message })
      const { stderr, stdout } = spawnSync("python3", ["-c", `${python}\n${call}`], {
        input,
        encoding: "utf8",
      })
      return stdout + stderr
    }
    const message = messageOf(PAYLOAD, key)
    assert.strictEqual(run(message), "True\n")
    assert.strictEqual(run({ ...message, body: `${PAYLOAD} ` }), "False\n")
    assert.strictEqual(run(messageOf(PAYLOAD, randomBytes(32))), "False\n")
    assert.strictEqual(run(messageOf(PAYLOAD, key, Date.now() - 400 * SECOND)), "False\n")
  })
})
