import { assert, describe, it } from "vitest"
import { type Charge, linesOf, type Period, type PeriodInput, type TermsOf } from "../../src/index.ts"
import { fc, holds } from "../property.ts"
import { Book, lineText } from "./Book.ts"
import { advance, at, done, plan } from "./Subscriptions.ts"

const fee: Charge = { key: "base", model: "flat", price: { EUR: "10.00" } }
const calls: Charge = { key: "calls", model: "unit", meter: "calls", price: { EUR: "0.10" } }
const byRegion: Charge = {
  key: "traffic",
  model: "unit",
  meter: "bytes",
  by: "region",
  price: { EUR: "0.01" },
}
const minimum = { EUR: "5.00" }

/** A month that was billed at its end. */
const billed = (terms: { readonly minimum?: { readonly EUR: string } } = {}) => {
  const team = plan("team", { charges: [fee, calls, byRegion], ...terms })
  const book = new Book({
    plans: [team],
    usage: [
      { at: at("2026-01-10"), quantity: 30, group: "eu" },
      { at: at("2026-01-20"), quantity: 12, group: "us" },
    ],
  })
  const first = done(null, { type: "create", plan: team, trial: null }, at("2026-01-01"))
  book.apply(first.effects)
  book.apply(advance(first.subscription, "2026-02-01").effects)
  return { book, period: book.periods.get(0)! }
}

/** The terms can't be rated: what rates them fails. */
const unpriced =
  (termsOf: TermsOf): TermsOf =>
  (ref) => {
    const terms = termsOf(ref)
    return { ...terms, charges: terms.charges.map((charge) => ({ ...charge, price: {} })) }
  }

const inputOf = (book: Book, period: Period): PeriodInput => book.input(period, at("2026-03-01"))
const texts = (input: PeriodInput) => linesOf(input).map(lineText)

describe("a period whose documents bill the usage that there is", () => {
  it("is not rated again", () => {
    const { book, period } = billed()
    const input = inputOf(book, period)
    assert.deepStrictEqual(linesOf({ ...input, termsOf: unpriced(book.termsOf) }), [])
  })

  it("is rated when usage came, went or moved to another value of the dimension", () => {
    const { book, period } = billed()
    const { usage } = book
    book.usage = [...usage, { at: at("2026-01-25"), quantity: 1, group: "asia" }]
    assert.deepStrictEqual(texts(inputOf(book, period)), ["adjustment calls 10", "usage traffic asia 1"])
    book.usage = usage.slice(0, 1)
    assert.deepStrictEqual(texts(inputOf(book, period)), ["credit calls -120", "credit traffic us -12"])
    book.usage = usage.map((use) => ({ ...use, group: "eu" }))
    assert.deepStrictEqual(texts(inputOf(book, period)), [
      "adjustment traffic eu 12",
      "credit traffic us -12",
    ])
  })

  it("is rated when its lines fell away, and bill nothing of their usage", () => {
    const { book, period } = billed()
    const input = inputOf(book, period)
    const fallen = input.documented.map((line) => ({ ...line, gross: 0n, net: 0n, quantity: null }))
    const lines = texts({ ...input, documented: fallen })
    assert.deepStrictEqual(lines.toSorted(), [
      "adjustment base 1000",
      "adjustment calls 420",
      "adjustment traffic eu 30",
      "adjustment traffic us 12",
    ])
    const fees = input.documented.map((line) => (line.charge === "base" ? { ...line, gross: 0n } : line))
    assert.deepStrictEqual(texts({ ...input, documented: fees }), ["adjustment base 1000"])
  })

  it("is rated when its plan has a minimum, or a charge is missing from its documents", () => {
    const { book, period } = billed({ minimum })
    const input = inputOf(book, period)
    assert.throws(() => linesOf({ ...input, termsOf: unpriced(book.termsOf) }))
    const { book: other, period: same } = billed()
    const whole = inputOf(other, same)
    const documented = whole.documented.filter(({ charge }) => charge !== "calls")
    assert.deepStrictEqual(texts({ ...whole, documented }), ["usage calls 420"])
  })

  it("has the lines that rating finds, whatever was billed before", () => {
    const groups = fc.constantFrom("eu", "us")
    const uses = fc.array(
      fc.record({
        at: fc.integer({ min: at("2026-01-01"), max: at("2026-02-01") - 1 }),
        quantity: fc.integer({ min: 0, max: 3 }),
        group: groups,
      }),
      { maxLength: 4 },
    )
    holds(
      [fc.array(uses, { minLength: 1, maxLength: 4 })],
      (rounds) => {
        const { book, period } = billed()
        for (const [round, usage] of rounds.entries()) {
          book.usage = usage
          const input = inputOf(book, period)
          // A period is not settled when it is said that nothing of a charge was billed.
          const rated = linesOf({
            ...input,
            documented: [
              ...input.documented,
              { ...input.documented[0]!, kind: "adjustment", gross: 0n, net: 0n },
            ],
          })
          assert.deepStrictEqual(linesOf(input).map(lineText), rated.map(lineText))
          book.invoice(at("2026-03-01") + round)
        }
      },
      100,
    )
  })
})
