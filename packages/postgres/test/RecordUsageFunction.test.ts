import {
  Billing,
  type Customer,
  Customers,
  type Dimensions,
  Id,
  IdGenerator,
  Tenant,
  TestClocks,
  Usage,
  UsageRecord,
} from "@billwright/core"
import { Storage } from "@billwright/postgres"
import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as fc from "fast-check"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const live = Billing.layer.pipe(
  Layer.provideMerge(Storage.layer()),
  Layer.provideMerge(TestDatabase.layerClient()),
)

interface Input {
  readonly customerId: string
  readonly productId: string
  readonly quantity: number
  readonly unit: string
  readonly timestamp: number | undefined
  readonly key: string | undefined
  /** JSON, because the function must refuse what has another type. */
  readonly dimensions: string | undefined
}

/** The answers of both ways, in one form. */
type Answer =
  | { readonly tag: "recorded" | "duplicate"; readonly record: Readonly<Record<string, unknown>> }
  | { readonly tag: "BW400" | "BW404" | "BW409" }

const callFunction = (input: Input) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const millis = input.timestamp === undefined ? null : String(input.timestamp)
    const [row] = yield* sql<{
      answer: string
    }>`select billwright.record_usage('default', 'live', ${input.customerId},
  ${input.productId}, ${String(input.quantity)}::numeric, ${input.unit}, to_timestamp(${millis}::float8 / 1000),
  ${input.key ?? null}, ${input.dimensions ?? null}::jsonb)::text as answer`
    const { record, status } = JSON.parse(row!.answer) as {
      status: "recorded" | "duplicate"
      record: Record<string, unknown>
    }
    return { tag: status, record } as Answer
  }).pipe(
    Effect.catchTag("SqlError", (error: SqlError.SqlError) => {
      const code = (error.reason.cause as { readonly code?: string }).code
      return code?.startsWith("BW") === true ? Effect.succeed({ tag: code } as Answer) : Effect.die(error)
    }),
  )

const callService = (input: Input) =>
  Effect.gen(function* () {
    const usage = yield* Usage
    const { _tag, record } = yield* usage.record({
      customerId: input.customerId as Customer.CustomerId,
      productId: input.productId,
      quantity: input.quantity,
      unit: input.unit,
      ...(input.timestamp === undefined ? {} : { timestamp: DateTime.makeUnsafe(input.timestamp) }),
      ...(input.key === undefined ? {} : { idempotencyKey: input.key }),
      ...(input.dimensions === undefined
        ? {}
        : { dimensions: JSON.parse(input.dimensions) as Dimensions.Dimensions }),
    })
    return {
      tag: _tag === "Recorded" ? "recorded" : "duplicate",
      record: {
        id: record.id,
        customer_id: record.customerId,
        product_id: record.productId,
        quantity: record.quantity,
        unit: record.unit,
        dimensions: record.dimensions,
        timestamp: DateTime.formatIso(record.timestamp),
        idempotency_key: record.idempotencyKey,
        voided_at: record.voidedAt && DateTime.formatIso(record.voidedAt),
        created_at: DateTime.formatIso(record.createdAt),
      },
    } as Answer
  }).pipe(
    Effect.catchTags({
      InvalidInput: () => Effect.succeed<Answer>({ tag: "BW400" }),
      CustomerNotFound: () => Effect.succeed<Answer>({ tag: "BW404" }),
      UsageKeyConflict: () => Effect.succeed<Answer>({ tag: "BW409" }),
    }),
  )

/** Each side makes its own ids, and the instants that the caller didn't name. */
const comparable = (answer: Answer, input: Input, firstIds: Map<string, string>): unknown => {
  if (!("record" in answer)) return answer
  const { created_at: _, id, timestamp, ...rest } = answer.record
  const slot = `${String(rest["customer_id"])} ${input.key ?? ""}`
  const isFirst = answer.tag === "recorded" || firstIds.get(slot) === id
  if (answer.tag === "recorded" && input.key !== undefined) firstIds.set(slot, String(id))
  return { tag: answer.tag, ...rest, isFirst, ...(input.timestamp === undefined ? {} : { timestamp }) }
}

const HOUR = 3_600_000

/**
 * Mostly the same few values, so that keys are repeated with the same content; sometimes a value at or over a limit.
 */
const often = <A>(usual: ReadonlyArray<A>, odd: ReadonlyArray<A>): fc.Arbitrary<A> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  )

const DIMENSIONS_REFUSED = [
  "[]",
  `"m"`,
  "1",
  `{"m": 1}`,
  `{"m": null}`,
  `{"m": {"m": "1"}}`,
  `{"m": ""}`,
  `{"": "1"}`,
  `{"__proto__": "1"}`,
  JSON.stringify({ m: "x".repeat(101) }),
  JSON.stringify({ ["m".repeat(41)]: "1" }),
  JSON.stringify({ ok: "1", "a b": 1 }),
  JSON.stringify({ ok: "1", 'a"b': "" }),
  JSON.stringify(Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`d${index}`, "x"]))),
]

const inputs = (customers: ReadonlyArray<string>, now: number): fc.Arbitrary<Input> =>
  fc.record({
    customerId: often(customers.slice(0, 2), customers.slice(2)),
    productId: often(["p"], ["", "ü€𝄞\"\\{},'", "x".repeat(255), "x".repeat(256), "𝄞".repeat(255)]),
    quantity: often([1, 2], [0, -0, 1.5, -1, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1, 1e300]),
    unit: often(["u"], ["v", "", "u".repeat(64), "u".repeat(65)]),
    timestamp: often(
      [undefined, now],
      [now - 40 * 24 * HOUR, now + HOUR, now + 60_000, -62_135_596_800_000, -62_135_596_800_001],
    ),
    key: often([undefined, "a", "b", "c", "d"], ["", "k".repeat(255), "k".repeat(256)]),
    dimensions: often(
      [undefined, "{}", `{"m":"1"}`],
      [
        ...DIMENSIONS_REFUSED,
        `{"m": "1", "k": "2"}`,
        `{"k": "2", "m": "1"}`,
        JSON.stringify({ ["𝄞".repeat(40)]: "𝄞".repeat(100), constructor: "a", "a b": "\"\\{},'" }),
        JSON.stringify(Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`d${index}`, "x"]))),
      ],
    ),
  })

describe("billwright.record_usage", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect("does and returns the same as Usage.record", () =>
      Effect.gen(function* () {
        const customers = yield* Customers
        const make = customers.create({ name: "A", email: "a@b" })
        const ids = yield* IdGenerator
        const now = (yield* DateTime.now).epochMilliseconds
        // The same calls for two sets of customers: for one in SQL, for the other in TypeScript.
        const cast = Effect.gen(function* () {
          const erased = yield* make
          yield* customers.erase(erased.id)
          return [
            (yield* make).id,
            (yield* make).id,
            erased.id,
            yield* ids.next("cus"),
            "cus_1",
            "",
            yield* ids.next("usg"),
          ]
        })
        const [left, right] = [yield* cast, yield* cast]
        const story = fc.sample(fc.array(inputs(left, now), { minLength: 400, maxLength: 400 }), {
          numRuns: 1,
          seed: 4,
        })[0]!
        const mirrored = (input: Input) => ({ ...input, customerId: right[left.indexOf(input.customerId)]! })
        const [leftIds, rightIds] = [new Map<string, string>(), new Map<string, string>()]
        const back = (answer: unknown) =>
          JSON.parse(JSON.stringify(answer), (_, value: unknown) => {
            const at = right.indexOf(value as string)
            return at === -1 ? value : left[at]
          }) as unknown
        const seen = new Set<string>()
        for (const input of story) {
          const viaSql = comparable(yield* callFunction(input), input, leftIds)
          const viaService = back(comparable(yield* callService(mirrored(input)), input, rightIds))
          assert.deepStrictEqual(viaSql, viaService, JSON.stringify(input))
          seen.add((viaSql as Answer).tag)
        }
        assert.deepStrictEqual([...seen].sort(), ["BW400", "BW404", "BW409", "duplicate", "recorded"])
        const usage = yield* Usage
        for (const [index, id] of left.slice(0, 2).entries()) {
          for (const unit of ["u", "v"]) {
            const [a, b] = [id, right[index]!].map((customerId) =>
              usage.summary({ customerId: customerId as Customer.CustomerId, unit }),
            )
            assert.strictEqual((yield* a!).totalQuantity, (yield* b!).totalQuantity)
          }
        }
        assert.deepStrictEqual(yield* usage.audit, [])
      }).pipe(asTenant),
    )

    it.effect("goes by the test clock of a customer as Usage.record does", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const usage = yield* Usage
        const customers = yield* Customers
        const realNow = (yield* DateTime.now).epochMilliseconds
        const makeAt = Effect.fnUntraced(function* (now: number) {
          const { id } = yield* (yield* TestClocks).create({ now: DateTime.makeUnsafe(now) })
          return (yield* customers.create({ name: "A", email: "a@b", testClockId: id })).id
        })
        const [ahead, behind] = [realNow + 720 * HOUR, realNow - 720 * HOUR]
        const real = (yield* customers.create({ name: "A", email: "a@b" })).id
        const cases = [
          [yield* makeAt(ahead), ahead + 300_000, "recorded"],
          [yield* makeAt(ahead), ahead + 300_001, "BW400"],
          // What is right in real time is right for everybody.
          [yield* makeAt(behind), realNow, "recorded"],
          [yield* makeAt(behind), ahead, "BW400"],
          [real, ahead, "BW400"],
        ] as const
        for (const [customerId, timestamp, expected] of cases) {
          const at = DateTime.makeUnsafe(timestamp)
          const viaSql = yield* sql<{ status: string }>`select billwright.record_usage('default', 'test',
${customerId}, 'p', 1, 'u', ${DateTime.formatIso(at)}::timestamptz) ->> 'status' as status`.pipe(
            Effect.map(([row]) => row!.status),
            Effect.catchTag("SqlError", ({ reason }) =>
              Effect.succeed((reason.cause as { readonly code: string }).code),
            ),
          )
          const viaService = yield* usage
            .record({ customerId, productId: "p", quantity: 1, unit: "u", timestamp: at })
            .pipe(
              Effect.as("recorded"),
              Effect.catchTag("InvalidInput", () => Effect.succeed("BW400")),
            )
          assert.deepStrictEqual([viaSql, viaService], [expected, expected], DateTime.formatIso(at))
        }
      }).pipe(
        Effect.provideService(Tenant.CurrentTenant, { accountId: Tenant.defaultAccountId, mode: "test" }),
      ),
    )

    it.effect("makes and reads ids in the form of core", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ids = yield* IdGenerator
        for (let millis = 0; millis < 50; millis++) {
          const id = ids.at("cus", millis)
          const uuid = Id.toUuid(id)
          const rows = yield* sql`select billwright.format_id('cus', ${uuid}::uuid) as id,
  billwright.parse_id('cus', ${id})::text as uuid, billwright.parse_id('usg', ${id})::text as other`
          assert.deepStrictEqual(rows, [{ id, uuid, other: null }])
        }
        const extremes = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
        for (const uuid of extremes) {
          const [row] = yield* sql<{ id: string }>`select billwright.format_id('cus', ${uuid}::uuid) as id`
          assert.strictEqual(row!.id, Id.fromUuid("cus", uuid))
          const [back] = yield* sql`select billwright.parse_id('cus', ${row!.id})::text as uuid`
          assert.deepStrictEqual(back, { uuid })
        }
        const [made] = yield* sql<{ id: string; at: string }>`select
  billwright.format_id('usg', billwright.make_uuid_v7('2026-11-21T10:20:30.456Z')) as id`
        const bytes = Id.parse(made!.id)!.bytes
        assert.strictEqual(bytes[6]! >> 4, 7)
        assert.strictEqual(bytes[8]! >> 6, 2)
        const millis = bytes.slice(0, 6).reduce((sum, byte) => sum * 256 + byte, 0)
        assert.strictEqual(millis, Date.UTC(2026, 10, 21, 10, 20, 30, 456))
        assert.isTrue(made!.id.startsWith(`${UsageRecord.USAGE_RECORD_ID_PREFIX}_`))
      }),
    )

    it.effect("says the same as Usage.record about dimensions", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const usage = yield* Usage
        const customer = yield* (yield* Customers).create({ name: "A", email: "a@b" })
        for (const dimensions of DIMENSIONS_REFUSED) {
          const viaSql = yield* Effect.flip(
            sql`select billwright.record_usage('default', 'live', ${customer.id}, 'p', 1, 'u', null, null, ${dimensions}::jsonb)`,
          )
          const { detail, message } = viaSql.reason.cause as {
            readonly detail: string
            readonly message: string
          }
          const viaService = yield* Effect.flip(
            usage.record({
              customerId: customer.id,
              productId: "p",
              quantity: 1,
              unit: "u",
              dimensions: JSON.parse(dimensions) as Dimensions.Dimensions,
            }),
          )
          assert.strictEqual(message, viaService.message)
          assert.deepInclude(viaService, { _tag: "InvalidInput", field: detail })
        }
        // JSON's null is no value, as in other arguments.
        yield* sql`select billwright.record_usage('default', 'live', ${customer.id}, 'p', 1, 'u', dimensions => null)`
        assert.lengthOf((yield* usage.listRecords({ customerId: customer.id })).data, 1)
      }).pipe(asTenant),
    )

    it.effect("names the argument that breaks a rule", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const cases: ReadonlyArray<readonly [string, string]> = [
          ["account_id", "'a b', 'live', 'cus_00000000000000000000000000', 'p', 1, 'u'"],
          ["mode", "'a', 'prod', 'cus_00000000000000000000000000', 'p', 1, 'u'"],
          ["customer_id", "'a', 'live', null, 'p', 1, 'u'"],
          ["product_id", "'a', 'live', 'cus_00000000000000000000000000', null, 1, 'u'"],
          ["quantity", "'a', 'live', 'cus_00000000000000000000000000', 'p', 'NaN', 'u'"],
          ["quantity", "'a', 'live', 'cus_00000000000000000000000000', 'p', 'Infinity', 'u'"],
          ["quantity", "'a', 'live', 'cus_00000000000000000000000000', 'p', null, 'u'"],
          ["unit", "'a', 'live', 'cus_00000000000000000000000000', 'p', 1, null"],
          ["occurred_at", "'a', 'live', 'cus_00000000000000000000000000', 'p', 1, 'u', 'infinity'"],
          ["occurred_at", "'a', 'live', 'cus_00000000000000000000000000', 'p', 1, 'u', '-infinity'"],
        ]
        for (const [argument, values] of cases) {
          const error = yield* Effect.flip(sql.unsafe(`select billwright.record_usage(${values})`))
          const { code, detail } = error.reason.cause as { readonly code: string; readonly detail: string }
          assert.deepStrictEqual({ code, detail }, { code: "BW400", detail: argument }, values)
        }
      }),
    )
  })

  it.live("works in a schema with another name", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const storage = Billing.layer.pipe(Layer.provideMerge(Storage.layer({ schema: "metering" })))
      const customer = yield* asTenant(
        Effect.flatMap(Customers, (customers) => customers.create({ name: "A", email: "a@b" })),
      ).pipe(Effect.provide(storage))
      yield* sql`select metering.record_usage('default', 'live', ${customer.id}, 'p', 1, 'u')`
      assert.strictEqual((yield* sql`select 1 from metering.usage_records`).length, 1)
    }).pipe(Effect.provide(TestDatabase.layerClient())),
  )
})
