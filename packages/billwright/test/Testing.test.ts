import { ConfigurationError, defineEvent, InvalidInputError } from "billwright"
import { createTestBilling } from "billwright/testing"
import { verify } from "billwright/verify"
import { assert, describe, expectTypeOf, it } from "vitest"
import { rejection } from "./Rejection.ts"

const invoice = (customerId: string) => ({
  invoice_id: "in_1",
  customer_id: customerId,
  amount: 4200,
  currency: "EUR",
})

describe("the time of a test", () => {
  it("stands still until it is moved", async () => {
    await using billing = await createTestBilling({ now: "2026-02-27T23:59:00Z" })
    const { createdAt, id: customerId } = await billing.testing.customer()
    assert.deepStrictEqual(createdAt, new Date("2026-02-27T23:59:00Z"))
    const use = { customerId, productId: "api", quantity: 5, unit: "call" }
    await billing.usage.record(use)
    await billing.testing.advance({ days: 1, hours: 1, minutes: 1, seconds: 1, milliseconds: 1 })
    assert.deepStrictEqual(billing.testing.now, new Date("2026-03-01T01:00:01.001Z"))
    await billing.usage.record(use)
    const march = { customerId, startDate: "2026-03-01", endDate: "2026-03-31" }
    assert.strictEqual((await billing.usage.summary(march)).totalQuantity, 5n)
  })

  it("is the same in every test, unless the test sets it", async () => {
    await using billing = await createTestBilling()
    assert.deepStrictEqual(billing.testing.now, new Date("2026-01-15T12:00:00Z"))
    const bad = await rejection(createTestBilling({ now: "some day" }))
    assert.instanceOf(bad, ConfigurationError)
    assert.include(bad.message, "now must be")
  })

  it("never goes back", async () => {
    await using billing = await createTestBilling()
    for (const duration of [{ hours: -1 }, { seconds: Number.NaN }, { milliseconds: 0.5 }])
      assert.instanceOf(await rejection(billing.testing.advance(duration)), InvalidInputError)
  })

  it("is moved only by valid durations", async () => {
    await using billing = await createTestBilling()
    const wrong: ReadonlyArray<readonly [unknown, RegExp]> = [
      [undefined, /^duration must be an object such as \{ minutes: 1 \}/],
      [5, /^duration must be an object such as/],
      [
        { minute: 1 },
        /^duration has no unit "minute": the units are \{ years, months, days, hours, minutes, seconds, milli/,
      ],
    ]
    for (const [duration, sentence] of wrong) {
      const error = await rejection(billing.testing.advance(duration as never))
      assert.instanceOf(error, InvalidInputError)
      assert.match(error.message, sentence)
    }
    assert.deepStrictEqual(billing.testing.now, new Date("2026-01-15T12:00:00Z"))
  })

  it("is also the time of the REST API", async () => {
    await using billing = await createTestBilling()
    const { secret } = await billing.keys.create({ name: "first" })
    const response = await billing.fetch(
      new Request("https://example.com/v1/customers", {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "Ada Lovelace", email: "ada@example.com" }),
      }),
    )
    const { created_at } = (await response.json()) as { readonly created_at: string }
    assert.deepStrictEqual([response.status, created_at], [201, "2026-01-15T12:00:00.000Z"])
  })
})

describe("the receivers of a test", () => {
  it("get due webhooks when the test reads the deliveries", async () => {
    await using billing = await createTestBilling()
    const { endpoint, receiver } = await billing.testing.endpoint({ eventTypes: ["invoice.paid"] })
    const { id } = await billing.testing.customer()
    await billing.events.publish({ type: "invoice.paid", data: invoice(id) })
    await billing.events.publish({ type: "invoice.created", data: invoice(id) })
    assert.lengthOf(receiver.requests, 0)

    const [delivery, ...others] = await billing.testing.deliveries()
    assert.deepStrictEqual(others, [])
    assert.include(delivery, { status: "Delivered", endpointId: endpoint.id, attemptCount: 1 })
    assert.strictEqual(delivery?.attempts[0]?.responseStatus, 204)
    const [request, ...more] = receiver.requests
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(request?.event.data, invoice(id))
    const { body, headers } = request!
    const { event } = await verify({ secret: endpoint.secret!, headers, body, now: billing.testing.now })
    assert.strictEqual(event.id, delivery?.eventId)
  })

  it("answer in turn, and get retries when they are due", async () => {
    await using billing = await createTestBilling()
    const { receiver } = await billing.testing.endpoint()
    receiver.answer(500, { error: "timeout" }, { status: 429, headers: { "retry-after": "120" } }, 200)
    const { id } = await billing.testing.customer()
    await billing.events.publish({ type: "invoice.paid", data: invoice(id) })
    assert.strictEqual((await billing.testing.deliveries())[0]?.status, "Pending")
    // By now the receiver has had one more request.
    await billing.testing.advance({ hours: 1 })
    const [delivery] = await billing.testing.deliveries()
    assert.include(delivery, { status: "Delivered", attemptCount: 4 })
    assert.deepStrictEqual(
      delivery?.attempts.map(({ error, responseStatus }) => responseStatus ?? error),
      [500, "timeout", 429, 200],
    )
    const times = receiver.requests.map(({ at }) => at.getTime() - Date.parse("2026-01-15T12:00:00Z"))
    assert.strictEqual(times[0], 0)
    assert.isAtLeast(times[3]! - times[2]!, 120_000)
    assert.deepStrictEqual(
      [...times].sort((a, b) => a - b),
      times,
    )
    assert.strictEqual(new Set(times).size, 4)
    // The last answer is repeated.
    await billing.events.publish({ type: "invoice.paid", data: invoice(id) })
    assert.strictEqual((await billing.testing.deliveries())[1]?.attempts[0]?.responseStatus, 200)
  })

  it("get as many attempts as the retry policy of the test allows", async () => {
    const hasty = { baseMillis: 1_000, factor: 1, capMillis: 1_000, maxAttempts: 2, jitter: 0 }
    const retries = { live: hasty, test: hasty }
    await using billing = await createTestBilling({ dispatcher: { retries } })
    const { endpoint, receiver } = await billing.testing.endpoint()
    billing.testing.receiver(endpoint.url).answer(503)
    await billing.events.publish({ type: "invoice.paid", data: invoice("cus_1") })
    await billing.testing.advance({ seconds: 1 })
    const [delivery] = await billing.testing.deliveries()
    assert.include(delivery, { status: "Failed", reason: "exhausted" })
    assert.lengthOf(receiver.requests, 2)
  })

  it("get the deliveries of their own account and mode", async () => {
    await using billing = await createTestBilling()
    const live = await createTestBilling({ mode: "live", encryptionKeys: "none" })
    const other = billing.forAccount("other")
    const { receiver } = await billing.testing.endpoint()
    await other.endpoints.create({ url: receiver.url, eventTypes: ["*"] })
    await other.events.publish({ type: "invoice.paid", data: invoice("cus_1") })
    assert.lengthOf(await billing.testing.deliveries(), 0)
    assert.lengthOf(await billing.testing.deliveries(other), 1)
    const { endpoint } = await live.testing.endpoint()
    assert.strictEqual(endpoint.url, "https://receiver-1.example.com/")
    await live.close()
  })
})

describe("a billing for tests", () => {
  it("explains wrong options", async () => {
    const wrong: ReadonlyArray<readonly [unknown, RegExp]> = [
      [{ nw: 1 }, /^createTestBilling has no option "nw": its options are now, snapshot, accountId, /],
      [{ network: {} }, /^createTestBilling has no option "network"/],
      [{ dispatcher: false }, /^dispatcher must be an object of maxInFlight/],
    ]
    for (const [options, sentence] of wrong) {
      const error = await rejection(createTestBilling(options as never))
      assert.instanceOf(error, ConfigurationError)
      assert.match(error.message, sentence)
    }
  })

  it("is typed by its own event types", async () => {
    const shipped = defineEvent({
      name: "order.shipped",
      description: "An order left.",
      parse: (data) => data as { readonly order: string },
      example: { order: "1" },
    })
    await using billing = await createTestBilling({ events: [shipped] })
    const { receiver } = await billing.testing.endpoint({ eventTypes: ["order.shipped"] })
    await billing.events.publish({ type: "order.shipped", data: { order: "2" } })
    await billing.testing.deliveries()
    assert.deepStrictEqual(receiver.requests[0]?.event.data, { order: "2" })
    type Types = NonNullable<
      NonNullable<Parameters<typeof billing.testing.endpoint>[0]>["eventTypes"]
    >[number]
    expectTypeOf<"order.shipped" | "*">().toExtend<Types>()
    expectTypeOf<"order.shiped">().not.toExtend<Types>()
  })

  it("makes customers with different names", async () => {
    await using billing = await createTestBilling()
    const [a, b] = [
      await billing.testing.customer(),
      await billing.testing.customer({ name: "Grace Hopper" }),
    ]
    assert.notStrictEqual(a.email, b.email)
    assert.deepStrictEqual([a.name, b.name], ["Ada Lovelace", "Grace Hopper"])
  })
})
