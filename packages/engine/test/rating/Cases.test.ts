/** Worked cases from pricing pages and documents of others: see `test/cases/README.md`. */
import { data as currencies } from "currency-codes"
import { assert, describe, it } from "vitest"
import { pricesEachRecord } from "../../src/catalog/Charge.ts"
import { fold, type Quantity, rate } from "../../src/rating/index.ts"
import { Rational } from "../Rational.ts"
import { costs, type Money } from "./Oracle.ts"
import { type Case, cases } from "./WorkedCases.ts"

const FIELDS = new Set([
  "id",
  "title",
  "kind",
  "source",
  "charge",
  "currency",
  "quantity",
  "records",
  "share",
  "discounts",
  "billed_before",
  "expected",
  "note",
])
const KINDS = ["published example", "published prices, own arithmetic"]
const MODELS = [
  "flat",
  "unit",
  "package",
  "graduated",
  "volume",
  "graduated_package",
  "percentage",
  "graduated_percentage",
]

const quantityOf = (text: string): Quantity => {
  const { d, n } = Rational.of(text)
  return text.includes("/") ? { numerator: n, denominator: d } : text
}

const moneyOf = (currency: string): Money => ({
  currency,
  digits: currencies.find(({ code }) => code === currency)!.digits,
})

const shareOf = ({ share = ["1", "1"] }: Case): readonly [bigint, bigint] => [
  BigInt(share[0]),
  BigInt(share[1]),
]

/** `exact` of a result as a number; digits without end were cut. */
const isShownAs = (shown: string, exact: Rational): boolean => {
  if (!shown.endsWith("…")) return Rational.of(shown).equals(exact)
  const cut = Rational.of(shown.slice(0, -1))
  const rest = exact.minus(cut)
  return !rest.isLessThan(Rational.of(0)) && rest.isLessThan(new Rational(1n, 10n ** 15n))
}

describe("worked cases", () => {
  it("are many, of every model, and say where they are from", () => {
    assert.isAtLeast(cases.length, 60)
    assert.sameMembers([...new Set(cases.map(({ charge }) => charge.model))], MODELS)
    assert.strictEqual(new Set(cases.map(({ id }) => id)).size, cases.length)
    for (const { id, kind, source, ...rest } of cases) {
      assert.include(KINDS, kind, id)
      assert.match(source.url, /^https?:\/\/\S+$/, id)
      assert.isNotEmpty(source.title, id)
      for (const field of Object.keys(rest)) assert.isTrue(FIELDS.has(field), `${id}: ${field}`)
    }
  })

  it.each(cases)("$id: $title", (one) => {
    const { charge, currency, discounts = [], expected, quantity, records } = one
    const money = moneyOf(currency)
    const share = shareOf(one)
    const result = rate(charge, quantityOf(quantity), {
      currency,
      share,
      discounts,
      ...(one.billed_before === undefined ? {} : { billedBefore: one.billed_before }),
      ...(records === undefined ? {} : { records }),
    })
    assert.strictEqual(result.amount, BigInt(expected.amount))
    assert.isTrue(isShownAs(result.exact, Rational.of(expected.exact)), result.exact)
    assert.strictEqual(fold(result.steps, money.digits), result.amount)
  })

  it.each(cases)("$id, computed independently", (one) => {
    const { charge, currency, discounts = [], expected, quantity, records = [quantity] } = one
    const byRecord = pricesEachRecord(charge) ? records.map((record) => Rational.of(record)) : undefined
    const found = costs(charge, Rational.of(quantity), shareOf(one), discounts, byRecord, moneyOf(currency))
    assert.isTrue(found.exact.equals(Rational.of(expected.exact)), `${found.exact.n}/${found.exact.d}`)
    assert.strictEqual(found.amount - BigInt(one.billed_before ?? 0), BigInt(expected.amount))
  })
})
