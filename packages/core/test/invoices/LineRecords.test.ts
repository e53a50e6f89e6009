import { InvalidInput, Invoices, Meters, Plans, Subscriptions, Usage } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { advanceTo, allInvoices } from "../time/billing.ts"
import { at, inWorld, newCustomer, recordUsage } from "../world.ts"

/** 20.00 a month, and calls by region, without free ones. */
const byRegion = {
  key: "regional",
  name: "Regional",
  currencies: ["EUR"],
  interval: { unit: "month" as const, count: 1 },
  charges: [
    { key: "base", model: "flat" as const, price: { EUR: "20.00" } },
    {
      key: "calls",
      model: "unit" as const,
      meter: "calls",
      by: "region",
      where: { model: ["opus"] },
      price: { EUR: "0.01" },
    },
  ],
}

const opus = (region?: string) => ({
  dimensions: { model: "opus", ...(region === undefined ? {} : { region }) },
})

describe("the records behind a line", () => {
  it.effect("are those of its meter, customer, filters and period, late ones too, page by page", () =>
    Effect.gen(function* () {
      yield* (yield* Meters).create({
        key: "calls",
        productId: "api",
        unit: "call",
        dimensions: ["model", "region"],
      })
      yield* (yield* Plans).push({ plans: [byRegion] })
      const [customer, other] = [yield* newCustomer(), yield* newCustomer()]
      yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "regional" })
      const record = (quantity: number, dimensions: object, day = "2026-12-01") =>
        Effect.map(
          recordUsage(customer, { quantity, ...dimensions, timestamp: at(`${day}T00:00:00.000Z`) }),
          (recorded) => recorded.record.id,
        )
      yield* advanceTo(at("2026-12-02T00:00:00.000Z").epochMilliseconds)
      const first = yield* record(1_000, opus("eu"))
      const second = yield* record(500, opus("eu"))
      const nowhere = yield* record(300, opus())
      const voided = yield* record(7, opus("eu"))
      yield* record(5, { dimensions: { model: "haiku", region: "eu" } })
      yield* recordUsage(other, { quantity: 9, ...opus("eu") })
      yield* (yield* Usage).voidRecord(voided)
      yield* advanceTo(at("2026-12-21T12:30:00.000Z").epochMilliseconds)
      yield* record(100, opus("eu"), "2026-12-21")
      yield* advanceTo(at("2026-12-22T00:00:00.000Z").epochMilliseconds)
      const invoices = yield* Invoices
      const [, invoice] = yield* allInvoices
      const lineOf = (group: string | null) =>
        invoice!.lines.find(({ charge, origin }) => charge === "calls" && origin?.group === group)!
      const idsOf = (id: string, line: string) =>
        Effect.map(invoices.records(id, line), ({ data }) => data.map((one) => one.id))
      const eu = lineOf("eu")
      // The record of December 21 at midnight is of this period, too.
      assert.strictEqual(eu.quantity, "1600")
      const behind = yield* invoices.records(invoice!.id, eu.id)
      assert.strictEqual(
        behind.data.reduce((sum, { quantity }) => sum + quantity, 0),
        1_600,
      )
      assert.deepStrictEqual(yield* idsOf(invoice!.id, lineOf(null).id), [nowhere])
      const base = invoice!.lines.find(({ charge }) => charge === "base")!
      assert.deepStrictEqual(yield* idsOf(invoice!.id, base.id), [])
      const page = yield* invoices.records(invoice!.id, eu.id, { limit: 1, startingAfter: second })
      assert.deepStrictEqual(
        { ids: page.data.map(({ id }) => id), hasMore: page.hasMore },
        { ids: [first], hasMore: false },
      )
      // A record that comes late is behind the adjustment, which bills the period as a whole.
      const late = yield* record(50, opus("eu"))
      yield* advanceTo(at("2027-01-22T00:00:00.000Z").epochMilliseconds)
      const next = (yield* allInvoices).at(-1)!
      const adjustment = next.lines.find(({ kind }) => kind === "adjustment")!
      assert.deepInclude(adjustment, { quantity: "1650", amount: 50n })
      const all = yield* idsOf(next.id, adjustment.id)
      assert.deepStrictEqual(all, [late, ...behind.data.map(({ id }) => id)])
      const unknown = yield* Effect.flip(invoices.records(invoice!.id, "none"))
      assert.instanceOf(unknown, InvalidInput)
      assert.strictEqual((unknown as InvalidInput).field, "lineId")
    }).pipe(inWorld()),
  )
})
