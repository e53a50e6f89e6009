import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { setImmediate } from "node:timers/promises"
import { ApiKeys } from "@billwright/core"
import { NodeHandler, NodeServer } from "@billwright/http/node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"
import { answersOf, connect } from "../Connection.ts"
import * as Faults from "../Faults.ts"

const ada = JSON.stringify({ name: "Ada", email: "ada@example.com" })

/** A host's own server. */
const serve = (listener: Http.RequestListener): Effect.Effect<number, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Http.Server>((resume) => {
        const server = Http.createServer(listener)
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        }),
    ),
    (server) => (server.address() as AddressInfo).port,
  )

const head = (lines: ReadonlyArray<string>): string => `${[...lines, "Host: localhost"].join("\r\n")}\r\n\r\n`

const postHead = (key: string, length: number, ...more: ReadonlyArray<string>): string =>
  head([
    "POST /v1/customers HTTP/1.1",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${length}`,
    ...more,
  ])

describe("a mounted handler", () => {
  it.effect("works under a base path", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const handler = NodeHandler.make(api.server, api.context, { basePath: "/billing" })
      const { url } = yield* NodeServer.listen(handler, { port: 0 })
      const headers = { authorization: `Bearer ${api.testKey}` }
      const status = (path: string) =>
        Effect.promise(() => fetch(`${url}${path}`, { headers }).then((response) => response.status))
      assert.strictEqual(yield* status("/billing/v1/customers?limit=1"), 200)
      assert.strictEqual(yield* status("/billing/docs"), 200)
      assert.strictEqual(yield* status("/billing"), 404)
      assert.strictEqual(yield* status("/v1/customers"), 404)
      assert.strictEqual(yield* status("/billings/v1/customers"), 404)
      assert.throws(() => NodeHandler.make(api.server, api.context, { basePath: "x" }), /must start with \//)
    }),
  )

  it.effect("works behind a framework that removes the prefix from the URL, as Express does", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const handler = NodeHandler.make(api.server, api.context)
      const port = yield* serve((request, response) => {
        const url = request.url ?? ""
        if (!url.startsWith("/billing")) {
          response.writeHead(418).end()
          return
        }
        const rest = url.slice("/billing".length)
        request.url = rest.startsWith("/") ? rest : `/${rest}`
        handler(request, response)
        request.url = url
      })
      const base = `http://127.0.0.1:${port}`
      const headers = { authorization: `Bearer ${api.testKey}`, "content-type": "application/json" }
      const created = yield* Effect.promise(() =>
        fetch(`${base}/billing/v1/customers`, { method: "POST", headers, body: ada }),
      )
      assert.strictEqual(created.status, 201)
      const statuses = yield* Effect.promise(() =>
        Promise.all(
          ["/billing/v1/customers?limit=1", "/billing", "/billing?x=1", "/other"].map((path) =>
            fetch(`${base}${path}`, { headers }).then((response) => response.status),
          ),
        ),
      )
      assert.deepStrictEqual(statuses, [200, 404, 404, 418])
    }),
  )

  it.effect("explains the problem when it is mounted after a body parser", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const handler = NodeHandler.make(api.server, api.context)
      const port = yield* serve((request, response) => {
        request.resume().on("end", () => handler(request, response))
      })
      const headers = { authorization: `Bearer ${api.testKey}`, "content-type": "application/json" }
      const answer = yield* Effect.promise(async () => {
        const response = await fetch(`http://127.0.0.1:${port}/v1/customers`, {
          method: "POST",
          headers,
          body: ada,
        })
        return { status: response.status, body: await response.json() }
      })
      assert.deepStrictEqual(answer, {
        status: 400,
        body: {
          error: "invalid_request",
          message: "the body was already read: mount the billing handler before the body parser",
        },
      })
    }),
  )
})

describe("connections", () => {
  it.effect("of a client that disconnects in the middle of its body leave nothing stored", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      yield* connection.write(postHead(api.testKey, ada.length))
      yield* connection.write(ada.slice(0, 10))
      yield* connection.destroy
      yield* connection.closed
      yield* api.expect(200, "GET", "/v1/customers")
      assert.lengthOf((yield* api.snapshot).customers, 0)
    }),
  )

  it.effect("of a client that disconnects interrupt its running request", () =>
    Effect.gen(function* () {
      const gate = yield* Faults.makeGate
      const api = yield* ApiServer.start({ storage: gate.storage })
      const connection = yield* connect(api.port)
      yield* connection.write(postHead(api.testKey, ada.length) + ada)
      yield* gate.reached
      yield* connection.destroy
      yield* gate.left
      yield* gate.open
      assert.lengthOf((yield* api.snapshot).customers, 0)
      yield* api.newCustomer()
    }),
  )

  it.effect("get an error when a body takes longer than 30 s", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const handler = NodeHandler.make(api.server, api.context)
      const isReading = yield* Deferred.make<Http.ServerResponse>()
      const port = yield* serve((request, response) => {
        request.on("newListener", (event) => {
          if (event === "data") Deferred.doneUnsafe(isReading, Effect.succeed(response))
        })
        handler(request, response)
      })
      const connection = yield* connect(port)
      yield* connection.write(postHead(api.testKey, ada.length))
      yield* connection.write(ada.slice(0, 10))
      const response = yield* Deferred.await(isReading)
      yield* Effect.promise(() => setImmediate())
      yield* TestClock.adjust("29 seconds")
      assert.isFalse(response.headersSent)
      yield* TestClock.adjust("1 second")
      const [refused, ...more] = answersOf(yield* connection.closed)
      assert.lengthOf(more, 0)
      assert.strictEqual(refused?.status, 408)
      assert.strictEqual(refused?.headers["connection"], "close")
      assert.include(refused?.text, "the body took longer than 30 s")
    }),
  )

  it.effect("stay usable after a refused request whose body was not read", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      const body = "x".repeat(500_000)
      yield* connection.write(postHead("none", body.length) + body)
      yield* connection.until((text) => answersOf(text).length === 1)
      yield* connection.write(postHead(api.testKey, ada.length) + ada)
      const answers = answersOf(yield* connection.until((text) => answersOf(text).at(-1)?.status === 201))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [401, 201],
      )
    }),
  )

  it.effect("may have another key in each request, and a revoked key is refused", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const live = yield* api.issue({ mode: "live" })
      const connection = yield* connect(api.port)
      let asked = 0
      const ask = Effect.fnUntraced(function* (...lines: ReadonlyArray<string>) {
        asked++
        yield* connection.write(head([`GET /v1/customers/${ApiServer.UNKNOWN.customer} HTTP/1.1`, ...lines]))
        return answersOf(yield* connection.until((text) => answersOf(text).length === asked)).at(-1)?.status
      })
      const create = Effect.fnUntraced(function* (key: string) {
        asked++
        yield* connection.write(postHead(key, ada.length) + ada)
        const answers = answersOf(yield* connection.until((text) => answersOf(text).length === asked))
        return /"livemode":(true|false)/.exec(answers.at(-1)?.text ?? "")?.[1] ?? answers.at(-1)?.status
      })
      const almost = live.secret.slice(0, -1) + (live.secret.endsWith("0") ? "1" : "0")
      assert.strictEqual(yield* create(live.secret), "true")
      assert.strictEqual(yield* create(live.secret), "true")
      assert.strictEqual(yield* create(api.testKey), "false")
      assert.strictEqual(yield* create(live.secret), "true")
      assert.strictEqual(yield* create(almost), 401)
      assert.strictEqual(yield* ask(), 401)
      assert.strictEqual(yield* ask(`Authorization: Basic ${live.secret}`), 401)
      assert.strictEqual(yield* ask(`authorization: bearer  ${live.secret}`), 404)
      yield* ApiKeys.use((keys) => keys.revoke(live.id)).pipe(api.as({ mode: "live" }), Effect.orDie)
      assert.strictEqual(yield* create(live.secret), 401)
    }),
  )

  it.effect("get an error before the body is sent if its Content-Length is too large", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      yield* connection.write(postHead(api.testKey, 2_000_000))
      assert.include(yield* connection.until((text) => text.includes("}")), "payload_too_large")
    }),
  )

  it.effect("are closed after a body that is too large", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      yield* connection.write(postHead(api.testKey, 2_000_000))
      yield* connection.write("x".repeat(1_500_000))
      yield* connection.until((text) => text.includes("payload_too_large"))
      yield* connection.write("x".repeat(500_000))
      const [refused, ...more] = answersOf(yield* connection.closed)
      assert.strictEqual(refused?.status, 413)
      assert.strictEqual(refused?.headers["connection"], "close")
      assert.lengthOf(more, 0)
    }),
  )

  it.effect("may have pipelined requests, which are answered in order", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      const get = (path: string) => head([`GET ${path} HTTP/1.1`])
      yield* connection.write(
        postHead(api.testKey, ada.length) + ada + get("/livez") + get("/v1") + get("/x"),
      )
      const answers = answersOf(yield* connection.until((text) => text.includes("there is nothing at /x")))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [201, 200, 401, 404],
      )
    }),
  )
})
