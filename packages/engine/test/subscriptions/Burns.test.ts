import { assert, describe, it } from "vitest"
import {
  creditRater,
  type Documented,
  fold,
  linesOf,
  type Period,
  type PeriodLine,
  type PlanTerms,
  previewPlan,
  RatingError,
} from "../../src/index.ts"
import { fc, holds } from "../property.ts"

const PLAN = { key: "studio", version: 1 }
const period: Period = {
  number: 0,
  start: 0,
  end: 100,
  trial: null,
  segments: [{ start: 0, end: 100, plan: PLAN, quantities: {}, unused: null }],
} as never

const terms = (price: string, free: string): PlanTerms => ({
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  minimum: { EUR: "7.00" },
  charges: [
    { key: "images", model: "unit", meter: "images", free, burns: "credits", price: { credits: price } },
    { key: "calls", model: "unit", meter: "calls", price: { EUR: "0.01" } },
  ],
})

/** The lines of a period by now, after what documents stated. */
const billed = (plan: PlanTerms, images: number, documented: ReadonlyArray<Documented>, decimals = 0) =>
  linesOf({
    period,
    timezone: "UTC",
    currency: "EUR",
    termsOf: () => plan,
    decimalsOf: () => decimals,
    until: 100,
    totals: [
      { segment: 0, charge: "images", group: null, after: { quantity: BigInt(images) } },
      { segment: 0, charge: "calls", group: null, after: { quantity: 100n } },
    ],
    documented,
  })

/** What an invoice states of a line, as the next one sees it. */
const statedOf = (line: PeriodLine, invoice: number): Documented => {
  const { burns, charge, group, kind, quantity, segment } = line
  const of = {
    invoiceId: `${invoice}`,
    lineId: `${charge}.${line.burns?.of?.invoiceId}`,
    kind,
    segment,
    charge,
    group,
    quantity,
  }
  return burns === null
    ? { ...of, gross: line.gross, net: line.amount, creditOf: line.creditOf, forgiven: 0n }
    : { ...of, gross: burns.gross, net: burns.amount, creditOf: burns.of, forgiven: 0n }
}

describe("lines that burn credits", () => {
  it("always sum to what all usage burns, rounded once, cost no money, and are explained", () => {
    holds(
      [
        fc.array(fc.nat({ max: 1_000 }), { minLength: 1, maxLength: 6 }),
        fc.nat({ max: 5_000 }),
        fc.nat({ max: 100 }),
        fc.integer({ min: 0, max: 6 }),
      ],
      (usages, thousandths, free, decimals) => {
        const plan = terms((thousandths / 1_000).toFixed(3), String(free))
        const documented: Array<Documented> = []
        let burnt = 0n
        for (const [invoice, images] of usages.entries()) {
          const lines = billed(plan, images, documented, decimals).filter(({ charge }) => charge === "images")
          for (const line of lines) {
            assert.strictEqual(line.amount, 0n)
            assert.strictEqual(line.gross, 0n)
            assert.strictEqual(fold(line.steps, 2), 0n)
            assert.strictEqual(line.burns!.unit, "credits")
            assert.isTrue(line.burns!.amount >= 0n || line.burns!.of !== null)
            burnt += line.burns!.amount
          }
          documented.push(...lines.map((line) => statedOf(line, invoice)))
          // In thousandths of credits, and then in the smallest part, halves up.
          const exact = BigInt(Math.max(0, images - free)) * BigInt(thousandths)
          const part = exact * 10n ** BigInt(decimals)
          assert.strictEqual(burnt, (2n * part + 1_000n) / 2_000n)
        }
      },
    )
  })

  it("are no part of the minimum of the plan", () => {
    const lines = billed(terms("3", "0"), 1_000, [])
    assert.deepStrictEqual(
      lines.map(({ amount, burns, charge }) => [charge, amount, burns?.amount ?? null]),
      [
        ["images", 0n, 3_000n],
        ["calls", 100n, null],
        [null, 600n, null],
      ],
    )
  })

  it("are previewed without money", () => {
    const { lines, total } = previewPlan(terms("1.5", "0"), { quantities: { images: 3, calls: 1_000 } })
    assert.strictEqual(total, 1_000n)
    assert.deepInclude(lines[0]?.steps.at(-1), { type: "burn", unit: "credits", credits: "5" })
  })

  it("are rated in units of 0 to 6 decimals", () => {
    const [charge] = terms("0.0000015", "0").charges
    assert.strictEqual(creditRater(charge!, 6).rate(1_000_000n).amount, 1_500_000n)
    for (const decimals of [-1, 7, 0.5]) assert.throws(() => creditRater(charge!, decimals), RatingError)
  })
})
