import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"

const usageOf = (customer: string, fields: object = {}) => ({
  customer_id: customer,
  product_id: "api",
  quantity: 5,
  unit: "call",
  ...fields,
})

describe("POST /v1/usage", () => {
  it.effect("answers 201 with the whole record, which counts from then on", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const recorded = yield* api.expect(201, "POST", "/v1/usage", { json: usageOf(customer) })
      assert.deepStrictEqual(recorded.body, {
        object: "usage_record",
        id: recorded.id,
        ...usageOf(customer),
        dimensions: {},
        timestamp: ApiServer.NOW,
        idempotency_key: null,
        voided_at: null,
        livemode: false,
        created_at: ApiServer.NOW,
      })
      const total = yield* api.expect(200, "GET", "/v1/usage", { query: { customer_id: customer } })
      assert.deepInclude(total.body, { total_quantity: 5, unit: "call", record_count: 1 })
    }),
  )

  it.effect("keeps dimensions, and compares them when a key is repeated", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const json = {
        ...usageOf(customer),
        dimensions: { model: "opus", tokenKind: "input", constructor: "x" },
        idempotency_key: "k",
      }
      const { body, id } = yield* api.expect(201, "POST", "/v1/usage", { json })
      assert.deepInclude(body, { dimensions: json.dimensions })
      const reversed = Object.fromEntries(Object.entries(json.dimensions).reverse())
      const again = yield* api.expect(200, "POST", "/v1/usage", { json: { ...json, dimensions: reversed } })
      assert.strictEqual(again.id, id)
      yield* api.expect(409, "POST", "/v1/usage", { json: { ...json, dimensions: { model: "opus" } } })
      const list = yield* api.expect(200, "GET", "/v1/usage/records", { query: { customer_id: customer } })
      assert.deepStrictEqual(list.at("data"), [body])
    }),
  )

  it.effect("refuses dimensions by their name", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const nine = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`d${index}`, "x"]))
      const cases: ReadonlyArray<readonly [unknown, string]> = [
        [{ tokenKind: 1 }, "dimensions.tokenKind must be a string"],
        [{ model: "" }, "dimensions.model must be 1 to 100 characters"],
        [{ model: { name: "opus" } }, "dimensions.model must be a string"],
        [nine, "dimensions must have at most 8 keys"],
        [[], "dimensions must be object"],
        [null, "dimensions must be object"],
      ]
      for (const [dimensions, message] of cases) {
        const json = { ...usageOf(customer), dimensions }
        assert.strictEqual((yield* api.expect(400, "POST", "/v1/usage", { json })).message, message)
        const batch = { records: [usageOf(customer), json] }
        const refused = yield* api.expect(400, "POST", "/v1/usage/batch", { json: batch })
        assert.strictEqual(refused.message, `records[1].${message}`)
      }
      const body = JSON.stringify(usageOf(customer)).replace("{", `{"dimensions":{"__proto__":"x"},`)
      const refused = yield* api.expect(400, "POST", "/v1/usage", { body })
      assert.include(refused.message, "dimensions.__proto__ is not a possible key")
      const total = yield* api.expect(200, "GET", "/v1/usage", { query: { customer_id: customer } })
      assert.deepInclude(total.body, { record_count: 0 })
    }),
  )

  it.effect("accepts the largest batch: 1,000 records with 8 dimensions each", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const records = Array.from({ length: 1_000 }, (_, index) => ({
        ...usageOf(customer),
        dimensions: Object.fromEntries(
          Array.from({ length: 8 }, (_, place) => [`dimension_${place}`, `value ${place} of ${index}`]),
        ),
        timestamp: ApiServer.NOW,
        idempotency_key: `k${index}`,
      }))
      const { body } = yield* api.expect(200, "POST", "/v1/usage/batch", { json: { records } })
      assert.deepInclude(body, { recorded: 1_000, duplicates: 0 })
    }),
  )

  it.effect("accepts instants with any offset, and returns UTC with milliseconds", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const cases = [
        ["2026-11-21T10:30:00+01:00", "2026-11-21T09:30:00.000Z"],
        ["2026-11-20t23:59:59.123456789-05:30", "2026-11-21T05:29:59.123Z"],
        ["2026-11-21T09:35:00Z", "2026-11-21T09:35:00.000Z"],
        ["2024-02-29T00:00:00z", "2024-02-29T00:00:00.000Z"],
        ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
      ] as const
      for (const [timestamp, expected] of cases) {
        assert.strictEqual((yield* api.record(customer, { timestamp })).at("timestamp"), expected)
      }
      const refused = [
        "2026-02-30T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T09:30:60Z",
        "2026-11-21T09:30:00",
        "2026-11-21",
        "2026-11-21 09:30:00Z",
        "2026-13-01T00:00:00Z",
        "2026-11-21T09:30:00.1234567890Z",
        "2026-11-21T09:30:00+25:00",
        "20261121T093000Z",
        "+012026-11-21T09:30:00Z",
        1_795_253_400,
        null,
        "",
      ]
      for (const timestamp of refused) {
        const answer = yield* api.expect(400, "POST", "/v1/usage", { json: usageOf(customer, { timestamp }) })
        assert.isTrue(answer.message.startsWith("timestamp must be "), `${timestamp}: ${answer.message}`)
      }
      const ahead = yield* api.expect(400, "POST", "/v1/usage", {
        json: usageOf(customer, { timestamp: "2026-11-21T09:35:00.001Z" }),
      })
      assert.strictEqual(ahead.message, "timestamp must not be more than 5 minutes in the future")
    }),
  )

  it.effect("counts an idempotency_key once: a repeat gets 200 and the first record, other content 409", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const json = usageOf(customer, { idempotency_key: "request-1" })
      const first = yield* api.expect(201, "POST", "/v1/usage", { json })
      // An instant that the server has chosen is not part of the content.
      yield* TestClock.adjust("10 days")
      const again = yield* api.expect(200, "POST", "/v1/usage", { json })
      assert.strictEqual(again.text, first.text)
      for (const change of [
        { quantity: 6 },
        { unit: "byte" },
        { product_id: "web" },
        { timestamp: "2026-11-20T00:00:00Z" },
      ]) {
        const other = yield* api.expect(409, "POST", "/v1/usage", { json: { ...json, ...change } })
        assert.deepStrictEqual(other.body, {
          error: "conflict",
          message: `idempotency_key was already used with other content, by ${first.id}`,
        })
        assert.notProperty(other.headers, "retry-after")
      }
      // The key belongs to the customer.
      yield* api.record(yield* api.newCustomer(), { idempotency_key: "request-1" })
      const total = yield* api.expect(200, "GET", "/v1/usage", { query: { customer_id: customer } })
      assert.strictEqual(total.at("total_quantity"), 5)
    }),
  )

  it.effect("answers 404 for an unknown customer, and 400 with the name of a missing or wrong field", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const unknown = yield* api.expect(404, "POST", "/v1/usage", {
        json: usageOf(ApiServer.UNKNOWN.customer),
      })
      assert.strictEqual(unknown.message, `customer_id: no customer has the id ${ApiServer.UNKNOWN.customer}`)
      const quantity = "quantity must be an integer from 0 to 9007199254740991"
      const cases = [
        [{}, "customer_id is required"],
        [
          usageOf("x"),
          "customer_id must be an id that starts with cus_, with 26 lower-case letters and digits after it",
        ],
        [usageOf(customer, { quantity: -1 }), quantity],
        [usageOf(customer, { quantity: 1.5 }), quantity],
        [usageOf(customer, { quantity: "5" }), "quantity must be an integer from 0 to 9007199254740991"],
        [usageOf(customer, { quantity: null }), "quantity must be an integer from 0 to 9007199254740991"],
        [usageOf(customer, { unit: "" }), "unit must be 1 to 64 characters"],
        [usageOf(customer, { unit: "u".repeat(65) }), "unit must be 1 to 64 characters"],
        [usageOf(customer, { product_id: "p".repeat(256) }), "product_id must be 1 to 255 characters"],
        [usageOf(customer, { idempotency_key: "" }), "idempotency_key must be 1 to 255 characters"],
        [usageOf(customer, { customerId: customer }), "customerId is not a known field"],
      ] as const
      for (const [json, message] of cases) {
        const refused = yield* api.expect(400, "POST", "/v1/usage", { json })
        assert.deepStrictEqual(refused.body, { error: "invalid_request", message })
      }
      assert.lengthOf((yield* api.snapshot).records, 0)
    }),
  )

  it.effect("accepts quantities from 0 to 2^53 − 1", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      for (const quantity of [0, Number.MAX_SAFE_INTEGER]) {
        assert.strictEqual((yield* api.record(customer, { quantity })).at("quantity"), quantity)
      }
    }),
  )
})

describe("POST /v1/usage/batch", () => {
  it.effect("answers with a status for each record, in the order of the request", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const [a, b] = [yield* api.newCustomer(), yield* api.newCustomer()]
      const known = yield* api.record(a, { quantity: 5, idempotency_key: "k1" })
      const batch = yield* api.expect(200, "POST", "/v1/usage/batch", {
        json: {
          records: [
            usageOf(b, { quantity: 1 }),
            usageOf(a, { idempotency_key: "k1" }),
            usageOf(a, { idempotency_key: "k2" }),
            usageOf(a, { idempotency_key: "k2" }),
          ],
        },
      })
      assert.deepInclude(batch.body, { object: "usage_batch", recorded: 2, duplicates: 2 })
      const data = batch.at("data") as ReadonlyArray<{ readonly id: string; readonly status: string }>
      assert.deepStrictEqual(
        data.map(({ status }) => status),
        ["recorded", "duplicate", "recorded", "duplicate"],
      )
      assert.strictEqual(data[1]?.id, known.id)
      assert.strictEqual(data[3]?.id, data[2]?.id)
      const first = yield* api.expect(200, "GET", `/v1/usage/records/${data[0]?.id}`)
      assert.strictEqual(first.at("customer_id"), b)
    }),
  )

  it.effect("stores all records or none, and names a wrong record", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      yield* api.record(customer, { quantity: 1, idempotency_key: "taken" })
      const good = usageOf(customer)
      const cases = [
        [400, usageOf(customer, { quantity: -1 }), "records[3].quantity must be an integer from 0 to"],
        [400, usageOf(customer, { note: "x" }), "records[3].note is not a known field"],
        [400, usageOf(customer, { timestamp: "2099-01-01T00:00:00Z" }), "records[3].timestamp must not be"],
        [400, {}, "records[3].customer_id is required"],
        [400, null, "records[3] must be object"],
        [404, usageOf(ApiServer.UNKNOWN.customer), "records[3].customer_id: no customer has the id cus_0"],
        [
          409,
          usageOf(customer, { idempotency_key: "taken" }),
          "records[3].idempotency_key was already used with other content",
        ],
      ] as const
      for (const [status, bad, message] of cases) {
        const json = { records: [good, good, good, bad, good] }
        const refused = yield* api.expect(status, "POST", "/v1/usage/batch", { json })
        assert.isTrue(refused.message.startsWith(message), refused.message)
      }
      assert.lengthOf((yield* api.snapshot).records, 1)
      const total = yield* api.expect(200, "GET", "/v1/usage", { query: { customer_id: customer } })
      assert.deepInclude(total.body, { total_quantity: 1, record_count: 1 })
    }),
  )

  it.effect("accepts 1 to 1,000 records", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const records = Array.from({ length: 1000 }, (_, i) => usageOf(customer, { quantity: i }))
      const batch = yield* api.expect(200, "POST", "/v1/usage/batch", { json: { records } })
      assert.strictEqual(batch.at("recorded"), 1000)
      for (const wrong of [[], [...records, usageOf(customer)], {}, "x"]) {
        const refused = yield* api.expect(400, "POST", "/v1/usage/batch", { json: { records: wrong } })
        assert.isTrue(refused.message.startsWith("records must"), refused.message)
      }
      const total = yield* api.expect(200, "GET", "/v1/usage", { query: { customer_id: customer } })
      assert.deepInclude(total.body, { total_quantity: 499_500, record_count: 1000 })
    }),
  )
})

describe("GET /v1/usage", () => {
  it.effect("returns the query and the instants of its period", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      yield* api.record(customer, { quantity: 5 })
      const all = yield* api.expect(200, "GET", "/v1/usage", { query: { customer_id: customer } })
      assert.deepStrictEqual(all.body, {
        object: "usage_summary",
        customer_id: customer,
        meter: null,
        product_id: null,
        total_quantity: 5,
        denominator: 1,
        unit: "call",
        record_count: 1,
        start_date: null,
        end_date: null,
        timezone: "UTC",
        period_start: null,
        period_end: null,
      })
      const november = yield* api.expect(200, "GET", "/v1/usage", {
        query: {
          customer_id: customer,
          product_id: "api",
          unit: "call",
          start_date: "2026-11-01",
          end_date: "2026-11-30",
          timezone: "America/New_York",
        },
      })
      assert.deepStrictEqual(november.body, {
        object: "usage_summary",
        customer_id: customer,
        meter: null,
        product_id: "api",
        total_quantity: 5,
        denominator: 1,
        unit: "call",
        record_count: 1,
        start_date: "2026-11-01",
        end_date: "2026-11-30",
        timezone: "America/New_York",
        // Daylight saving ends on the first: the month starts at -04:00 and ends at -05:00.
        period_start: "2026-11-01T04:00:00.000Z",
        period_end: "2026-12-01T05:00:00.000Z",
      })
    }),
  )

  it.effect("counts inclusive days in the time zone of the query", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      // The 8th of March 2026 lasts 23 hours in New York: from 05:00Z to 04:00Z.
      const moments = [
        ["2026-03-08T04:59:59.999Z", 1],
        ["2026-03-08T05:00:00.000Z", 10],
        ["2026-03-09T03:59:59.999Z", 100],
        ["2026-03-09T04:00:00.000Z", 1000],
      ] as const
      for (const [timestamp, quantity] of moments) yield* api.record(customer, { timestamp, quantity })
      const total = (start: string, end: string, timezone?: string) =>
        Effect.map(
          api.expect(200, "GET", "/v1/usage", {
            query: {
              customer_id: customer,
              start_date: start,
              end_date: end,
              ...(timezone === undefined ? {} : { timezone }),
            },
          }),
          (answer) => answer.at("total_quantity"),
        )
      assert.strictEqual(yield* total("2026-03-08", "2026-03-08", "America/New_York"), 110)
      assert.strictEqual(yield* total("2026-03-07", "2026-03-08", "America/New_York"), 111)
      assert.strictEqual(yield* total("2026-03-08", "2026-03-09", "America/New_York"), 1110)
      assert.strictEqual(yield* total("2026-03-08", "2026-03-08"), 11)
      assert.strictEqual(yield* total("2026-03-08", "2026-03-09"), 1111)
      assert.strictEqual(yield* total("2026-03-10", "2026-03-31"), 0)
    }),
  )

  it.effect("never adds different units, and asks for one", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      yield* api.record(customer, { quantity: 5 })
      yield* api.record(customer, { quantity: 700, unit: "byte", product_id: "storage" })
      const mixed = yield* api.expect(400, "GET", "/v1/usage", { query: { customer_id: customer } })
      assert.strictEqual(mixed.error, "invalid_request")
      assert.isTrue(mixed.message.startsWith("unit is required"), mixed.message)
      for (const [query, quantity, unit] of [
        [{ unit: "byte" }, 700, "byte"],
        [{ product_id: "api" }, 5, "call"],
        [{ unit: "call", product_id: "storage" }, 0, "call"],
      ] as const) {
        const answer = yield* api.expect(200, "GET", "/v1/usage", {
          query: { customer_id: customer, ...query },
        })
        assert.deepInclude(answer.body, { total_quantity: quantity, unit })
      }
    }),
  )

  it.effect("returns 0 without usage, in the unit of the query, or else the only unit, or else null", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const summary = (query: object) =>
        api.expect(200, "GET", "/v1/usage", { query: { customer_id: customer, ...query } })
      const nothing = { total_quantity: 0, record_count: 0 }
      assert.deepInclude((yield* summary({})).body, { ...nothing, unit: null })
      assert.deepInclude((yield* summary({ unit: "byte" })).body, { ...nothing, unit: "byte" })
      yield* api.record(customer)
      const past = { start_date: "2020-01-01", end_date: "2020-01-31" }
      assert.deepInclude((yield* summary(past)).body, { ...nothing, unit: "call" })
      yield* api.record(customer, { unit: "byte" })
      assert.deepInclude((yield* summary(past)).body, { ...nothing, unit: null })
    }),
  )

  it.effect("names a missing, wrong or unknown parameter", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const date = "must be a date that exists, written YYYY-MM-DD"
      const cases = [
        ["", "customer_id is required"],
        [`customer_id=${customer}&start_date=2026-02-30`, `start_date ${date}`],
        [`customer_id=${customer}&end_date=2026-2-3`, `end_date ${date}`],
        [`customer_id=${customer}&start_date=2026-11-21T00:00:00Z`, `start_date ${date}`],
        [
          `customer_id=${customer}&start_date=2026-11-21&end_date=2026-11-20`,
          "end_date must not be before the start date",
        ],
        [
          `customer_id=${customer}&timezone=Mars/Olympus`,
          "timezone must be an IANA time zone such as Europe/Berlin",
        ],
        [
          `customer_id=${customer}&timezone=%2B01:00`,
          "timezone must be an IANA time zone such as Europe/Berlin",
        ],
        [`customer_id=${customer}&unit=`, "unit must be 1 to 64 characters"],
        [`customer_id=${customer}&customerId=x`, "customerId is not a known field"],
      ] as const
      for (const [query, message] of cases) {
        const refused = yield* api.expect(400, "GET", `/v1/usage?${query}`)
        assert.deepStrictEqual(refused.body, { error: "invalid_request", message })
      }
      const unknown = { customer_id: ApiServer.UNKNOWN.customer }
      yield* api.expect(404, "GET", "/v1/usage", { query: unknown })
    }),
  )
})

describe("GET /v1/usage/series", () => {
  it.effect("lists consecutive windows in time order, including empty ones", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      yield* api.record(customer, { quantity: 3, timestamp: "2026-11-01T10:00:00Z" })
      yield* api.record(customer, { quantity: 4, timestamp: "2026-11-03T23:59:59Z" })
      const series = yield* api.expect(200, "GET", "/v1/usage/series", {
        query: {
          customer_id: customer,
          start_date: "2026-11-01",
          end_date: "2026-11-03",
          window: "day",
        },
      })
      const point = (day: number, quantity: number, count: number, unit: string | null) => ({
        start: `2026-11-0${day}T00:00:00.000Z`,
        end: `2026-11-0${day + 1}T00:00:00.000Z`,
        unit,
        quantity,
        denominator: 1,
        record_count: count,
      })
      assert.deepStrictEqual(series.body, {
        object: "list",
        data: [point(1, 3, 1, "call"), point(2, 0, 0, "call"), point(3, 4, 1, "call")],
        has_more: false,
      })
    }),
  )

  it.effect("groups by product, and hours follow the calendar of the time zone", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      yield* api.record(customer, { quantity: 3, timestamp: "2026-11-01T10:00:00Z" })
      yield* api.record(customer, {
        quantity: 9,
        unit: "byte",
        product_id: "web",
        timestamp: "2026-11-01T10:30:00Z",
      })
      const query = {
        customer_id: customer,
        start_date: "2026-11-01",
        end_date: "2026-11-01",
        timezone: "America/New_York",
        window: "hour",
      }
      const mixed = yield* api.expect(400, "GET", "/v1/usage/series", { query })
      assert.isTrue(mixed.message.startsWith("unit is required"), mixed.message)
      const grouped = yield* api.expect(200, "GET", "/v1/usage/series", {
        query: { ...query, group_by: "product_id" },
      })
      const points = grouped.at("data") as ReadonlyArray<Record<string, unknown>>
      assert.lengthOf(points, 25 * 2)
      assert.deepStrictEqual(
        points.filter((point) => point["quantity"] !== 0),
        [
          {
            start: "2026-11-01T10:00:00.000Z",
            end: "2026-11-01T11:00:00.000Z",
            product_id: "api",
            unit: "call",
            quantity: 3,
            denominator: 1,
            record_count: 1,
          },
          {
            start: "2026-11-01T10:00:00.000Z",
            end: "2026-11-01T11:00:00.000Z",
            product_id: "web",
            unit: "byte",
            quantity: 9,
            denominator: 1,
            record_count: 1,
          },
        ],
      )
    }),
  )

  it.effect("requires dates and a window, and limits the number of windows", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const dates = "start_date=2026-01-01&end_date=2026-12-31"
      const cases = [
        ["window=day", "start_date is required"],
        ["start_date=2026-01-01&window=day", "end_date is required"],
        [dates, "window is required"],
        [`${dates}&window=week`, "window must be "],
        [`${dates}&window=hour`, "end_date is too late: a series has at most 1000 windows"],
        [`${dates}&window=month&group_by=unit`, "group_by needs a meter: "],
      ] as const
      for (const [query, message] of cases) {
        const refused = yield* api.expect(400, "GET", `/v1/usage/series?customer_id=${customer}&${query}`)
        assert.isTrue(refused.message.startsWith(message), refused.message)
      }
      const year = yield* api.expect(
        200,
        "GET",
        `/v1/usage/series?customer_id=${customer}&${dates}&window=month`,
      )
      assert.lengthOf(year.at("data") as ReadonlyArray<unknown>, 12)
    }),
  )
})

describe("usage records", () => {
  it.effect("can be listed with filters, paged in both directions and read one by one", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      yield* api.record(yield* api.newCustomer())
      const ids: Array<string> = []
      for (let i = 0; i < 5; i++) {
        const fields = i % 2 === 0 ? {} : { product_id: "web", unit: "byte" }
        ids.unshift((yield* api.record(customer, { quantity: i, ...fields })).id)
      }
      const list = (query: Readonly<Record<string, string | number>>) =>
        api.expect(200, "GET", "/v1/usage/records", { query: { customer_id: customer, ...query } })
      const all = yield* list({})
      assert.deepStrictEqual(all.ids, ids)
      assert.deepInclude(all.body, { object: "list", has_more: false })
      assert.deepStrictEqual((yield* list({ product_id: "web" })).ids, [ids[1]!, ids[3]!])
      assert.deepStrictEqual((yield* list({ unit: "call" })).ids, [ids[0]!, ids[2]!, ids[4]!])
      assert.deepStrictEqual((yield* list({ unit: "call", product_id: "web" })).ids, [])
      const older = yield* list({ limit: 2, starting_after: ids[1]! })
      assert.deepStrictEqual(older.ids, ids.slice(2, 4))
      assert.strictEqual(older.at("has_more"), true)
      const newer = yield* list({ limit: 2, ending_before: ids[3]! })
      assert.deepStrictEqual(newer.ids, ids.slice(1, 3))
      assert.strictEqual(newer.at("has_more"), true)

      const one = yield* api.expect(200, "GET", `/v1/usage/records/${ids[0]}`)
      assert.deepStrictEqual(one.body, all.at("data", 0))
      yield* api.expect(404, "GET", `/v1/usage/records/${ApiServer.UNKNOWN.record}`)
      yield* api.expect(404, "GET", `/v1/usage/records/${customer}`)
      yield* api.expect(400, "GET", "/v1/usage/records")
      const unknown = { customer_id: ApiServer.UNKNOWN.customer }
      yield* api.expect(404, "GET", "/v1/usage/records", { query: unknown })
    }),
  )

  it.effect("can be voided: the record and its key stay, but its quantity no longer counts", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      yield* api.record(customer, { quantity: 2 })
      const wrong = yield* api.record(customer, { quantity: 40, idempotency_key: "k" })
      yield* TestClock.adjust("1 hour")
      const path = `/v1/usage/records/${wrong.id}/void`
      const voided = yield* api.expect(200, "POST", path)
      const expected = { ...(wrong.body as object), voided_at: "2026-11-21T10:30:00.000Z" }
      assert.deepStrictEqual(voided.body, expected)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* api.expect(200, "POST", path, { json: {} })).text, voided.text)
      assert.strictEqual((yield* api.expect(200, "GET", `/v1/usage/records/${wrong.id}`)).text, voided.text)
      const total = yield* api.expect(200, "GET", "/v1/usage", { query: { customer_id: customer } })
      assert.deepInclude(total.body, { total_quantity: 2, record_count: 1 })

      const json = usageOf(customer, { quantity: 40, idempotency_key: "k" })
      assert.strictEqual((yield* api.expect(200, "POST", "/v1/usage", { json })).text, voided.text)
      yield* api.expect(404, "POST", `/v1/usage/records/${ApiServer.UNKNOWN.record}/void`)
      yield* api.expect(400, "POST", path, { json: { reason: "typo" } })
    }),
  )
})
