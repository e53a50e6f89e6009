/**
 * Compares the rules that SQL functions restate with those of core, on generated input. docs/decisions has the list.
 */
import {
  Billing,
  type Customer,
  Customers,
  Event,
  EventId,
  Events,
  EventType,
  Id,
  IdGenerator,
  Threshold,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, ManagedRuntime, Redacted, Schema, Scope } from "effect"
import * as fc from "fast-check"
import { Client, type DatabaseError } from "pg"
import { asTenant } from "./Tenants.ts"
import * as TestDatabase from "./TestDatabase.ts"

const anything = (name: string) =>
  EventType.make({ name, description: name, data: Schema.Record(Schema.String, Schema.Unknown), example: {} })
const TYPES = [anything("order.placed"), anything("order.shipped"), anything(`a.${"b".repeat(98)}`)]

const scope = Scope.makeUnsafe()
let client: Client
let runtime: ManagedRuntime.ManagedRuntime<Billing.Services | Billing.Storage, unknown>

beforeAll(async () => {
  const url = await Effect.runPromise(Scope.provide(TestDatabase.make, scope))
  runtime = ManagedRuntime.make(
    Billing.layerWith({ events: { types: TYPES } }).pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url) })),
    ),
  )
  await runtime.runPromise(Effect.void)
  client = new Client({ connectionString: url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await runtime.dispose()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** The result of an SQL expression for each of some values, which it calls `v`. */
const each = async (type: string, values: ReadonlyArray<unknown>, expression: string) => {
  const { rows } = await client.query<{ given: string | null }>(
    `select (${expression})::text as given from unnest($1::${type}[]) with ordinality as x (v, n) order by n`,
    [values.map(String)],
  )
  return rows.map(({ given }) => given)
}

const FIRST = Date.parse("0001-01-01T00:00:00.000Z")
const LAST = Date.parse("9999-12-31T23:59:59.999Z")
const EDGES = [
  "0001-01-01T00:00:00.000Z",
  "0999-12-31T23:59:59.999Z",
  "1600-02-29T12:00:00.000Z",
  "1900-02-28T23:59:59.999Z",
  "1970-01-01T00:00:00.000Z",
  "2024-02-29T23:59:59.999Z",
  "2026-12-31T23:59:59.999Z",
  "2027-01-01T00:00:00.000Z",
  "9999-12-31T23:59:59.999Z",
].map((text) => Date.parse(text))
const instants = [...EDGES, ...fc.sample(fc.integer({ min: FIRST, max: LAST }), { numRuns: 2_000, seed: 3 })]
const at = "to_timestamp(v / 1000.0::float8)::timestamptz(3)"

describe("instants", () => {
  it("are written by format_instant as core writes them", async () => {
    const written = await each("bigint", instants, `billwright.format_instant(${at})`)
    assert.deepStrictEqual(
      written,
      instants.map((millis) => DateTime.formatIso(DateTime.makeUnsafe(millis))),
    )
  })

  it("lie in the periods of core: period_key, period_days", async () => {
    for (const period of ["day", "month", "lifetime"] as const) {
      const keys = await each("bigint", instants, `billwright.period_key('${period}', ${at})`)
      const days = await each(
        "bigint",
        instants,
        `select p.first_day || ' ' || p.next_day from billwright.period_days('${period}', ${at}) as p`,
      )
      const day = (millis: number | undefined, none: string) =>
        millis === undefined ? none : DateTime.formatIsoDateUtc(DateTime.makeUnsafe(millis))
      for (const [index, millis] of instants.entries()) {
        const instant = DateTime.makeUnsafe(millis)
        assert.strictEqual(keys[index], Threshold.periodKey(period, instant))
        const { end, start } = Threshold.periodOf(period, instant)
        // Postgres writes years beyond 9999 without a sign.
        const expected = `${day(start, "-infinity")} ${day(end, "infinity").replace("+010000", "10000")}`
        assert.strictEqual(days[index], expected)
      }
    }
  })
})

describe("ids", () => {
  it("follow from others as in core: offset_id", async () => {
    const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((all) => Id.format("evt", all))
    const distance = fc.oneof(fc.constantFrom(0, 1, 255, 256, 2 ** 30, 2 ** 47), fc.nat({ max: 2 ** 31 - 1 }))
    for (const [id, by] of [
      ...["000000000000", "fffffffffffe", "ffffffffffff"].flatMap((last) =>
        [0, 1, 2, 255, 256, 2 ** 24, 2 ** 30, 2 ** 47].map(
          (by) => [Id.fromUuid("evt", `01940000-0000-7000-8000-${last}`), by] as const,
        ),
      ),
      ...fc.sample(fc.tuple(bytes, distance), { numRuns: 300, seed: 5 }),
    ]) {
      const [made] = await each(
        "uuid",
        [Id.toUuid(id)],
        `billwright.format_id('evt', billwright.offset_id(v, ${by}))`,
      )
      assert.strictEqual(made, Id.offset("evt", id, by))
    }
  })
})

/** The same value, written differently. */
const rewritten = (value: unknown): string => {
  if (typeof value === "number") return Number.isSafeInteger(value) ? `${value}.0` : value.toExponential()
  if (Array.isArray(value)) return `[ ${value.map(rewritten).join(" , ")} ]`
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)} : ${rewritten(member)}`,
  )
  return `{${members.toReversed().join(",")}}`
}

const text = fc
  .oneof(
    fc.constantFrom("a", "b", "amount", '"', "\\u0041", ',"data":'),
    fc.string({ unit: "binary", maxLength: 6 }),
  )
  .filter((key) => key.isWellFormed() && !key.includes("\0") && key !== "__proto__")
const number = fc.oneof(
  fc.constantFrom(0, 1, 10, 1.5, -3, 1e21, 1e39, 1e40, 5e-324, Number.MAX_VALUE),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const { tree: value } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    number,
    text,
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(text, tie("tree"), { maxKeys: 3 }),
  ),
}))
const data = fc.dictionary(text, value, { maxKeys: 3, noNullPrototype: true })

describe("the data of two events", () => {
  it("is the same for is_same_data where it is for core", async () => {
    const pairs = fc.sample(
      fc
        .tuple(data, data, fc.constantFrom("same", "rewritten", "other"))
        .map(([first, second, how]) => [
          JSON.stringify(first),
          how === "same"
            ? JSON.stringify(first)
            : how === "rewritten"
              ? rewritten(first)
              : JSON.stringify(second),
        ]),
      { numRuns: 2_000, seed: 9 },
    ) as Array<[string, string]>
    pairs.push(
      ['{"a":1}', '{"a":1.0e0}'],
      ['{"a":0.1}', '{"a":0.10000000000000000001}'],
      ['{"a":9007199254740993}', '{"a":9007199254740992}'],
      ['{"a":1000000000000000000001}', '{"a":1e21}'],
      ['{"a":-0}', '{"a":0}'],
    )
    const event = (json: string): Event.Event => ({
      id: EventId.make(`evt_${"0".repeat(26)}`),
      type: "order.placed",
      timestamp: DateTime.makeUnsafe(0),
      customerId: null,
      idempotencyKey: null,
      endpointId: null,
      payload: `{"id":"evt_${"0".repeat(26)}","type":"order.placed","timestamp":"1970-01-01T00:00:00.000Z","livemode":true,"data":${json}}`,
    })
    const { rows } = await client.query<{ same: boolean }>(
      `select billwright.is_same_data(x.a, x.b) as same
from unnest($1::text[], $2::text[]) with ordinality as x (a, b, n) order by n`,
      [pairs.map(([a]) => event(a).payload), pairs.map(([, b]) => event(b).payload)],
    )
    const expected = pairs.map(([a, b]) => Event.isSameContent(event(a), event(b)))
    assert.deepStrictEqual(
      pairs.filter((_, index) => rows[index]!.same !== expected[index]),
      [],
    )
    for (const same of [true, false]) assert.isAbove(expected.filter((each) => each === same).length, 100)
  })
})

interface Publication {
  readonly type: string
  readonly data: unknown
  readonly customerId: string | undefined
  readonly key: string | undefined
}

interface Answer {
  readonly tag: string
  readonly id?: string
  readonly rest?: unknown
}

/** The parts of an event to compare: all but its id and instant. */
const answerOf = (
  tag: string,
  id: string,
  type: string,
  about: unknown,
  key: unknown,
  sent: unknown,
): Answer => ({
  tag,
  id,
  rest: { type, about, key, sent },
})

const bySql = async (publication: Publication): Promise<Answer> => {
  try {
    const { rows } = await client.query(
      "select billwright.publish_event('sql', 'live', $1, $2::jsonb, $3, $4)::text as answer",
      [
        publication.type,
        JSON.stringify(publication.data),
        publication.customerId ?? null,
        publication.key ?? null,
      ],
    )
    const { event, status } = JSON.parse(rows[0].answer)
    return answerOf(status, event.id, event.type, event.customer_id, event.idempotency_key, event.data)
  } catch (error) {
    return { tag: String((error as DatabaseError).code) }
  }
}

const byLibrary = ({ customerId, data: sent, key, type }: Publication): Promise<Answer> =>
  runtime.runPromise(
    asTenant(
      Effect.flatMap(Events, (events) =>
        events.publish({
          type,
          data: sent,
          ...(customerId === undefined ? {} : { customerId: customerId as Customer.CustomerId }),
          ...(key === undefined ? {} : { idempotencyKey: key }),
        }),
      ),
    ).pipe(
      Effect.map(({ _tag, event }) =>
        answerOf(
          _tag.toLowerCase(),
          event.id,
          event.type,
          event.customerId,
          event.idempotencyKey,
          Event.dataOf(event),
        ),
      ),
      Effect.catchTags({
        InvalidInput: () => Effect.succeed<Answer>({ tag: "BW400" }),
        CustomerNotFound: () => Effect.succeed<Answer>({ tag: "BW404" }),
        EventKeyConflict: () => Effect.succeed<Answer>({ tag: "BW409" }),
      }),
    ),
  )

const often = <A>(usual: fc.Arbitrary<A>, odd: fc.Arbitrary<A>) =>
  fc.oneof({ weight: 8, arbitrary: usual }, { weight: 1, arbitrary: odd })

const nested = (levels: number): unknown => {
  let inner: unknown = 1
  for (let level = 0; level < levels; level++) inner = level % 2 === 0 ? { a: inner } : [inner]
  return { a: inner }
}

describe("publish_event", () => {
  it("does and returns the same as Events.publish", async () => {
    const cast = Effect.gen(function* () {
      const customers = yield* Customers
      const make = customers.create({ name: "A", email: "a@b.example" })
      const erased = yield* make
      yield* customers.erase(erased.id)
      return [(yield* make).id, erased.id, yield* (yield* IdGenerator).next("cus"), "cus_1", ""]
    })
    const customers = await runtime.runPromise(asTenant(cast))
    const publications = fc.sample(
      fc.record<Publication>({
        type: often(
          fc.constantFrom(...TYPES.map(({ name }) => name)),
          fc.constantFrom(
            "order",
            "Order.placed",
            "order..placed",
            "order.placed\n",
            `a.${"b".repeat(99)}`,
            "",
          ),
        ),
        // The same few keys, so that they are repeated with the same content.
        data: often<unknown>(
          fc.oneof(fc.constantFrom({}, { a: 1 }, { a: [1, { b: null }] }), data),
          fc.oneof(
            fc.constantFrom<unknown>(null, 1, "text", [], nested(28), nested(29), nested(30), {
              a: "x".repeat(262_144),
            }),
            fc.constant(JSON.parse('{"a":[{"__proto__":1}]}')),
          ),
        ),
        customerId: often(fc.constantFrom(undefined, customers[0]), fc.constantFrom(...customers.slice(1))),
        key: often(
          fc.constantFrom(undefined, "a", "b", "c", "𝒩".repeat(255)),
          fc.constantFrom("", "𝒩".repeat(256)),
        ),
      }),
      { numRuns: 400, seed: 13 },
    )
    // The same calls twice: for one account in SQL, for the other in TypeScript. Both have the same customers.
    await client.query(`insert into billwright.customers
  (account_id, mode, id, name, email, metadata, created_at, updated_at, erased_at)
select 'sql', mode, id, name, email, metadata, created_at, updated_at, erased_at from billwright.customers`)
    const firstIds = [new Map<string, string>(), new Map<string, string>()] as const
    const comparable = ({ id, ...answer }: Answer, key: string | undefined, ids: Map<string, string>) => {
      if (key === undefined || id === undefined) return answer
      const isFirst = answer.tag === "published" || ids.get(key) === id
      if (answer.tag === "published") ids.set(key, id)
      return { ...answer, isFirst }
    }
    const seen = new Set<string>()
    for (const publication of publications) {
      const left = comparable(await bySql(publication), publication.key, firstIds[0])
      const right = comparable(await byLibrary(publication), publication.key, firstIds[1])
      assert.deepStrictEqual(left, right, JSON.stringify(publication).slice(0, 500))
      seen.add(left.tag)
    }
    assert.deepStrictEqual([...seen].sort(), ["BW400", "BW404", "BW409", "duplicate", "published"])
  })
})
