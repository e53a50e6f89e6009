import type { Socket } from "node:net"
import { type WebhookResponse, WebhookTransport } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { answer, type Behaviour, ok, post, receiver, transport } from "./Receivers.ts"

const statusOf = (response: WebhookResponse) =>
  response._tag === "Answered" ? response.status : response.error
const bodyOf = (response: WebhookResponse) => (response._tag === "Answered" ? response.body : response.error)

/** Holds all requests until this many have arrived, then answers them and all later ones. */
const together = (count: number): Behaviour => {
  const held: Array<Socket> = []
  return (socket, _received, number) => {
    held.push(socket)
    if (number >= count) for (const each of held.splice(0)) each.write(answer(200))
  }
}

const sendAll = (url: string, count: number) =>
  Effect.gen(function* () {
    const { send } = yield* WebhookTransport
    return yield* Effect.all(
      Array.from({ length: count }, () => send(post(url))),
      { concurrency: "unbounded" },
    )
  })

describe("connections", () => {
  // The first test of the file, because sockets of earlier ones may still be closing.
  it.live("don't keep the process running while they are idle", () =>
    Effect.gen(function* () {
      const open = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length
      const hook = yield* receiver(ok)
      const { send } = yield* WebhookTransport
      const before = open()
      yield* send(post(hook.origin))
      // Only the one of the receiver.
      assert.deepStrictEqual([open(), hook.sockets.size], [before + 1, 1])
    }).pipe(Effect.provide(transport())),
  )

  it.live("are kept for the next request", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const { send } = yield* WebhookTransport
      for (let i = 0; i < 100; i++)
        assert.strictEqual(statusOf(yield* send(post(`${hook.origin}/${i}`))), 200)
      assert.deepStrictEqual([hook.connections, hook.requests.length], [1, 100])
    }).pipe(Effect.provide(transport())),
  )

  it.live("are kept for their origin", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* receiver(ok), yield* receiver(ok)]
      const { send } = yield* WebhookTransport
      for (let i = 0; i < 10; i++) {
        for (const { origin } of [a, b]) assert.strictEqual(statusOf(yield* send(post(origin))), 200)
      }
      assert.deepStrictEqual(
        [a.connections, b.connections, a.requests.length, b.requests.length],
        [1, 1, 10, 10],
      )
    }).pipe(Effect.provide(transport())),
  )

  it.live("to one origin are enough for an account whose endpoints there hang, and for others", () =>
    Effect.gen(function* () {
      // As many as the dispatcher sends at once for one account.
      const most = 64 + 448 / 2
      const hook = yield* receiver((socket, received) => {
        if (!received.head.startsWith("POST /hang")) socket.write(answer(200))
      })
      const { send } = yield* WebhookTransport
      const hanging = yield* Effect.forEach(Array.from({ length: most }), () =>
        Effect.forkChild(send(post(`${hook.origin}/hang`)), { startImmediately: true }),
      )
      assert.strictEqual(statusOf(yield* send(post(`${hook.origin}/hook`))), 200)
      yield* Fiber.interruptAll(hanging)
    }).pipe(Effect.provide(transport())),
  )

  it.live("carry one request at a time", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(together(5))
      assert.deepStrictEqual((yield* sendAll(hook.origin, 5)).map(statusOf), [200, 200, 200, 200, 200])
      assert.strictEqual(hook.connections, 5)
    }).pipe(Effect.provide(transport())),
  )

  it.live("are limited in number, and further requests wait for their turn", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(together(3))
      const responses = yield* sendAll(hook.origin, 50)
      assert.isTrue(responses.every((response) => statusOf(response) === 200))
      assert.deepStrictEqual([hook.connections, hook.requests.length], [3, 50])
    }).pipe(Effect.provide(transport({ maxConnectionsPerOrigin: 3 }))),
  )

  it.live("that can't be opened or have ended make room for waiting requests", () =>
    Effect.gen(function* () {
      const hook = yield* receiver((socket, _received, number) =>
        number % 2 === 1 ? socket.resetAndDestroy() : socket.end(answer(200, "", "connection: close\r\n")),
      )
      const statuses = (yield* sendAll(hook.origin, 20)).map(statusOf)
      assert.deepStrictEqual(
        [statuses.filter((status) => status === 200).length, statuses.filter((s) => s === "reset").length],
        [10, 10],
      )
      const refused = yield* sendAll("http://127.0.0.1:1/", 20)
      assert.isTrue(refused.every((response) => statusOf(response) === "connection_refused"))
    }).pipe(Effect.provide(transport({ maxConnectionsPerOrigin: 1 }))),
  )

  it.live("are waited for until the deadline", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(() => {})
      const statuses = (yield* sendAll(hook.origin, 3)).map(statusOf)
      assert.deepStrictEqual(statuses, ["timeout", "timeout", "timeout"])
    }).pipe(Effect.provide(transport({ maxConnectionsPerOrigin: 1, deadlineMillis: 200 }))),
  )

  it.live("aren't given to cancelled requests", () =>
    Effect.gen(function* () {
      let answerFirst: () => void = () => {}
      const hook = yield* receiver((socket, _received, number) => {
        if (number > 1) socket.write(answer(200))
        else answerFirst = () => socket.write(answer(200))
      })
      const { send } = yield* WebhookTransport
      const first = yield* Effect.forkChild(send(post(hook.origin)))
      yield* Effect.promise(() => hook.whenOpen(1))
      const quitter = yield* Effect.forkChild(send(post(`${hook.origin}/quitter`)))
      const patient = yield* Effect.forkChild(send(post(`${hook.origin}/patient`)))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(quitter)
      yield* Effect.promise(() => hook.whenRequests(1))
      answerFirst()
      assert.deepStrictEqual([yield* Fiber.join(first), yield* Fiber.join(patient)].map(statusOf), [200, 200])
      assert.deepStrictEqual(
        hook.requests.map(({ head }) => head.split(" ")[1]),
        ["/", "/patient"],
      )
      assert.strictEqual(hook.connections, 1)
    }).pipe(Effect.provide(transport({ maxConnectionsPerOrigin: 1 }))),
  )

  it.live(
    "end after the idle time, even if the receiver would keep them longer",
    () =>
      Effect.gen(function* () {
        const hook = yield* receiver(ok)
        const patient = yield* receiver((socket) =>
          socket.write(answer(200, "", "keep-alive: timeout=600\r\n")),
        )
        const { send } = yield* WebhookTransport
        for (const { origin } of [hook, patient]) yield* send(post(origin))
        for (const { whenOpen } of [hook, patient]) yield* Effect.promise(() => whenOpen(0))
      }).pipe(Effect.provide(transport({ maxIdleMillis: 50 }))),
    // Less than the default of undici.
    3_000,
  )

  it.live(
    "end two seconds before the receiver would close them",
    () =>
      Effect.gen(function* () {
        const hook = yield* receiver((socket, _received, number) =>
          socket.write(
            answer(200, "", number === 1 ? "keep-alive: timeout=600\r\n" : "keep-alive: timeout=3\r\n"),
          ),
        )
        const { send } = yield* WebhookTransport
        for (let i = 0; i < 2; i++) yield* send(post(hook.origin))
        assert.strictEqual(hook.connections, 1)
        yield* Effect.promise(() => hook.whenOpen(0))
      }).pipe(Effect.provide(transport({ maxIdleMillis: 60_000 }))),
    3_000,
  )

  it.live("that have been idle longest are closed when too many are idle", () =>
    Effect.gen(function* () {
      const hooks = [yield* receiver(ok), yield* receiver(ok), yield* receiver(ok), yield* receiver(ok)]
      const { send } = yield* WebhookTransport
      for (const { origin } of hooks) yield* send(post(origin))
      for (const hook of hooks.slice(0, 2)) yield* Effect.promise(() => hook.whenOpen(0))
      assert.deepStrictEqual(
        hooks.map(({ sockets }) => sockets.size),
        [0, 0, 1, 1],
      )
      // Closed connections no longer count.
      for (const { origin } of hooks) assert.strictEqual(statusOf(yield* send(post(origin))), 200)
    }).pipe(Effect.provide(transport({ maxIdleConnections: 2 }))),
  )

  it.live("that the receiver closed don't count as idle", () =>
    Effect.gen(function* () {
      const [stays, ends, next] = [yield* receiver(ok), yield* receiver(ok), yield* receiver(ok)]
      const { send } = yield* WebhookTransport
      for (const { origin } of [stays, ends]) yield* send(post(origin))
      for (const socket of ends.sockets) socket.destroy()
      yield* Effect.promise(() => ends.whenOpen(0))
      for (const { origin } of [next, stays]) yield* send(post(origin))
      assert.deepStrictEqual([stays.connections, next.connections], [1, 1])
    }).pipe(Effect.provide(transport({ maxIdleConnections: 2 }))),
  )

  it.live("are replaced when they are old", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const { send } = yield* WebhookTransport
      for (let i = 0; i < 5; i++) assert.strictEqual(statusOf(yield* send(post(hook.origin))), 200)
      assert.strictEqual(hook.connections, 5)
    }).pipe(Effect.provide(transport({ maxConnectionAgeMillis: 0 }))),
  )

  it.live("end when the receiver asks for it", () =>
    Effect.gen(function* () {
      for (const header of ["connection: close\r\n", "keep-alive: timeout=1\r\n"]) {
        const hook = yield* receiver((socket) => socket.write(answer(200, "", header)))
        const { send } = yield* WebhookTransport
        for (let i = 0; i < 5; i++) assert.strictEqual(statusOf(yield* send(post(hook.origin))), 200)
        assert.strictEqual(hook.connections, 5, header)
      }
    }).pipe(Effect.provide(transport())),
  )

  it.live("end with the layer, together with their running requests", () =>
    Effect.gen(function* () {
      const idle = yield* receiver(ok)
      const hanging = yield* receiver(() => {})
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(transport({ maxConnectionsPerOrigin: 1 }), scope)
      const sending = Effect.provideContext(
        Effect.gen(function* () {
          const { send } = yield* WebhookTransport
          yield* send(post(idle.origin))
          const fiber = yield* Effect.forkChild(sendAll(hanging.origin, 3))
          yield* Effect.promise(() => hanging.whenRequests(1))
          yield* Scope.close(scope, Exit.void)
          const late = yield* send(post(idle.origin))
          return [...(yield* Fiber.join(fiber)), late].map(statusOf)
        }),
        context,
      )
      assert.deepStrictEqual(yield* sending, ["reset", "reset", "reset", "reset"])
      for (const hook of [idle, hanging]) yield* Effect.promise(() => hook.whenOpen(0))
      assert.deepStrictEqual([idle.connections, hanging.connections], [1, 1])
    }),
  )
})

describe("a kept connection", () => {
  it.live("that the receiver closed is replaced if nothing was sent on it", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const { send } = yield* WebhookTransport
      assert.strictEqual(statusOf(yield* send(post(hook.origin))), 200)
      for (let round = 2; round <= 20; round++) {
        // The next immediate runs after the event loop has polled the network. So the end is noticed after the connection
        // was chosen and before anything is written.
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        for (const socket of hook.sockets) socket.destroy()
        assert.strictEqual(statusOf(yield* send(post(hook.origin))), 200)
        assert.deepStrictEqual([hook.requests.length, hook.connections], [round, round])
      }
    }).pipe(Effect.provide(transport())),
  )

  it.live(
    "that the receiver closed gives a reset if the request was sent, because it may have been received",
    () =>
      Effect.gen(function* () {
        const hook = yield* receiver((socket, _received, number) =>
          number === 1 ? socket.write(answer(200)) : socket.resetAndDestroy(),
        )
        const { send } = yield* WebhookTransport
        assert.strictEqual(statusOf(yield* send(post(hook.origin))), 200)
        assert.strictEqual(statusOf(yield* send(post(hook.origin))), "reset")
        assert.deepStrictEqual([hook.requests.length, hook.connections], [2, 1])
      }).pipe(Effect.provide(transport())),
  )

  it.live("is not used again if bytes have arrived on it since", () =>
    Effect.gen(function* () {
      const hook = yield* receiver((socket, _received, number) => {
        socket.setNoDelay()
        socket.write(answer(200, `answer ${number}`))
      })
      const { send } = yield* WebhookTransport
      const early = [answer(500, "nobody asked"), "HTTP/1.1 100 Continue\r\n\r\n", "H", "\r\n"]
      for (const [index, bytes] of early.entries()) {
        assert.strictEqual(bodyOf(yield* send(post(hook.origin))), `answer ${2 * index + 1}`)
        // The bytes reach the system at once, but they are not read when the next request is sent.
        for (const socket of hook.sockets) socket.write(bytes)
        assert.strictEqual(bodyOf(yield* send(post(hook.origin))), `answer ${2 * index + 2}`)
        assert.strictEqual(hook.connections, index + 2, JSON.stringify(bytes))
      }
      assert.strictEqual(hook.requests.length, 2 * early.length)
    }).pipe(Effect.provide(transport())),
  )

  it.live("is closed if bytes arrive while it is idle", () =>
    Effect.gen(function* () {
      const hook = yield* receiver(ok)
      const { send } = yield* WebhookTransport
      for (const bytes of [answer(200, "nobody asked"), "\r\n"]) {
        yield* send(post(hook.origin))
        for (const socket of hook.sockets) socket.write(bytes)
        yield* Effect.promise(() => hook.whenOpen(0))
      }
    }).pipe(Effect.provide(transport({ maxIdleMillis: 60_000 }))),
  )

  it.live("doesn't pass on early bytes as the answer to a waiting request", () =>
    Effect.gen(function* () {
      const hook = yield* receiver((socket, _received, number) => {
        socket.setNoDelay()
        socket.write(answer(200, `answer ${number}`))
        socket.write(answer(500, "nobody asked"))
      })
      const bodies = (yield* sendAll(hook.origin, 10)).map(bodyOf)
      assert.sameMembers(
        bodies,
        Array.from({ length: 10 }, (_, index) => `answer ${index + 1}`),
      )
    }).pipe(Effect.provide(transport({ maxConnectionsPerOrigin: 1 }))),
  )

  it.live("doesn't pass on early bytes as the answer to the next request", () =>
    Effect.gen(function* () {
      const hook = yield* receiver((socket, _received, number) =>
        socket.write(answer(200, `answer ${number}`) + answer(500, "nobody asked")),
      )
      const { send } = yield* WebhookTransport
      for (let i = 1; i <= 20; i++) assert.strictEqual(bodyOf(yield* send(post(hook.origin))), `answer ${i}`)
    }).pipe(Effect.provide(transport())),
  )
})
