/**
 * The contract of thresholds in `UsageStore.append`: each fires once for a period. And of counting a meter's
 * thresholds.
 */
import { Collections, Customer, Threshold, Transactor, type UsageRecord, UsageStore } from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, otherTenants, same, times, together } from "./ContractTest.ts"
import { insertThreshold as insert, newCustomer, thresholds } from "./UsageProbe.ts"

type Firing = readonly [id: string, periodKey: string, total: bigint]

/** Appends records in one call, and returns what they fired, in a fixed order. */
const fire = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  fields: ReadonlyArray<Partial<UsageRecord.NewUsageRecord>>,
) {
  const records = yield* Effect.forEach(fields, (field) => Sample.record(customerId, field))
  const { crossings } = yield* (yield* UsageStore).append(records)
  const firings = crossings.map(({ periodKey, threshold, total }): Firing => [threshold.id, periodKey, total])
  return [...firings].sort(([a, x], [b, y]) => (a + x < b + y ? -1 : 1))
})

const at = Sample.instant

const firing = (test: ContractTest): void => {
  test(
    "fires once when the total is reached, with the total at the end of the append",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const { id } = yield* insert(customerId, { quantity: 10n, period: "lifetime" })
      same(yield* fire(customerId, [{ quantity: 4 }, { quantity: 5 }]), [])
      same(Option.getOrThrow(yield* (yield* thresholds).find(id)).lastFiredAt, null)
      const createdAt = at("2026-03-20T01:02:03.004Z")
      same(
        yield* fire(customerId, [
          { quantity: 1, createdAt },
          { quantity: 30, createdAt },
        ]),
        [[id, "lifetime", 40n]],
      )
      same(Option.getOrThrow(yield* (yield* thresholds).find(id)).lastFiredAt, createdAt)
      same(yield* fire(customerId, [{ quantity: 100 }]), [])
      same(Option.getOrThrow(yield* (yield* thresholds).find(id)).lastFiredAt, createdAt)
    }),
  )

  test(
    "returns the threshold of each firing in its state after the firing",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const threshold = yield* insert(customerId, { quantity: 1n })
      const record = yield* Sample.record(customerId, {})
      const { crossings } = yield* store.append([record])
      const fired = { ...threshold, lastFiredAt: record.createdAt }
      same(crossings, [{ threshold: fired, periodKey: "2026-03", total: 1n }])
      same(yield* (yield* thresholds).find(threshold.id), Option.some(fired))
    }),
  )

  test(
    "fires at exactly the quantity",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const [below, exact] = yield* Effect.all([
        insert(customerId, { quantity: 9n }),
        insert(customerId, { quantity: 10n }),
        insert(customerId, { quantity: 11n }),
      ])
      same(yield* fire(customerId, [{ quantity: 10 }]), [
        [below.id, "2026-03", 10n],
        [exact.id, "2026-03", 10n],
      ])
    }),
  )

  test(
    "counts UTC days, UTC months and all time separately",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const [day, month, lifetime] = yield* Effect.all([
        insert(customerId, { quantity: 10n, period: "day" }),
        insert(customerId, { quantity: 15n, period: "month" }),
        insert(customerId, { quantity: 22n, period: "lifetime" }),
      ])
      const use = (iso: string, quantity: number) => fire(customerId, [{ timestamp: at(iso), quantity }])
      same(yield* use("2026-01-31T00:00:00.000Z", 5), [])
      same(yield* use("2026-01-31T23:59:59.999Z", 5), [[day.id, "2026-01-31", 10n]])
      same(yield* use("2026-02-01T00:00:00.000Z", 9), [])
      same(yield* use("2026-02-28T23:59:59.999Z", 5), [[lifetime.id, "lifetime", 24n]])
      same(yield* use("2026-02-28T00:00:00.000Z", 5), [
        [day.id, "2026-02-28", 10n],
        [month.id, "2026-02", 19n],
      ])
      same(yield* use("2026-02-28T12:00:00.000Z", 50), [])
    }),
  )

  test(
    "fires for several periods in one append, and for an old period when a late record comes",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const { id } = yield* insert(customerId, { quantity: 10n, period: "day" })
      const days = ["2026-03-03", "2026-03-01", "2026-03-02", "2026-03-01"]
      const records = days.map((day, index) => ({ timestamp: at(`${day}T0${index}:00:00Z`), quantity: 6 }))
      same(yield* fire(customerId, records), [[id, "2026-03-01", 12n]])
      same(yield* fire(customerId, records), [
        [id, "2026-03-02", 12n],
        [id, "2026-03-03", 12n],
      ])
      same(yield* fire(customerId, [{ timestamp: at("0001-01-01T00:00:00Z"), quantity: 10 }]), [
        [id, "0001-01-01", 10n],
      ])
      same(yield* fire(customerId, [{ timestamp: at("1969-12-31T23:00:00Z"), quantity: 10 }]), [
        [id, "1969-12-31", 10n],
      ])
    }),
  )

  test(
    "never un-fires",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const { id } = yield* insert(customerId, { quantity: 10n })
      const record = yield* Sample.record(customerId, { quantity: 10 })
      same((yield* store.append([record])).crossings.length, 1)
      yield* store.void(record.id, Sample.CREATED_AT)
      same(yield* fire(customerId, [{ quantity: 9 }]), [])
      same(yield* fire(customerId, [{ quantity: 9 }]), [])
      same(Option.getOrThrow(yield* (yield* thresholds).find(id)).lastFiredAt, record.createdAt)
    }),
  )

  test(
    "does not count voided records",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const { id } = yield* insert(customerId, { quantity: 10n })
      const record = yield* Sample.record(customerId, { quantity: 9 })
      yield* store.append([record])
      yield* store.void(record.id, Sample.CREATED_AT)
      same(yield* fire(customerId, [{ quantity: 9 }]), [])
      same(yield* fire(customerId, [{ quantity: 1 }]), [[id, "2026-03", 10n]])
    }),
  )

  test(
    "fires at the next record when it is created below the current total",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      yield* fire(customerId, [{ quantity: 50 }, { quantity: 50, timestamp: at("2026-02-01T00:00:00Z") }])
      const { id } = yield* insert(customerId, { quantity: 10n })
      same(yield* fire(customerId, [{ quantity: 0 }]), [[id, "2026-03", 50n]])
    }),
  )

  test(
    "fires only for new records, not for duplicates, conflicts or other refusals",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const first = { idempotencyKey: "k", quantity: 10 }
      same(yield* fire(customerId, [first]), [])
      const { id } = yield* insert(customerId, { quantity: 10n })
      same(yield* fire(customerId, [first, { ...first, quantity: 11 }]), [])
      same(yield* fire(customerId, [{ quantity: 1 }, first]), [[id, "2026-03", 11n]])
    }),
  )

  test(
    "counts one meter of one customer of one tenant",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      yield* insert(customerId, { quantity: 10n })
      const many = { quantity: 100 }
      same(
        yield* fire(customerId, [
          { ...many, unit: "byte" },
          { ...many, productId: "storage" },
        ]),
        [],
      )
      same(yield* fire(yield* newCustomer, [many]), [])
      for (const tenant of yield* otherTenants) {
        same(yield* Effect.flatMap(newCustomer, (id) => fire(id, [many])).pipe(asTenant(tenant)), [])
      }
      same(yield* fire(customerId, [{ quantity: 9 }]), [])
    }),
  )

  test(
    "does not fire after it is deleted",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const [first, second] = yield* Effect.all([insert(customerId), insert(customerId)])
      yield* (yield* thresholds).remove(first.id)
      same(yield* fire(customerId, [{ quantity: 10 }]), [[second.id, "2026-03", 10n]])
    }),
  )

  test(
    "reaches quantities beyond 2^64",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const largest = { quantity: Number.MAX_SAFE_INTEGER }
      const reached = 3000n * BigInt(Number.MAX_SAFE_INTEGER)
      const { id } = yield* insert(customerId, { quantity: reached })
      yield* insert(customerId, { quantity: Threshold.MAX_THRESHOLD_QUANTITY })
      const thousand = times(1000, () => largest)
      same(yield* fire(customerId, thousand), [])
      same(yield* fire(customerId, thousand), [])
      same(yield* fire(customerId, thousand), [[id, "2026-03", reached]])
    }),
  )
}

const concurrency = (test: ContractTest): void => {
  test(
    "fires in exactly one of many concurrent appends",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const thresholds = yield* Effect.all([
        insert(customerId, { quantity: 1n, period: "day" }),
        insert(customerId, { quantity: 10n, period: "month" }),
        insert(customerId, { quantity: 20n, period: "lifetime" }),
        insert(customerId, { quantity: 21n, period: "lifetime" }),
      ])
      const firings = (yield* together(times(20, () => fire(customerId, [{}])))).flat()
      same(
        thresholds.map(({ id }) => firings.filter(([firedId]) => firedId === id).length),
        [1, 1, 1, 0],
      )
      for (const [firedId, , total] of firings) {
        const threshold = thresholds.find(({ id }) => id === firedId)
        assert.isTrue(total >= threshold!.quantity)
      }
    }),
  )

  test(
    "fires again when the transaction that fired it was undone",
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const customerId = yield* newCustomer
      const { id } = yield* insert(customerId)
      const expected = [[id, "2026-03", 10n]]
      yield* Effect.ignore(
        atomically(
          Effect.gen(function* () {
            same(yield* fire(customerId, [{ quantity: 10 }]), expected)
            return yield* Effect.fail("no")
          }),
        ),
      )
      same(Option.getOrThrow(yield* (yield* thresholds).find(id)).lastFiredAt, null)
      const exit = yield* Effect.exit(
        atomically(Effect.andThen((yield* thresholds).remove(id), Effect.fail("no"))),
      )
      assert.strictEqual(exit._tag, "Failure")
      same(yield* fire(customerId, [{ quantity: 10 }]), expected)
      yield* Effect.ignore(atomically(Effect.andThen((yield* thresholds).remove(id), Effect.fail("no"))))
      same(yield* fire(customerId, [{ quantity: 10 }]), [])
    }),
  )

  test(
    "keeps the thresholds of an erased customer",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const threshold = yield* insert(customerId)
      yield* (yield* Collections).of(Customer.customers).remove(customerId)
      same(yield* fire(customerId, [{ quantity: 100 }]), [])
      same(yield* (yield* thresholds).find(threshold.id), Option.some(threshold))
    }),
  )

  test(
    "fires once, in any order of days, appends and voids",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      yield* insert(customerId, { quantity: 3n, period: "day" })
      const day = (index: number) => DateTime.add(Sample.CREATED_AT, { days: index % 4 })
      const work = (index: number) =>
        Effect.gen(function* () {
          const records = yield* Effect.all([
            Sample.record(customerId, { timestamp: day(index) }),
            Sample.record(customerId, { timestamp: day(index + 1), quantity: 2 }),
          ])
          const { crossings } = yield* store.append(index % 2 === 0 ? records : [...records].reverse())
          if (index % 3 === 0) yield* store.void(records[0].id, Sample.CREATED_AT)
          return crossings
        })
      const crossings = (yield* together(times(20, work))).flat()
      same(crossings.map(({ periodKey }) => periodKey).sort(), [
        "2026-03-10",
        "2026-03-11",
        "2026-03-12",
        "2026-03-13",
      ])
      same(yield* store.audit, [])
    }),
  )
}

const counting = (test: ContractTest): void => {
  test(
    "sees every earlier insert for the customer, also with concurrent inserts",
    Effect.gen(function* () {
      const collection = yield* thresholds
      const { atomically } = yield* Transactor
      const customerId = yield* newCustomer
      const limit = 10
      const insert = Effect.fnUntraced(function* (threshold: Threshold.Threshold) {
        yield* collection.insert(threshold)
        const { productId, unit } = threshold
        const page = { limit, cursor: undefined }
        const { hasMore } = yield* collection.list({ customerId, productId, unit }, page)
        if (hasMore) return yield* Effect.fail("too many")
        return true
      })
      const made = yield* Effect.all(times(limit + 10, () => Sample.of(Threshold.thresholds, customerId)))
      const isStored = (threshold: Threshold.Threshold) =>
        Effect.match(atomically(insert(threshold)), { onSuccess: () => true, onFailure: () => false })
      const results = yield* together(made.map(isStored))
      assert.strictEqual(results.filter(Boolean).length, limit)
      same(yield* Effect.forEach(made, ({ id }) => Effect.map(collection.find(id), Option.isSome)), results)
      // Each meter has its own count, and a removed threshold makes room.
      same(yield* isStored(yield* Sample.of(Threshold.thresholds, customerId, { unit: "byte" })), true)
      same(yield* isStored(yield* Sample.of(Threshold.thresholds, customerId)), false)
      yield* collection.remove(made[results.indexOf(true)]!.id)
      same(yield* isStored(yield* Sample.of(Threshold.thresholds, customerId)), true)
      same(yield* isStored(yield* Sample.of(Threshold.thresholds, customerId)), false)
    }),
  )
}

export const thresholdFiringContract = (test: ContractTest): void => {
  test.section("threshold firing", () => firing(test))
  test.section("thresholds of a meter", () => counting(test))
  test.section("concurrent threshold firing", () => concurrency(test))
}
