/**
 * The contract of `UsageStore.append` and `void`: what counts, and that it counts once.
 */
import { Collections, Customer, Dimensions, Transactor, UsageRecord, UsageStore } from "@billwright/core"
import { DateTime, Effect, Option } from "effect"
import * as Generators from "../Generators.ts"
import { forAll } from "../Property.ts"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, Effort, otherTenants, same, times, together } from "./ContractTest.ts"
import { append, appendOne, listed, newCustomer, stored, totals } from "./UsageProbe.ts"

const later = (minutes: number) => DateTime.add(Sample.CREATED_AT, { minutes })

const recording = (test: ContractTest): void => {
  test(
    "returns every field of an appended record",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const effort = yield* Effort
      yield* forAll(Generators.newUsageRecord, effort, (generated) =>
        Effect.gen(function* () {
          const id = yield* Sample.usageRecordId
          // Each record needs its own key: a second record with the same key would be a duplicate.
          const idempotencyKey =
            generated.idempotencyKey === null ? null : `${id} ${generated.idempotencyKey}`.slice(0, 200)
          const record = {
            ...generated,
            id,
            customerId,
            idempotencyKey: idempotencyKey?.toWellFormed() ?? null,
          }
          const { crossings, outcomes } = yield* store.append([record])
          same(outcomes, [{ _tag: "Recorded", record: stored(record) }])
          same(crossings, [])
          same(yield* store.find(id), Option.some(stored(record)))
        }),
      )
      same(yield* store.audit, [])
    }),
  )

  test(
    "stores extreme values",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const longest = {
        productId: "𝓟".repeat(UsageRecord.MAX_PRODUCT_ID_LENGTH),
        unit: "🪙".repeat(UsageRecord.MAX_UNIT_LENGTH),
        idempotencyKey: "🔑".repeat(UsageRecord.MAX_USAGE_KEY_LENGTH),
      }
      const records = yield* append(customerId, [
        { quantity: 0 },
        { quantity: UsageRecord.MAX_QUANTITY },
        longest,
        { productId: " ", unit: "\t\n", idempotencyKey: "\u0001\u007f\uffff" },
        { productId: "a'b\"c\\d%e_f{g},h", unit: "NULL", idempotencyKey: "{}" },
        { timestamp: Sample.instant("0001-01-01T00:00:00.000Z") },
        { timestamp: Sample.instant("1969-12-31T23:59:59.999Z") },
        {
          timestamp: Sample.instant("2026-02-28T23:59:59.999Z"),
          createdAt: Sample.instant("2026-03-01T00:00:00.001Z"),
        },
      ])
      for (const record of records) same(yield* store.find(record.id), Option.some(record))
      same(yield* listed(customerId), [...records].reverse())
      same(yield* store.audit, [])
    }),
  )

  test(
    "stores dimensions, and gives them back with every answer",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const most = Object.fromEntries(
        times(Dimensions.MAX_DIMENSIONS, (index) => [
          `${index}${"𝓭".repeat(Dimensions.MAX_DIMENSION_NAME_LENGTH - 1)}`,
          "🧭".repeat(Dimensions.MAX_DIMENSION_VALUE_LENGTH),
        ]),
      )
      const records = yield* append(customerId, [
        { dimensions: { model: "opus", kind: "input" } },
        {},
        { dimensions: most },
        { dimensions: { constructor: "a", toString: "b", hasOwnProperty: "c", prototype: "d" } },
        { dimensions: { "a'b\"c\\d%e_f{g},h": "{}", "\u0001\u007f\uffff": "NULL", " ": "\t\n", "a:b": '"' } },
      ])
      for (const record of records) same(yield* store.find(record.id), Option.some(record))
      same(yield* listed(customerId), [...records].reverse())
      const [first] = records
      const voided = { ...first!, voidedAt: later(1) }
      same(yield* store.void(first!.id, later(1)), Option.some(voided))
      same(yield* store.find(first!.id), Option.some(voided))
      same(yield* store.audit, [])
    }),
  )

  test(
    "appends a thousand records at once",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const records = yield* Effect.forEach(
        times(UsageRecord.MAX_BATCH_RECORDS, (index) => index),
        (index) =>
          Sample.record(customerId, {
            quantity: index,
            productId: `product ${index % 7}`,
            timestamp: later(index * 10),
            idempotencyKey: `key ${index}`,
          }),
      )
      const { outcomes } = yield* store.append(records)
      same(
        outcomes,
        records.map((record) => ({ _tag: "Recorded", record: stored(record) })),
      )
      same(yield* totals(customerId, { by: "unit" }), [
        { window: 0, productId: undefined, unit: "call", quantity: 499_500n, recordCount: 1000 },
      ])
      same(yield* store.audit, [])
    }),
  )

  test(
    "finds no record for an unknown id or for another tenant's",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const [record] = yield* append(customerId, [{}])
      const unknown = yield* Sample.usageRecordId
      same(yield* store.find(unknown), Option.none())
      same(yield* store.void(unknown, later(1)), Option.none())
      for (const tenant of yield* otherTenants) {
        yield* Effect.gen(function* () {
          same(yield* store.find(record!.id), Option.none())
          same(yield* store.void(record!.id, later(1)), Option.none())
          same(yield* totals(customerId), [])
          same(yield* listed(customerId), [])
          same(yield* store.units(customerId, 9), [])
          same(yield* store.audit, [])
          same((yield* appendOne(customerId, {})).outcome, { _tag: "CustomerNotFound" })
        }).pipe(asTenant(tenant))
      }
      same(yield* store.find(record!.id), Option.some(record!))
    }),
  )

  test(
    "refuses usage of unknown and erased customers, and keeps the records of erased ones",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const { record } = yield* appendOne(customerId, { quantity: 5, idempotencyKey: "first" })
      yield* (yield* Collections).of(Customer.customers).remove(customerId)
      same((yield* appendOne(customerId, {})).outcome, { _tag: "CustomerNotFound" })
      same((yield* appendOne(customerId, { quantity: 5, idempotencyKey: "first" })).outcome, {
        _tag: "CustomerNotFound",
      })
      same((yield* appendOne(yield* Sample.customerId, {})).outcome, { _tag: "CustomerNotFound" })
      same(yield* store.find(record.id), Option.some(record))
      same(yield* listed(customerId), [record])
      same(yield* store.units(customerId, 9), ["call"])
      same(yield* totals(customerId), [
        { window: 0, productId: "api", unit: "call", quantity: 5n, recordCount: 1 },
      ])
      const voided = { ...record, voidedAt: later(1) }
      same(yield* store.void(record.id, later(1)), Option.some(voided))
    }),
  )
}

const voiding = (test: ContractTest): void => {
  test(
    "takes a voided record out of the totals once, and keeps the record",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const [a, b] = yield* append(customerId, [{ quantity: 5 }, { quantity: 7 }])
      const voided = { ...a!, voidedAt: later(3) }
      same(yield* store.void(a!.id, later(3)), Option.some(voided))
      const rest = [{ window: 0, productId: "api", unit: "call", quantity: 7n, recordCount: 1 }]
      same(yield* totals(customerId), rest)
      same(yield* store.void(a!.id, later(4)), Option.some(voided))
      same(yield* totals(customerId), rest)
      same(yield* store.find(a!.id), Option.some(voided))
      same(yield* listed(customerId), [b, voided])
      same(yield* store.audit, [])
    }),
  )

  test(
    "voids once for concurrent calls, which all return the same record",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const records = yield* append(customerId, [{ quantity: 5 }, { quantity: 7 }, { quantity: 11 }])
      const results = yield* together(times(20, (index) => store.void(records[index % 2]!.id, later(index))))
      const ends = yield* Effect.forEach(records.slice(0, 2), ({ id }) => store.find(id))
      for (const [index, result] of results.entries()) same(result, ends[index % 2])
      same(yield* totals(customerId), [
        { window: 0, productId: "api", unit: "call", quantity: 11n, recordCount: 1 },
      ])
      same(yield* store.audit, [])
    }),
  )

  test(
    "is undone with its transaction",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const { atomically } = yield* Transactor
      const customerId = yield* newCustomer
      const [record] = yield* append(customerId, [{ quantity: 5 }])
      const before = yield* totals(customerId)
      yield* Effect.ignore(
        atomically(
          Effect.gen(function* () {
            yield* store.void(record!.id, later(1))
            same(yield* totals(customerId), [])
            return yield* Effect.fail("no")
          }),
        ),
      )
      same(yield* store.find(record!.id), Option.some(record))
      same(yield* totals(customerId), before)
      same(yield* store.void(record!.id, later(2)), Option.some({ ...record, voidedAt: later(2) }))
      same(yield* totals(customerId), [])
      same(yield* store.audit, [])
    }),
  )
}

export const appendContract = (test: ContractTest): void => {
  test.section("append", () => recording(test))
  test.section("void", () => voiding(test))
}
