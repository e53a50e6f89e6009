/** Connections whose answers are read by undici, because they are chunked. They follow the same rules as others. */
import { type WebhookResponse, WebhookTransport } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { selfSigned } from "./Certificate.ts"
import { type Behaviour, post, receiver, transport } from "./Receivers.ts"

const bodyOf = (response: WebhookResponse) => (response._tag === "Answered" ? response.body : response.error)

const chunked = (body: string, headers = ""): string =>
  `HTTP/1.1 200 OK\r\n${headers}transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

const numbered: Behaviour = (socket, _received, number) =>
  socket.setNoDelay().write(chunked(`answer ${number}`))

/** Sends requests one after the other, and gives their bodies. */
const sendMany = (url: string, count: number) =>
  Effect.gen(function* () {
    const { send } = yield* WebhookTransport
    const bodies: Array<string> = []
    for (let i = 1; i <= count; i++) bodies.push(bodyOf(yield* send(post(url, { body: `body ${i}` }))))
    return bodies
  })

describe("a connection with chunked answers", () => {
  it.live("carries each request once, and is kept", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(numbered)
      assert.deepStrictEqual(
        yield* sendMany(hook.origin, 4),
        [1, 2, 3, 4].map((number) => `answer ${number}`),
      )
      assert.deepStrictEqual(
        hook.requests.map(({ body }) => body),
        [1, 2, 3, 4].map((number) => `body ${number}`),
      )
      assert.strictEqual(new Set(hook.requests.map(({ head }) => head)).size, 1)
      assert.strictEqual(hook.connections, 1)
    }).pipe(Effect.provide(transport())),
  )

  it.live("may have TLS", () => {
    const tls = selfSigned(["hooks.example"])
    return Effect.gen(function* () {
      const hook = yield* receiver(numbered, { tls })
      const url = `https://hooks.example:${hook.port}`
      assert.deepStrictEqual(yield* sendMany(url, 3), ["answer 1", "answer 2", "answer 3"])
      assert.deepStrictEqual([hook.requests.length, hook.connections], [3, 1])
    }).pipe(
      Effect.provide(
        transport({
          resolve: () => Promise.resolve(["127.0.0.1"]),
          certificateAuthorities: [tls.cert],
        }),
      ),
    )
  })

  it.live("is replaced when the receiver closed it and nothing was sent on it", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(numbered)
      for (let round = 1; round <= 5; round++) {
        assert.deepStrictEqual(yield* sendMany(hook.origin, 2), [
          `answer ${2 * round - 1}`,
          `answer ${2 * round}`,
        ])
        for (const socket of hook.sockets) socket.destroy()
      }
      assert.deepStrictEqual([hook.requests.length, hook.connections], [10, 5])
    }).pipe(Effect.provide(transport())),
  )

  it.live("gives a reset when the receiver closes it after a request, and sends nothing again", () =>
    Effect.gen(function* () {
      const hook = yield* receiver((socket, received, number) =>
        number < 3 ? numbered(socket, received, number) : socket.resetAndDestroy(),
      )
      assert.deepStrictEqual(yield* sendMany(hook.origin, 3), ["answer 1", "answer 2", "reset"])
      assert.deepStrictEqual([hook.requests.length, hook.connections], [3, 1])
    }).pipe(Effect.provide(transport())),
  )

  it.live("is not used again if bytes have arrived on it since", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(numbered)
      for (const [index, bytes] of [
        chunked("nobody asked"),
        "HTTP/1.1 100 Continue\r\n\r\n",
        "\r\n",
      ].entries()) {
        assert.deepStrictEqual(yield* sendMany(hook.origin, 1), [`answer ${2 * index + 1}`])
        for (const socket of hook.sockets) socket.write(bytes)
        assert.deepStrictEqual(yield* sendMany(hook.origin, 1), [`answer ${2 * index + 2}`])
        assert.strictEqual(hook.connections, index + 2, JSON.stringify(bytes))
      }
    }).pipe(Effect.provide(transport())),
  )

  it.live("is closed if bytes arrive while it is idle", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(numbered)
      yield* sendMany(hook.origin, 2)
      for (const socket of hook.sockets) socket.write("\r\n")
      yield* Effect.promise(() => hook.whenOpen(0))
    }).pipe(Effect.provide(transport({ maxIdleMillis: 60_000 }))),
  )

  it.live(
    "ends after the idle time",
    () =>
      Effect.gen(function* () {
        const hook = yield* receiver(numbered)
        yield* sendMany(hook.origin, 2)
        yield* Effect.promise(() => hook.whenOpen(0))
      }).pipe(Effect.provide(transport({ maxIdleMillis: 50 }))),
    3_000,
  )

  it.live("ends when the receiver asks for it", () =>
    Effect.gen(function* () {
      for (const header of ["connection: close\r\n", "keep-alive: timeout=1\r\n"]) {
        const hook = yield* receiver((socket) => socket.write(chunked("ok", header)))
        assert.deepStrictEqual(yield* sendMany(hook.origin, 3), ["ok", "ok", "ok"])
        assert.strictEqual(hook.connections, 3, header)
      }
    }).pipe(Effect.provide(transport())),
  )
})
