/** Years of billing in tests: the clock moves, and what is due is done on the way. */
import { InvalidInputError } from "billwright"
import { createTestBilling, type TestBilling, type TestDuration } from "billwright/testing"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

const START = "2026-01-31T12:00:00Z"
const DAY = 86_400_000

const pro = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [
    { key: "base", model: "flat", price: { EUR: "20.00" } },
    { key: "calls", model: "unit", meter: "calls", price: { EUR: "0.01" } },
  ],
} as const

const subscribe = async (billing: TestBilling) => {
  const customer = await billing.testing.customer()
  await billing.subscriptions.create({ customerId: customer.id, plan: "pro" })
  return customer.id
}

const begin = async (now: string = START) => {
  const billing = await createTestBilling({ now })
  await billing.meters.create({ key: "calls", productId: "api", unit: "call" })
  await billing.plans.push(pro)
  return billing
}

/** The invoices, oldest first, and what of them is the same in every world. */
const invoicesOf = async (billing: TestBilling) => {
  const found: Array<unknown> = []
  for await (const { issuedAt, lines, number, status, total } of billing.invoices.list()) {
    const amounts = lines.map(({ amount, id }) => [id, amount])
    found.push({ number, status, total, issuedAt, amounts })
  }
  return found.reverse()
}

const eventsOf = async (billing: TestBilling) => {
  const found: Array<string> = []
  for await (const { timestamp, type } of billing.events.list())
    found.push(`${timestamp.toISOString()} ${type}`)
  return found.reverse()
}

describe("testing.advance", () => {
  it("bills what is due on the way, and sends its webhooks at their instants", async () => {
    await using billing = await begin()
    const { receiver } = await billing.testing.endpoint({ eventTypes: ["invoice.finalized"] })
    const customerId = await subscribe(billing)
    await billing.testing.advance({ days: 10 })
    await billing.usage.record({ customerId, productId: "api", unit: "call", quantity: 300 })
    await billing.testing.advance({ months: 1 })
    assert.deepStrictEqual(billing.testing.now, new Date("2026-03-10T12:00:00Z"))
    const { data } = await billing.invoices.list().page()
    assert.deepStrictEqual(
      data.map(({ issuedAt, number, total }) => ({ issuedAt, number, total })),
      [
        { issuedAt: new Date("2026-02-28T13:00:00Z"), number: "2026-0002", total: 2_300n },
        { issuedAt: new Date(START), number: "2026-0001", total: 2_000n },
      ],
    )
    assert.deepStrictEqual(
      receiver.requests.map(({ at }) => at),
      [new Date(START), new Date("2026-02-28T13:00:00Z")],
    )
  })

  it("builds meters on the way", async () => {
    await using billing = await createTestBilling({ now: START })
    const { id: customerId } = await billing.testing.customer()
    for (let day = 0; day < 40; day++) {
      await billing.usage.record({ customerId, productId: "api", unit: "call", quantity: 1 })
      await billing.testing.advance({ days: 1 })
    }
    await billing.transaction((tx) =>
      tx.meters.create({ key: "most", productId: "api", unit: "call", aggregation: "max" }),
    )
    const statusOf = async () => (await billing.meters.list().page()).data[0]?.status
    assert.strictEqual(await statusOf(), "building")
    await billing.testing.advance({ milliseconds: 1 })
    assert.strictEqual(await statusOf(), "ready")
  })

  it("goes through three years of many subscriptions", { timeout: 60_000 }, async () => {
    await using billing = await begin()
    for (let n = 0; n < 10; n++) await subscribe(billing)
    await billing.testing.advance({ years: 3 })
    assert.deepStrictEqual(billing.testing.now, new Date("2029-01-31T12:00:00Z"))
    let count = 0
    for await (const { status } of billing.invoices.list()) if (status !== "draft") count++
    // The last of the 37 has usage, of which late records are waited for.
    assert.strictEqual(count, 360)
    await billing.testing.advance({ hours: 1 })
    for await (const { status } of billing.invoices.list({ status: "draft" })) assert.fail(status)
  })

  it("does in many steps what it does in one", { timeout: 60_000 }, async () => {
    const world = async (steps: ReadonlyArray<number>) => {
      await using billing = await begin()
      await subscribe(billing)
      for (const days of steps) await billing.testing.advanceTo(new Date(Date.parse(START) + days * DAY))
      await billing.testing.advanceTo("2029-02-01T00:00:00Z")
      return { invoices: await invoicesOf(billing), events: await eventsOf(billing) }
    }
    const once = await world([])
    assert.lengthOf(once.invoices, 37)
    const stops = fc.array(fc.double({ min: 0, max: 1_096, noNaN: true }), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(stops, async (days) => {
        assert.deepStrictEqual(await world(days.toSorted((a, b) => a - b)), once)
      }),
      { numRuns: 5, seed: 19 },
    )
  })

  it("counts months and years by the calendar", async () => {
    const ends: ReadonlyArray<readonly [TestDuration, string]> = [
      [{ months: 1 }, "2026-02-28T12:00:00Z"],
      [{ years: 2, months: 1 }, "2028-02-29T12:00:00Z"],
      [{ years: 1, days: 1, hours: 2, milliseconds: 5 }, "2027-02-01T14:00:00.005Z"],
    ]
    for (const [duration, end] of ends) {
      await using billing = await createTestBilling({ now: START })
      await billing.testing.advance(duration)
      assert.deepStrictEqual(billing.testing.now, new Date(end))
    }
  })

  it("refuses to go back, and to leave the years of four digits", async () => {
    await using billing = await createTestBilling({ now: START })
    const { testing } = billing
    const wrong: ReadonlyArray<readonly [string, Promise<void>]> = [
      ["duration.months must be an integer of at least 0", testing.advance({ months: -1 })],
      ["duration.days must be an integer of at least 0", testing.advance({ days: 0.5 })],
      ["duration must not lead beyond the year 9999", testing.advance({ years: 8_000 })],
      ["duration must not lead beyond the year 9999", testing.advance({ years: Number.MAX_SAFE_INTEGER })],
      ["instant must not be before the time of the test's clock", testing.advanceTo("2026-01-31T11:59:59Z")],
      ["instant must not lead beyond the year 9999", testing.advanceTo(new Date(8.64e15))],
      ["instant must be a Date or an instant such as 2026-11-21T09:30:00Z", testing.advanceTo("tomorrow")],
    ]
    for (const [message, moved] of wrong) {
      const error = await rejection(moved)
      assert.instanceOf(error, InvalidInputError)
      assert.strictEqual(error.message, message)
    }
    assert.deepStrictEqual(testing.now, new Date(START))
  })
})
