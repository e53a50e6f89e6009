import { readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { rate } from "billwright/rating"
import { assert, describe, it } from "vitest"
import { bundle } from "../src/bundle.ts"
import { base, calls, currency, seats } from "../src/Plan.ts"
import { amountText, words } from "../src/Words.ts"

const wordsOf = (charge: typeof calls, quantity: number) =>
  rate(charge, quantity, { currency }).steps.flatMap((step) => words(step, currency) ?? [])

describe("the pricing page", () => {
  it("is at most 12 KB with the rating in it, as it is sent", async () => {
    const script = await bundle()
    assert.notMatch(script, /\bimport\b|\bprocess\b|\bBuffer\b/)
    const html = readFileSync(new URL("../src/index.html", import.meta.url))
    assert.isAtMost(gzipSync(script).length + gzipSync(html).length, 12 * 1024)
  })

  it("says why the price is what it is", () => {
    assert.deepStrictEqual(wordsOf(base, 1), ["20.00 EUR a month"])
    assert.deepStrictEqual(wordsOf(seats, 3), ["3 × 5.00 EUR = 15 EUR"])
    assert.deepStrictEqual(wordsOf(calls, 1_210_000), [
      "10,000 are included",
      "0 to 100,000: 100,000 × 0.001 EUR = 100 EUR",
      "100,000 to 1,000,000: 900,000 × 0.0008 EUR = 720 EUR",
      "above 1,000,000: 200,000 × 0.0005 EUR = 100 EUR",
    ])
    assert.deepStrictEqual(wordsOf(calls, 0), ["0 to 100,000: 0 × 0.001 EUR = 0 EUR"])
  })

  it("writes amounts with their minor unit", () => {
    const texts = [0n, 5n, 1380n, 123456789n].map((amount) => amountText(amount, currency))
    assert.deepStrictEqual(texts, ["0.00 EUR", "0.05 EUR", "13.80 EUR", "1,234,567.89 EUR"])
  })
})
