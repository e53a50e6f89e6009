/**
 * The contract of `UsageStore.totals`, `units` and `audit`: sums are exact, for any period.
 */
import { Threshold, UsageRecord, UsageStore, type UsageTotal } from "@billwright/core"
import { DateTime, Effect, Struct } from "effect"
import * as fc from "fast-check"
import * as Generators from "../Generators.ts"
import { totalsOf } from "../model/ReferenceTotals.ts"
import { forAll } from "../Property.ts"
import * as Sample from "../Sample.ts"
import { type ContractTest, Effort, same, sameSet, times } from "./ContractTest.ts"
import { append, newCustomer, stored, thresholds, totalKey, totals } from "./UsageProbe.ts"

const millis = (iso: string): number => Sample.instant(iso).epochMilliseconds

const examples = (test: ContractTest): void => {
  test(
    "adds up by meter or by unit, and never adds different units",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      yield* append(customerId, [
        { productId: "api", unit: "call", quantity: 1 },
        { productId: "api", unit: "call", quantity: 2 },
        { productId: "api", unit: "byte", quantity: 4 },
        { productId: "storage", unit: "byte", quantity: 8 },
        { productId: "storage", unit: "free", quantity: 0 },
      ])
      const total = (productId: string | undefined, unit: string, quantity: bigint, recordCount: number) => ({
        window: 0,
        productId,
        unit,
        quantity,
        recordCount,
      })
      const check = (found: ReadonlyArray<UsageTotal>, expected: ReadonlyArray<UsageTotal>) =>
        sameSet(found, expected, totalKey)
      check(yield* totals(customerId, { by: "unit" }), [
        total(undefined, "call", 3n, 2),
        total(undefined, "byte", 12n, 2),
        total(undefined, "free", 0n, 1),
      ])
      check(yield* totals(customerId), [
        total("api", "call", 3n, 2),
        total("api", "byte", 4n, 1),
        total("storage", "byte", 8n, 1),
        total("storage", "free", 0n, 1),
      ])
      check(yield* totals(customerId, { productId: "api" }), [
        total("api", "call", 3n, 2),
        total("api", "byte", 4n, 1),
      ])
      check(yield* totals(customerId, { unit: "byte", by: "unit" }), [total(undefined, "byte", 12n, 2)])
      check(yield* totals(customerId, { productId: "api", unit: "byte" }), [total("api", "byte", 4n, 1)])
      check(yield* totals(customerId, { productId: "API" }), [])
      check(yield* totals(yield* newCustomer), [])
      check(yield* totals(yield* Sample.customerId), [])
    }),
  )

  test(
    "includes the start of a window and excludes its end, to the millisecond",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const [start, middle, end] = [
        millis("2026-03-10T10:20:30.400Z"),
        millis("2026-03-12T00:00:00.000Z"),
        millis("2026-03-15T23:59:59.999Z"),
      ]
      const at = [start - 1, start, start + 1, middle - 1, middle, end - 1, end]
      yield* append(
        customerId,
        at.map((instant, index) => ({ quantity: 10 ** index, timestamp: DateTime.makeUnsafe(instant) })),
      )
      const sums = (boundaries: ReadonlyArray<number | undefined>) =>
        Effect.map(totals(customerId, { boundaries }), (found) =>
          [...found].sort((a, b) => a.window - b.window).map(({ quantity, window }) => [window, quantity]),
        )
      same(yield* sums([start, middle, end]), [
        [0, 1_110n],
        [1, 110_000n],
      ])
      same(yield* sums([undefined, start, middle, end, undefined]), [
        [0, 1n],
        [1, 1_110n],
        [2, 110_000n],
        [3, 1_000_000n],
      ])
      same(yield* sums([start, start + 1]), [[0, 10n]])
      same(yield* sums([start + 2, middle - 1]), [])
      same(yield* sums([undefined, undefined]), [[0, 1_111_111n]])
      same(yield* sums([undefined, end]), [[0, 111_111n]])
      same(yield* sums([end, undefined]), [[0, 1_000_000n]])
      // Windows without records are left out.
      same(yield* sums([start - 86_400_000, start - 1, start, middle + 1, middle + 2, end]), [
        [1, 1n],
        [2, 11_110n],
        [4, 100_000n],
      ])
    }),
  )

  test(
    "counts days before 1970 and in the year 0001",
    Effect.gen(function* () {
      const customerId = yield* newCustomer
      const at = [
        "0001-01-01T00:00:00.000Z",
        "0099-12-31T12:00:00Z",
        "1969-12-31T23:59:59.999Z",
        "1970-01-01T00:00:00Z",
      ]
      yield* append(
        customerId,
        at.map((iso, index) => ({ quantity: 10 ** index, timestamp: Sample.instant(iso) })),
      )
      const boundaries = [
        millis("0001-01-01T00:00:00Z"),
        millis("0001-01-02T00:00:00Z"),
        millis("0099-12-31T12:00:00.001Z"),
        millis("1969-12-31T05:00:00Z"),
        millis("1970-01-01T00:00:00Z"),
        millis("1970-01-01T00:00:00.001Z"),
      ]
      const found = [...(yield* totals(customerId, { boundaries }))].sort((a, b) => a.window - b.window)
      same(
        found.map(({ quantity, window }) => [window, quantity]),
        [
          [0, 1n],
          [1, 10n],
          [3, 100n],
          [4, 1_000n],
        ],
      )
    }),
  )

  test(
    "is exact beyond 2^53 and 2^64",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const largest = { quantity: UsageRecord.MAX_QUANTITY }
      const first = yield* append(customerId, [{ quantity: 2 }, largest])
      const sum = Effect.map(totals(customerId), (found) => found[0]?.quantity)
      same(yield* sum, 2n ** 53n + 1n)
      yield* store.void(first[1]!.id, Sample.CREATED_AT)
      same(yield* sum, 2n)
      for (const _ of times(3, () => 0))
        yield* append(
          customerId,
          times(1000, () => largest),
        )
      same(yield* sum, 2n + 3000n * (2n ** 53n - 1n))
      yield* store.void(first[0]!.id, Sample.CREATED_AT)
      same(yield* sum, 3000n * (2n ** 53n - 1n))
      const { epochMilliseconds } = Sample.CREATED_AT
      const [edge] = yield* totals(customerId, { boundaries: [epochMilliseconds, epochMilliseconds + 1] })
      same(edge, {
        window: 0,
        productId: "api",
        unit: "call",
        quantity: 3000n * (2n ** 53n - 1n),
        recordCount: 3000,
      })
    }),
  )

  test(
    "returns no totals when all records are voided",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const records = yield* append(customerId, [{ quantity: 0 }, { quantity: 4 }])
      for (const { id } of records) yield* store.void(id, Sample.CREATED_AT)
      same(yield* totals(customerId), [])
      same(yield* totals(customerId, { by: "unit" }), [])
      const { epochMilliseconds } = Sample.CREATED_AT
      same(yield* totals(customerId, { boundaries: [epochMilliseconds - 1, epochMilliseconds + 1] }), [])
      same(yield* store.units(customerId, 9), ["call"])
    }),
  )

  test(
    "counts the meters of some days, up to one more than the limit",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const [, voided] = yield* append(customerId, [
        ...["a", "b", "c"].map((productId) => ({
          productId,
          timestamp: Sample.instant("2026-03-02T23:59:59.999Z"),
        })),
        { productId: "a", unit: "other", timestamp: Sample.instant("2026-03-03T00:00:00Z") },
        { productId: "a", timestamp: Sample.instant("2026-03-04T12:00:00Z") },
        { productId: "a", timestamp: Sample.instant("2026-03-05T00:00:00Z") },
      ])
      const day = (text: string) => millis(`2026-03-${text}T00:00:00Z`) / 86_400_000
      const count = (
        from: string,
        to: string,
        options: { most?: number; productId?: string; unit?: string } = {},
      ) =>
        store.countMeters({
          customerId,
          productId: undefined,
          unit: undefined,
          most: 9,
          ...options,
          from: day(from),
          to: day(to),
        })
      same(yield* count("02", "05"), 4)
      same(yield* count("02", "03"), 3)
      same(yield* count("03", "05"), 2)
      same(yield* count("05", "06"), 1)
      same(yield* count("06", "30"), 0)
      for (const [most, counted] of [
        [0, 1],
        [2, 3],
        [3, 4],
        [4, 4],
      ] as const) {
        same(yield* count("02", "05", { most }), counted)
      }
      same(yield* count("01", "30", { productId: "a" }), 2)
      same(yield* count("01", "30", { unit: "other" }), 1)
      same(yield* count("01", "30", { productId: "x" }), 0)
      yield* store.void(voided!.id, Sample.CREATED_AT)
      same(yield* count("02", "05"), 3)
      same(
        yield* store.countMeters({
          customerId: yield* newCustomer,
          productId: undefined,
          unit: undefined,
          from: 0,
          to: 99_999,
          most: 9,
        }),
        0,
      )
    }),
  )

  test(
    "returns the units that a customer has ever used, up to a limit",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      same(yield* store.units(customerId, 2), [])
      yield* (yield* thresholds).insert(
        yield* Sample.of(Threshold.thresholds, customerId, { unit: "never used" }),
      )
      yield* append(customerId, [
        { unit: "a" },
        { unit: "b" },
        { unit: "a", productId: "other" },
        { unit: "c" },
      ])
      sameSet(yield* store.units(customerId, 9), ["a", "b", "c"], String)
      same(new Set(yield* store.units(customerId, 2)).size, 2)
      same((yield* store.units(customerId, 1)).length, 1)
    }),
  )
}

/** A day full of records, for stores that divide a day. */
const busyDay = (test: ContractTest): void => {
  test(
    "sums parts of a day with many records",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const customerId = yield* newCustomer
      const midnight = millis("2026-03-29T00:00:00Z")
      const records = yield* append(
        customerId,
        times(300, (index) => ({
          quantity: index,
          timestamp: DateTime.makeUnsafe(midnight + index * 287_999),
        })),
      )
      const voided = records.filter((_, index) => index % 3 === 0)
      for (const { id } of voided) yield* store.void(id, Sample.CREATED_AT)
      const kept = records.filter((_, index) => index % 3 !== 0)
      const hours = times(49, (index) => midnight + index * 1_800_000)
      const minutes = times(100, (index) => midnight + 7_654_321 + index * 60_000)
      for (const boundaries of [
        hours,
        minutes,
        [undefined, midnight + 1, midnight + 86_399_999, undefined],
      ]) {
        const query = { customerId, productId: undefined, unit: undefined, boundaries, by: "meter" as const }
        sameSet(yield* store.totals(query), totalsOf(kept, query), totalKey)
      }
    }),
  )
}

const meters = { productId: fc.constantFrom("api", "storage"), unit: fc.constantFrom("call", "byte") }

/** Records and boundaries close together, so that windows contain some records and cut days. */
const period = fc.record({
  records: fc.array(
    fc.record({
      ...meters,
      quantity: Generators.quantity,
      timestamp: Generators.nearbyInstant,
      isVoided: fc.boolean(),
    }),
    { maxLength: 60 },
  ),
  queries: fc.array(
    fc.record({
      productId: fc.option(meters.productId, { nil: undefined }),
      unit: fc.option(meters.unit, { nil: undefined }),
      by: fc.constantFrom("unit" as const, "meter" as const),
      boundaries: Generators.boundaries,
    }),
    { minLength: 1, maxLength: 5 },
  ),
})

const properties = (test: ContractTest): void => {
  test(
    "equals the sum of the records, for any records and windows",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const effort = yield* Effort
      yield* forAll(period, effort, ({ queries, records }) =>
        Effect.gen(function* () {
          const customerId = yield* newCustomer
          const made = yield* Effect.forEach(records, (fields) =>
            Sample.record(customerId, Struct.omit(fields, ["isVoided"])),
          )
          const half = made.length >>> 1
          for (const part of [made.slice(0, half), made.slice(half)])
            if (part.length > 0) yield* store.append(part)
          const kept: Array<UsageRecord.UsageRecord> = []
          for (const [index, record] of made.entries()) {
            if (records[index]!.isVoided) yield* store.void(record.id, Sample.CREATED_AT)
            else kept.push(stored(record))
          }
          for (const query of queries) {
            const full = { ...query, customerId }
            sameSet(yield* store.totals(full), totalsOf(kept, full), totalKey)
          }
        }),
      )
      same(yield* store.audit, [])
    }),
  )
}

export const totalsContract = (test: ContractTest): void => {
  test.section("totals", () => {
    examples(test)
    busyDay(test)
    properties(test)
  })
}
