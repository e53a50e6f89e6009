/** A receiver of webhooks on this machine. It stops when the scope closes. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"
import { verify, type VerifiedWebhook } from "billwright/verify"
import { Deferred, Effect, Queue, Redacted } from "effect"

/** Returns its URL, the received events, and where to set the secret for verifying. */
export const start = Effect.gen(function* () {
  const received = yield* Queue.unbounded<VerifiedWebhook["event"]>()
  const secret = yield* Deferred.make<Redacted.Redacted>()

  const server = createServer(async (request, response) => {
    try {
      const body = await buffer(request)
      const key = Redacted.value(await Effect.runPromise(Deferred.await(secret)))
      const { event } = await verify({ secret: key, headers: request.headers, body })
      Queue.offerUnsafe(received, event)
      response.writeHead(204).end()
    } catch {
      response.writeHead(400).end()
    }
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => void server.close().closeAllConnections()),
  )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received, secret }
})
