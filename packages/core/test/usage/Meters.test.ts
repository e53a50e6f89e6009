import {
  Collections,
  Customer,
  IdGenerator,
  InvalidInput,
  Meter,
  MeterRebuilds,
  Meters,
  Plans,
  StorageError,
  Tenant,
  Transactor,
  Usage,
  UsageStore,
} from "@billwright/core"
import { Memory, MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { acme, acmeTest, as, at, globex, inWorld, listen, newCustomer, NOON, recordUsage } from "../world.ts"

const unknownMeter = `mtr_${"0".repeat(26)}`

const newMeter = Effect.fnUntraced(function* (input: Partial<Meter.CreateMeter> = {}) {
  return yield* (yield* Meters).create({ key: "tokens", productId: "api", unit: "call", ...input })
})

/** What an effect is refused for. */
const refusal = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

const cells = Effect.gen(function* () {
  return (yield* (yield* MemoryInspector).snapshot).cells
})

/** Records on this many days. */
const recordDays = Effect.fnUntraced(function* (customer: Customer.Customer, days: number) {
  const records = Array.from({ length: days }, (_, index) => ({
    customerId: customer.id,
    productId: "api",
    unit: "call",
    quantity: index,
    dimensions: { model: `m${index % 3}` },
    timestamp: DateTime.add(at("2025-01-01T00:00:00Z"), { days: index }),
  }))
  yield* (yield* Usage).recordBatch({ records })
})

/** A storage that fails to build roll-ups, so many times. */
const failing = (failures: { left: number }) =>
  Layer.effect(
    UsageStore,
    Effect.map(UsageStore, (store) =>
      UsageStore.of({
        ...store,
        build: (...input) =>
          Effect.suspend(() => (failures.left-- > 0 ? Effect.fail(gone) : store.build(...input))),
      }),
    ),
  ).pipe(Layer.provideMerge(Memory.layer))

const gone = new StorageError({ operation: "UsageStore.build", retryable: true })

describe("Meters.create", () => {
  it.effect("succeeds when the meter is stored and building it fails: that is done later", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      yield* recordDays(customer, 3)
      const { id, status } = yield* newMeter({ dimensions: ["model"] })
      assert.strictEqual(status, "building")
      const { get, rebuild } = yield* Meters
      assert.deepInclude(yield* get(id), { key: "tokens", status: "building" })
      assert.deepInclude(yield* rebuild(id), { status: "ready" })
    }).pipe(as(acme), inWorld({}, failing({ left: 1 }))),
  )

  it.effect("creates a meter that is ready at once when there is nothing to build", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const meter = yield* newMeter({ name: "Tokens", dimensions: ["model", "kind"] })
      assert.match(meter.id, /^mtr_/)
      const expected = {
        id: meter.id,
        key: "tokens",
        name: "Tokens",
        productId: "api",
        unit: "call",
        aggregation: "sum",
        dimensions: ["model", "kind"],
        counted: null,
        status: "ready",
        generation: 1,
        rebuild: null,
        archivedAt: null,
        createdAt: NOON,
        updatedAt: NOON,
      }
      assert.deepStrictEqual(meter, expected as object)
      assert.deepStrictEqual(yield* meters.get(meter.id), meter)
      assert.deepStrictEqual((yield* meters.list({ key: "tokens" })).data, [meter])
      assert.deepStrictEqual((yield* meters.list({ status: "archived" })).data, [])
    }).pipe(inWorld()),
  )

  it.effect("refuses invalid input, and names the field", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [Partial<Meter.CreateMeter>, string]> = [
        [{ key: "Tokens" }, "key must be a lower-case letter"],
        [{ key: "1st" }, "key must be a lower-case letter"],
        [{ key: `a${"b".repeat(64)}` }, "key must be a lower-case letter"],
        [{ name: "" }, "name must be 1 to 255 characters"],
        [{ dimensions: ["a", "b", "c", "d", "e"] }, "dimensions must have at most 4 dimensions"],
        [{ dimensions: ["a", "a"] }, "dimensions must not name a dimension twice"],
        [{ dimensions: ["a:b"] }, "dimensions[0] must not contain a colon"],
        [{ dimensions: [""] }, "dimensions[0] must be 1 to 40 characters"],
        [{ dimensions: ["é".repeat(41)] }, "dimensions[0] must be 1 to 40 characters"],
        [{ aggregation: "unique_count", dimensions: ["user"] }, "counted is required with unique_count"],
        [
          { aggregation: "unique_count", dimensions: ["user"], counted: "model" },
          "counted must be one of the meter's dimensions",
        ],
        [{ dimensions: ["user"], counted: "user" }, "counted must be null"],
      ]
      for (const [input, message] of cases) {
        const error = yield* Effect.flip(newMeter(input))
        assert.instanceOf(error, InvalidInput)
        assert.include(error.message, message)
      }
      const wrong = { aggregation: "average" } as object
      assert.include(yield* refusal(newMeter(wrong)), "aggregation must be")
      assert.deepStrictEqual((yield* (yield* Meters).list()).data, [])
    }).pipe(inWorld()),
  )

  it.effect("never gives a key twice in a tenant, also when its meter is archived", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const { id } = yield* newMeter()
      const taken = 'key must be another one: "tokens" is the key of another meter, which may be archived'
      assert.strictEqual(yield* refusal(newMeter({ productId: "other" })), taken)
      yield* meters.archive(id)
      assert.strictEqual(yield* refusal(newMeter()), taken)
      yield* newMeter().pipe(as(acmeTest))
      yield* newMeter().pipe(as(globex))
    }).pipe(inWorld()),
  )

  it.effect("limits the meters of a product and unit that are not archived", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const made = yield* Effect.forEach(Array.from({ length: 10 }), (_, index) =>
        newMeter({ key: `m${index}`, aggregation: index % 2 === 0 ? "sum" : "max" }),
      )
      assert.strictEqual(
        yield* refusal(newMeter({ key: "one_more" })),
        "there are already 10 meters for this product and unit",
      )
      yield* newMeter({ key: "other_unit", unit: "byte" })
      yield* meters.archive(made[0]!.id)
      yield* newMeter({ key: "one_more" })
    }).pipe(inWorld()),
  )

  it.effect("limits the meters of a tenant", () =>
    Effect.gen(function* () {
      const first = yield* newMeter()
      const ids = yield* IdGenerator
      const store = (yield* Collections).of(Meter.meters)
      for (let index = 1; index < Meter.MAX_METERS; index++) {
        const next = Meter.MeterId.make(yield* ids.next(Meter.METER_ID_PREFIX))
        yield* store.insert({ ...first, id: next, key: `m${index}`, productId: `p${index}` })
      }
      const more = newMeter({ key: "more", productId: "more" })
      assert.strictEqual(yield* refusal(more), "there are already 1000 meters")
      yield* more.pipe(as(globex))
    }).pipe(inWorld()),
  )

  it.effect("builds a few batches by itself, and leaves the rest to others", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const usage = yield* Usage
      const customer = yield* newCustomer()
      yield* recordDays(customer, 420)
      const meter = yield* newMeter({ aggregation: "max" })
      assert.deepStrictEqual(
        [meter.status, meter.rebuild?.done, meter.rebuild?.total],
        ["building", 300, 420],
      )
      const summary = usage.summary({ customerId: customer.id, meter: "tokens" })
      assert.strictEqual(yield* refusal(summary), "meter is being built: 300 of 420 days")
      const seen: Array<number> = []
      const built = yield* meters.rebuild(meter.id, {
        onProgress: ({ rebuild }) => Effect.sync(() => void seen.push(rebuild?.done ?? -1)),
      })
      assert.deepStrictEqual([built.status, built.rebuild, seen], ["ready", null, [400, -1]])
      assert.strictEqual((yield* summary).totalQuantity, 419n)
      assert.deepStrictEqual(yield* meters.rebuild(meter.id), built)
    }).pipe(inWorld()),
  )

  it.effect("builds nothing within a transaction, and is undone with it", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const { atomically } = yield* Transactor
      const undone = Effect.andThen(newMeter({ key: "undone" }), Effect.fail("undone"))
      yield* Effect.ignore(atomically(undone))
      assert.deepStrictEqual((yield* meters.list()).data, [])
      const meter = yield* atomically(newMeter({ aggregation: "latest" }))
      assert.strictEqual(meter.status, "building")
      assert.strictEqual((yield* meters.rebuild(meter.id)).status, "ready")
    }).pipe(inWorld()),
  )
})

describe("Meters.update", () => {
  it.effect("goes on answering by the old definition until the new one is whole", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const usage = yield* Usage
      const customer = yield* newCustomer()
      yield* recordDays(customer, 420)
      const { id } = yield* newMeter({ aggregation: "count" })
      yield* TestClock.adjust("1 minute")
      const changed = yield* meters.update(id, { aggregation: "max", dimensions: ["model"] })
      assert.deepStrictEqual(
        [changed.status, changed.aggregation, changed.dimensions, changed.generation],
        ["ready", "count", [], 1],
      )
      const { rebuild } = changed
      assert.deepStrictEqual(
        [rebuild?.aggregation, rebuild?.dimensions, rebuild?.generation, rebuild?.done],
        ["max", ["model"], 2, 300],
      )
      assert.deepStrictEqual(changed.updatedAt, at("2026-11-21T12:01:00Z"))
      const ask = usage.summary({ customerId: customer.id, meter: "tokens" })
      assert.strictEqual((yield* ask).totalQuantity, 420n)
      yield* recordUsage(customer, { quantity: 1000 })
      assert.strictEqual((yield* ask).totalQuantity, 421n)
      const built = yield* meters.rebuild(id)
      assert.deepStrictEqual([built.aggregation, built.generation, built.rebuild], ["max", 2, null])
      assert.strictEqual((yield* ask).totalQuantity, 1000n)
    }).pipe(inWorld()),
  )

  it.effect("changes the name alone, or nothing", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const meter = yield* newMeter({ name: "Tokens" })
      yield* TestClock.adjust("1 minute")
      for (const nothing of [{}, { name: "Tokens" }, { aggregation: "sum", dimensions: [] } as const]) {
        assert.deepStrictEqual(yield* meters.update(meter.id, nothing), meter)
      }
      const updatedAt = at("2026-11-21T12:01:00Z")
      assert.deepStrictEqual(yield* meters.update(meter.id, { name: null }), {
        ...meter,
        name: null,
        updatedAt,
      })
    }).pipe(inWorld()),
  )

  it.effect("takes a change back, and replaces one change by another", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const customer = yield* newCustomer()
      yield* recordDays(customer, 420)
      const { id } = yield* newMeter()
      yield* meters.update(id, { dimensions: ["model"] })
      const replaced = yield* meters.update(id, { aggregation: "max" })
      // A change leaves the rest as it was asked for last.
      assert.deepStrictEqual(
        [replaced.rebuild?.aggregation, replaced.rebuild?.dimensions, replaced.rebuild?.generation],
        ["max", ["model"], 3],
      )
      const back = yield* meters.update(id, { aggregation: "sum", dimensions: [] })
      const { aggregation, rebuild, status } = yield* meters.rebuild(id)
      assert.deepStrictEqual([back.aggregation, aggregation, rebuild, status], ["sum", "sum", null, "ready"])
      assert.deepStrictEqual(yield* cells, [])
    }).pipe(inWorld()),
  )

  it.effect("ends what is counted with unique_count", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const { id } = yield* newMeter({ aggregation: "unique_count", dimensions: ["user"], counted: "user" })
      assert.strictEqual(
        yield* refusal(meters.update(id, { dimensions: ["model"] })),
        "counted must be one of the meter's dimensions",
      )
      const changed = yield* meters.update(id, { aggregation: "count" })
      assert.deepStrictEqual([changed.aggregation, changed.counted], ["count", null])
    }).pipe(inWorld()),
  )

  it.effect("keeps the old definition when the new one can't be built, and can try again", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const usage = yield* Usage
      const customer = yield* newCustomer()
      for (const first of [0, 600]) {
        const records = Array.from({ length: 600 }, (_, index) => ({
          customerId: customer.id,
          productId: "api",
          unit: "call",
          quantity: 1,
          dimensions: { user: `u${first + index}` },
        }))
        yield* usage.recordBatch({ records })
      }
      const { id } = yield* newMeter()
      const change = meters.update(id, { dimensions: ["user"] })
      const failed = yield* change
      assert.deepStrictEqual(
        [failed.status, failed.dimensions, failed.rebuild?.status],
        ["ready", [], "failed"],
      )
      assert.strictEqual(
        failed.rebuild?.problem,
        `the dimension user has too many different values: customer ${customer.id} has more than 1000 combinations on 2026-11-21`,
      )
      assert.deepStrictEqual(yield* cells, [])
      assert.strictEqual((yield* change).rebuild?.status, "failed")
      assert.strictEqual(
        (yield* usage.summary({ customerId: customer.id, meter: "tokens" })).recordCount,
        1200,
      )
      const other = yield* newMeter({ key: "users", dimensions: ["user"] })
      assert.include(
        yield* refusal(usage.summary({ customerId: customer.id, meter: other.key })),
        "meter can't be built: the dimension user has too many different values",
      )
    }).pipe(inWorld()),
  )
})

describe("Meters.archive", () => {
  it.effect("ends a meter for good, with its cells, and not its records", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const usage = yield* Usage
      const customer = yield* newCustomer()
      const meter = yield* newMeter({ dimensions: ["model"] })
      yield* recordUsage(customer, { dimensions: { model: "a" } })
      assert.lengthOf(yield* cells, 1)
      yield* meters.archive(meter.id)
      assert.deepStrictEqual(yield* cells, [])
      const archived = yield* meters.get(meter.id)
      assert.deepStrictEqual(
        [archived.status, archived.archivedAt, archived.rebuild],
        ["archived", NOON, null],
      )
      yield* TestClock.adjust("1 minute")
      yield* meters.archive(meter.id)
      assert.deepStrictEqual(yield* meters.get(meter.id), archived)
      yield* recordUsage(customer, { dimensions: { model: "b" } })
      assert.deepStrictEqual(yield* cells, [])
      const query = { customerId: customer.id, meter: "tokens" }
      assert.strictEqual(yield* refusal(usage.summary(query)), "meter is archived")
      assert.strictEqual(yield* refusal(usage.listRecords(query)), "meter is archived")
      assert.strictEqual((yield* usage.summary({ customerId: customer.id })).recordCount, 2)
      assert.strictEqual(
        yield* refusal(meters.update(meter.id, { aggregation: "max" })),
        "aggregation can't be changed: the meter is archived",
      )
      assert.strictEqual((yield* meters.update(meter.id, { name: "Old" })).name, "Old")
    }).pipe(inWorld()),
  )

  it.effect(
    "is refused while a version of a plan names the meter, and no plan can name an archived one",
    () =>
      Effect.gen(function* () {
        const meters = yield* Meters
        const { push } = yield* Plans
        const [billed, limited, unused] = [
          yield* newMeter(),
          yield* newMeter({ key: "exports", unit: "export" }),
          yield* newMeter({ key: "unused", unit: "other" }),
        ]
        const plan = {
          key: "pro",
          name: "Pro",
          currencies: ["EUR"],
          interval: { unit: "month", count: 1 },
        } as const
        const base = { key: "base", model: "flat", price: { EUR: "10.00" } } as const
        const usage = { key: "usage", model: "unit", meter: "tokens", price: { EUR: "0.01" } } as const
        const features = {
          exports: { type: "metered", meter: "exports", included: "10", limit: "hard" },
        } as const
        yield* push({ plans: [{ ...plan, charges: [base, usage], features }] })
        // Subscriptions may still be on the first version.
        yield* push({ plans: [{ ...plan, charges: [base] }] })
        for (const { id } of [billed, limited]) {
          const refused = yield* Effect.flip(meters.archive(id))
          assert.match(
            refused.message,
            /archiving is not possible: the plan "pro" \(version 1\) names the meter/,
          )
          assert.notStrictEqual((yield* meters.get(id)).status, "archived")
        }
        yield* meters.archive(unused.id)
        const late = { ...plan, charges: [base, { ...usage, meter: "unused" }] }
        const refused = yield* Effect.flip(push({ plans: [late] }))
        assert.deepInclude(refused, { field: "plans[0].charges[1].meter" })
        assert.match(refused.message, /is "unused", a meter that is archived/)
        const differing = yield* Effect.flip((yield* Plans).diff({ plans: [late] }))
        assert.deepInclude(differing, { field: "plans[0].charges[1].meter" })
        // Earlier releases archived meters that plans name. Such a plan can be pushed as it is.
        const named = { ...plan, key: "old", charges: [usage] }
        yield* push({ plans: [named] })
        yield* (yield* Collections)
          .of(Meter.meters)
          .modify(billed.id, (one) => Effect.succeed({ ...one, status: "archived" as const }))
        const [same] = yield* push({ plans: [named] })
        assert.strictEqual(same?.status, "unchanged")
      }).pipe(inWorld()),
  )

  it.effect("knows no meter of another tenant", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const { id } = yield* newMeter()
      for (const unknown of [unknownMeter, "nothing", id]) {
        const of = unknown === id ? as(globex) : as(acme)
        for (const error of [
          yield* Effect.flip(meters.get(unknown)).pipe(of),
          yield* Effect.flip(meters.update(unknown, {})).pipe(of),
          yield* Effect.flip(meters.archive(unknown)).pipe(of),
          yield* Effect.flip(meters.rebuild(unknown)).pipe(of),
        ]) {
          assert.instanceOf(error, Meter.MeterNotFound)
          assert.strictEqual(error.message, `no meter has the id ${unknown}`)
        }
      }
    }).pipe(inWorld()),
  )
})

describe("MeterRebuilds", () => {
  it.effect("works in the background", () =>
    Effect.gen(function* () {
      const meters = yield* Meters
      const customer = yield* newCustomer()
      yield* recordDays(customer, 420)
      const { id } = yield* newMeter({ aggregation: "max" })
      assert.strictEqual((yield* meters.get(id)).status, "building")
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* meters.get(id)).status, "ready")
    }).pipe(Effect.provide(MeterRebuilds.layer), inWorld()),
  )

  it.effect("rests while building waits for others, and goes on afterwards", () => {
    let batches = 0
    let isWaiting = true
    // As on Postgres while a host's transaction is open that began before the meter.
    const waiting = Layer.effect(
      UsageStore,
      Effect.map(UsageStore, (store): UsageStore["Service"] => ({
        ...store,
        build: (rollup, batch) =>
          Effect.suspend(() => {
            batches++
            if (!isWaiting) return store.build(rollup, batch)
            // A loop that never rests must fail this test instead of keeping it.
            if (batches > 1_000) return Effect.die(new Error("it does not rest"))
            return Effect.succeed({ _tag: "Building" as const, done: 0, total: 7 })
          }),
      })),
    )
    return Effect.gen(function* () {
      const meters = yield* Meters
      const { atomically } = yield* Transactor
      const { id } = yield* atomically(newMeter({ aggregation: "max" }))
      yield* TestClock.adjust("1 second")
      // The clock stands still, and others may work: without a rest there would be a batch each time.
      for (let turn = 0; turn < 1_000; turn++) yield* Effect.yieldNow
      assert.isAtMost(batches, 10)
      isWaiting = false
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* meters.get(id)).status, "ready")
    }).pipe(Effect.provide(MeterRebuilds.layer.pipe(Layer.provide(waiting))), inWorld())
  })

  it.effect("goes on with the other tenants after a bug, and logs it", () => {
    const { logged, logger } = listen()
    const broken = Layer.effect(
      UsageStore,
      Effect.map(UsageStore, (store): UsageStore["Service"] => ({
        ...store,
        build: (rollup, batch) =>
          Effect.flatMap(Tenant.CurrentTenant, (tenant) =>
            tenant.accountId === acme.accountId ? Effect.die(new Error("a bug")) : store.build(rollup, batch),
          ),
      })),
    )
    return Effect.gen(function* () {
      const meters = yield* Meters
      const { atomically } = yield* Transactor
      const create = atomically(newMeter({ aggregation: "max" }))
      const [bad, good] = [yield* create.pipe(as(acme)), yield* create.pipe(as(globex))]
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual((yield* meters.get(bad.id).pipe(as(acme))).status, "building")
      assert.strictEqual((yield* meters.get(good.id).pipe(as(globex))).status, "ready")
      assert.deepStrictEqual(logged, ["a batch of a meter's roll-up failed; it is tried again"])
    }).pipe(
      Effect.provide(MeterRebuilds.layer.pipe(Layer.provide(broken))),
      inWorld(),
      Effect.provide(logger),
    )
  })

  it.effect("gives each tenant a batch in turn, so that none waits for the work of another", () =>
    Effect.gen(function* () {
      const { round } = yield* MeterRebuilds
      const meters = yield* Meters
      const { atomically } = yield* Transactor
      const begin = Effect.gen(function* () {
        const customer = yield* newCustomer()
        yield* recordDays(customer, 250)
        return yield* atomically(newMeter({ aggregation: "max" }))
      })
      const [large, small, other] = [
        yield* begin.pipe(as(acme)),
        yield* atomically(newMeter({ aggregation: "max" })).pipe(as(acmeTest)),
        yield* begin.pipe(as(globex)),
      ]
      const done = Effect.gen(function* () {
        return [
          (yield* meters.get(large.id).pipe(as(acme))).rebuild?.done,
          (yield* meters.get(small.id).pipe(as(acmeTest))).rebuild?.done,
          (yield* meters.get(other.id).pipe(as(globex))).rebuild?.done,
        ]
      })
      assert.strictEqual(yield* round, 3)
      assert.deepStrictEqual(yield* done, [100, undefined, 100])
      assert.strictEqual(yield* round, 2)
      assert.strictEqual(yield* round, 2)
      assert.deepStrictEqual(yield* done, [undefined, undefined, undefined])
      assert.strictEqual(yield* round, 0)
    }).pipe(Effect.provide(MeterRebuilds.layerManual), inWorld()),
  )
})

describe("queries of a meter", () => {
  const world = Effect.gen(function* () {
    const customer = yield* newCustomer()
    yield* newMeter({ dimensions: ["model", "kind"] })
    yield* newMeter({ key: "seats", aggregation: "time_weighted", dimensions: ["model"] })
    yield* newMeter({ key: "calls", aggregation: "count" })
    const day = (date: number) => at(`2026-11-${date}T06:00:00Z`)
    const write = (quantity: number, date: number, dimensions: Readonly<Record<string, string>>) =>
      recordUsage(customer, { quantity, timestamp: day(date), dimensions })
    yield* write(1, 18, { model: "opus", kind: "in" })
    yield* write(2, 18, { model: "opus", kind: "out" })
    yield* write(4, 19, { model: "haiku", kind: "in", other: "x" })
    yield* write(8, 20, { kind: "in" })
    return customer.id
  })
  const period = { startDate: "2026-11-18", endDate: "2026-11-20" }

  it.effect("summarize by filter and group", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customerId = yield* world
      const all = yield* usage.summary({ customerId, meter: "tokens", groupBy: "model", ...period })
      assert.deepStrictEqual(all, {
        customerId,
        meter: "tokens",
        productId: "api",
        totalQuantity: 15n,
        denominator: 1n,
        unit: "call",
        recordCount: 4,
        groups: [
          { dimensions: { model: null }, totalQuantity: 8n, denominator: 1n, recordCount: 1 },
          { dimensions: { model: "haiku" }, totalQuantity: 4n, denominator: 1n, recordCount: 1 },
          { dimensions: { model: "opus" }, totalQuantity: 3n, denominator: 1n, recordCount: 2 },
        ],
        ...period,
        timezone: "UTC",
        periodStart: at("2026-11-18T00:00:00Z"),
        periodEnd: at("2026-11-21T00:00:00Z"),
      })
      const where = { kind: ["in"], model: ["opus", "haiku"] }
      const some = yield* usage.summary({ customerId, meter: "tokens", where })
      assert.deepStrictEqual([some.totalQuantity, some.recordCount, some.groups], [5n, 2, undefined])
      const calls = yield* usage.summary({ customerId, meter: "calls" })
      assert.deepStrictEqual([calls.totalQuantity, calls.recordCount], [4n, 4])
      const { data } = yield* usage.listRecords({ customerId, meter: "tokens", where })
      assert.deepStrictEqual(
        data.map(({ quantity }) => quantity),
        [4, 1],
      )
      const nobody = yield* newCustomer()
      const none = yield* usage.summary({ customerId: nobody.id, meter: "tokens", groupBy: ["model"] })
      assert.deepStrictEqual([none.totalQuantity, none.groups, none.unit], [0n, [], "call"])
    }).pipe(inWorld()),
  )

  it.effect("give the average level of a period as a fraction", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customerId = yield* world
      const seats = yield* usage.summary({ customerId, meter: "seats", ...period })
      const hours = BigInt(3_600_000)
      assert.strictEqual(seats.totalQuantity, (2n * 66n + 4n * 42n + 8n * 18n) * hours)
      assert.strictEqual(seats.denominator, 72n * hours)
      assert.strictEqual(seats.recordCount, 4)
      const only = { customerId, meter: "seats" }
      const problem = "is required: the meter seats gives the average over a period"
      assert.strictEqual(yield* refusal(usage.summary(only)), `startDate ${problem}`)
      assert.strictEqual(
        yield* refusal(usage.summary({ ...only, startDate: period.startDate })),
        `endDate ${problem}`,
      )
    }).pipe(inWorld()),
  )

  it.effect("make series, one for each group that occurs", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customerId = yield* world
      const series = (query: object) =>
        Effect.map(
          usage.series({ customerId, meter: "tokens", window: "day", ...period, ...query }),
          (points) => points.map(({ dimensions, quantity }) => [dimensions, quantity] as const),
        )
      assert.deepStrictEqual(yield* series({}), [
        [undefined, 3n],
        [undefined, 4n],
        [undefined, 8n],
      ])
      const where = { model: ["opus"] }
      assert.deepStrictEqual(yield* series({ where, groupBy: ["kind"] }), [
        [{ kind: "in" }, 1n],
        [{ kind: "out" }, 2n],
        [{ kind: "in" }, 0n],
        [{ kind: "out" }, 0n],
        [{ kind: "in" }, 0n],
        [{ kind: "out" }, 0n],
      ])
      assert.deepStrictEqual(yield* series({ where: { model: ["none"] }, groupBy: ["kind"] }), [])
      const [point] = yield* usage.series({ customerId, meter: "seats", window: "day", ...period })
      assert.deepStrictEqual(
        [point?.denominator, point?.productId, point?.unit],
        [86_400_000n, "api", "call"],
      )
    }).pipe(inWorld()),
  )

  it.effect("refuse what they can't answer, and name the field", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customerId = yield* world
      const cases: ReadonlyArray<readonly [object, string]> = [
        [{ meter: "unknown" }, "meter is not the key of a meter"],
        [{ meter: "tokens", productId: "api" }, "productId must not be given with a meter"],
        [{ meter: "tokens", unit: "call" }, "unit must not be given with a meter"],
        [
          { meter: "tokens", where: { region: ["eu"] } },
          "where.region is not a dimension of the meter tokens, which declares model, kind",
        ],
        [
          { meter: "calls", where: { model: ["a"] } },
          "where.model is not a dimension of the meter calls, which declares none",
        ],
        [{ meter: "tokens", where: { model: [] } }, "where.model must have 1 to 100 values"],
        [{ where: { model: ["a"] } }, "where needs a meter"],
      ]
      const grouped: ReadonlyArray<readonly [object, string]> = [
        [{ meter: "tokens", groupBy: "region" }, "groupBy is not a dimension of the meter tokens"],
        [
          { meter: "tokens", groupBy: ["model", "region"] },
          "groupBy[1] is not a dimension of the meter tokens",
        ],
        [{ groupBy: "model" }, "groupBy needs a meter"],
      ]
      for (const [query, message] of [...cases, ...grouped]) {
        assert.include(yield* refusal(usage.summary({ customerId, ...query })), message)
        const dates = { ...period, window: "day" as const }
        assert.include(yield* refusal(usage.series({ customerId, ...dates, ...query })), message)
      }
      for (const [query, message] of cases) {
        assert.include(yield* refusal(usage.listRecords({ customerId, ...query })), message)
      }
      const unknown = Customer.CustomerId.make(`cus_${"0".repeat(26)}`)
      assert.include(yield* refusal(usage.summary({ customerId: unknown, meter: "tokens" })), "no customer")
    }).pipe(inWorld()),
  )

  it.effect("limit groups and points", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customerId = yield* world
      for (const [date, first] of [
        [18, 0],
        [19, 900],
      ] as const) {
        const records = Array.from({ length: 900 }, (_, index) => ({
          customerId,
          productId: "api",
          unit: "call",
          quantity: 1,
          timestamp: at(`2026-11-${date}T12:00:00Z`),
          dimensions: { model: `m${first + index}` },
        }))
        yield* usage.recordBatch({ records })
      }
      const query = { customerId, meter: "tokens", groupBy: "model" }
      assert.include(yield* refusal(usage.summary(query)), "groupBy gives more than 1000 groups")
      const series = usage.series({ ...query, ...period, window: "hour" })
      assert.include(yield* refusal(series), "groupBy gives more than 10000 points")
      const oneDay = yield* usage.summary({ ...query, startDate: "2026-11-18", endDate: "2026-11-18" })
      assert.lengthOf(oneDay.groups ?? [], 901)
    }).pipe(inWorld()),
  )

  it.effect("refuse the record of a combination that is one too many, and name the dimension", () =>
    Effect.gen(function* () {
      const usage = yield* Usage
      const customer = yield* newCustomer()
      yield* newMeter({ dimensions: ["user"] })
      const record = (index: number) => ({
        customerId: customer.id,
        productId: "api",
        unit: "call",
        quantity: 1,
        dimensions: { user: `u${index}` },
      })
      const records = Array.from({ length: 1000 }, (_, index) => record(index))
      yield* usage.recordBatch({ records })
      const problem =
        "has too many different values: the meter tokens would have more than 1000 combinations of its dimensions on 2026-11-21"
      assert.strictEqual(yield* refusal(usage.record(record(1000))), `dimensions.user ${problem}`)
      const batch = usage.recordBatch({ records: [record(1), record(1001)] })
      assert.strictEqual(yield* refusal(batch), `records[1].dimensions.user ${problem}`)
      // A batch is all or none.
      assert.strictEqual((yield* usage.summary({ customerId: customer.id })).recordCount, 1000)
    }).pipe(inWorld()),
  )
})
