/** Exports whose key ends while they are sent. */
import { ApiKeys } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { HttpRequest } from "../../src/server/HttpExchange.ts"
import * as ApiServer from "../ApiServer.ts"
import * as Faults from "../Faults.ts"

/** One more than a page of the audit log. */
const CUSTOMERS = 101

/** Each of the answers that are sent in pieces, but for the stream of events. */
const EXPORTS = {
  "the audit log": () => "/v1/audit_log/export",
  "a customer": (customerId: string) => `/v1/customers/${customerId}/export`,
  "the journal": () => "/v1/journal/export?format=csv",
}

const requestOf = (target: string, secret: string): HttpRequest => {
  const headers: Record<string, string> = { authorization: `Bearer ${secret}` }
  const [path = "", query = ""] = target.split("?")
  return {
    method: "GET",
    path,
    query,
    header: (name) => headers[name],
    headers: () => headers,
    remoteAddress: undefined,
    body: Effect.succeed(new Uint8Array()),
  }
}

/** An export that has begun, and how its key is revoked. */
const begin = Effect.fnUntraced(function* (targetOf: (customerId: string) => string) {
  const { faults, storage } = Faults.make()
  const api = yield* ApiServer.start({ storage })
  const [customerId] = yield* Effect.forEach(Array.from({ length: CUSTOMERS }), () => api.newCustomer())
  const { id, secret } = yield* api.issue()
  const { status, stream = Stream.empty } = yield* api.server(requestOf(targetOf(customerId!), secret))
  assert.strictEqual(status, 200)
  const pieces: Array<string> = []
  /** Reads all of it. `meanwhile` runs once the first piece has come. */
  const read = (meanwhile: Effect.Effect<unknown, unknown>) =>
    Stream.runForEach(stream, (piece) =>
      pieces.push(piece) === 1 ? Effect.asVoid(Effect.orDie(meanwhile)) : Effect.void,
    )
  const revoke = Context.get(api.services, ApiKeys).revoke(id).pipe(api.as({}))
  return { faults, pieces, read, revoke }
})

describe.each(Object.entries(EXPORTS))("an export of %s", (_, targetOf) => {
  it.effect("is broken off after its key was revoked", () =>
    Effect.gen(function* () {
      const { pieces, read, revoke } = yield* begin(targetOf)
      const exit = yield* Effect.exit(read(Effect.andThen(revoke, TestClock.adjust("1 second"))))
      assert(Exit.isFailure(exit))
      assert.include(String(Cause.squash(exit.cause)), "the API key has ended before the answer was complete")
      assert.lengthOf(pieces, 1)
    }),
  )

  it.effect("goes on while nobody can tell whether its key is valid", () =>
    Effect.gen(function* () {
      const { faults, pieces, read } = yield* begin(targetOf)
      faults.keys = Faults.unavailable
      // Longer than a look-up of the key is cached.
      yield* read(TestClock.adjust("10 seconds"))
      assert.isAbove(pieces.length, 1)
    }),
  )
})

describe("the key of an export", () => {
  it.effect("is looked at once a second at most", () =>
    Effect.gen(function* () {
      const { pieces, read, revoke } = yield* begin(EXPORTS["the audit log"])
      yield* read(Effect.andThen(revoke, TestClock.adjust("999 millis")))
      assert.lengthOf(pieces, 2)
    }),
  )
})
