/**
 * `publish_event`, called as by a program that knows only SQL. And the events of thresholds, for which the database
 * must write the same bytes as core.
 */
import {
  Billing,
  CurrentTenant,
  type Customer,
  Customers,
  DeliveryStore,
  Event,
  EventCatalogue,
  type EventId,
  EventStore,
  EventType,
  HostEvents,
  IdGenerator,
  Tenant,
  ThresholdEvent,
  Thresholds,
  UsageStore,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Sample } from "@billwright/testing"
import { assert, afterAll, beforeAll, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, ManagedRuntime, Option, Redacted, Scope } from "effect"
import * as fc from "fast-check"
import { Client, type DatabaseError } from "pg"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"
import { newEndpoint } from "./Webhooks.ts"

const scope = Scope.makeUnsafe()
let client: Client
let runtime: ManagedRuntime.ManagedRuntime<Billing.Services | Billing.Storage, unknown>

const run = <A, E>(
  effect: Effect.Effect<A, E, Billing.Services | Billing.Storage | CurrentTenant>,
): Promise<A> => runtime.runPromise(asTenant(effect))

beforeAll(async () => {
  const url = await Effect.runPromise(Scope.provide(TestDatabase.make, scope))
  runtime = ManagedRuntime.make(
    Billing.layer.pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    ),
  )
  await run(Effect.void)
  client = new Client({ connectionString: url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await runtime.dispose()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

interface Answer {
  readonly status: "published" | "duplicate"
  readonly event: Readonly<Record<string, unknown>>
}

const publish = async (
  type: string | null,
  data: unknown,
  {
    accountId = "default",
    customerId = null as string | null,
    key = null as string | null,
    mode = "live",
  } = {},
): Promise<Answer> => {
  const text = typeof data === "string" ? data : JSON.stringify(data)
  const result = await client.query(
    "select billwright.publish_event($1, $2, $3, $4::jsonb, $5, $6) as answer",
    [accountId, mode, type, text, customerId, key],
  )
  return result.rows[0].answer as Answer
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail("it was to be refused"),
    (error: DatabaseError) => ({ code: error.code, detail: error.detail }),
  )

const newCustomer = Effect.flatMap(Customers, (customers) => customers.create({ name: "A", email: "a@b" }))

const find = (id: unknown) =>
  run(Effect.flatMap(EventStore, (store) => Effect.map(store.find(id as EventId), Option.getOrThrow)))

const deliveriesOf = (id: unknown) =>
  run(
    Effect.flatMap(DeliveryStore, (store) =>
      store.list(
        { eventId: id as EventId, status: undefined, endpointId: undefined },
        { limit: 100, cursor: undefined },
      ),
    ),
  )

describe("billwright.publish_event", () => {
  it("stores an event and its deliveries, and returns the event as it is sent", async () => {
    const customer = await run(newCustomer)
    const endpoint = await run(newEndpoint({ eventTypes: ["order.placed"] }))
    const data = { number: 17, note: 'ü "quoted" \\ \u2028', nested: { list: [1, null, true] } }
    const { event, status } = await publish("order.placed", data, {
      customerId: customer.id,
      key: "order 17",
    })
    assert.strictEqual(status, "published")
    const stored = await find(event["id"])
    assert.deepStrictEqual(event, {
      ...JSON.parse(stored.payload),
      customer_id: customer.id,
      idempotency_key: "order 17",
    })
    assert.deepStrictEqual(Event.dataOf(stored), data)
    const payload = JSON.parse(stored.payload)
    assert.deepStrictEqual(Object.keys(payload), ["id", "type", "timestamp", "livemode", "data"])
    assert.strictEqual(payload.id, stored.id)
    assert.strictEqual(payload.timestamp, DateTime.formatIso(stored.timestamp))
    assert.isTrue(payload.livemode)
    assert.strictEqual(stored.customerId, customer.id)
    const { data: deliveries } = await deliveriesOf(event["id"])
    assert.deepStrictEqual(
      deliveries.map(({ endpointId, status: state }) => [endpointId, state]),
      [[endpoint.id, "Pending"]],
    )
  })

  it("separates modes and accounts", async () => {
    const { event } = await publish("order.placed", {}, { mode: "test", accountId: "acme" })
    assert.isFalse(event["livemode"])
    const tenant = { accountId: Tenant.AccountId.make("acme"), mode: "test" } as const
    const store = Effect.flatMap(EventStore, ({ find: look }) => look(event["id"] as EventId))
    const found = await runtime.runPromise(Effect.provideService(store, CurrentTenant, tenant))
    assert.isTrue(Option.isSome(found))
    assert.isTrue(Option.isNone(await run(store)))
  })

  it("publishes once for a key, in SQL as in the library", async () => {
    const first = await publish("order.placed", { a: 1, b: [2] }, { key: "once" })
    const again = await publish("order.placed", '{"b": [2.0], "a": 1e0}', { key: "once" })
    assert.deepStrictEqual(again, { ...first, status: "duplicate" })
    const other = await refusal(publish("order.placed", { a: 2, b: [2] }, { key: "once" }))
    assert.deepStrictEqual(other, { code: "BW409", detail: first.event["id"] as string })
    const outcome = await run(
      Effect.gen(function* () {
        const event = yield* Sample.event({
          type: "order.placed",
          idempotencyKey: "once",
          data: { b: [2], a: 1 },
        })
        return yield* (yield* EventStore).publish(event)
      }),
    )
    assert.strictEqual(outcome._tag, "Duplicate")
  })

  it("joins the caller's transaction", async () => {
    await run(newEndpoint({ eventTypes: ["order.undone"] }))
    await client.query("begin")
    const { event } = await publish("order.undone", {}, { key: "undone" })
    await client.query("rollback")
    const events = await client.query("select 1 from billwright.events where type = 'order.undone'")
    const pending = await client.query(
      "select 1 from billwright.webhook_deliveries where event_type = 'order.undone'",
    )
    assert.deepStrictEqual([events.rowCount, pending.rowCount], [0, 0])
    // The key is unused.
    const second = await publish("order.undone", {}, { key: "undone" })
    assert.notStrictEqual(second.event["id"], event["id"])
  })

  it("refuses a customer that is unknown or erased", async () => {
    const erased = await run(
      Effect.flatMap(newCustomer, ({ id }) =>
        Effect.flatMap(Customers, (customers) => Effect.as(customers.erase(id), id)),
      ),
    )
    const unknown = await run(Effect.flatMap(IdGenerator, (ids) => ids.next("cus")))
    for (const customerId of [erased, unknown]) {
      const answer = await refusal(publish("order.placed", {}, { customerId }))
      assert.deepStrictEqual(answer, { code: "BW404", detail: customerId })
    }
  })

  const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`

  it("names the argument that breaks a rule", async () => {
    const cases: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
      ["account_id", () => publish("a.b", {}, { accountId: "a b" })],
      ["mode", () => publish("a.b", {}, { mode: "prod" })],
      ["type", () => publish(null, {})],
      ["type", () => publish("a", {})],
      ["type", () => publish("a.B", {})],
      ["type", () => publish("a..b", {})],
      ["type", () => publish("a.b\n", {})],
      ["type", () => publish(`a.${"b".repeat(99)}`, {})],
      ["data", () => publish("a.b", "null")],
      ["data", () => publish("a.b", [])],
      ["data", () => publish("a.b", '"text"')],
      ["data", () => publish("a.b", nested(31))],
      ["data", () => publish("a.b", `{"a":${"[".repeat(30)}${"]".repeat(30)}}`)],
      ["data", () => publish("a.b", '{"__proto__": 1}')],
      ["data", () => publish("a.b", '{"a": [{"__proto__": 1}]}')],
      ["data", () => publish("a.b", '{"a": [1e309]}')],
      ["data", () => publish("a.b", '{"a": -1e309}')],
      ["data", () => publish("a.b", { a: "x".repeat(262_144) })],
      ["customer_id", () => publish("a.b", {}, { customerId: "cus_1" })],
      ["idempotency_key", () => publish("a.b", {}, { key: "" })],
      ["idempotency_key", () => publish("a.b", {}, { key: "𝒩".repeat(256) })],
    ]
    for (const [index, [argument, call]] of cases.entries()) {
      assert.deepStrictEqual(await refusal(call()), { code: "BW400", detail: argument }, `case ${index}`)
    }
    const allowed: ReadonlyArray<Promise<Answer>> = [
      publish("a.b", nested(30)),
      publish("a.b", { a: "__proto__", b: Number.MAX_VALUE, c: -Number.MAX_VALUE }),
      publish(`a.${"b".repeat(98)}`, { a: "x".repeat(260_000) }),
      publish("a.b", {}, { key: "𝒩".repeat(255) }),
    ]
    for (const { event } of await Promise.all(allowed)) {
      const { payload } = await find(event["id"])
      assert.strictEqual(Event.problemOfJson(JSON.parse(payload).data), undefined)
    }
  })
})

describe("instants in the data of built-in types", () => {
  const digits = (bound: number) => fc.integer({ min: 0, max: bound }).map((n) => String(n).padStart(2, "0"))
  const written = fc
    .tuple(
      fc.constantFrom("0000", "0400", "1900", "2000", "2024", "2026", "9999"),
      digits(13),
      digits(32),
      fc.constantFrom("T", "t"),
      digits(25),
      fc.constantFrom("00", "59", "60", "99"),
      fc.constantFrom("00", "59", "60"),
      fc.constantFrom("", ".5", ".123456789", ".", ".1234567890"),
      fc.constantFrom("Z", "z", "+00:00", "-23:59", "+24:00", "+99:99", "-01:60", ""),
    )
    .map(
      ([year, month, day, separator, ...[hour, minute, second, fraction, zone]]) =>
        `${year}-${month}-${day}${separator}${hour}:${minute}:${second}${fraction}${zone}`,
    )
  it("are those of core: is_instant", async () => {
    const texts = [...fc.sample(written, { numRuns: 5_000, seed: 11 }), "tomorrow", "", "2026-11-21", "\n"]
    const { rows } = await client.query<{ instant: boolean }>(
      "select billwright.is_instant(t) as instant from unnest($1::text[]) with ordinality as x (t, n) order by n",
      [texts],
    )
    const invoicePaid = EventCatalogue.builtIn.find(({ name }) => name === "invoice.paid")!
    const expected = texts.map((text) => {
      const data = { ...(invoicePaid.example as object), paid_at: text }
      return EventType.problemOf(invoicePaid, data) === undefined
    })
    for (const instant of [true, false])
      assert.isAbove(expected.filter((each) => each === instant).length, 100)
    assert.deepStrictEqual(
      texts.filter((_, index) => rows[index]?.instant !== expected[index]),
      [],
    )
  })

  /** Each field for an instant, of each type that has it. */
  const holders = EventCatalogue.builtIn.flatMap((type) =>
    HostEvents.INSTANT_FIELDS.filter((field) => {
      const data = { ...(type.example as object), [field]: "2028-02-29T23:59:59.5+05:30" }
      return EventType.problemOf(type, data) === undefined
    }).map((field) => ({ type, field })),
  )

  it("are refused by SQL as by the library, with the same words", async () => {
    assert.isAtLeast(holders.length, 38)
    const others = [
      "2026-02-30T00:00:00Z",
      "2026-11-21T24:00:00Z",
      "2026-11-21T00:00:00+99:99",
      "2026-11-21t00:00:00z",
      "banana",
      "2026-11-21",
      "",
      1_700_000_000_000,
      true,
      null,
      {},
      ["2026-11-21T00:00:00Z"],
    ]
    for (const { field, type } of holders) {
      for (const other of others) {
        const data = { ...(type.example as object), [field]: other }
        const { code, detail, message } = await publish(type.name, data).then(
          () => assert.fail(`${type.name} took ${JSON.stringify(other)}`),
          (error: DatabaseError) => error,
        )
        assert.deepStrictEqual([code, detail], ["BW400", `data.${field}`])
        const problem = EventType.problemOf(type, data)!
        assert.strictEqual(problem.field, detail)
        if (typeof other === "string") assert.strictEqual(message, problem.message)
      }
      const { status } = await publish(type.name, {
        ...(type.example as object),
        [field]: "2028-02-29T23:59:59.5+05:30",
      })
      assert.strictEqual(status, "published")
    }
  })

  it("are text like any other in a type of the host's", async () => {
    const { status } = await publish("order.placed", { due_at: "banana", paid_at: null })
    assert.strictEqual(status, "published")
  })
})

describe("usage.threshold", () => {
  const awkward = fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 30 }),
    fc
      .array(fc.integer({ min: 1, max: 0x9f }), { minLength: 1, maxLength: 40 })
      .map((codes) => String.fromCharCode(...codes)),
    fc.constantFrom(
      '"\\/\b\f\n\r\t\v',
      "\u007f\u0080\u2028\u2029\ufeff\uffff",
      "é𝒩\u{10ffff}",
      "</script>",
      "\\u0041",
    ),
  )
  const storable = awkward.filter((text) => text.isWellFormed() && !text.includes("\0"))

  it("is published in the bytes of core, whatever product and unit are called", async () => {
    const customer = await run(newCustomer)
    const cases = fc.sample(fc.tuple(storable, storable), { numRuns: 150, seed: 7 })
    for (const [productId, unit] of cases) {
      const [stored, expected] = await run(
        Effect.gen(function* () {
          const thresholds = yield* Thresholds
          const meter = { customerId: customer.id, productId, unit }
          yield* thresholds.create({ ...meter, quantity: 1n, period: "lifetime" })
          const record = yield* Sample.record(customer.id, { productId, unit, quantity: 3 })
          const { crossings } = yield* (yield* UsageStore).append([record])
          const events = ThresholdEvent.make(crossings, record.id, record.createdAt, "live")
          const store = yield* EventStore
          return [yield* Effect.forEach(events, ({ id }) => store.find(id)), events] as const
        }),
      )
      assert.isAtLeast(expected.length, 1)
      assert.deepStrictEqual(stored, expected.map(Option.some), JSON.stringify([productId, unit]))
    }
  })

  it("is published by record_usage, too", async () => {
    const customer = await run(newCustomer)
    const endpoint = await run(newEndpoint({ eventTypes: ["usage.threshold"] }))
    const threshold = await run(
      Effect.flatMap(Thresholds, (thresholds) =>
        thresholds.create({
          customerId: customer.id as Customer.CustomerId,
          productId: "api",
          unit: "call",
          quantity: 10n,
          period: "month",
        }),
      ),
    )
    const answer = await client.query(
      "select billwright.record_usage('default', 'live', $1, 'api', 12, 'call', '2026-02-03T00:00:00Z') as answer",
      [customer.id],
    )
    const { record } = answer.rows[0].answer
    const found = await client.query(
      "select billwright.format_id('evt', id) as id from billwright.events where customer_id = billwright.parse_id('cus', $1)",
      [customer.id],
    )
    assert.strictEqual(found.rowCount, 1)
    const event = await find(found.rows[0].id)
    assert.strictEqual(event.id.slice(4), record.id.slice(4))
    assert.strictEqual(DateTime.formatIso(event.timestamp), record.created_at)
    assert.deepStrictEqual(Event.dataOf(event), {
      threshold_id: threshold.id,
      customer_id: customer.id,
      product_id: "api",
      unit: "call",
      quantity: 10,
      period: "month",
      period_key: "2026-02",
      total_quantity: 12,
    })
    const { data } = await deliveriesOf(event.id)
    assert.isTrue(data.some(({ endpointId }) => endpointId === endpoint.id))
  })
})
