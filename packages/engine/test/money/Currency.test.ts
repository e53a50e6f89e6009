import { data } from "currency-codes"
import { assert, describe, it } from "vitest"
import * as Currency from "../../src/money/Currency.ts"

/** Units of account, metals, tests and "no currency": ISO 4217 gives them no minor unit. */
const NOT_MONEY = new Set([
  "XAG",
  "XAU",
  "XBA",
  "XBB",
  "XBC",
  "XBD",
  "XDR",
  "XPD",
  "XPT",
  "XSU",
  "XTS",
  "XUA",
  "XXX",
])
/** Newer than the package. */
const NEWER = ["XCG"]

describe("Currency", () => {
  it("has the codes and digits of ISO 4217, as the package currency-codes has them", () => {
    const expected = new Map(
      data.filter(({ code }) => !NOT_MONEY.has(code)).map(({ code, digits }) => [code, digits]),
    )
    for (const code of NEWER) expected.set(code, 2)
    assert.deepStrictEqual(
      Currency.codes().map((code) => [code, Currency.exponentOf(code)]),
      [...expected].sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  })

  it("knows no other codes", () => {
    for (const code of ["", "eur", "EURO", "XXX", "XAU", "ABC", "constructor"]) {
      assert.isFalse(Currency.isCurrency(code), code)
      assert.isUndefined(Currency.exponentOf(code), code)
    }
  })
})
