import { assert, describe, it } from "vitest"
import { type Charge, linesOf, type Total, usageQueries } from "../../src/index.ts"
import { advance, at, changeTo, done, plan } from "./Subscriptions.ts"

const calls = (fields: Partial<Charge> = {}): Charge =>
  ({ key: "calls", model: "unit", meter: "api_calls", price: { EUR: "0.10" }, ...fields }) as Charge
const fee: Charge = { key: "base", model: "flat", price: { EUR: "10.00" } }
const where = { region: ["eu", "us"] }
const first = plan("first", { charges: [fee, calls({ where })] })
const second = plan("second", { charges: [fee, calls({ by: "model" })] })
const [january, change, february] = [at("2026-01-01"), at("2026-01-11"), at("2026-02-01")]

/** The receipts of the lines of January, in which the plan changed. */
const receipts = (totalOf: (plan: string) => Total) => {
  const created = done(null, { type: "create", plan: first, quantities: {}, trial: null }, january)
  const changed = done(created.subscription, changeTo(second), change)
  const { effects } = advance(changed.subscription, february)
  const [period] = effects.flatMap((effect) => (effect.kind === "close_period" ? [effect.period] : []))
  const termsOf = ({ key }: { readonly key: string }) => (key === "first" ? first.terms : second.terms)
  const totals = usageQueries(period!, "UTC", termsOf, february).map(({ before, charge, segment }) => {
    const group = charge.by === undefined ? null : "opus"
    const after = totalOf(charge.by === undefined ? "first" : "second")
    const total = { segment, charge: charge.key, group, after }
    return before === null ? total : { ...total, before: totalOf("first") }
  })
  const input = { period: period!, timezone: "UTC", currency: "EUR", termsOf, until: february, totals }
  return linesOf({ ...input, documented: [] }).map(({ charge, receipt }) => [charge, receipt] as const)
}

describe("the receipt of a line", () => {
  it("says which usage it was priced by: over a change of plan, all since the period began", () => {
    const counts = { first: 8, second: 15 } as const
    const found = receipts((of) => {
      const recordCount = of === "first" ? counts.first : counts.second
      return { quantity: BigInt(recordCount) * 10n, recordCount }
    })
    assert.deepStrictEqual(found, [
      ["base", null],
      ["base", null],
      [
        "calls",
        {
          meter: "api_calls",
          where,
          periodStart: january,
          periodEnd: change,
          total: "80",
          recordCount: 8,
        },
      ],
      [
        "calls",
        {
          meter: "api_calls",
          where: { model: ["opus"] },
          periodStart: january,
          periodEnd: february,
          total: "150",
          recordCount: 15,
        },
      ],
    ])
  })

  it("is not there when the number of records is not known", () => {
    for (const [, receipt] of receipts(() => ({ quantity: 1n }))) assert.isNull(receipt)
  })
})
