/**
 * The contract of idempotency keys in `UsageStore.append`: a key of a customer counts once, for ever.
 */
import { Collections, Customer, UsageStore } from "@billwright/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import * as Sample from "../Sample.ts"
import { asTenant, type ContractTest, otherTenants, same, times, together } from "./ContractTest.ts"
import { appendOne, listed, newCustomer, stored, tagsOf, totals } from "./UsageProbe.ts"

const later = (minutes: number) => DateTime.add(Sample.CREATED_AT, { minutes })

export const usageKeyContract = (test: ContractTest): void => {
  test.section("idempotency keys", () => keyTests(test))
}

const keyTests = (test: ContractTest): void => {
  const first = { productId: "api", unit: "call", quantity: 3, idempotencyKey: "k", timestamp: later(0) }

  test(
    "returns the first record for a repeat with the same content",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const { outcome, record } = yield* appendOne(customerId, first)
      same(outcome, { _tag: "Recorded", record })
      const duplicate = { _tag: "Duplicate", record }
      same((yield* appendOne(customerId, { ...first, createdAt: later(9) })).outcome, duplicate)
      // A timestamp that the library set is not part of the content.
      same(
        (yield* appendOne(customerId, { ...first, timestamp: later(5), hasOwnTimestamp: false })).outcome,
        duplicate,
      )
      same(yield* listed(customerId), [record])
      same(yield* totals(customerId), [
        { window: 0, productId: "api", unit: "call", quantity: 3n, recordCount: 1 },
      ])
    }),
  )

  test(
    "finds the repeats and conflicts among a hundred records, and counts the others",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const batch = (fields: (index: number) => Partial<Parameters<typeof Sample.record>[1]>) =>
        Effect.forEach(
          times(100, (index) => index),
          (index) => Sample.record(customerId, { ...first, idempotencyKey: `k${index}`, ...fields(index) }),
        )
      const earlier = yield* batch(() => ({}))
      yield* store.append(earlier.slice(40, 50))
      const records = yield* batch((index) => (index === 45 ? { quantity: 4 } : {}))
      const { outcomes } = yield* store.append(records)
      same(
        tagsOf(outcomes),
        times(100, (index) => {
          if (index === 45) return "KeyConflict"
          return index >= 40 && index < 50 ? "Duplicate" : "Recorded"
        }),
      )
      same(yield* totals(customerId), [
        { window: 0, productId: "api", unit: "call", quantity: 300n, recordCount: 100 },
      ])
      const again = yield* store.append(yield* batch((index) => (index === 45 ? { quantity: 4 } : {})))
      const isRepeat = (tag: string) => tag === "Duplicate" || tag === "KeyConflict"
      same(tagsOf(again.outcomes).every(isRepeat), true)
      same(yield* store.audit, [])
    }),
  )

  test(
    "reports a conflict for a repeat with other content, and changes nothing",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const { record } = yield* appendOne(customerId, { ...first, hasOwnTimestamp: false })
      const others = [
        { productId: "API" },
        { unit: "calls" },
        { quantity: 4 },
        { quantity: 0 },
        { dimensions: { model: "opus" } },
        { timestamp: DateTime.add(Sample.CREATED_AT, { milliseconds: 1 }) },
      ]
      for (const other of others) {
        same((yield* appendOne(customerId, { ...first, ...other })).outcome, {
          _tag: "KeyConflict",
          recordId: record.id,
        })
      }
      same((yield* appendOne(customerId, first)).outcome, { _tag: "Duplicate", record })
      same(yield* listed(customerId), [record])
      same(yield* totals(customerId), [
        { window: 0, productId: "api", unit: "call", quantity: 3n, recordCount: 1 },
      ])
    }),
  )

  test(
    "compares dimensions in any order of their names, in small and in large appends",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const [x, y] = [["model", "opus"] as const, ["kind", "input"] as const]
      const given = { ...first, dimensions: Object.fromEntries([x, y]) }
      const reversed = { ...first, dimensions: Object.fromEntries([y, x]) }
      const { record } = yield* appendOne(customerId, given)
      same((yield* appendOne(customerId, reversed)).outcome, { _tag: "Duplicate", record })
      const conflict = { _tag: "KeyConflict", recordId: record.id }
      const others = [
        {},
        { model: "opus" },
        { model: "opus", kind: "output" },
        { model: "opus", Kind: "input" },
        { model: "input", kind: "opus" },
        { model: "opus", kind: "input", toString: "x" },
      ] as ReadonlyArray<Record<string, string>>
      for (const dimensions of others)
        same((yield* appendOne(customerId, { ...first, dimensions })).outcome, conflict)
      const many = yield* Effect.forEach(
        times(50, (index) => index),
        (index) =>
          Sample.record(customerId, {
            ...first,
            idempotencyKey: `k${index % 40}`,
            dimensions: index % 2 === 0 ? {} : { model: index < 40 ? "opus" : "haiku" },
          }),
      )
      const { outcomes } = yield* store.append(many)
      same(
        tagsOf(outcomes),
        times(50, (index) => {
          if (index < 40) return "Recorded"
          return index % 2 === 0 ? "Duplicate" : "KeyConflict"
        }),
      )
      same(yield* store.audit, [])
    }),
  )

  test(
    "keeps the key of a voided record",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const { record } = yield* appendOne(customerId, first)
      yield* (yield* UsageStore).void(record.id, later(1))
      const duplicate = { _tag: "Duplicate", record: { ...record, voidedAt: later(1) } }
      same((yield* appendOne(customerId, first)).outcome, duplicate)
      const conflict = { _tag: "KeyConflict", recordId: record.id }
      same((yield* appendOne(customerId, { ...first, quantity: 4 })).outcome, conflict)
      same(yield* totals(customerId), [])
    }),
  )

  test(
    "treats a key that is repeated within one append as used by its first record",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const records = yield* Effect.all([
        Sample.record(customerId, first),
        Sample.record(customerId, { ...first, quantity: 9 }),
        Sample.record(customerId, first),
        Sample.record(customerId, { ...first, idempotencyKey: "K" }),
        Sample.record(customerId, { ...first, idempotencyKey: null }),
        Sample.record(customerId, { ...first, idempotencyKey: null }),
      ])
      const [a, , , d, e, f] = records.map(stored)
      const { outcomes } = yield* store.append(records)
      same(outcomes, [
        { _tag: "Recorded", record: a },
        { _tag: "KeyConflict", recordId: a!.id },
        { _tag: "Duplicate", record: a },
        { _tag: "Recorded", record: d },
        { _tag: "Recorded", record: e },
        { _tag: "Recorded", record: f },
      ])
      same(yield* listed(customerId), [f, e, d, a])
    }),
  )

  test(
    "separates keys by customer, account and mode",
    Effect.gen(function* () {
      const customers = (yield* Collections).of(Customer.customers)
      const customer = yield* Sample.customer()
      yield* customers.insert(customer)
      same((yield* appendOne(customer.id, first)).outcome._tag, "Recorded")
      same((yield* appendOne(yield* newCustomer, first)).outcome._tag, "Recorded")
      for (const tenant of yield* otherTenants) {
        same(
          (yield* appendOne(yield* newCustomer.pipe(asTenant(tenant)), first).pipe(asTenant(tenant))).outcome
            ._tag,
          "Recorded",
        )
      }
      same((yield* appendOne(customer.id, first)).outcome._tag, "Duplicate")
    }),
  )

  test(
    "returns the outcome of each record of an append, in the given order",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const other = yield* newCustomer
      const erased = yield* newCustomer
      yield* (yield* Collections).of(Customer.customers).remove(erased)
      yield* appendOne(customerId, first)
      const { outcomes } = yield* store.append(
        yield* Effect.all([
          Sample.record(erased, {}),
          Sample.record(customerId, first),
          Sample.record(other, { quantity: 2 }),
          Sample.record(customerId, { ...first, quantity: 1 }),
          Sample.record(yield* Sample.customerId, {}),
          Sample.record(customerId, { quantity: 4, productId: "storage", unit: "byte" }),
        ]),
      )
      same(tagsOf(outcomes), [
        "CustomerNotFound",
        "Duplicate",
        "Recorded",
        "KeyConflict",
        "CustomerNotFound",
        "Recorded",
      ])
      same(yield* totals(other), [
        { window: 0, productId: "api", unit: "call", quantity: 2n, recordCount: 1 },
      ])
      same((yield* listed(customerId)).length, 2)
      same(yield* listed(erased), [])
      same(yield* store.audit, [])
    }),
  )

  test(
    "records one of many concurrent records with the same key, and returns it to the others",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const results = yield* together(times(20, () => appendOne(customerId, first)))
      const recorded = results.filter(({ outcome }) => outcome._tag === "Recorded")
      assert.strictEqual(recorded.length, 1)
      const winner = recorded[0]!.record
      for (const { outcome, record } of results) {
        same(outcome, { _tag: record.id === winner.id ? "Recorded" : "Duplicate", record: winner })
      }
      same(yield* listed(customerId), [winner])
      same(yield* totals(customerId), [
        { window: 0, productId: "api", unit: "call", quantity: 3n, recordCount: 1 },
      ])
    }),
  )

  test(
    "reports a conflict to the others when their content differs",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const results = yield* together(times(20, (quantity) => appendOne(customerId, { ...first, quantity })))
      const [winner] = yield* listed(customerId)
      for (const { outcome, record } of results) {
        const isWinner = record.id === winner!.id
        same(outcome, isWinner ? { _tag: "Recorded", record } : { _tag: "KeyConflict", recordId: winner!.id })
      }
    }),
  )

  test(
    "finishes concurrent batches that share keys and meters in opposite orders",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customers = yield* Effect.all([newCustomer, newCustomer])
      const batches = yield* Effect.forEach(
        times(10, (batch) => batch),
        (batch) =>
          Effect.gen(function* () {
            const records = yield* Effect.forEach(
              times(40, (index) => index),
              (index) =>
                Sample.record(customers[index % 2]!, {
                  idempotencyKey: `key ${index}`,
                  productId: `product ${index % 5}`,
                  quantity: index,
                  timestamp: later(1440 * (index % 3)),
                }),
            )
            return batch % 2 === 0 ? records : [...records].reverse()
          }),
      )
      const results = yield* together(batches.map((batch) => store.append(batch)))
      const tags = results.flatMap(({ outcomes }) => tagsOf(outcomes))
      assert.strictEqual(tags.filter((tag) => tag === "Recorded").length, 40)
      assert.strictEqual(tags.filter((tag) => tag === "Duplicate").length, 360)
      const sums = yield* Effect.forEach(customers, (id) => totals(id, { by: "unit" }))
      same(
        sums.flat().map(({ quantity, recordCount }) => [quantity, recordCount]),
        [
          [380n, 20],
          [400n, 20],
        ],
      )
      same(yield* store.audit, [])
    }),
  )
}
