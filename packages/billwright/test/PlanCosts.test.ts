/** What a change of plans means in money, compared with what customers really pay after it. */
import { definePlan, InvalidInputError } from "billwright"
import { createTestBilling } from "billwright/testing"
import { assert, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

const START = "2026-01-01T00:00:00Z"
const CUSTOMERS = 15

const pro = (base: string, call: string, currencies = ["EUR", "USD"]) =>
  definePlan("pro", {
    name: "Pro",
    currencies,
    interval: { unit: "month", count: 1 },
    meters: ["calls"],
    charges: [
      { key: "base", model: "flat", timing: "advance", price: { EUR: base, USD: base } },
      { key: "calls", model: "unit", meter: "calls", free: "10", price: { EUR: call, USD: call } },
    ],
  })

/** Customers with usage in each of four months: the n-th uses 10 n calls a month. Every third pays in dollars. */
const begin = async () => {
  const billing = await createTestBilling({ now: START })
  await billing.meters.create({ key: "calls", productId: "api", unit: "call" })
  await billing.plans.push([pro("20.00", "0.10"), { ...pro("1.00", "1"), key: "other" }])
  const ids: Array<string> = []
  for (let n = 0; n < CUSTOMERS; n++) {
    const { id } = await billing.testing.customer()
    ids.push(id)
    await billing.subscriptions.create({ customerId: id, plan: "pro", currency: n % 3 === 2 ? "USD" : "EUR" })
  }
  await billing.subscriptions.create({ customerId: ids[0]!, plan: "other", currency: "EUR" })
  for (let month = 0; month < 4; month++) {
    for (const [n, customerId] of ids.entries())
      if (n > 0) await billing.usage.record({ customerId, productId: "api", unit: "call", quantity: 10 * n })
    await billing.testing.advance({ months: 1 })
  }
  await billing.testing.advance({ days: 1 })
  return { billing, ids }
}

/** What a month costs by hand, in cents. */
const monthOf = (n: number, base: bigint, call: bigint): bigint =>
  base + BigInt(Math.max(0, 10 * n - 10)) * call

describe("plans.compare", () => {
  it("rates the real usage of all customers as it was and by the new plans, and writes nothing", async () => {
    const { billing, ids } = await begin()
    const progress: Array<number> = []
    const before = (await billing.events.list().page()).data
    const compared = await billing.plans.compare(
      [pro("18.00", "0.13"), { ...pro("1.00", "1"), key: "other" }],
      {
        months: 3,
        onProgress: ({ subscriptions }) => progress.push(subscriptions),
      },
    )
    const costs = (currency: string) =>
      ids.flatMap((customerId, n) => {
        if ((n % 3 === 2 ? "USD" : "EUR") !== currency) return []
        return [{ customerId, before: 3n * monthOf(n, 2_000n, 10n), after: 3n * monthOf(n, 1_800n, 13n) }]
      })
    const expected = ["EUR", "USD"].map((currency) => {
      const all = costs(currency)
      const rises = all.filter((one) => one.after > one.before)
      return {
        currency,
        before: all.reduce((sum, one) => sum + one.before, 0n),
        after: all.reduce((sum, one) => sum + one.after, 0n),
        customers: all.length,
        unchanged: all.filter((one) => one.after === one.before).length,
        rises: rises.length,
        falls: all.filter((one) => one.after < one.before).length,
        largestRises: rises.toReversed().slice(0, 10),
      }
    })
    assert.deepStrictEqual(compared, {
      from: new Date("2026-02-02T00:00:00Z"),
      to: new Date("2026-05-02T00:00:00Z"),
      plans: ["pro"],
      isComplete: true,
      subscriptions: CUSTOMERS,
      periods: 3 * CUSTOMERS,
      unrated: 0,
      currencies: expected,
      problems: [],
    })
    assert.deepStrictEqual(progress, [CUSTOMERS])
    assert.deepStrictEqual((await billing.events.list().page()).data, before)
    assert.strictEqual((await billing.plans.get("pro")).version, 1)
  })

  it("says which subscriptions the new plans can't rate", async () => {
    const { billing } = await begin()
    const [charge] = pro("1.00", "1").charges
    const euros = {
      ...pro("18.00", "0.13"),
      currencies: ["EUR"],
      charges: [{ ...charge, price: { EUR: "1.00" } }],
    }
    const compared = await billing.plans.compare(euros as never)
    assert.strictEqual(compared.unrated, CUSTOMERS / 3)
    assert.lengthOf(compared.problems, CUSTOMERS / 3)
    assert.match(compared.problems[0]!.problem, /USD/)
    assert.deepStrictEqual(
      compared.currencies.map(({ currency }) => currency),
      ["EUR"],
    )
    const unknown = { ...pro("18.00", "0.13"), charges: [{ ...pro("1", "1").charges[1], meter: "nothing" }] }
    assert.match((await billing.plans.compare(unknown as never)).problems[0]!.problem, /meter/)
  })

  it("compares nothing when no terms change, and refuses what is wrong", async () => {
    const { billing } = await begin()
    const same = await billing.plans.compare([pro("20.00", "0.10"), { ...pro("9.00", "1"), key: "new" }])
    assert.deepInclude(same, { plans: [], subscriptions: 0, currencies: [] })
    for (const months of [0, 37, 1.5]) {
      const error = await rejection(billing.plans.compare(pro("20.00", "0.10"), { months }))
      assert.instanceOf(error, InvalidInputError)
      assert.strictEqual(error.field, "months")
    }
    assert.instanceOf(await rejection(billing.plans.compare({ key: "pro" } as never)), InvalidInputError)
  })
})
