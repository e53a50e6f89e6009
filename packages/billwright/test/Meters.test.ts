/** Meters and dimensions by promises, and over the client. */
import {
  type Billing,
  createBilling,
  type InvalidInputError,
  LimitReachedError,
  type Meter,
  MeterNotFoundError,
} from "billwright"
import { ApiError, type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import { rejection } from "./Rejection.ts"

let billing: Billing
let client: BillingClient
let customerId: string

const TOKENS = { key: "tokens", productId: "chat", unit: "token", dimensions: ["model", "kind"] }

beforeEach(async () => {
  billing = await createBilling({ store: memory(), mode: "test", dispatcher: false, log: false })
  const apiKey = (await billing.keys.create({ name: "usage", scopes: ["usage:*"] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  client = createClient({ url: "http://localhost/billing", apiKey, fetch })
  customerId = (await billing.customers.create({ name: "Ada", email: "ada@example.com" })).id
})
afterEach(() => billing.close())

const token = (quantity: number, dimensions?: Readonly<Record<string, string>>, day = "2026-11-01") => ({
  customerId,
  productId: "chat",
  unit: "token",
  quantity,
  timestamp: `${day}T10:00:00Z`,
  ...(dimensions === undefined ? {} : { dimensions }),
})

/** More days than creating a meter builds by itself. */
const DAYS = 400
const recordManyDays = () =>
  billing.usage.recordBatch(
    Array.from({ length: DAYS }, (_, index) =>
      token(1, { model: "opus" }, new Date(Date.UTC(2025, 0, 1 + index)).toISOString().slice(0, 10)),
    ),
  )

describe("dimensions", () => {
  it("are kept, and are part of what a repeated key must have", async () => {
    const input = { ...token(900, { model: "opus", tokenKind: "input" }), idempotencyKey: "k" }
    const { record } = await client.usage.record(input)
    assert.deepStrictEqual(record.dimensions, { model: "opus", tokenKind: "input" })
    assert.deepStrictEqual(await billing.usage.getRecord(record.id), record)
    assert.isTrue((await billing.usage.record(input)).isDuplicate)
    const { code } = (await rejection(
      billing.usage.record({ ...input, dimensions: { model: "opus" } }),
    )) as InvalidInputError
    assert.strictEqual(code, "usage_key_conflict")
    assert.deepStrictEqual((await billing.usage.record(token(1))).record.dimensions, {})
    const refused = (await rejection(billing.usage.record(token(1, { tokenKind: "" })))) as InvalidInputError
    assert.strictEqual(refused.field, "dimensions.tokenKind")
  })
})

describe("billing.meters", () => {
  it("creates, changes, reads, lists and archives; the client gives the same values", async () => {
    // The client's request is one transaction, which builds nothing itself.
    const { id } = await client.meters.create(TOKENS)
    const meter = await client.meters.rebuild(id)
    assert.deepInclude(meter, { ...TOKENS, aggregation: "sum", status: "ready", archivedAt: null })
    assert.instanceOf(meter.createdAt, Date)
    assert.deepStrictEqual(await billing.meters.get(meter.id), meter)
    assert.deepStrictEqual((await client.meters.list({ key: "tokens" }).page()).data, [meter])
    const users = { key: "users", productId: "chat", unit: "token" } as const
    const unique = await billing.meters.create({
      ...users,
      aggregation: "unique_count",
      dimensions: ["user"],
      counted: "user",
    })
    assert.deepStrictEqual(await client.meters.get(unique.id), unique)
    const renamed = await billing.meters.update(unique.id, { name: "Users" })
    assert.deepStrictEqual(await client.meters.update(unique.id, { name: "Users" }), renamed)
    await client.meters.archive(unique.id)
    const archived = await billing.meters.get(unique.id)
    assert.instanceOf(archived.archivedAt, Date)
    assert.deepStrictEqual(await client.meters.get(unique.id), archived)

    const taken = await rejection(billing.meters.create({ ...TOKENS, key: "users" }))
    assert.strictEqual((taken as InvalidInputError).field, "key")
    const unknown = `mtr_${"0".repeat(26)}`
    assert.instanceOf(await rejection(billing.meters.get(unknown)), MeterNotFoundError)
    assert.instanceOf(await rejection(client.meters.rebuild(unknown)), ApiError)
    for (let index = 1; index < 10; index++) await billing.meters.create({ ...TOKENS, key: `m${index}` })
    const limit = await rejection(billing.meters.create({ ...TOKENS, key: "one_more" }))
    assert.instanceOf(limit, LimitReachedError)
    assert.strictEqual(limit.code, "too_many_meters_of_product")
  })

  it("filter and group summaries, series and records; the client gives the same values", async () => {
    await billing.usage.record(token(900, { model: "opus", kind: "input" }))
    await billing.usage.record(token(100, { model: "opus", kind: "output" }))
    await billing.usage.record(token(50, { model: "a:b&c=d", kind: "input" }, "2026-11-03"))
    await billing.usage.record(token(7))
    await billing.meters.create(TOKENS)
    const query = {
      customerId,
      meter: "tokens",
      where: { model: ["opus", "a:b&c=d"], kind: ["input"] },
      groupBy: ["kind", "model"],
    }
    const summary = await client.usage.summary(query)
    assert.deepStrictEqual(summary, await billing.usage.summary(query))
    assert.deepInclude(summary, { totalQuantity: 950n, denominator: 1n, meter: "tokens", unit: "token" })
    assert.deepStrictEqual(summary.groups, [
      {
        dimensions: { kind: "input", model: "a:b&c=d" },
        totalQuantity: 50n,
        denominator: 1n,
        recordCount: 1,
      },
      { dimensions: { kind: "input", model: "opus" }, totalQuantity: 900n, denominator: 1n, recordCount: 1 },
    ])
    const days = { startDate: "2026-11-01", endDate: "2026-11-03", window: "day" } as const
    const series = { customerId, meter: "tokens", groupBy: "kind", ...days }
    const points = await client.usage.series(series)
    assert.deepStrictEqual(points, await billing.usage.series(series))
    assert.deepInclude(points[0]!, { dimensions: { kind: null }, quantity: 7n, denominator: 1n })
    const records = { customerId, meter: "tokens", where: { model: ["opus"] } }
    const { data } = await client.usage.listRecords(records).page()
    assert.deepStrictEqual(data, (await billing.usage.listRecords(records).page()).data)
    assert.lengthOf(data, 2)
  })

  it("refuse a filter without values, also by the client", async () => {
    await billing.meters.create(TOKENS)
    const query = { customerId, meter: "tokens", where: { model: [] } }
    const refused = (await rejection(billing.usage.summary(query))) as InvalidInputError
    assert.strictEqual(refused.field, "where.model")
    assert.strictEqual(((await rejection(client.usage.summary(query))) as ApiError).status, 400)
  })

  it("are built with progress: until then, they don't answer", async () => {
    await recordManyDays()
    const meter = await billing.meters.create(TOKENS)
    assert.deepInclude(meter, { status: "building" })
    const query = { customerId, meter: "tokens", where: { model: ["opus"] } }
    const refused = (await rejection(billing.usage.summary(query))) as InvalidInputError
    assert.match(refused.message, /^meter is being built: \d+ of 400 days$/)
    const seen: Array<Meter> = []
    const ready = await client.meters.rebuild(meter.id, { onProgress: (at) => seen.push(at) })
    assert.deepInclude(ready, { status: "ready", rebuild: null })
    assert.deepStrictEqual(seen.at(-1), ready)
    assert.strictEqual((await billing.usage.summary(query)).totalQuantity, 400n)
    // A change of the definition: the old one answers until the new one is whole.
    const changed = await billing.meters.update(meter.id, { aggregation: "count", dimensions: ["model"] })
    assert.deepInclude(changed.rebuild!, { aggregation: "count", status: "building", total: DAYS })
    assert.deepInclude(changed, { aggregation: "sum", status: "ready" })
    assert.strictEqual((await billing.usage.summary(query)).totalQuantity, 400n)
    const { aggregation } = await billing.meters.rebuild(meter.id)
    assert.strictEqual(aggregation, "count")
  })

  it("are built in the background", { timeout: 60_000 }, async () => {
    const other = await createBilling({ store: memory(), mode: "test", log: false })
    try {
      const { id } = await other.customers.create({ name: "Ada", email: "ada@example.com" })
      await other.usage.recordBatch(
        Array.from({ length: DAYS }, (_, index) => ({
          ...token(1, { model: "opus" }, new Date(Date.UTC(2025, 0, 1 + index)).toISOString().slice(0, 10)),
          customerId: id,
        })),
      )
      const meter = await other.meters.create(TOKENS)
      assert.strictEqual(meter.status, "building")
      await vi.waitUntil(async () => (await other.meters.get(meter.id)).status === "ready", {
        timeout: 50_000,
        interval: 50,
      })
    } finally {
      await other.close()
    }
  })
})
