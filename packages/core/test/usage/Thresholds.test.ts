import { Customer, Customers, InvalidInput, Threshold, Thresholds, Transactor, Usage } from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { fc, holdsEffect } from "../property.ts"
import { acmeTest, as, at, globex, inWorld, newCustomer, NOON, recordUsage } from "../world.ts"

const unknownCustomer = Customer.CustomerId.make(`cus_${"0".repeat(26)}`)
const unknownThreshold = `thr_${"0".repeat(26)}`

const newThreshold = Effect.fnUntraced(function* (
  customer: Customer.Customer,
  change: Partial<Threshold.CreateThreshold> = {},
) {
  const input = {
    customerId: customer.id,
    productId: "api",
    unit: "call",
    quantity: 100n,
    period: "day",
  } as const
  return yield* (yield* Thresholds).create({ ...input, ...change })
})

/** The periods in which a threshold fired, in order. */
const firings = Effect.fnUntraced(function* ({ id }: Threshold.Threshold) {
  const { firings } = yield* (yield* MemoryInspector).snapshot
  return firings.flatMap(({ periodKey, thresholdId }) => (thresholdId === id ? [periodKey] : [])).toSorted()
})

describe("Thresholds.create", () => {
  it.effect("creates a threshold that has not fired", () =>
    Effect.gen(function* () {
      const thresholds = yield* Thresholds
      const customer = yield* newCustomer()
      const threshold = yield* newThreshold(customer, { quantity: 10n ** 30n, period: "month" })
      assert.match(threshold.id, /^thr_/)
      assert.deepStrictEqual(threshold, {
        id: threshold.id,
        customerId: customer.id,
        productId: "api",
        unit: "call",
        quantity: 10n ** 30n,
        period: "month",
        createdAt: NOON,
        lastFiredAt: null,
      })
      assert.deepStrictEqual(yield* thresholds.get(threshold.id), threshold)
    }).pipe(inWorld()),
  )

  it.effect("refuses invalid input", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(newThreshold(yield* newCustomer(), { quantity: 0n }))
      assert.strictEqual(error.message, "quantity must be an integer from 1 to 10^30")
    }).pipe(inWorld()),
  )

  it.effect("fails for unknown and erased customers, and for those of other tenants", () =>
    Effect.gen(function* () {
      const erased = yield* newCustomer()
      yield* (yield* Customers).erase(erased.id)
      const others = [yield* as(globex)(newCustomer()), yield* as(acmeTest)(newCustomer())]
      for (const customer of [{ ...erased, id: unknownCustomer }, erased, ...others]) {
        const error = yield* Effect.flip(newThreshold(customer))
        assert.instanceOf(error, Customer.CustomerNotFound)
        assert.deepStrictEqual([error.id, error.field], [customer.id, "customerId"])
      }
    }).pipe(inWorld()),
  )

  it.effect("allows at most 100 for a customer, product and unit, also for concurrent calls", () =>
    Effect.gen(function* () {
      const thresholds = yield* Thresholds
      const customer = yield* newCustomer()
      const results = yield* Effect.forEach(
        Array.from({ length: 105 }),
        () =>
          Effect.match(newThreshold(customer), {
            onFailure: (error) => error.message,
            onSuccess: () => "made",
          }),
        { concurrency: "unbounded" },
      )
      assert.lengthOf(
        results.filter((result) => result === "made"),
        100,
      )
      const refusal = "there are already 100 thresholds for this customer, product and unit"
      assert.lengthOf(
        results.filter((result) => result === refusal),
        5,
      )
      yield* newThreshold(customer, { productId: "web" })
      yield* newThreshold(customer, { unit: "minute" })
      yield* newThreshold(yield* newCustomer())
      const [newest] = (yield* thresholds.list({ customerId: customer.id, limit: 100 })).data.slice(-1)
      yield* thresholds.delete(newest!.id)
      yield* newThreshold(customer)
      assert.instanceOf(yield* Effect.flip(newThreshold(customer)), Threshold.TooManyThresholds)
    }).pipe(inWorld()),
  )
})

describe("Thresholds.get, delete and list", () => {
  it.effect("work on the tenant's thresholds, newest first, with a filter by customer", () =>
    Effect.gen(function* () {
      const thresholds = yield* Thresholds
      const [one, two] = [yield* newCustomer(), yield* newCustomer()]
      const a = yield* newThreshold(one)
      const b = yield* newThreshold(two)
      const c = yield* newThreshold(one, { period: "lifetime" })
      assert.deepStrictEqual(yield* thresholds.list(), { data: [c, b, a], hasMore: false })
      assert.deepStrictEqual(yield* thresholds.list({ customerId: one.id }), { data: [c, a], hasMore: false })
      assert.deepStrictEqual(yield* thresholds.list({ limit: 1, startingAfter: c.id }), {
        data: [b],
        hasMore: true,
      })
      const error = yield* Effect.flip(thresholds.list({ startingAfter: unknownThreshold }))
      assert.strictEqual(error.message, "startingAfter is not the id of an item of this list")
      yield* thresholds.delete(b.id)
      assert.deepStrictEqual((yield* thresholds.list()).data, [c, a])
      assert.instanceOf(yield* Effect.flip(thresholds.delete(b.id)), Threshold.ThresholdNotFound)
    }).pipe(inWorld()),
  )

  it.effect("don't find unknown thresholds and those of other tenants", () =>
    Effect.gen(function* () {
      const thresholds = yield* Thresholds
      const { id } = yield* newThreshold(yield* newCustomer())
      const ask = (id: string) =>
        Effect.all([Effect.flip(thresholds.get(id)), Effect.flip(thresholds.delete(id))])
      const errors = [
        yield* ask(unknownThreshold),
        yield* ask("x"),
        yield* as(globex)(ask(id)),
        yield* as(acmeTest)(ask(id)),
      ].flat()
      assert.isTrue(errors.every((error) => error instanceof Threshold.ThresholdNotFound))
      assert.strictEqual(errors[0]!.message, `no usage threshold has the id ${unknownThreshold}`)
      assert.deepStrictEqual((yield* as(globex)(thresholds.list())).data, [])
      assert.instanceOf(yield* Effect.flip(as(globex)(thresholds.list({ endingBefore: id }))), InvalidInput)
      assert.strictEqual((yield* thresholds.get(id)).id, id)
    }).pipe(inWorld()),
  )
})

describe("a threshold", () => {
  it.effect("fires with the record that reaches its quantity, once per period", () =>
    Effect.gen(function* () {
      const thresholds = yield* Thresholds
      const customer = yield* newCustomer()
      const threshold = yield* newThreshold(customer)
      yield* recordUsage(customer, { quantity: 99 })
      assert.isNull((yield* thresholds.get(threshold.id)).lastFiredAt)
      yield* TestClock.adjust("1 second")
      yield* recordUsage(customer, { quantity: 1 })
      const firedAt = (yield* thresholds.get(threshold.id)).lastFiredAt
      assert.deepStrictEqual(firedAt, at("2026-11-21T12:00:01Z"))
      yield* TestClock.adjust("1 second")
      yield* recordUsage(customer, { quantity: 1_000 })
      assert.deepStrictEqual((yield* thresholds.get(threshold.id)).lastFiredAt, firedAt)
      assert.deepStrictEqual(yield* firings(threshold), ["2026-11-21"])
    }).pipe(inWorld()),
  )

  it.effect("counts only its customer, product and unit", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const threshold = yield* newThreshold(customer, { quantity: 2n, period: "lifetime" })
      yield* recordUsage(customer)
      yield* recordUsage(customer, { quantity: 10, productId: "web" })
      yield* recordUsage(customer, { quantity: 10, unit: "minute" })
      yield* recordUsage(yield* newCustomer(), { quantity: 10 })
      assert.deepStrictEqual(yield* firings(threshold), [])
      yield* recordUsage(customer)
      assert.deepStrictEqual(yield* firings(threshold), ["lifetime"])
    }).pipe(inWorld()),
  )

  it.effect("counts days and months in UTC by the record's timestamp, also for late records", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const day = yield* newThreshold(customer, { quantity: 2n })
      const month = yield* newThreshold(customer, { quantity: 3n, period: "month" })
      const lifetime = yield* newThreshold(customer, { quantity: 6n, period: "lifetime" })
      for (const text of ["2026-10-31T23:59:59.999Z", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"]) {
        yield* recordUsage(customer, { timestamp: at(text) })
      }
      const all = Effect.all([firings(day), firings(month), firings(lifetime)])
      assert.deepStrictEqual(yield* all, [[], [], []])
      yield* recordUsage(customer, { timestamp: at("2026-11-01T23:59:59.999Z") })
      assert.deepStrictEqual(yield* all, [["2026-11-01"], ["2026-11"], []])
      yield* recordUsage(customer, { timestamp: at("2026-10-31T00:00:00Z") })
      assert.deepStrictEqual(yield* all, [["2026-10-31", "2026-11-01"], ["2026-11"], []])
      yield* recordUsage(customer, { timestamp: at("0001-01-01T00:00:00Z") })
      assert.deepStrictEqual(yield* firings(lifetime), ["lifetime"])
    }).pipe(inWorld()),
  )

  it.effect("stays fired after a void, and does not fire again when it is reached again", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const thresholds = yield* Thresholds
      const customer = yield* newCustomer()
      const threshold = yield* newThreshold(customer)
      const { record } = yield* recordUsage(customer, { quantity: 100 })
      yield* usage.voidRecord(record.id)
      yield* TestClock.adjust("1 second")
      yield* recordUsage(customer, { quantity: 500 })
      assert.deepStrictEqual(yield* firings(threshold), ["2026-11-21"])
      assert.deepStrictEqual((yield* thresholds.get(threshold.id)).lastFiredAt, NOON)
    }).pipe(inWorld()),
  )

  it.effect("doesn't count voided records", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const { record } = yield* recordUsage(customer, { quantity: 99 })
      yield* (yield* Usage).voidRecord(record.id)
      const threshold = yield* newThreshold(customer)
      yield* recordUsage(customer, { quantity: 99 })
      assert.deepStrictEqual(yield* firings(threshold), [])
    }).pipe(inWorld()),
  )

  it.effect(
    "that is created when the total is already reached fires with the next record of the period",
    () =>
      Effect.gen(function* () {
        const customer = yield* newCustomer()
        yield* recordUsage(customer, { quantity: 100 })
        const threshold = yield* newThreshold(customer)
        assert.deepStrictEqual(yield* firings(threshold), [])
        yield* recordUsage(customer, { quantity: 1, timestamp: at("2026-11-20T12:00:00Z") })
        assert.deepStrictEqual(yield* firings(threshold), [])
        yield* recordUsage(customer, { quantity: 0 })
        assert.deepStrictEqual(yield* firings(threshold), ["2026-11-21"])
      }).pipe(inWorld()),
  )

  it.effect("is not fired by a duplicate, a refused batch or a transaction that fails", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const { atomically } = yield* Transactor
      const customer = yield* newCustomer()
      const record = { customerId: customer.id, productId: "api", quantity: 60, unit: "call" }
      yield* recordUsage(customer, { quantity: 60, idempotencyKey: "k" })
      const threshold = yield* newThreshold(customer)
      yield* recordUsage(customer, { quantity: 60, idempotencyKey: "k" })
      yield* Effect.flip(usage.recordBatch({ records: [record, { ...record, customerId: unknownCustomer }] }))
      yield* Effect.flip(
        atomically(Effect.andThen(recordUsage(customer, { quantity: 60 }), Effect.fail("no"))),
      )
      assert.deepStrictEqual(yield* firings(threshold), [])
      yield* recordUsage(customer, { quantity: 60 })
      assert.deepStrictEqual(yield* firings(threshold), ["2026-11-21"])
    }).pipe(inWorld()),
  )

  it.effect("that was deleted does not fire any more", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const threshold = yield* newThreshold(customer)
      yield* (yield* Thresholds).delete(threshold.id)
      yield* recordUsage(customer, { quantity: 100 })
      assert.deepStrictEqual(yield* firings(threshold), [])
    }).pipe(inWorld()),
  )

  it.effect(
    "fires for exactly the periods whose total reached its quantity, also with concurrent records",
    () =>
      holdsEffect(
        fc.record({
          records: fc.array(
            fc.record({ quantity: fc.nat({ max: 5 }), day: fc.integer({ min: 1, max: 4 }) }),
            {
              minLength: 1,
              maxLength: 40,
            },
          ),
          quantity: fc.integer({ min: 1, max: 15 }),
          period: fc.constantFrom("day" as const, "month" as const, "lifetime" as const),
        }),
        ({ period, quantity, records }) =>
          Effect.gen(function* () {
            const customer = yield* newCustomer()
            const threshold = yield* newThreshold(customer, { quantity: BigInt(quantity), period })
            // Days 1 and 2 are in October, days 3 and 4 in November.
            const instants = records.map(({ day }) => at(`2026-${day < 3 ? "10" : "11"}-0${day}T08:00:00Z`))
            yield* Effect.forEach(
              records,
              ({ quantity }, i) => recordUsage(customer, { quantity, timestamp: instants[i]! }),
              {
                concurrency: "unbounded",
              },
            )
            const totals = new Map<string, number>()
            records.forEach(({ quantity }, i) => {
              const text = DateTime.formatIso(instants[i]!)
              const key = period === "lifetime" ? "lifetime" : text.slice(0, period === "day" ? 10 : 7)
              totals.set(key, (totals.get(key) ?? 0) + quantity)
            })
            const reached = [...totals].flatMap(([key, total]) => (total >= quantity ? [key] : []))
            assert.deepStrictEqual(yield* firings(threshold), reached.toSorted())
          }).pipe(inWorld()),
        50,
      ),
  )
})
