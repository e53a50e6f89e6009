/**
 * Each plan is pushed and rated. The amounts are computed by hand, in the comments.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type Billing, createBilling } from "billwright"
import { memory } from "billwright/memory"
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"
import * as plans from "../src/plans.ts"

let billing: Billing

beforeAll(async () => {
  billing = await createBilling({ store: memory(), log: false })
  await billing.plans.push(Object.values(plans))
})
afterAll(() => billing.close())

/** The amounts of the lines and their total, in cents. */
const cents = async (input: Parameters<Billing["plans"]["preview"]>[0]) => {
  const { lines, total } = await billing.plans.preview(input)
  return [...lines.map(({ amount }) => amount), total].map(Number)
}

describe("the plans", () => {
  it("are stored as they are written", async () => {
    for (const plan of Object.values(plans)) {
      const { terms, version } = await billing.plans.get(plan.key)
      assert.strictEqual(version, 1)
      expect(plan).toMatchObject(terms)
    }
    const changes = await billing.plans.diff(Object.values(plans))
    assert.deepStrictEqual(
      changes.map(({ status }) => status),
      ["unchanged", "unchanged", "unchanged"],
    )
  })

  it("print what the README shows", () => {
    const { stdout } = spawnSync(process.execPath, [join(import.meta.dirname, "../src/main.ts")], {
      encoding: "utf8",
    })
    assert.include(readFileSync(join(import.meta.dirname, "../README.md"), "utf8"), `\n${stdout}`)
  })
})

describe("the assistant", () => {
  const { key } = plans.assistantTeam

  it("costs seats, tokens by model and packs of images", async () => {
    const quantities = { seats: 3, tokens_small: 12_500_000, tokens_large: 1_234_567, images: 250 }
    // 3 × 30.00; (12.5 − 10) × 0.50 = 1.25; 1.234567 × 8.00 = 9.876536 → 9.88; 3 packs × 4.00
    assert.deepStrictEqual(
      await cents({ plan: key, currency: "EUR", quantities }),
      [9000, 125, 988, 1200, 11_313],
    )
    // 3 × 32.00; 2.5 × 0.55 = 1.375 → 1.38; 1.234567 × 8.50 = 10.4938195 → 10.49; 3 × 4.25
    assert.deepStrictEqual(
      await cents({ plan: key, currency: "USD", quantities }),
      [9600, 138, 1049, 1275, 12_062],
    )
  })

  it("costs only its seats when nothing is used beyond what is free", async () => {
    const quantities = { seats: 1, tokens_small: 10_000_000 }
    assert.deepStrictEqual(await cents({ plan: key, currency: "EUR", quantities }), [3000, 0, 0, 0, 3000])
  })
})

describe("the maps API", () => {
  const { key } = plans.mapsGrowth

  it("costs its minimum when less is used", async () => {
    // 30,000 × 0.0004 = 12.00; 12.3 GB → 13 × 0.09 = 1.17; 25.00 − 13.17 = 11.83
    const quantities = { calls: 40_000, traffic: "12300000000" }
    assert.deepStrictEqual(await cents({ plan: key, quantities }), [1200, 117, 1183, 2500])
    assert.deepStrictEqual(await cents({ plan: key }), [0, 0, 2500, 2500])
  })

  it("costs calls by tiers", async () => {
    // The end of a tier belongs to it.
    assert.deepStrictEqual((await cents({ plan: key, quantities: { calls: 10_000 } }))[0], 0)
    // 990,000 × 0.0004 = 396.00; 1,500,000 × 0.0002 = 300.00
    assert.deepStrictEqual(await cents({ plan: key, quantities: { calls: 2_500_000 } }), [69_600, 0, 69_600])
  })
})

describe("the desk", () => {
  const { key } = plans.deskYearly
  const total = async (seats: number, currency: string) =>
    (await cents({ plan: key, currency, quantities: { seats } })).at(-1)

  it("costs all seats at the price of the team's size, and support", async () => {
    assert.strictEqual(await total(10, "EUR"), 10 * 9600 + 24_000) // 1,200.00
    assert.strictEqual(await total(11, "EUR"), 11 * 8400 + 24_000) // 1,164.00: less than for ten
    assert.strictEqual(await total(25, "EUR"), 234_000) // 25 × 84.00 + 240.00 = 2,340.00
    assert.strictEqual(await total(51, "EUR"), 391_200) // 51 × 72.00 + 240.00 = 3,912.00
    assert.strictEqual(await total(25, "USD"), 250_000) // 25 × 90.00 + 250.00 = 2,500.00
  })
})
