/**
 * Claims while a transaction of somebody stays open, so that Postgres keeps what every ended delivery left in the index.
 */
import { IdGenerator } from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import type { Client } from "pg"
import { LowWaterMark } from "../src/stores/LowWaterMark.ts"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { claim, delivered, minute, newEndpoint, publish, settle } from "./Webhooks.ts"

/** How many deliveries end while the transaction is open. A look that walks through them takes far longer than a quick one. */
const ENDED = 100_000
/** How often the loops check, 50 ms apart. */
const LOOKS = 200

const query = (client: Client, text: string) => Effect.promise(() => client.query(text))

/** Deliveries of the only event, numbered from `first` on, all due at the same time. */
const queue = (client: Client, first: number, count: number, dueAt: string) =>
  query(
    client,
    `insert into billwright.webhook_pending
  (account_id, mode, id, event_id, event_type, endpoint_id, attempt_count, created_at, due_at)
select e.account_id, e.mode, billwright.offset_id(e.id, ${first} + n), e.id, e.type, w.id, 0, e.occurred_at, '${dueAt}'
from billwright.events e, billwright.webhook_endpoints w, generate_series(0, ${count - 1}) n`,
  )

/** Ends what it claims. Gives how many that were. */
const finish = Effect.gen(function* () {
  const { deliveries } = yield* claim(minute(2))
  yield* settle(deliveries.map(delivered))
  return deliveries.length
})

const pending = (client: Client) =>
  Effect.map(query(client, "select count(*)::integer as count from billwright.webhook_pending"), ({ rows }) =>
    Number(rows[0].count),
  )

describe("the low-water mark of claims", () => {
  it.live(
    "skips what ended deliveries left, and finds what is due before it with the next look at the whole queue",
    () =>
      Effect.gen(function* () {
        const url = yield* TestDatabase.make
        const [writer, reader] = [
          yield* TestDatabase.administrator(url),
          yield* TestDatabase.administrator(url),
        ]
        const storage = IdGenerator.layer.pipe(
          Layer.provideMerge(Storage.layer()),
          Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
        )
        yield* Effect.gen(function* () {
          yield* newEndpoint()
          yield* publish()
          assert.strictEqual(yield* finish, 1)
          assert.strictEqual(yield* finish, 0)

          yield* query(
            reader,
            "begin isolation level repeatable read; select 1 from billwright.webhook_pending",
          )
          yield* queue(writer, 1_000, ENDED, "2020-01-01T00:00:00Z")
          yield* query(writer, "delete from billwright.webhook_pending")
          yield* query(writer, "select pg_stat_force_next_flush()")

          // A slow look sets the mark, beside the claims. Then what is due long before it is not found at once.
          let isSkipped = false
          for (let look = 0; look < LOOKS && !isSkipped; look++) {
            for (let quiet = 0; quiet < 5; quiet++) yield* Effect.delay(finish, "50 millis")
            yield* queue(writer, 500_000 + look, 1, "2020-01-01T00:00:00Z")
            isSkipped = (yield* finish) === 0
          }
          assert.isTrue(isSkipped)

          yield* queue(writer, 600_000, 1, DateTime.formatIso(minute(2)))
          assert.isAtLeast(yield* finish, 1, "what has just become due is found at once")
          const left = yield* Effect.repeat(
            Effect.andThen(Effect.delay(finish, "50 millis"), pending(writer)),
            {
              until: (count) => count === 0,
              times: LOOKS,
            },
          )
          assert.strictEqual(left, 0, "what is due before the mark is found soon")
        }).pipe(Effect.provide(storage), asTenant)
      }).pipe(Effect.scoped),
    60_000,
  )

  it("is set by slow looks at a queue with many dead rows only, and for 1 to 5 seconds", () => {
    const mark = new LowWaterMark()
    assert.isFalse(mark.isSlow(30), "the first look is the quickest so far")
    assert.isFalse(mark.isSlow(2))
    assert.isTrue(mark.isSlow(30))
    mark.set({ firstDueAt: 50_000, deadRows: 100 }, 30, 1_000)
    assert.isNull(mark.since(1_001))
    mark.set({ firstDueAt: 50_000, deadRows: 100_000 }, 30, 1_000)
    assert.strictEqual(mark.since(1_999), 49_000)
    assert.isNull(mark.since(2_000))
    mark.set({ firstDueAt: 50_000, deadRows: 100_000 }, 4_000, 2_000)
    assert.strictEqual(mark.since(6_999), 49_000)
    assert.isNull(mark.since(7_000))
  })
})
