import { execFileSync } from "node:child_process"
import type * as Http from "node:http"
import { NodeHandler, NodeServer } from "@billwright/http/node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"
import { answersOf, connect } from "../Connection.ts"
import * as Faults from "../Faults.ts"
import { assertErrorBody } from "../Judge.ts"

const ada = JSON.stringify({ name: "Ada", email: "ada@example.com" })

it("is loaded without Node's WebSocket client, which takes memory", () => {
  const script = `await import("@billwright/http/node"); console.log(process.moduleLoadList.join())`
  const loaded = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  })
  assert.include(loaded, "NativeModule _http_server")
  assert.notInclude(loaded, "undici")
})

describe("what is not HTTP", () => {
  const garbage: ReadonlyArray<readonly [string, string, string]> = [
    ["garbage", "hello?\r\n\r\n", "this is not HTTP"],
    ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01", "this is not HTTP"],
    ["an unknown method", "FROB / HTTP/1.1\r\nHost: x\r\n\r\n", "this is not HTTP"],
    ["a header without a name", "GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n", "this is not HTTP"],
    ["a negative length", "POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "this is not HTTP"],
    [
      "huge headers",
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
      "the headers are too large",
    ],
    ["a huge address", `GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, "the headers are too large"],
  ]

  it.effect.each([...garbage])("%s gets an error, and the connection is closed", ([name, bytes, message]) =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      yield* connection.write(Buffer.from(bytes, "latin1"))
      const [answer, ...more] = answersOf(yield* connection.closed)
      assert.lengthOf(more, 0)
      assert.strictEqual(answer?.status, 400)
      assert.match(answer?.headers["request-id"] ?? "", /^req_[0-9a-z]{26}$/)
      assert.strictEqual(answer?.headers["content-type"], "application/json")
      if (answer !== undefined) assertErrorBody(answer, name)
      assert.include(answer?.text, message)
      yield* api.expect(200, "GET", "/livez")
    }),
  )

  it.effect("gets its error after the answer to an earlier request", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      yield* connection.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
      yield* connection.until((text) => text.includes("ok"))
      yield* connection.write("\0\0\0\0\r\n\r\n")
      const answers = answersOf(yield* connection.closed)
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 400],
      )
    }),
  )
})

describe("what is not HTTP, after a request that is still running,", () => {
  const post = (key: string) =>
    `POST /v1/customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${ada.length}\r\n\r\n${ada}`
  const behind: ReadonlyArray<readonly [string, string, string]> = [
    ["garbage", "\0\0\0\0\r\n\r\n", "this is not HTTP"],
    ["garbage in two pieces", "\0\0|\0\0\r\n\r\n", "this is not HTTP"],
    ["a head that is too large", `GET /${"x".repeat(20_000)} HTTP/1.1\r\n`, "the headers are too large"],
    [
      "a request with an invalid body",
      "POST /v1/customers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n",
      "this is not HTTP",
    ],
  ]

  it.effect.each([...behind])(
    "gets its error after the answer to that request: %s",
    ([name, bytes, message]) =>
      Effect.gen(function* () {
        const gate = yield* Faults.makeGate
        const api = yield* ApiServer.start({ storage: gate.storage })
        const connection = yield* connect(api.port)
        const [first = "", ...rest] = bytes.split("|")
        yield* connection.write(post(api.testKey) + first)
        yield* gate.reached
        for (const piece of rest) yield* connection.write(piece)
        // When another connection has its answer, the earlier bytes have arrived.
        yield* api.expect(200, "GET", "/livez")
        yield* gate.open
        const [created, refused, ...more] = answersOf(yield* connection.closed)
        assert.lengthOf(more, 0)
        assert.strictEqual(created?.status, 201)
        assert.include(created?.text, "cus_")
        assert.strictEqual(refused?.status, 400)
        assert.include(refused?.text, message)
        if (refused !== undefined) assertErrorBody(refused, name)
      }),
  )
})

describe("unusual HTTP", () => {
  const requests: ReadonlyArray<readonly [string, string, number]> = [
    ["HTTP/1.0", "GET /livez HTTP/1.0\r\n\r\n", 200],
    ["an empty Host", "GET /livez HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", 200],
    ["an IPv6 Host", "GET /livez HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n", 200],
    ["no Host", "GET /livez HTTP/1.1\r\n\r\n", 400],
    ["two Hosts", "GET /livez HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n", 400],
    ["a Host twice", "GET /livez HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400],
    ["two Hosts in HTTP/1.0", "GET /livez HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400],
    ["a list of Hosts", "GET /livez HTTP/1.1\r\nHost: x, y\r\n\r\n", 400],
    ["a Host with a path", "GET /livez HTTP/1.1\r\nHost: x/y\r\n\r\n", 400],
    ["an absolute address", "GET http://x/livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200],
    [
      "an absolute address of another scheme and host, with a query",
      "GET HTTPS://other:8443/v1/usage?unit=call HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      401,
    ],
    [
      "an absolute address without a path",
      "GET http://x?a=b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      404,
    ],
    ["an absolute address without a Host", "GET http://x/livez HTTP/1.1\r\n\r\n", 400],
    [
      "an unknown transfer coding before chunked",
      "POST /v1/customers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    [
      "an unknown transfer coding on a line of its own",
      "GET /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: foo\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    [
      "chunked twice",
      "GET /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    [
      "an unknown transfer coding alone",
      "POST /v1/customers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
      400,
    ],
    [
      "an unknown expectation",
      "GET /livez HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n",
      200,
    ],
    [
      "an upgrade",
      "GET /livez HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n",
      200,
    ],
    ["OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404],
    [
      "a body in a GET request",
      "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
      200,
    ],
  ]

  it.effect.each([...requests])("%s", ([, bytes, status]) =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      yield* connection.write(bytes)
      const [answer, ...more] = answersOf(yield* connection.closed)
      assert.lengthOf(more, 0)
      assert.strictEqual(answer?.status, status)
      assert.match(answer?.headers["request-id"] ?? "", /^req_/)
      assert.strictEqual(answer?.headers["content-type"], "application/json")
    }),
  )

  it.effect("Expect: 100-continue gets 100 Continue", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const connection = yield* connect(api.port)
      yield* connection.write(
        `POST /v1/customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.testKey}\r\nContent-Length: ${ada.length}\r\nExpect: 100-continue\r\n\r\n`,
      )
      yield* connection.until((text) => text.startsWith("HTTP/1.1 100 Continue\r\n\r\n"))
      yield* connection.write(ada)
      const text = yield* connection.until((all) => all.includes("}"))
      assert.include(text, "HTTP/1.1 201 Created")
    }),
  )
})

describe("a late request", () => {
  const HEADERS_MILLIS = 200
  const REQUEST_MILLIS = 400
  const late = Effect.fnUntraced(function* () {
    const api = yield* ApiServer.start()
    const handled: Array<string> = []
    const handler = NodeHandler.make(api.server, api.context)
    const { port } = yield* NodeServer.listen(
      (request, response) => {
        handled.push(request.url ?? "")
        handler(request, response)
      },
      { port: 0, headersMillis: HEADERS_MILLIS, requestMillis: REQUEST_MILLIS },
    )
    return { api, handled, connection: yield* connect(port) }
  })
  const head = (key: string, length: number) =>
    `POST /v1/customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${length}\r\n`

  it.effect("gets 408 once, and its connection is closed", () =>
    Effect.gen(function* () {
      const { api, connection, handled } = yield* late()
      yield* connection.write(head(api.testKey, ada.length))
      yield* connection.until((text) => text.includes("}"))
      // The rest arrives later, and is no longer treated as a request.
      yield* connection.write(`\r\n${ada}GET /livez HTTP/1.1\r\nHost: x\r\n\r\n`)
      const [answer, ...more] = answersOf(yield* connection.closed)
      assert.lengthOf(more, 0)
      assert.strictEqual(answer?.status, 408)
      assert.strictEqual(answer?.headers["connection"], "close")
      if (answer !== undefined) assertErrorBody(answer, "late")
      assert.include(answer?.text, "the request took too long to arrive")
      assert.deepStrictEqual(handled, [])
      assert.lengthOf((yield* api.snapshot).customers, 0)
    }),
  )

  it.effect("without its body gets 408 once, and stores nothing", () =>
    Effect.gen(function* () {
      const { api, connection } = yield* late()
      yield* connection.write(`${head(api.testKey, ada.length)}\r\n{`)
      const answers = answersOf(yield* connection.closed)
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [408],
      )
      assert.lengthOf((yield* api.snapshot).customers, 0)
    }),
  )

  it.effect("that was already answered gets no second answer", () =>
    Effect.gen(function* () {
      const { connection } = yield* late()
      yield* connection.write(`${head("nobody", ada.length)}\r\n{`)
      const answers = answersOf(yield* connection.closed)
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [401],
      )
    }),
  )
})

describe("listen", () => {
  it.effect("returns its address", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      assert.match(api.url, /^http:\/\/127\.0\.0\.1:\d+$/)
      assert.isTrue(api.url.endsWith(`:${api.port}`))
    }),
  )

  it.effect("fails with a clear message", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const handler = NodeHandler.make(api.server, api.context)
      const inUse = yield* Effect.flip(NodeServer.listen(handler, { port: api.port }))
      assert.strictEqual(inUse._tag, "ListenError")
      assert.strictEqual(inUse.message, `127.0.0.1:${api.port} is in use by another program`)
      const elsewhere = yield* Effect.flip(NodeServer.listen(handler, { port: 0, host: "192.0.2.1" }))
      assert.strictEqual(elsewhere.message, "192.0.2.1 is not an address of this machine")
    }),
  )

  it.effect(
    "stops with its scope: it finishes running requests, closes idle connections and refuses new ones",
    () =>
      Effect.gen(function* () {
        const gate = yield* Faults.makeGate
        const api = yield* ApiServer.start({ storage: gate.storage })
        const handler = NodeHandler.make(api.server, api.context)
        const scope = yield* Scope.make()
        const { port } = yield* NodeServer.listen(handler, { port: 0 }).pipe(Scope.provide(scope))
        const idle = yield* connect(port)
        yield* idle.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        yield* idle.until((text) => text.includes("ok"))
        const running = yield* connect(port)
        yield* running.write(
          `POST /v1/customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.testKey}\r\nContent-Length: ${ada.length}\r\n\r\n${ada}`,
        )
        yield* gate.reached
        const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        yield* idle.closed
        yield* gate.open
        // The clock stands still, so the grace time doesn't end the connection.
        const [answer] = answersOf(yield* running.closed)
        assert.strictEqual(answer?.status, 201)
        yield* Fiber.join(stopping)
        const again = yield* NodeServer.listen(handler, { port })
        assert.strictEqual(again.port, port)
      }),
  )

  const unfinished: ReadonlyArray<readonly [string, (response: Http.ServerResponse) => void]> = [
    ["with only its headers sent", (response) => response.writeHead(200).flushHeaders()],
    ["with a part of its body sent", (response) => void response.write("piece")],
  ]
  it.effect.each(unfinished)("cuts off an answer %s when its grace time is over", ([, begin]) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const listening = NodeServer.listen((_, response) => begin(response), { port: 0 })
      const { port } = yield* Scope.provide(listening, scope)
      const client = yield* connect(port)
      yield* client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      yield* client.until((text) => text.includes("\r\n\r\n"))
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      // The chunked body has no end, so that it doesn't look complete.
      assert.notMatch(yield* client.closed, /\r\n0\r\n\r\n$/)
      yield* Fiber.join(stopping)
    }),
  )
})
