/** Forks answer what really happens, and leave nothing behind. */
import { ConfigurationError, CustomerNotFoundError, InvalidInputError } from "billwright"
import { createTestBilling } from "billwright/testing"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import {
  begin,
  type Event,
  eventIdsOf,
  happen,
  HISTORY,
  pictureOf,
  saveDefault,
  START,
  subscribe,
  team,
  use,
} from "./Forks.ts"
import { rejection } from "./Rejection.ts"

const SEED = 20_261_126

const past = fc.array(
  fc.record({ event: fc.constantFrom<Event>(...HISTORY), hours: fc.integer({ min: 0, max: 24 * 20 }) }),
  { maxLength: 8 },
)
/** What is done in the fork, and then for real. */
const future = fc.array(
  fc.record({
    act: fc.constantFrom("nothing", "usage", "late", "change", "cancel", "seats"),
    days: fc.integer({ min: 1, max: 70 }),
  }),
  { minLength: 1, maxLength: 4 },
)

describe("fork", () => {
  it("comes to the same as what really happens", async () => {
    await fc.assert(
      fc.asyncProperty(past, future, async (parts, acts) => {
        const world = await begin()
        const { billing } = world
        const { id: customerId } = await billing.testing.customer()
        const subscriptionId = await subscribe(billing, customerId)
        for (const { event, hours } of parts) {
          await happen(world, { customerId, subscriptionId }, event)
          await billing.testing.advance({ hours })
        }
        // In a fork, cards that are saved pay.
        if (parts.some(({ event }) => event === "declined")) await saveDefault(world, customerId, {})
        // Of one millisecond, ids of two processes have any order.
        await billing.testing.advance({ milliseconds: 1 })
        const known = await eventIdsOf(billing)
        const go = async (
          calls: Parameters<typeof use>[0],
          advance: (days: number) => Promise<void>,
        ): Promise<void> => {
          for (const { act, days } of acts) {
            const { phase } = await calls.subscriptions.get(subscriptionId)
            if (act === "usage") await use(calls, customerId, 25)
            if (act === "late") await use(calls, customerId, 250, new Date(START))
            if (phase === "active") {
              if (act === "change")
                await calls.subscriptions.change(subscriptionId, { plan: "team", at: "period_end" })
              if (act === "seats")
                await calls.subscriptions.change(subscriptionId, { quantities: { seats: 2 } }).catch(() => {})
              if (act === "cancel") await calls.subscriptions.cancel(subscriptionId, { at: "now" })
            }
            await advance(days)
          }
        }
        const forked = await billing.fork(customerId, async (f) => {
          await go(f, (days) => f.advance({ days }))
          return pictureOf(f, customerId, new Set())
        })
        await go(billing, (days) => billing.testing.advance({ days }))
        assert.deepStrictEqual(forked, await pictureOf(billing, customerId, known))
        await billing.close()
      }),
      { seed: SEED, numRuns: 12 },
    )
  })
})

describe("a fork", () => {
  it("begins at the time of the customer's test clock, and has none", async () => {
    const { billing } = await begin()
    const clock = await billing.testClocks.create({ name: "Year", now: new Date("2027-06-01T00:00:00Z") })
    const { id: customerId } = await billing.testing.customer({ testClockId: clock.id })
    await subscribe(billing, customerId)
    const found = await billing.fork(customerId, async (f) => {
      const from = f.now
      await f.advanceTo("2027-07-01T01:00:00Z")
      const { data } = await f.invoices.list().page()
      return { from, to: f.now, issued: data.map(({ issuedAt }) => issuedAt) }
    })
    assert.deepStrictEqual(found, {
      from: new Date("2027-06-01T00:00:00Z"),
      to: new Date("2027-07-01T01:00:00Z"),
      issued: [new Date("2027-07-01T01:00:00Z"), new Date("2027-06-01T00:00:00Z")],
    })
    const { data } = await billing.invoices.list().page()
    assert.lengthOf(data, 1)
  })

  it("forks again, reads a list that it returns, and gives what is thrown", async () => {
    const { billing } = await begin()
    const { id: customerId } = await billing.testing.customer()
    const id = await subscribe(billing, customerId)
    const invoices = await billing.fork(customerId, async (f) => {
      await f.advance({ months: 12 })
      return f.fork(customerId, async (again) => {
        await again.subscriptions.cancel(id, { at: "period_end" })
        await again.advance({ months: 12 })
        return again.invoices.list()
      })
    })
    assert.lengthOf(invoices, 14)
    const thrown = new Error("mine")
    assert.strictEqual(await rejection(billing.fork(customerId, () => Promise.reject(thrown))), thrown)
    // Whoever keeps a fork finds it closed.
    const kept = await billing.fork(customerId, async (f) => ({ f }))
    assert.match(String(await rejection(kept.f.customers.get(customerId))), /closed/)
  })

  it("can be made in a transaction, also where everything else waits for it", async () => {
    const { billing } = await begin()
    const names = await billing.transaction(async (tx) => {
      const { id } = await tx.customers.create({ name: "Grace", email: "grace@example.com" })
      return tx.fork(id, async (f) => {
        await f.advance({ days: 1 })
        return f.customers.list()
      })
    })
    assert.deepStrictEqual(
      names.map(({ name }) => name),
      ["Grace"],
    )
  })

  it("fails for a customer that is not there, and for wrong arguments", async () => {
    const { billing } = await begin()
    const { id } = await billing.testing.customer()
    const unknown = await rejection(billing.fork("cus_00000000000000000000000000", async () => 1))
    assert.instanceOf(unknown, CustomerNotFoundError)
    assert.instanceOf(await rejection(billing.fork(7 as never, async () => 1)), InvalidInputError)
    assert.instanceOf(await rejection(billing.fork(id, undefined as never)), ConfigurationError)
    await billing.customers.erase(id)
    assert.instanceOf(await rejection(billing.fork(id, async () => 1)), CustomerNotFoundError)
    assert.instanceOf(await rejection(billing.exportCustomer(id)), CustomerNotFoundError)
    const misspelt = await rejection(billing.exportCustomer(id, { personaldata: false } as never))
    assert.instanceOf(misspelt, InvalidInputError)
  })
})

it("bills late usage of a period that is long over, as it really does", async () => {
  const { billing } = await begin()
  const { id: customerId } = await billing.testing.customer()
  await subscribe(billing, customerId)
  await billing.testing.advance({ months: 4 })
  const known = await eventIdsOf(billing)
  const late = async (calls: Parameters<typeof use>[0], advance: () => Promise<void>) => {
    await use(calls, customerId, 250, new Date(START))
    await advance()
  }
  const forked = await billing.fork(customerId, async (f) => {
    await late(f, () => f.advance({ months: 2 }))
    return pictureOf(f, customerId, new Set())
  })
  await late(billing, () => billing.testing.advance({ months: 2 }))
  assert.deepStrictEqual(forked, await pictureOf(billing, customerId, known))
  assert.isTrue(forked.some((line) => line.includes('"kind":"adjustment"')))
})

it("watches cards and credits as it was watched before", async () => {
  const { billing, payments } = await begin()
  const { id: customerId } = await billing.testing.customer()
  await subscribe(billing, customerId)
  await payments.saveCard(customerId, { expiry: { month: 3, year: 2026 } })
  await billing.creditAlerts.create({ customerId, unit: "credits", level: 100 })
  await billing.testing.advance({ days: 1 })
  const types = await billing.fork(customerId, async (f) => {
    const { available } = await f.credits.balance({ customerId, unit: "credits" })
    await f.credits.consume({ customerId, unit: "credits", amount: available - 50n })
    await f.advance({ days: 50 })
    const found: Array<string> = []
    for await (const { type } of f.events.list()) found.push(type)
    return found
  })
  assert.includeMembers(types, ["payment_method.expiring", "credit.low"])
})

describe("an export", () => {
  it("starts a test, in the account, the mode and the time of the customer", async () => {
    const world = await begin()
    const { billing } = world
    const live = billing.forAccount("acme").live
    await live.meters.create({ key: "calls", productId: "api", unit: "call" })
    await live.plans.push(team)
    const { id } = await live.customers.create({
      name: "Grace Hopper",
      email: "grace@example.com",
      taxId: "DE1",
      address: { line1: "Arlington" },
      metadata: { secret: "yes" },
    })
    await live.subscriptions.create({ customerId: id, plan: "team" })
    await billing.testing.advance({ days: 3 })
    await using again = await createTestBilling({ snapshot: await live.exportCustomer(id) })
    assert.deepStrictEqual(
      [again.accountId, again.mode, again.testing.now],
      ["acme", "live", billing.testing.now],
    )
    assert.deepStrictEqual(await again.customers.get(id), await live.customers.get(id))
    assert.deepStrictEqual(
      (await again.invoices.list().page()).data,
      (await live.invoices.list().page()).data,
    )
    const text = await live.exportCustomer(id, { personalData: false })
    await using without = await createTestBilling({ snapshot: text })
    assert.notMatch(text, /Grace|DE1|Arlington|secret/)
    assert.deepInclude(await without.customers.get(id), {
      name: "Customer",
      email: "customer@example.com",
      taxId: "removed",
      address: null,
      metadata: {},
    })
  })

  it("is refused when it is something else", async () => {
    const { billing } = await begin()
    const { id } = await billing.testing.customer()
    const text = await billing.exportCustomer(id)
    const parsed = JSON.parse(text) as Record<string, unknown>
    const changed = (fields: object) => JSON.stringify({ ...parsed, ...fields })
    const customer = (parsed["values"] as Record<string, ReadonlyArray<object>>)["Customer"]![0]!
    let deep: unknown = {}
    for (let level = 0; level < 200; level++) deep = { deep }
    const wrong: ReadonlyArray<readonly [string, RegExp]> = [
      ["", /is no JSON/],
      ["[]", /must be the text of a snapshot/],
      [changed({ format: 2 }), /is of format 2, and this release reads format 1/],
      [changed({ tenant: { accountId: "a b", mode: "test" } }), /is not complete/],
      [changed({ invoices: [1] }), /is not complete/],
      [changed({ invoices: undefined }), /is not complete/],
      [changed({ customerId: "cus_1" }), /must have its customer, and no other/],
      [changed({ values: { Customer: [{ ...customer, email: 7 }] } }), /has the customer cus_.*not valid/],
      [changed({ at: { $bigint: "1.5" } }), /has an integer that is none/],
      [changed({ at: { $instant: "now" } }), /has an instant that is none/],
      [changed({ series: deep }), /is nested deeper than 100 levels/],
    ]
    for (const [snapshot, problem] of wrong) {
      const error = await rejection(createTestBilling({ snapshot }))
      assert.instanceOf(error, ConfigurationError)
      assert.match(error.message, problem)
    }
    const other = await rejection(createTestBilling({ snapshot: 7 as never }))
    assert.match(String(other), /snapshot must be the text/)
  })
})
