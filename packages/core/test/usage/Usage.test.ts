import {
  Customer,
  Customers,
  Dimensions,
  InvalidInput,
  Transactor,
  Usage,
  UsagePeriod,
  UsageRecord,
  type UsageSummary,
} from "@billwright/core"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { fc, holdsEffect } from "../property.ts"
import { acme, acmeTest, as, at, globex, inWorld, newCustomer, NOON, recordUsage } from "../world.ts"

const unknownCustomer = Customer.CustomerId.make(`cus_${"0".repeat(26)}`)
const unknownRecord = `usg_${"0".repeat(26)}`
const afterNoon = (millis: number) => DateTime.makeUnsafe(NOON.epochMilliseconds + millis)

const storedRecords = Effect.gen(function* () {
  return (yield* (yield* MemoryInspector).snapshot).records.map(({ record }) => record)
})

const summarize = Effect.fnUntraced(function* (
  customer: Customer.Customer,
  query: Omit<UsageSummary.SummarizeUsage, "customerId"> = {},
) {
  return yield* (yield* Usage).summary({ customerId: customer.id, ...query })
})
/** Total and number of records. */
const total = (customer: Customer.Customer, query?: Omit<UsageSummary.SummarizeUsage, "customerId">) =>
  Effect.map(summarize(customer, query), ({ recordCount, totalQuantity }) => [totalQuantity, recordCount])

describe("Usage.record", () => {
  it.effect("records usage of now unless told when it happened", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      const { _tag, record } = yield* usage.record({
        customerId: customer.id,
        productId: "api",
        quantity: 3,
        unit: "call",
      })
      assert.strictEqual(_tag, "Recorded")
      assert.match(record.id, /^usg_/)
      // All records without dimensions share one object.
      assert.strictEqual(record.dimensions, Dimensions.NONE)
      assert.deepStrictEqual(record, {
        id: record.id,
        customerId: customer.id,
        productId: "api",
        quantity: 3,
        unit: "call",
        dimensions: {},
        timestamp: NOON,
        idempotencyKey: null,
        voidedAt: null,
        createdAt: NOON,
      })
      const late = yield* recordUsage(customer, {
        timestamp: at("2020-01-01T00:00:00Z"),
        idempotencyKey: "k",
      })
      assert.deepStrictEqual(
        [late.record.timestamp, late.record.createdAt, late.record.idempotencyKey],
        [at("2020-01-01T00:00:00Z"), NOON, "k"],
      )
      assert.deepStrictEqual(yield* usage.getRecord(record.id), record)
    }).pipe(inWorld()),
  )

  it.effect("makes −0 a 0", () =>
    Effect.gen(function* () {
      const { record } = yield* recordUsage(yield* newCustomer(), { quantity: -0 })
      assert.isTrue(Object.is(record.quantity, 0))
      assert.isTrue((yield* storedRecords).every(({ quantity }) => Object.is(quantity, 0)))
    }).pipe(inWorld()),
  )

  it.effect("takes timestamps from the year 0001 to 5 minutes ahead", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const first = UsageRecord.MIN_TIMESTAMP_MILLIS
      for (const timestamp of [afterNoon(300_000), afterNoon(0), DateTime.makeUnsafe(first)]) {
        assert.deepStrictEqual((yield* recordUsage(customer, { timestamp })).record.timestamp, timestamp)
      }
      for (const [timestamp, problem] of [
        [afterNoon(300_001), "must not be more than 5 minutes in the future"],
        [at("+010000-01-01T00:00:00Z"), "must not be more than 5 minutes in the future"],
        [DateTime.makeUnsafe(first - 1), "must not be before the year 0001"],
      ] as const) {
        const error = yield* Effect.flip(recordUsage(customer, { timestamp }))
        assert.instanceOf(error, InvalidInput)
        assert.strictEqual(error.message, `timestamp ${problem}`)
      }
      assert.lengthOf(yield* storedRecords, 3)
    }).pipe(inWorld()),
  )

  it.effect("takes timestamps as far back as the options say", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { timestamp: afterNoon(-60_000) })
      const error = yield* Effect.flip(recordUsage(customer, { timestamp: afterNoon(-60_001) }))
      assert.strictEqual(error.message, "timestamp must not be more than 60000 ms in the past")
    }).pipe(inWorld({ usage: { maxPastMillis: 60_000 } })),
  )

  it.effect("knows unknown, erased and others' customers", () =>
    Effect.gen(function* () {
      const erased = yield* newCustomer()
      yield* (yield* Customers).erase(erased.id)
      const theirs = yield* as(globex)(newCustomer())
      const testMode = yield* as(acmeTest)(newCustomer())
      for (const customer of [{ ...erased, id: unknownCustomer }, erased, theirs, testMode]) {
        const error = yield* Effect.flip(recordUsage(customer))
        assert.instanceOf(error, Customer.CustomerNotFound)
        assert.deepStrictEqual([error.id, error.field], [customer.id, "customerId"])
      }
      assert.deepStrictEqual(yield* storedRecords, [])
    }).pipe(inWorld()),
  )

  it.effect("refuses what breaks a rule", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const error = yield* Effect.flip(recordUsage(customer, { quantity: 1.5 }))
      assert.strictEqual(error.message, "quantity must be an integer from 0 to 9007199254740991")
      assert.deepStrictEqual(yield* storedRecords, [])
    }).pipe(inWorld()),
  )

  it.effect("has been stored when it answers", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      for (let n = 1; n <= 5; n++) {
        yield* recordUsage(customer, { quantity: n })
        assert.deepStrictEqual(yield* total(customer), [BigInt((n * (n + 1)) / 2), n])
      }
    }).pipe(inWorld()),
  )

  it.effect("gives each of many at once its own result", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const erased = yield* newCustomer()
      yield* (yield* Customers).erase(erased.id)
      yield* recordUsage(customer, { idempotencyKey: "taken", quantity: 7 })
      const exits = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, i) => i),
        (i) => {
          if (i % 5 === 1) return Effect.exit(recordUsage(erased))
          if (i % 5 === 2) return Effect.exit(recordUsage(customer, { idempotencyKey: "taken", quantity: 8 }))
          if (i % 5 === 3) return Effect.exit(recordUsage(customer, { idempotencyKey: "taken", quantity: 7 }))
          return Effect.exit(recordUsage(customer, { quantity: i }))
        },
        { concurrency: "unbounded" },
      )
      const results = exits.map((exit) =>
        Exit.isSuccess(exit)
          ? exit.value._tag
          : exit.cause.reasons
              .map((reason) => (reason._tag === "Fail" ? reason.error._tag : reason._tag))
              .join(),
      )
      const expected = ["Recorded", "CustomerNotFound", "UsageKeyConflict", "Duplicate", "Recorded"]
      assert.deepStrictEqual(
        results,
        results.map((_, i) => expected[i % 5]!),
      )
      exits.forEach((exit, i) => {
        if (Exit.isSuccess(exit) && exit.value._tag === "Recorded")
          assert.strictEqual(exit.value.record.quantity, i)
      })
      assert.lengthOf(yield* storedRecords, 81)
      assert.deepStrictEqual(yield* (yield* Usage).audit, [])
    }).pipe(inWorld()),
  )
})

describe("an idempotency key of usage", () => {
  it.effect("gives the first record for the same content, also when the timestamp was made for it", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const first = yield* recordUsage(customer, { idempotencyKey: "k", quantity: 5 })
      yield* TestClock.adjust("1 minute")
      for (const repeat of [{}, { timestamp: NOON }]) {
        const result = yield* recordUsage(customer, { idempotencyKey: "k", quantity: 5, ...repeat })
        assert.deepStrictEqual(result, { _tag: "Duplicate", record: first.record })
      }
      assert.deepStrictEqual(yield* total(customer), [5n, 1])
    }).pipe(inWorld()),
  )

  it.effect("conflicts with other content, and overwrites nothing", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const { record } = yield* recordUsage(customer, { idempotencyKey: "k", quantity: 5 })
      for (const change of [
        { quantity: 6 },
        { unit: "minute" },
        { productId: "web" },
        { timestamp: afterNoon(1) },
      ]) {
        const error = yield* Effect.flip(
          recordUsage(customer, { idempotencyKey: "k", quantity: 5, ...change }),
        )
        assert.instanceOf(error, UsageRecord.UsageKeyConflict)
        assert.deepStrictEqual([error.field, error.recordId], ["idempotencyKey", record.id])
        assert.strictEqual(
          error.message,
          `idempotencyKey was already used with other content, by ${record.id}`,
        )
      }
      assert.deepStrictEqual(yield* storedRecords, [record])
    }).pipe(inWorld()),
  )

  it.effect("counts for its customer, account and mode alone", () =>
    Effect.gen(function* () {
      for (const tenant of [acme, acmeTest, globex]) {
        for (const quantity of [1, 2]) {
          const customer = yield* as(tenant)(newCustomer())
          const result = yield* as(tenant)(recordUsage(customer, { idempotencyKey: "k", quantity }))
          assert.strictEqual(result._tag, "Recorded")
        }
      }
    }).pipe(inWorld()),
  )

  it.effect("is remembered when all other keys have expired", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { idempotencyKey: "k" })
      yield* TestClock.adjust("30 days")
      assert.strictEqual((yield* recordUsage(customer, { idempotencyKey: "k" }))._tag, "Duplicate")
    }).pipe(inWorld()),
  )

  it.effect("gives the first record also when a new one would be too old by now", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const { atomically } = yield* Transactor
      const customer = yield* newCustomer()
      const old = { timestamp: NOON, idempotencyKey: "k", quantity: 5 }
      const input = { customerId: customer.id, productId: "api", unit: "call", quantity: 1 }
      const { record } = yield* recordUsage(customer, old)
      yield* TestClock.adjust("61 seconds")
      const duplicate = { _tag: "Duplicate", record }
      assert.deepStrictEqual(yield* recordUsage(customer, old), duplicate)
      assert.deepStrictEqual(yield* atomically(recordUsage(customer, old)), duplicate)
      const other = yield* Effect.flip(recordUsage(customer, { ...old, quantity: 6 }))
      assert.instanceOf(other, UsageRecord.UsageKeyConflict)
      const batch = yield* usage.recordBatch({ records: [input, { ...input, ...old }] })
      assert.deepStrictEqual(
        batch.map(({ _tag }) => _tag),
        ["Recorded", "Duplicate"],
      )
      // What is new and too old is refused as before, and leaves nothing in the transaction of a caller that goes on.
      const tooOld = { ...old, idempotencyKey: "new" }
      const records = [{ ...input, ...old }, input, { ...input, ...tooOld }]
      for (const [attempt, field] of [
        [Effect.asVoid(recordUsage(customer, tooOld)), "timestamp"],
        [Effect.asVoid(usage.recordBatch({ records })), "records[2].timestamp"],
      ] as const) {
        const refused = Effect.flip(attempt)
        for (const error of [yield* refused, yield* atomically(refused)]) {
          assert.strictEqual(error.message, `${field} must not be more than 60000 ms in the past`)
        }
      }
      assert.lengthOf(yield* storedRecords, 2)
      assert.deepStrictEqual(yield* usage.audit, [])
    }).pipe(inWorld({ usage: { maxPastMillis: 60_000 } })),
  )

  it.effect("stays used by a record that was voided", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      const { record } = yield* recordUsage(customer, { idempotencyKey: "k" })
      const voided = yield* usage.voidRecord(record.id)
      const repeat = yield* recordUsage(customer, { idempotencyKey: "k" })
      assert.deepStrictEqual(repeat, { _tag: "Duplicate", record: voided })
      assert.deepStrictEqual(yield* total(customer), [0n, 0])
    }).pipe(inWorld()),
  )

  it.effect("counts once for many at once", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const results = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () => recordUsage(customer, { idempotencyKey: "k", quantity: 2 }),
        { concurrency: "unbounded" },
      )
      assert.lengthOf(
        results.filter(({ _tag }) => _tag === "Recorded"),
        1,
      )
      assert.strictEqual(new Set(results.map(({ record }) => record.id)).size, 1)
      assert.deepStrictEqual(yield* total(customer), [2n, 1])
    }).pipe(inWorld()),
  )

  it.effect("is needed to tell a repeat: records without one are all different", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* recordUsage(customer)
      assert.strictEqual((yield* recordUsage(customer))._tag, "Recorded")
    }).pipe(inWorld()),
  )
})

describe("Usage.recordBatch", () => {
  const inputOf = (customer: Customer.Customer, change: Partial<UsageRecord.RecordUsage> = {}) => ({
    customerId: customer.id,
    productId: "api",
    quantity: 1,
    unit: "call",
    ...change,
  })

  it.effect("answers in the order given and stores in that order", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const [one, two] = [yield* newCustomer(), yield* newCustomer()]
      const old = yield* recordUsage(one, { idempotencyKey: "old", quantity: 9 })
      const results = yield* usage.recordBatch({
        records: [
          inputOf(one, { quantity: 1 }),
          inputOf(one, { quantity: 9, idempotencyKey: "old" }),
          inputOf(two, { quantity: 2, idempotencyKey: "new" }),
          inputOf(two, { quantity: 2, idempotencyKey: "new" }),
          inputOf(one, { quantity: 3, timestamp: at("2020-01-01T00:00:00Z") }),
        ],
      })
      assert.deepStrictEqual(
        results.map(({ _tag, record }) => [_tag, record.quantity]),
        [
          ["Recorded", 1],
          ["Duplicate", 9],
          ["Recorded", 2],
          ["Duplicate", 2],
          ["Recorded", 3],
        ],
      )
      assert.strictEqual(results[1]!.record.id, old.record.id)
      assert.strictEqual(results[3]!.record.id, results[2]!.record.id)
      const listed = yield* usage.listRecords({ customerId: one.id })
      assert.deepStrictEqual(
        listed.data.map(({ quantity }) => quantity),
        [3, 1, 9],
      )
      assert.deepStrictEqual(yield* total(two), [2n, 1])
    }).pipe(inWorld()),
  )

  it.effect("stores all or nothing, and names the record that is at fault", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { idempotencyKey: "taken", quantity: 5 })
      const good = inputOf(customer)
      const cases: ReadonlyArray<readonly [ReadonlyArray<UsageRecord.RecordUsage>, string, string]> = [
        [[good, good, good, { ...good, quantity: -1 }], "InvalidInput", "records[3].quantity"],
        [[good, { ...good, timestamp: afterNoon(300_001) }], "InvalidInput", "records[1].timestamp"],
        [[good, good, { ...good, customerId: unknownCustomer }], "CustomerNotFound", "records[2].customerId"],
        [[good, { ...good, idempotencyKey: "taken" }], "UsageKeyConflict", "records[1].idempotencyKey"],
        [
          [
            { ...good, idempotencyKey: "x" },
            { ...good, idempotencyKey: "x", quantity: 2 },
          ],
          "InvalidInput",
          "records[1].idempotencyKey",
        ],
        [[], "InvalidInput", "records"],
        [Array.from({ length: 1_001 }, () => good), "InvalidInput", "records"],
      ]
      for (const [records, tag, field] of cases) {
        const error = yield* Effect.flip(usage.recordBatch({ records }))
        assert.deepStrictEqual([error._tag, "field" in error && error.field], [tag, field])
      }
      assert.lengthOf(yield* storedRecords, 1)
      assert.deepStrictEqual(yield* total(customer), [5n, 1])
    }).pipe(inWorld()),
  )

  it.effect("that clashes with itself is told so: of its own records none exists that could be named", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      const { record } = yield* recordUsage(customer, { idempotencyKey: "stored", quantity: 5 })
      const keyed = (idempotencyKey: string, quantity: number) =>
        inputOf(customer, { idempotencyKey, quantity })
      const clash = [keyed("b", 1), keyed("a", 1), keyed("b", 1), keyed("b", 2), keyed("b", 3)]
      const error = yield* Effect.flip(usage.recordBatch({ records: clash }))
      assert.strictEqual(
        error.message,
        "records[3].idempotencyKey is also the key of records[0], which has other content",
      )
      // Who has the key is stored: that one can be looked up.
      const repeats = [keyed("stored", 5), keyed("stored", 6)]
      const conflict = yield* Effect.flip(usage.recordBatch({ records: repeats }))
      assert.deepInclude(conflict, { _tag: "UsageKeyConflict", recordId: record.id })
      assert.deepStrictEqual(yield* usage.getRecord(record.id), record)
      assert.deepStrictEqual(yield* total(customer), [5n, 1])
    }).pipe(inWorld()),
  )

  it.effect("records 1,000 at once", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      const results = yield* usage.recordBatch({
        records: Array.from({ length: 1_000 }, (_, i) =>
          inputOf(customer, { quantity: i, idempotencyKey: `k${i}` }),
        ),
      })
      assert.isTrue(results.every(({ _tag, record }, i) => _tag === "Recorded" && record.quantity === i))
      assert.deepStrictEqual(yield* total(customer), [499_500n, 1_000])
    }).pipe(inWorld()),
  )
})

describe("in a transaction", () => {
  it.effect("records commit with it", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const customer = yield* newCustomer()
      yield* atomically(
        Effect.gen(function* () {
          yield* recordUsage(customer, { quantity: 2 })
          assert.deepStrictEqual(yield* total(customer), [2n, 1])
          yield* recordUsage(customer, { quantity: 3 })
        }),
      )
      assert.deepStrictEqual(yield* total(customer), [5n, 2])
    }).pipe(inWorld()),
  )

  it.effect("records and their keys roll back with it", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const { atomically } = yield* Transactor
      const customer = yield* newCustomer()
      const kept = yield* recordUsage(customer, { quantity: 1 })
      const failing = Effect.gen(function* () {
        yield* recordUsage(customer, { idempotencyKey: "k", quantity: 2 })
        yield* usage.recordBatch({
          records: [{ customerId: customer.id, productId: "p", quantity: 4, unit: "call" }],
        })
        yield* usage.voidRecord(kept.record.id)
        assert.deepStrictEqual(yield* total(customer), [6n, 2])
        return yield* Effect.fail("no")
      })
      assert.strictEqual(yield* Effect.flip(atomically(failing)), "no")
      assert.deepStrictEqual(yield* total(customer), [1n, 1])
      assert.strictEqual(
        (yield* recordUsage(customer, { idempotencyKey: "k", quantity: 3 }))._tag,
        "Recorded",
      )
      assert.deepStrictEqual(yield* usage.audit, [])
    }).pipe(inWorld()),
  )

  it.effect("a record that is refused undoes itself alone, when the transaction goes on", () =>
    Effect.gen(function* () {
      const { atomically } = yield* Transactor
      const customer = yield* newCustomer()
      yield* atomically(
        Effect.gen(function* () {
          yield* recordUsage(customer, { idempotencyKey: "k", quantity: 2 })
          yield* Effect.flip(recordUsage(customer, { idempotencyKey: "k", quantity: 3 }))
          yield* recordUsage(customer, { quantity: 4 })
        }),
      )
      assert.deepStrictEqual(yield* total(customer), [6n, 2])
    }).pipe(inWorld()),
  )
})

describe("Usage.voidRecord", () => {
  it.effect("takes a record out of all totals and keeps it", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { quantity: 1 })
      const { record } = yield* recordUsage(customer, { quantity: 2 })
      yield* TestClock.adjust("1 second")
      const voided = yield* usage.voidRecord(record.id)
      assert.deepStrictEqual(voided, { ...record, voidedAt: afterNoon(1_000) })
      assert.deepStrictEqual(yield* total(customer), [1n, 1])
      assert.deepStrictEqual(yield* usage.getRecord(record.id), voided)
      assert.deepStrictEqual((yield* usage.listRecords({ customerId: customer.id })).data[0], voided)
    }).pipe(inWorld()),
  )

  it.effect("changes nothing the second time, nor for many at once", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { quantity: 1 })
      const { record } = yield* recordUsage(customer, { quantity: 2 })
      const first = yield* usage.voidRecord(record.id)
      yield* TestClock.adjust("1 second")
      const others = yield* Effect.forEach([1, 2, 3], () => usage.voidRecord(record.id), {
        concurrency: "unbounded",
      })
      assert.deepStrictEqual(others, [first, first, first])
      assert.deepStrictEqual(yield* total(customer), [1n, 1])
      assert.deepStrictEqual(yield* usage.audit, [])
    }).pipe(inWorld()),
  )

  it.effect("works for an erased customer", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      const { record } = yield* recordUsage(customer)
      yield* (yield* Customers).erase(customer.id)
      yield* usage.voidRecord(record.id)
      assert.deepStrictEqual(yield* total(customer), [0n, 0])
    }).pipe(inWorld()),
  )
})

describe("one record", () => {
  it.effect("is unknown by ids never made, that are none, or another tenant's", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const { record } = yield* recordUsage(yield* newCustomer())
      const ask = (id: string) =>
        Effect.all([Effect.flip(usage.getRecord(id)), Effect.flip(usage.voidRecord(id))])
      const errors = [
        yield* ask(unknownRecord),
        yield* ask("x"),
        yield* ask(unknownCustomer),
        yield* as(acmeTest)(ask(record.id)),
        yield* as(globex)(ask(record.id)),
      ].flat()
      assert.isTrue(errors.every((error) => error instanceof UsageRecord.UsageRecordNotFound))
      assert.strictEqual(errors[0]!.message, `no usage record has the id ${unknownRecord}`)
      assert.isNull((yield* usage.getRecord(record.id)).voidedAt)
    }).pipe(inWorld()),
  )
})

describe("Usage.listRecords", () => {
  it.effect("gives a customer's records, newest first, by product and unit", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      yield* recordUsage(yield* newCustomer(), { quantity: 99 })
      for (const [quantity, productId, unit] of [
        [1, "api", "call"],
        [2, "web", "call"],
        [3, "api", "minute"],
        [4, "api", "call"],
      ] as const) {
        yield* recordUsage(customer, { quantity, productId, unit })
      }
      const quantities = (query: Partial<UsageRecord.ListUsageRecords>) =>
        Effect.map(usage.listRecords({ customerId: customer.id, ...query }), ({ data, hasMore }) => [
          data.map(({ quantity }) => quantity).join(),
          hasMore,
        ])
      assert.deepStrictEqual(yield* quantities({}), ["4,3,2,1", false])
      assert.deepStrictEqual(yield* quantities({ productId: "api" }), ["4,3,1", false])
      assert.deepStrictEqual(yield* quantities({ unit: "call" }), ["4,2,1", false])
      assert.deepStrictEqual(yield* quantities({ productId: "api", unit: "call" }), ["4,1", false])
      assert.deepStrictEqual(yield* quantities({ productId: "none" }), ["", false])
      assert.deepStrictEqual(yield* quantities({ limit: 3 }), ["4,3,2", true])
    }).pipe(inWorld()),
  )

  it.effect("goes through all of them page by page while some are added", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      const ids: Array<string> = []
      for (let i = 0; i < 7; i++) ids.unshift((yield* recordUsage(customer)).record.id)
      const seen: Array<string> = []
      let page = yield* usage.listRecords({ customerId: customer.id, limit: 3 })
      for (;;) {
        seen.push(...page.data.map(({ id }) => id))
        if (!page.hasMore) break
        yield* recordUsage(customer)
        page = yield* usage.listRecords({ customerId: customer.id, limit: 3, startingAfter: seen.at(-1)! })
      }
      assert.deepStrictEqual(seen, ids)
      const newer = yield* usage.listRecords({ customerId: customer.id, limit: 2, endingBefore: ids[3]! })
      assert.deepStrictEqual([newer.data.map(({ id }) => id), newer.hasMore], [[ids[1]!, ids[2]!], true])
    }).pipe(inWorld()),
  )

  it.effect("is there for erased customers, not for unknown ones", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      const { record } = yield* recordUsage(customer)
      yield* (yield* Customers).erase(customer.id)
      assert.deepStrictEqual((yield* usage.listRecords({ customerId: customer.id })).data, [record])
      for (const ask of [
        usage.listRecords({ customerId: unknownCustomer }),
        as(globex)(usage.listRecords({ customerId: customer.id })),
      ]) {
        const error = yield* Effect.flip(ask)
        assert.instanceOf(error, Customer.CustomerNotFound)
        assert.strictEqual(error.field, "customerId")
      }
    }).pipe(inWorld()),
  )

  it.effect("names a bad limit or cursor", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const { id: customerId } = yield* newCustomer()
      const cases = [
        [{ limit: 0 }, "limit must be an integer from 1 to 100"],
        [{ startingAfter: unknownRecord }, "startingAfter is not the id of an item of this list"],
        [{ endingBefore: "x" }, "endingBefore is not the id of an item of this list"],
      ] as const
      for (const [query, message] of cases) {
        assert.strictEqual((yield* Effect.flip(usage.listRecords({ customerId, ...query }))).message, message)
      }
    }).pipe(inWorld()),
  )
})

describe("Usage.summary", () => {
  it.effect("says what it sums up and what the dates came to", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { quantity: 5 })
      assert.deepStrictEqual(yield* summarize(customer), {
        customerId: customer.id,
        meter: null,
        productId: null,
        totalQuantity: 5n,
        denominator: 1n,
        unit: "call",
        recordCount: 1,
        startDate: null,
        endDate: null,
        timezone: "UTC",
        periodStart: null,
        periodEnd: null,
      })
      const query = {
        productId: "api",
        unit: "call",
        startDate: "2026-11-21",
        endDate: "2026-11-21",
        timezone: "Europe/Berlin",
      }
      assert.deepStrictEqual(yield* summarize(customer, query), {
        customerId: customer.id,
        meter: null,
        productId: "api",
        totalQuantity: 5n,
        denominator: 1n,
        unit: "call",
        recordCount: 1,
        startDate: "2026-11-21",
        endDate: "2026-11-21",
        timezone: "Europe/Berlin",
        periodStart: at("2026-11-20T23:00:00Z"),
        periodEnd: at("2026-11-21T23:00:00Z"),
      })
    }).pipe(inWorld()),
  )

  it.effect("counts from the first instant of the first day to the last of the last", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const instants = [
        "2026-10-31T23:59:59.999Z",
        "2026-11-01T00:00:00.000Z",
        "2026-11-02T23:59:59.999Z",
        "2026-11-03T00:00:00.000Z",
      ]
      for (const [i, text] of instants.entries())
        yield* recordUsage(customer, { quantity: 10 ** i, timestamp: at(text) })
      assert.deepStrictEqual(yield* total(customer, { startDate: "2026-11-01", endDate: "2026-11-02" }), [
        110n,
        2,
      ])
      assert.deepStrictEqual(yield* total(customer, { startDate: "2026-11-01" }), [1_110n, 3])
      assert.deepStrictEqual(yield* total(customer, { endDate: "2026-11-02" }), [111n, 3])
      assert.deepStrictEqual(yield* total(customer), [1_111n, 4])
      // In New York these days are 4 hours later.
      const newYork = { startDate: "2026-10-31", endDate: "2026-10-31", timezone: "America/New_York" }
      assert.deepStrictEqual(yield* total(customer, newYork), [11n, 2])
    }).pipe(inWorld()),
  )

  it.effect("counts a late record in the period of its timestamp", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { timestamp: at("2020-02-29T12:00:00Z") })
      assert.deepStrictEqual(yield* total(customer, { startDate: "2020-02-29", endDate: "2020-02-29" }), [
        1n,
        1,
      ])
      assert.deepStrictEqual(yield* total(customer, { startDate: "2026-11-21" }), [0n, 0])
    }).pipe(inWorld()),
  )

  it.effect("is exact beyond what a number holds", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      for (let i = 0; i < 5; i++) yield* recordUsage(customer, { quantity: Number.MAX_SAFE_INTEGER })
      yield* recordUsage(customer, { quantity: 1 })
      assert.deepStrictEqual(yield* total(customer), [5n * (2n ** 53n - 1n) + 1n, 6])
    }).pipe(inWorld()),
  )

  it.effect("never adds unlike units", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { quantity: 1, unit: "call" })
      yield* recordUsage(customer, { quantity: 2, unit: "call", productId: "web" })
      yield* recordUsage(customer, { quantity: 4, unit: "minute", productId: "voice" })
      yield* recordUsage(customer, { quantity: 8, unit: "minute", timestamp: at("2026-11-20T12:00:00Z") })
      const mixed = yield* Effect.flip(summarize(customer))
      assert.instanceOf(mixed, InvalidInput)
      assert.strictEqual(
        mixed.message,
        "unit is required (or a product id): the period has usage in several units, which can't be added",
      )
      const product = yield* Effect.flip(summarize(customer, { productId: "api" }))
      assert.strictEqual(
        product.message,
        "unit is required: the period has usage of the product in several units, which can't be added",
      )
      assert.deepStrictEqual(yield* total(customer, { unit: "call" }), [3n, 2])
      assert.deepStrictEqual(yield* total(customer, { unit: "minute" }), [12n, 2])
      assert.deepStrictEqual(yield* total(customer, { productId: "voice" }), [4n, 1])
      assert.deepStrictEqual(yield* total(customer, { productId: "api", unit: "minute" }), [8n, 1])
      // What lies outside of the period doesn't mix.
      assert.deepStrictEqual(yield* total(customer, { productId: "api", startDate: "2026-11-21" }), [1n, 1])
      assert.deepStrictEqual(yield* total(customer, { endDate: "2026-11-20" }), [8n, 1])
    }).pipe(inWorld()),
  )

  it.effect("has the unit of no usage: the one asked for, else the only one of the customer, else none", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const unit = (query: Omit<UsageSummary.SummarizeUsage, "customerId">) =>
        Effect.map(summarize(customer, query), (summary) => [summary.totalQuantity, summary.unit])
      const empty = { startDate: "2000-01-01", endDate: "2000-01-01" }
      assert.deepStrictEqual(yield* unit(empty), [0n, null])
      assert.deepStrictEqual(yield* unit({ unit: "minute" }), [0n, "minute"])
      yield* recordUsage(customer)
      assert.deepStrictEqual(yield* unit(empty), [0n, "call"])
      assert.deepStrictEqual(yield* unit({ ...empty, unit: "minute" }), [0n, "minute"])
      assert.deepStrictEqual(yield* unit({ productId: "none" }), [0n, "call"])
      yield* recordUsage(customer, { unit: "minute" })
      assert.deepStrictEqual(yield* unit(empty), [0n, null])
    }).pipe(inWorld()),
  )

  it.effect("is there for erased customers, not for unknown ones", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      yield* recordUsage(customer)
      yield* (yield* Customers).erase(customer.id)
      assert.deepStrictEqual(yield* total(customer), [1n, 1])
      for (const ask of [
        usage.summary({ customerId: unknownCustomer }),
        as(acmeTest)(usage.summary({ customerId: customer.id })),
      ]) {
        const error = yield* Effect.flip(ask)
        assert.instanceOf(error, Customer.CustomerNotFound)
        assert.strictEqual(error.field, "customerId")
      }
    }).pipe(inWorld()),
  )

  it.effect("names bad dates before it looks for the customer", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      for (const [query, field] of [
        [{ startDate: "2026-02-30" }, "startDate"],
        [{ startDate: "2026-11-02", endDate: "2026-11-01" }, "endDate"],
        [{ timezone: "Mars/Olympus_Mons" }, "timezone"],
      ] as const) {
        const error = yield* Effect.flip(usage.summary({ customerId: unknownCustomer, ...query }))
        assert.deepStrictEqual([error._tag, "field" in error && error.field], ["InvalidInput", field])
      }
    }).pipe(inWorld()),
  )
})

describe("Usage.series", () => {
  type Query = Partial<Omit<UsageSummary.SeriesUsage, "customerId">>
  const points = Effect.fnUntraced(function* (customer: Customer.Customer, query: Query) {
    const usage = yield* Usage
    const series = yield* usage.series({
      customerId: customer.id,
      startDate: "2026-11-20",
      endDate: "2026-11-22",
      window: "day",
      ...query,
    })
    return series.map(({ productId, quantity, recordCount, start, unit }) =>
      [DateTime.formatIso(start).slice(5, 16), productId, unit, quantity, recordCount].join(" "),
    )
  })

  it.effect("has every window, also the empty ones", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { quantity: 1, timestamp: at("2026-11-20T00:00:00Z") })
      yield* recordUsage(customer, {
        quantity: 2,
        timestamp: at("2026-11-20T23:59:59.999Z"),
        productId: "web",
      })
      yield* recordUsage(customer, { quantity: 4, timestamp: at("2026-11-19T23:59:59.999Z") })
      const voided = yield* recordUsage(customer, { quantity: 8 })
      yield* (yield* Usage).voidRecord(voided.record.id)
      assert.deepStrictEqual(yield* points(customer, {}), [
        "11-20T00:00  call 3 2",
        "11-21T00:00  call 0 0",
        "11-22T00:00  call 0 0",
      ])
      assert.deepStrictEqual(yield* points(customer, { productId: "web" }), [
        "11-20T00:00 web call 2 1",
        "11-21T00:00 web call 0 0",
        "11-22T00:00 web call 0 0",
      ])
    }).pipe(inWorld()),
  )

  it.effect("has windows that follow each other", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      const query = { startDate: "2026-10-31", endDate: "2026-11-02", timezone: "America/New_York" }
      const series = yield* usage.series({ customerId: customer.id, ...query, window: "hour" })
      assert.lengthOf(series, 24 + 25 + 24)
      const summary = yield* summarize(customer, query)
      assert.deepStrictEqual(
        [series[0]!.start, series.at(-1)!.end],
        [summary.periodStart!, summary.periodEnd!],
      )
      assert.isTrue(
        series.every(({ start }, i) => i === 0 || DateTime.Equivalence(start, series[i - 1]!.end)),
      )
    }).pipe(inWorld()),
  )

  it.effect("is one series for each meter when grouped, sorted by product and unit", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { quantity: 1, productId: "web", unit: "visit" })
      yield* recordUsage(customer, { quantity: 2, productId: "api", unit: "minute" })
      yield* recordUsage(customer, {
        quantity: 4,
        productId: "api",
        unit: "call",
        timestamp: at("2026-11-20T12:00:00Z"),
      })
      const query = { startDate: "2026-11-20", endDate: "2026-11-21", groupBy: "product_id" } as const
      assert.deepStrictEqual(yield* points(customer, query), [
        "11-20T00:00 api call 4 1",
        "11-20T00:00 api minute 0 0",
        "11-20T00:00 web visit 0 0",
        "11-21T00:00 api call 0 0",
        "11-21T00:00 api minute 2 1",
        "11-21T00:00 web visit 1 1",
      ])
      assert.deepStrictEqual(yield* points(customer, { ...query, unit: "visit" }), [
        "11-20T00:00 web visit 0 0",
        "11-21T00:00 web visit 1 1",
      ])
    }).pipe(inWorld()),
  )

  it.effect("never adds unlike units", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { unit: "call" })
      // In another window: a chart has one unit throughout.
      yield* recordUsage(customer, { unit: "minute", timestamp: at("2026-11-20T12:00:00Z") })
      const error = yield* Effect.flip(points(customer, {}))
      assert.strictEqual(
        error.message,
        "unit is required (or a product id): the period has usage in several units, which can't be added",
      )
      assert.deepStrictEqual(yield* points(customer, { unit: "minute", endDate: "2026-11-20" }), [
        "11-20T00:00  minute 1 1",
      ])
      assert.deepStrictEqual(yield* points(customer, { startDate: "2026-11-21", endDate: "2026-11-21" }), [
        "11-21T00:00  call 1 1",
      ])
    }).pipe(inWorld()),
  )

  it.effect("of no usage has zeros in the unit asked for, else in the customer's only one", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const day = { startDate: "2000-01-01", endDate: "2000-01-01" }
      assert.deepStrictEqual(yield* points(customer, day), ["01-01T00:00   0 0"])
      assert.deepStrictEqual(yield* points(customer, { ...day, unit: "minute", productId: "api" }), [
        "01-01T00:00 api minute 0 0",
      ])
      yield* recordUsage(customer)
      assert.deepStrictEqual(yield* points(customer, day), ["01-01T00:00  call 0 0"])
      assert.deepStrictEqual(yield* points(customer, { ...day, groupBy: "product_id" }), [
        "01-01T00:00  call 0 0",
      ])
    }).pipe(inWorld()),
  )

  it.effect("has at most 10,000 points", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      // 1,000 days.
      const query = { startDate: "2024-02-27", endDate: "2026-11-22", groupBy: "product_id" } as const
      for (let i = 0; i < 10; i++) yield* recordUsage(customer, { productId: `p${i}` })
      assert.lengthOf(yield* points(customer, query), 10_000)
      yield* recordUsage(customer, { productId: "p10" })
      const error = yield* Effect.flip(points(customer, query))
      assert.instanceOf(error, InvalidInput)
      assert.strictEqual(
        error.message,
        "groupBy gives more than 10000 points: ask for one product, fewer days or wider windows",
      )
      assert.lengthOf(yield* points(customer, { ...query, productId: "p10" }), 1_000)
      const tooLong = yield* Effect.flip(
        usage.series({ customerId: customer.id, ...query, startDate: "2024-02-26", window: "day" }),
      )
      assert.strictEqual(tooLong.message, "endDate is too late: a series has at most 1000 windows")
    }).pipe(inWorld()),
  )

  it.effect("is there for erased customers, not for unknown ones", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* (yield* Customers).erase(customer.id)
      assert.lengthOf(yield* points(customer, {}), 3)
      const errors = yield* Effect.all([
        Effect.flip(points({ ...customer, id: unknownCustomer }, {})),
        Effect.flip(as(globex)(points(customer, {}))),
      ])
      assert.isTrue(errors.every((error) => error instanceof Customer.CustomerNotFound))
    }).pipe(inWorld()),
  )
})

describe("exactness", () => {
  interface Entry {
    readonly quantity: number
    readonly millis: number
    readonly product: string
    readonly unit: string
    readonly isVoided: boolean
    readonly isBatched: boolean
  }
  const HOUR = 3_600_000
  const entry: fc.Arbitrary<Entry> = fc.record({
    quantity: fc.oneof(fc.nat({ max: 100 }), fc.constant(Number.MAX_SAFE_INTEGER)),
    // Four days around noon, often on the hour, where days begin in one zone or another.
    millis: fc
      .tuple(fc.integer({ min: -96, max: 0 }), fc.constantFrom(0, 0, 1, HOUR - 1, HOUR / 2))
      .map(([hours, rest]) => NOON.epochMilliseconds + hours * HOUR - rest),
    product: fc.constantFrom("api", "web"),
    unit: fc.constantFrom("call", "minute"),
    isVoided: fc.boolean(),
    isBatched: fc.boolean(),
  })
  const query = fc.record({
    productId: fc.option(fc.constantFrom("api", "web"), { nil: undefined }),
    startDate: fc.constantFrom("2026-11-17", "2026-11-18", "2026-11-19"),
    days: fc.nat({ max: 3 }),
    timezone: fc.constantFrom("UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Chatham"),
    window: fc.constantFrom("hour" as const, "day" as const, "month" as const),
  })

  it.effect(
    "summary and series equal the sum of the records that are not voided, in any order of events",
    () =>
      holdsEffect(
        fc.record({
          entries: fc.array(entry, { maxLength: 30 }),
          queries: fc.array(query, { minLength: 1, maxLength: 4 }),
        }),
        ({ entries, queries }) =>
          Effect.gen(function* () {
            const usage = yield* Usage
            const customer = yield* newCustomer()
            const write = Effect.fnUntraced(function* ({
              isBatched,
              isVoided,
              millis,
              product,
              quantity,
              unit,
            }: Entry) {
              const input = {
                customerId: customer.id,
                productId: product,
                quantity,
                unit,
                timestamp: DateTime.makeUnsafe(millis),
              }
              const result = isBatched
                ? (yield* usage.recordBatch({ records: [input] }))[0]!
                : yield* usage.record(input)
              if (isVoided) yield* usage.voidRecord(result.record.id)
            })
            yield* Effect.forEach(entries, write, { concurrency: "unbounded" })
            for (const { days, productId, startDate, timezone, window } of queries) {
              const endDate = `2026-11-${Number(startDate.slice(8)) + days}`
              const filter = {
                startDate,
                endDate,
                timezone,
                unit: "call",
                ...(productId !== undefined && { productId }),
              }
              const sum = (start: DateTime.Utc, end: DateTime.Utc) => {
                const counted = entries.filter(
                  (entry) =>
                    !entry.isVoided &&
                    entry.unit === "call" &&
                    (productId === undefined || entry.product === productId) &&
                    start.epochMilliseconds <= entry.millis &&
                    entry.millis < end.epochMilliseconds,
                )
                return [counted.reduce((total, { quantity }) => total + BigInt(quantity), 0n), counted.length]
              }
              const summary = yield* summarize(customer, filter)
              const period = yield* UsagePeriod.resolve({ startDate, endDate, timezone })
              assert.deepStrictEqual(
                [summary.periodStart?.epochMilliseconds, summary.periodEnd?.epochMilliseconds],
                [period.start, period.end],
              )
              assert.deepStrictEqual(
                [summary.totalQuantity, summary.recordCount],
                sum(summary.periodStart!, summary.periodEnd!),
              )
              const series = yield* usage.series({ customerId: customer.id, ...filter, window })
              for (const point of series)
                assert.deepStrictEqual([point.quantity, point.recordCount], sum(point.start, point.end))
              assert.strictEqual(
                series.reduce((total, { quantity }) => total + quantity, 0n),
                summary.totalQuantity,
              )
            }
            assert.deepStrictEqual(yield* usage.audit, [])
          }).pipe(inWorld()),
        40,
      ),
  )

  it.effect("of a thousand at once", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* Effect.forEach(
        Array.from({ length: 1_000 }, (_, i) => i),
        (i) =>
          recordUsage(customer, {
            quantity: i,
            timestamp: afterNoon(-i * 600_000),
            idempotencyKey: `k${i % 500}-${i}`,
          }),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(yield* total(customer), [499_500n, 1_000])
      assert.deepStrictEqual(yield* (yield* Usage).audit, [])
    }).pipe(inWorld()),
  )
})

describe("the usage of another tenant", () => {
  it.effect("doesn't count", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      yield* recordUsage(customer, { quantity: 1 })
      for (const tenant of [acmeTest, globex]) {
        const theirs = yield* as(tenant)(newCustomer())
        yield* as(tenant)(recordUsage(theirs, { quantity: 100 }))
        assert.deepStrictEqual(yield* as(tenant)(total(theirs)), [100n, 1])
      }
      assert.deepStrictEqual(yield* total(customer), [1n, 1])
      assert.lengthOf((yield* usage.listRecords({ customerId: customer.id })).data, 1)
    }).pipe(inWorld()),
  )
})
