/**
 * The contract of idempotency keys in `EventStore.publish`: a key belongs to one event of its tenant, for ever.
 */
import { EventStore, Transactor } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import * as Generators from "../Generators.ts"
import { forAll } from "../Property.ts"
import * as Sample from "../Sample.ts"
import {
  asTenant,
  type ContractTest,
  Effort,
  otherTenants,
  pause,
  same,
  times,
  together,
} from "./ContractTest.ts"
import { newCustomer } from "./UsageProbe.ts"
import { eventIds, listDeliveries, minute, newEndpoint, publish, publishAs } from "./WebhookProbe.ts"

const publishSample = Effect.fnUntraced(function* (fields: Sample.EventFields) {
  const event = yield* Sample.event(fields)
  return { event, outcome: yield* publishAs(event) }
})

/** Pairs of data that are equal as JSON values, though not as text. */
const equalData: ReadonlyArray<readonly [unknown, unknown]> = [
  [
    { a: 1, b: { c: [1, 2], d: null } },
    { b: { d: null, c: [1, 2] }, a: 1 },
  ],
  [1e21, 10n ** 21n],
  [0, -0],
  [
    [5, 2 ** 53],
    [5n, 2n ** 53n],
  ],
  [
    { "": [], é: "\u{1f600}" },
    { é: "😀", "": [] },
  ],
]

/** Pairs of data that are not equal. */
const otherData: ReadonlyArray<readonly [unknown, unknown]> = [
  [2n ** 53n, 2n ** 53n + 1n],
  [10n ** 30n, 10n ** 30n + 1n],
  [1, "1"],
  [true, "true"],
  [null, "null"],
  [0, false],
  [{}, []],
  [{ a: null }, {}],
  [
    [1, 2],
    [2, 1],
  ],
  [[1], [1, 1]],
  ["é", "e\u0301"],
  ["a", "A"],
  ["a", "a "],
  [0.1, 0.1 + Number.EPSILON],
  [{ a: { b: 1 } }, { a: { b: 2 } }],
]

const content = (test: ContractTest): void => {
  test(
    "returns the first event for a repeat with the same content, and stores nothing",
    Effect.gen(function* () {
      yield* newEndpoint()
      const customerId = yield* newCustomer
      const first = { idempotencyKey: "k", customerId, data: { n: 1 } }
      const { event, outcome } = yield* publishSample(first)
      same(outcome, { _tag: "Published", event })
      const again = yield* publishSample({ ...first, timestamp: minute(5) })
      same(again.outcome, { _tag: "Duplicate", event })
      same(yield* eventIds(), [event.id])
      same((yield* listDeliveries()).data.length, 1)
      same(yield* (yield* EventStore).find(again.event.id), Option.none())
    }),
  )

  test(
    "reports a conflict for a repeat with another type, customer, endpoint or data, and stores nothing",
    Effect.gen(function* () {
      const endpoint = yield* newEndpoint()
      const customerId = yield* newCustomer
      const first = { idempotencyKey: "k", customerId, data: { n: 1 } }
      const { event } = yield* publishSample(first)
      const others = [
        { type: "invoice.created" },
        { customerId: yield* newCustomer },
        { customerId: null },
        { endpointId: endpoint.id },
        { data: { n: 2 } },
      ]
      for (const other of others) {
        const { outcome } = yield* publishSample({ ...first, ...other })
        same(outcome, { _tag: "KeyConflict", eventId: event.id })
      }
      same((yield* publishSample(first)).outcome, { _tag: "Duplicate", event })
      same(yield* eventIds(), [event.id])
      same((yield* listDeliveries()).data.length, 1)
    }),
  )

  test(
    "compares data as JSON values",
    Effect.gen(function* () {
      for (const [index, [a, b]] of [...equalData, ...otherData].entries()) {
        const key = { idempotencyKey: `key ${index}` }
        const { event } = yield* publishSample({ ...key, data: a })
        const { outcome } = yield* publishSample({ ...key, data: b })
        const expected =
          index < equalData.length ? { _tag: "Duplicate", event } : { _tag: "KeyConflict", eventId: event.id }
        same(outcome, expected, `pair ${index}`)
      }
    }),
  )

  test(
    "considers any data equal to itself, in any order of its fields",
    Effect.gen(function* () {
      const effort = yield* Effort
      yield* forAll(Generators.eventData, effort, (data) =>
        Effect.gen(function* () {
          const key = { idempotencyKey: crypto.randomUUID() }
          const { event } = yield* publishSample({ ...key, data })
          same((yield* publishSample({ ...key, data: reversed(data) })).outcome, { _tag: "Duplicate", event })
        }),
      )
    }),
  )

  test(
    "distinguishes similar keys, and the keys of different tenants",
    Effect.gen(function* () {
      const keys = ["k", "K", "k ", " k", "ｋ", "null", "é", "e\u0301", "𝒩".repeat(255), "%", "_"]
      for (const idempotencyKey of keys) yield* publish({ idempotencyKey })
      yield* publish({ idempotencyKey: null })
      yield* publish({ idempotencyKey: null })
      for (const tenant of yield* otherTenants) yield* publish({ idempotencyKey: "k" }).pipe(asTenant(tenant))
      same((yield* eventIds()).length, keys.length + 2)
      for (const idempotencyKey of keys) {
        same((yield* publishSample({ idempotencyKey })).outcome._tag, "Duplicate")
      }
    }),
  )
}

/** The same value, with the fields of its objects in reverse order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([key, field]) => [key, reversed(field)] as const)
  return Object.fromEntries(entries.reverse())
}

const concurrency = (test: ContractTest): void => {
  test(
    "stores one of many concurrent events with the same key, and returns it to the others",
    Effect.gen(function* () {
      yield* newEndpoint()
      const results = yield* together(times(20, () => publishSample({ idempotencyKey: "k" })))
      const stored = results.filter(({ outcome }) => outcome._tag === "Published")
      assert.strictEqual(stored.length, 1)
      const winner = stored[0]!.event
      for (const { event, outcome } of results) {
        same(outcome, { _tag: event.id === winner.id ? "Published" : "Duplicate", event: winner })
      }
      same(yield* eventIds(), [winner.id])
      same((yield* listDeliveries()).data.length, 1)
    }),
  )

  test(
    "reports a conflict to the others when their content differs",
    Effect.gen(function* () {
      const results = yield* together(times(20, (data) => publishSample({ idempotencyKey: "k", data })))
      const [winner] = yield* eventIds()
      for (const { event, outcome } of results) {
        const isWinner = event.id === winner
        same(outcome, isWinner ? { _tag: "Published", event } : { _tag: "KeyConflict", eventId: winner })
      }
    }),
  )

  for (const end of ["commits", "fails"] as const) {
    test(
      `waits until an open transaction with the same key ${end}, then decides`,
      Effect.gen(function* () {
        const { atomically } = yield* Transactor
        const hasPublished = yield* Deferred.make<void>()
        const mayEnd = yield* Deferred.make<void>()
        const first = yield* Sample.event({ idempotencyKey: "k" })
        const holder = yield* Effect.forkChild(
          Effect.exit(
            atomically(
              publishAs(first).pipe(
                Effect.andThen(Deferred.succeed(hasPublished, undefined)),
                Effect.andThen(Deferred.await(mayEnd)),
                Effect.andThen(end === "fails" ? Effect.fail("no") : Effect.void),
              ),
            ),
          ),
        )
        yield* Deferred.await(hasPublished)
        const waiting = yield* Effect.forkChild(publishSample({ idempotencyKey: "k" }))
        yield* pause
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Fiber.join(holder)
        const { event, outcome } = yield* Fiber.join(waiting)
        const expected =
          end === "commits" ? { _tag: "Duplicate", event: first } : { _tag: "Published", event }
        same(outcome, expected)
        same(yield* eventIds(), [end === "commits" ? first.id : event.id])
      }),
    )
  }
}

export const eventKeyContract = (test: ContractTest): void => {
  test.section("idempotency keys", () => {
    content(test)
    concurrency(test)
  })
}
