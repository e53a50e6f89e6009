import { assert, describe, it } from "vitest"
import * as Currency from "../../src/money/Currency.ts"
import { RatingError } from "../../src/rating/index.ts"
import { problemsOfRateCard, type RateCard } from "../../src/tokens/RateCard.ts"
import { tokenRater } from "../../src/tokens/RateTokens.ts"
import { TOKEN_KINDS, tokens } from "../../src/tokens/Tokens.ts"
import { decimals, fc, holds } from "../property.ts"
import { Rational } from "../Rational.ts"

const CARD: RateCard = {
  key: "llm",
  unit: "credit",
  decimals: 4,
  models: { large: { input: "2.00", cache_read: "0.20", output: "8.00" } },
}

const prices = fc.record(
  Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, decimals(4, 6)])) as Record<
    (typeof TOKEN_KINDS)[number],
    fc.Arbitrary<string>
  >,
)
const counts = fc.record(
  Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, fc.nat(50_000_000)])) as Record<
    (typeof TOKEN_KINDS)[number],
    fc.Arbitrary<number>
  >,
)
const units = fc.oneof(
  fc.constantFrom<Pick<RateCard, "unit">>(
    { unit: "EUR" },
    { unit: "JPY" },
    { unit: "KWD" },
    { unit: "credit" },
  ),
  fc.integer({ min: 0, max: 6 }).map((digits) => ({ unit: "credit", decimals: digits })),
)

describe("tokenRater", () => {
  it("rates 10,000 tokens of input, 9,000 of them cached, and 500 of output at 0.0078", () => {
    const usage = {
      prompt_tokens: 10_000,
      completion_tokens: 500,
      prompt_tokens_details: { cached_tokens: 9_000 },
    }
    assert.deepStrictEqual(tokenRater(CARD).rate({ model: "large", tokens: tokens(usage) }), {
      status: "rated",
      unit: "credit",
      amount: 78n,
      exact: "0.0078",
      steps: [
        { type: "tokens", kind: "input", tokens: "1000", price: "2", per: "1000000", amount: "0.002" },
        {
          type: "tokens",
          kind: "cache_read",
          tokens: "9000",
          price: "0.2",
          per: "1000000",
          amount: "0.0018",
        },
        { type: "tokens", kind: "output", tokens: "500", price: "8", per: "1000000", amount: "0.004" },
        { type: "round", digits: 4, amount: "0.0078" },
      ],
    })
  })

  it("costs what an independent computation says, and its steps add up to it", () => {
    holds([prices, counts, units, fc.option(decimals(3, 3))], (ofMillion, used, unit, markup) => {
      const card = { ...CARD, decimals: undefined, ...unit, models: { large: ofMillion } }
      const rated = tokenRater({ ...card, ...(markup === null ? {} : { markup }) } as RateCard).rate({
        model: "large",
        tokens: used,
      })
      const digits = Currency.exponentOf(unit.unit) ?? ("decimals" in unit ? Number(unit.decimals) : 0)
      const plain = TOKEN_KINDS.reduce(
        (sum, kind) =>
          sum.plus(Rational.of(ofMillion[kind]).times(Rational.of(used[kind])).over(Rational.of(1_000_000))),
        Rational.of(0),
      )
      const exact = plain.plus(plain.times(Rational.of(markup ?? "0")).over(Rational.of(100)))
      const half = exact.times(Rational.of(10n ** BigInt(digits))).plus(Rational.of("0.5"))
      assert.strictEqual(rated.status, "rated")
      if (rated.status !== "rated") return
      assert.strictEqual(rated.amount, half.floor())
      assert.isTrue(Rational.of(rated.exact).equals(exact))
      const parts = rated.steps.filter(({ type }) => type === "tokens")
      const sum = parts.reduce((left, { amount }) => left.plus(Rational.of(amount)), Rational.of(0))
      assert.isTrue(sum.equals(plain))
    })
  })

  it("takes the price of output for reasoning, unless it has one of its own", () => {
    const call = { model: "large", tokens: { reasoning: 1_000_000 } }
    const amountOf = (card: RateCard) => {
      const rated = tokenRater(card).rate(call)
      return rated.status === "rated" ? rated.amount : rated.status
    }
    assert.strictEqual(amountOf(CARD), 80_000n)
    const own = { ...CARD, models: { large: { output: "8.00", reasoning: "1.00" } } }
    assert.strictEqual(amountOf(own), 10_000n)
  })

  it("never rates what has no price at 0", () => {
    const { rate } = tokenRater(CARD)
    assert.deepStrictEqual(rate({ model: "new", tokens: { input: 5 } }), {
      status: "unrated",
      unit: "credit",
      model: "new",
      unpriced: null,
    })
    const priced = { model: "large", tokens: { input: 5, cache_write: 1 } }
    assert.deepInclude(rate(priced), { status: "unrated", unpriced: ["cache_write"] })
    // A name that every object has is no model.
    assert.deepInclude(rate({ model: "constructor", tokens: {} }), { status: "unrated", unpriced: null })
    assert.deepInclude(rate({ model: "large", tokens: { cache_write: 0 } }), { status: "rated", amount: 0n })
  })

  it("is not changed by later changes of the card", () => {
    const models = { large: { input: "1" } }
    const { rate } = tokenRater({ ...CARD, models })
    models.large.input = "1000"
    assert.deepInclude(rate({ model: "large", tokens: { input: 1_000_000 } }), { amount: 10_000n })
  })

  it("names every problem of a call", () => {
    const { rate } = tokenRater(CARD)
    const wrong = { model: 5, tokens: { inptu: 5, output: 1.5 } }
    // @ts-expect-error a misspelt kind does not compile
    const misspelt = (): unknown => rate(wrong)
    assert.throws(misspelt, RatingError, "model must be the name of a model (and 2 more)")
    // @ts-expect-error the counts are missing
    assert.throws(() => rate({ model: "large" }), RatingError, "tokens must be counts")
  })
})

describe("a rate card", () => {
  const problem = (change: object): string | undefined => {
    const [first] = problemsOfRateCard({ ...CARD, ...change })
    return first && `${first.path} ${first.problem}`
  }

  it("is plain data that is valid or names its problems", () => {
    assert.deepStrictEqual(problemsOfRateCard(CARD), [])
    assert.strictEqual(
      problem({ unit: "EUR" }),
      "card.decimals must be left out: ISO 4217 says how many EUR has",
    )
    assert.strictEqual(problem({ decimals: 7 }), "card.decimals must be an integer from 0 to 6")
    assert.strictEqual(problem({ markup: -1 }), `card.markup must be a string, such as "-1"`)
    assert.strictEqual(problem({ markup: "-1" }), "card.markup must be 0 or more")
    assert.strictEqual(problem({ models: {} }), "card.models must have 1 to 1000 models")
    assert.strictEqual(
      problem({ models: { "gpt-9": { input: 2 } } }),
      `card.models["gpt-9"].input must be a string, such as "2"`,
    )
    assert.strictEqual(
      problem({ models: { large: { inptu: "2" } } }),
      "card.models.large.inptu is not a known field here (known: input, cache_read, cache_write, output, reasoning)",
    )
    assert.match(problem({ models: { large: {} } }) ?? "", /^card\.models\.large must give prices/)
    assert.strictEqual(
      problem({ prices: {} }),
      "card.prices is not a known field here (known: key, name, unit, decimals, markup, models)",
    )
    assert.deepInclude(problemsOfRateCard(null)[0], { path: "card", problem: "must be an object" })
  })

  it("has at most 1,000 models", () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, { input: "1" }]))
    assert.strictEqual(problem({ models: many(1_000) }), undefined)
    assert.strictEqual(problem({ models: many(1_001) }), "card.models must have 1 to 1000 models")
  })
})
