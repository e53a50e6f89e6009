/** Removing old data, on the memory store. */
import { createBilling, InvalidInputError } from "billwright"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import { rejection } from "./Rejection.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")

describe("prune", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: NOON })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it("removes old events of all accounts and modes", async () => {
    await using billing = await createBilling({ store: memory(), dispatcher: false, log: false })
    const type = "invoice.paid"
    const data = { invoice_id: "in_1", customer_id: "ours", amount: 4200, currency: "EUR" }
    await billing.events.publish({ type, data })
    await billing.forAccount("acme").test.events.publish({ type, data })
    vi.setSystemTime(NOON + 2 * 3_600_000)
    const { event } = await billing.events.publish({ type, data })
    const before = new Date(NOON + 3_600_000)
    const counted = { events: 2, deliveries: 0, attempts: 0, hourlyCounts: 0 }
    assert.deepStrictEqual(await billing.prune({ before, isDryRun: true }), {
      ...counted,
      answers: undefined,
    })
    assert.deepStrictEqual(await billing.prune({ before: before.toISOString() }), { ...counted, answers: 0 })
    const { data: left } = await billing.events.list().page()
    assert.deepStrictEqual(
      left.map(({ id }) => id),
      [event.id],
    )
  })

  it("refuses an instant that is invalid or too recent", async () => {
    await using billing = await createBilling({ store: memory(), dispatcher: false, log: false })
    for (const input of [{}, undefined, { before: "yesterday" }, { before: new Date(NOON) }]) {
      assert.instanceOf(await rejection(billing.prune(input as { before: Date })), InvalidInputError)
    }
  })
})
