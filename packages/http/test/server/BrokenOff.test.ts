/** Exports whose server stops: nothing that was sent looks complete. */
import { once } from "node:events"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { FetchHandler } from "@billwright/http"
import { NodeHandler, NodeServer } from "@billwright/http/node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"
import { connect } from "../Connection.ts"
import * as Faults from "../Faults.ts"

/** One more than a page. */
const RECORDS = 101

/** The end of a chunked body. */
const COMPLETE = /\r\n0\r\n\r\n$/

/** A server with an audit log of two pages. The second one is never read: `reached` is done when it should be. */
const start = Effect.gen(function* () {
  const { faults, storage } = Faults.make()
  const api = yield* ApiServer.start({ storage })
  yield* Effect.forEach(Array.from({ length: RECORDS }), () => api.newCustomer())
  const reached = yield* Deferred.make<void>()
  let reads = 0
  faults.data = Effect.suspend(() =>
    reads++ === 0 ? Effect.void : Effect.andThen(Deferred.succeed(reached, undefined), Effect.never),
  )
  return { api, reached: Deferred.await(reached) }
})

/** An export that has sent its first page. */
const begin = Effect.fnUntraced(function* ({ api, reached }: Effect.Success<typeof start>, port: number) {
  const client = yield* connect(port)
  yield* client.write(
    `GET /v1/audit_log/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.testKey}\r\n\r\n`,
  )
  yield* reached
  yield* client.until((text) => text.includes("customer.created"))
  return client
})

describe("an export is broken off", () => {
  it.effect("when the server stops", () =>
    Effect.gen(function* () {
      const started = yield* start
      const scope = yield* Scope.make()
      const handler = NodeHandler.make(started.api.server, started.api.context)
      const { port } = yield* NodeServer.listen(handler, { port: 0 }).pipe(Scope.provide(scope))
      const client = yield* begin(started, port)
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.notMatch(yield* client.closed, COMPLETE)
      yield* Fiber.join(stopping)
    }),
  )

  it.effect("soon after a server of the host has stopped listening", () =>
    Effect.gen(function* () {
      const started = yield* start
      const handler = NodeHandler.make(started.api.server, started.api.context)
      const server = Http.createServer(handler).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(server, "listening"))
      const client = yield* begin(started, (server.address() as AddressInfo).port)
      server.close()
      yield* TestClock.adjust("1 second")
      assert.notMatch(yield* client.closed, COMPLETE)
    }),
  )

  it.effect("when billing closes", () =>
    Effect.gen(function* () {
      const started = yield* start
      const closing = new AbortController()
      const handler = NodeHandler.make(started.api.server, started.api.context, { closing: closing.signal })
      const { port } = yield* NodeServer.listen(handler, { port: 0 })
      const client = yield* begin(started, port)
      closing.abort()
      assert.notMatch(yield* client.closed, COMPLETE)
    }),
  )

  it.effect("as a Response when billing closes", () =>
    Effect.gen(function* () {
      const { api, reached } = yield* start
      const closing = new AbortController()
      const handler = FetchHandler.make(api.server, api.context, { closing: closing.signal })
      const request = new Request("http://localhost/v1/audit_log/export", {
        headers: { authorization: `Bearer ${api.testKey}` },
      })
      const response = yield* Effect.promise(() => handler(request))
      const whole = yield* Effect.forkChild(
        Effect.tryPromise({ try: () => response.text(), catch: (error) => error as Error }),
        { startImmediately: true },
      )
      yield* reached
      closing.abort()
      const error = yield* Effect.flip(Fiber.join(whole))
      assert.strictEqual(error.message, "the server has stopped before the answer was complete")
    }),
  )
})
