/**
 * Which open transactions delay the stream of events.
 */
import { EventStore, IdGenerator } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { Client } from "pg"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { publish } from "./Webhooks.ts"

/** A transaction that has written something, and stays open as long as the scope. */
const openTransaction = (connectionString: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ connectionString })
      await client.connect()
      await client.query("begin")
      await client.query("create temporary table written (id integer)")
      return client
    }),
    (client) => Effect.promise(() => client.end()),
  )

describe("the stream of events", () => {
  it.live("waits for open transactions of its own database, not of another database", () =>
    Effect.gen(function* () {
      const [url, other] = [yield* TestDatabase.make, yield* TestDatabase.make]
      const client = PostgresClient.layer({ url: Redacted.make(url) })
      yield* Effect.gen(function* () {
        const store = yield* EventStore
        const start = Option.getOrThrow(yield* store.tailPosition(undefined))
        yield* openTransaction(other)
        const { event: first } = yield* publish()
        const before = yield* store.tail(start, [], 10)
        assert.deepStrictEqual(before.events, [first])
        const holder = yield* openTransaction(url)
        const { event: second } = yield* publish()
        assert.deepStrictEqual((yield* store.tail(before.position, [], 10)).events, [])
        yield* Effect.promise(() => holder.query("commit"))
        assert.deepStrictEqual((yield* store.tail(before.position, [], 10)).events, [second])
      }).pipe(
        asTenant,
        Effect.provide(
          IdGenerator.layer.pipe(Layer.provideMerge(Storage.layer()), Layer.provideMerge(client)),
        ),
      )
    }).pipe(Effect.scoped),
  )
})
