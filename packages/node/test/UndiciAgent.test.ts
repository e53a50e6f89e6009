/**
 * Behaviour of undici's own pool that the transport can't use: decision 0020. When one of these tests fails after an
 * update of undici, a part of `ConnectionPool` or `Connection` may have become unnecessary.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Agent, request } from "undici"
import { answer, ok, receiver } from "./Receivers.ts"

const agent = Effect.acquireRelease(
  Effect.sync(() => new Agent({ connections: 1, pipelining: 1, keepAliveTimeout: 60_000 })),
  (made) => Effect.promise(() => made.destroy()),
)

const ask = (dispatcher: Agent, origin: string) =>
  Effect.promise(async () => {
    const { body } = await request(origin, { method: "POST", body: "{}", dispatcher })
    return body.text()
  })

describe("an Agent of undici", () => {
  it.live("has no limit for idle connections to all origins together", () =>
    Effect.gen(function* () {
      const dispatcher = yield* agent
      const hooks = yield* Effect.forEach(Array.from({ length: 300 }), () => receiver(ok))
      for (const { origin } of hooks) yield* ask(dispatcher, origin)
      assert.strictEqual(hooks.filter(({ sockets }) => sockets.size === 1).length, 300)
    }),
  )

  it.live("treats an interim answer that it did not ask for as a broken answer", () =>
    Effect.gen(function* () {
      const dispatcher = yield* agent
      const hook = yield* receiver((socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${answer(200)}`))
      const failure = yield* Effect.promise(() =>
        request(hook.origin, { method: "POST", body: "{}", dispatcher }).then(
          () => "answered",
          (error: Error) => error.message,
        ),
      )
      assert.strictEqual(failure, "bad response")
    }),
  )

  it.live("takes early bytes for the answer to the next request", () =>
    Effect.gen(function* () {
      const dispatcher = yield* agent
      const hook = yield* receiver((socket, _received, number) => {
        socket.setNoDelay()
        socket.write(answer(200, `answer ${number}`))
      })
      assert.strictEqual(yield* ask(dispatcher, hook.origin), "answer 1")
      for (const socket of hook.sockets) socket.write(answer(500, "nobody asked"))
      assert.strictEqual(yield* ask(dispatcher, hook.origin), "nobody asked")
    }),
  )
})
