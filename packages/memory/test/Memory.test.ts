import {
  ApiKeyStore,
  Billing,
  Collections,
  CurrentTenant,
  Customer,
  Customers,
  Idempotency,
  Tenant,
  Threshold,
  Transactor,
  Usage,
  UsageStore,
} from "@billwright/core"
import { Memory, MemoryInspector } from "@billwright/memory"
import { plain, Sample } from "@billwright/testing"
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Effect, Exit, Layer, Option } from "effect"
import { TestClock } from "effect/testing"

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" as const }
const services = Billing.layer.pipe(
  Layer.provideMerge(Memory.layer),
  Layer.merge(Layer.succeed(CurrentTenant, tenant)),
)

describe("Memory", () => {
  it.effect("runs the services on the clock of the test", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const usage = yield* Usage
      const customer = yield* customers.create({ name: "Ada", email: "ada@example.com" })
      yield* TestClock.adjust("2 days")
      const input = {
        customerId: customer.id,
        productId: "api",
        unit: "call",
        quantity: 3,
        idempotencyKey: "k",
      }
      const first = yield* usage.record(input)
      yield* TestClock.adjust("1 hour")
      const second = yield* usage.record(input)
      assert.deepStrictEqual([first._tag, second._tag], ["Recorded", "Duplicate"])
      assert.deepStrictEqual(plain(second.record.createdAt), "1970-01-03T00:00:00.000Z")
      const query = { customerId: customer.id, startDate: "1970-01-03", endDate: "1970-01-03" }
      assert.strictEqual((yield* usage.summary(query)).totalQuantity, 3n)
      yield* TestClock.adjust("1 hour")
      yield* usage.voidRecord(first.record.id)
      assert.strictEqual((yield* usage.summary(query)).totalQuantity, 0n)
    }).pipe(Effect.provide(services)),
  )

  it.effect("sweeps expired answers as time goes by", () =>
    Effect.gen(function* () {
      const idempotency = yield* Idempotency
      const { snapshot } = yield* MemoryInspector
      const request = { method: "POST", path: "/", key: "k", fingerprint: "f" }
      yield* idempotency.run(request, Effect.succeed({ status: 200, body: "" }), () => Option.none())
      assert.strictEqual((yield* snapshot).idempotency.length, 1)
      yield* TestClock.adjust("6 days")
      assert.strictEqual((yield* snapshot).idempotency.length, 1)
      yield* TestClock.adjust("2 days")
      assert.strictEqual((yield* snapshot).idempotency.length, 0)
    }).pipe(Effect.provide(services)),
  )

  it("completes synchronously outside of transactions", () => {
    const program = Effect.gen(function* () {
      const customer = yield* Sample.customer()
      yield* (yield* Collections).of(Customer.customers).insert(customer)
      yield* (yield* UsageStore).append([yield* Sample.record(customer.id)])
      return yield* (yield* Collections).of(Customer.customers).status(customer.id)
    })
    assert.strictEqual(Effect.runSync(program.pipe(Effect.provide(services))), "active")
  })

  it.effect("is a new storage each time it is built", () =>
    Effect.gen(function* () {
      const [first, second] = yield* Effect.all([
        Layer.build(Memory.layer),
        Layer.build(Layer.fresh(Memory.layer)),
      ])
      const customer = yield* Sample.customer()
      yield* Context.get(first, Collections).of(Customer.customers).insert(customer)
      assert.strictEqual(
        yield* Context.get(first, Collections).of(Customer.customers).status(customer.id),
        "active",
      )
      assert.strictEqual(
        yield* Context.get(second, Collections).of(Customer.customers).status(customer.id),
        "unknown",
      )
    }).pipe(Effect.provide(services)),
  )

  it.effect("refuses ids that were used before, and keeps the first values", () =>
    Effect.gen(function* () {
      const customers = (yield* Collections).of(Customer.customers)
      const usage = yield* UsageStore
      const keys = yield* ApiKeyStore
      const customer = yield* Sample.customer()
      const record = yield* Sample.record(customer.id)
      const threshold = yield* Sample.of(Threshold.thresholds, customer.id)
      const key = yield* Sample.apiKey()
      yield* customers.insert(customer)
      yield* usage.append([record])
      yield* (yield* Collections).of(Threshold.thresholds).insert(threshold)
      yield* keys.insert(key)
      const { snapshot } = yield* MemoryInspector
      const before = yield* snapshot
      const fresh = yield* Sample.record(customer.id)
      const errors = [
        yield* Effect.flip(customers.insert({ ...customer, name: "Another" })),
        yield* Effect.flip(usage.append([fresh, { ...record, quantity: 9 }])),
        yield* Effect.flip(
          (yield* Collections).of(Threshold.thresholds).insert({ ...threshold, quantity: 9n }),
        ),
        yield* Effect.flip(keys.insert({ ...key, digest: yield* Sample.digest })),
        yield* Effect.flip(keys.insert({ ...key, key: { ...key.key, id: yield* Sample.apiKeyId } })),
      ]
      for (const error of errors) assert.deepInclude(error, { _tag: "StorageError", retryable: false })
      assert.deepStrictEqual(plain(yield* snapshot), plain(before))
    }).pipe(Effect.provide(services)),
  )

  it.effect("returns copies, and stores copies", () =>
    Effect.gen(function* () {
      const usage = yield* UsageStore
      const keys = yield* ApiKeyStore
      const { snapshot } = yield* MemoryInspector
      const customer = yield* Sample.customer({ metadata: { plan: "pro" } })
      yield* (yield* Collections).of(Customer.customers).insert(customer)
      const record = yield* Sample.record(customer.id)
      const threshold = yield* Sample.of(Threshold.thresholds, customer.id, { quantity: 1n })
      const key = yield* Sample.apiKey({ scopes: ["usage:read"] })
      yield* (yield* Collections).of(Threshold.thresholds).insert(threshold)
      yield* keys.insert(key)
      const given: Array<unknown> = [
        yield* usage.append([record]),
        yield* usage.append([{ ...record, id: yield* Sample.usageRecordId }]),
        yield* usage.find(record.id),
        yield* (yield* Collections).of(Threshold.thresholds).find(threshold.id),
        yield* keys.find(key.key.id),
        yield* keys.findByDigest(key.digest),
        yield* snapshot,
        [customer, record, threshold, key],
      ]
      const before = plain(yield* snapshot)
      for (const value of given) scribble(value)
      assert.deepStrictEqual(plain(yield* snapshot), before)
    }).pipe(Effect.provide(services)),
  )

  it.effect("keeps transactions of two storages apart", () =>
    Effect.gen(function* () {
      const a = yield* Layer.build(Layer.fresh(Memory.layer))
      const b = yield* Layer.build(Layer.fresh(Memory.layer))
      const [inA, inB] = [Context.get(a, Transactor), Context.get(b, Transactor)]
      const [one, two] = yield* Effect.all([Sample.customer(), Sample.customer()])
      const exit = yield* Effect.exit(
        inA.atomically(
          Effect.gen(function* () {
            yield* Context.get(a, Collections).of(Customer.customers).insert(one)
            assert.isFalse(yield* inB.inTransaction)
            // This fiber is in the transactions of both storages here.
            yield* inB.atomically(
              Effect.gen(function* () {
                assert.isTrue(yield* inA.inTransaction)
                yield* Context.get(a, Collections).of(Customer.customers).insert(two)
                yield* Context.get(b, Collections).of(Customer.customers).insert(two)
              }),
            )
            return yield* Effect.fail("no")
          }),
        ),
      )
      assert.deepStrictEqual(exit, Exit.fail("no"))
      const statuses = [
        yield* Context.get(a, Collections).of(Customer.customers).status(one.id),
        yield* Context.get(a, Collections).of(Customer.customers).status(two.id),
        yield* Context.get(b, Collections).of(Customer.customers).status(two.id),
      ]
      assert.deepStrictEqual(statuses, ["unknown", "unknown", "active"])
    }).pipe(Effect.provide(services)),
  )
})

/** Changes everything in a value that careless code could change. */
const scribble = (value: unknown): void => {
  // Instants can't be changed.
  if (typeof value !== "object" || value === null || DateTime.isDateTime(value) || Object.isFrozen(value))
    return
  for (const [name, field] of Object.entries(value)) {
    if (typeof field === "object" && field !== null) scribble(field)
    else Reflect.set(value, name, typeof field === "number" ? field + 1 : "overwritten")
  }
  if (Array.isArray(value)) value.push("scribbled")
  else Reflect.set(value, "scribbled", true)
}
