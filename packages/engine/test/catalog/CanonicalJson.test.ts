/** Vectors of RFC 8785: the sorting of §3.2.3, the example of §3.2.2, and the numbers of appendix B. */
import { assert, describe, it } from "vitest"
import { canonicalJson } from "../../src/index.ts"

const double = (hex: string): number => {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, BigInt(`0x${hex}`))
  return view.getFloat64(0)
}

const NUMBERS: ReadonlyArray<readonly [hex: string, text: string]> = [
  ["0000000000000000", "0"],
  ["8000000000000000", "0"],
  ["0000000000000001", "5e-324"],
  ["8000000000000001", "-5e-324"],
  ["7fefffffffffffff", "1.7976931348623157e+308"],
  ["ffefffffffffffff", "-1.7976931348623157e+308"],
  ["4340000000000000", "9007199254740992"],
  ["c340000000000000", "-9007199254740992"],
  ["4430000000000000", "295147905179352830000"],
  ["44b52d02c7e14af5", "9.999999999999997e+22"],
  ["44b52d02c7e14af6", "1e+23"],
  ["44b52d02c7e14af7", "1.0000000000000001e+23"],
  ["444b1ae4d6e2ef4e", "999999999999999700000"],
  ["444b1ae4d6e2ef4f", "999999999999999900000"],
  ["444b1ae4d6e2ef50", "1e+21"],
  ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
  ["3eb0c6f7a0b5ed8d", "0.000001"],
  ["41b3de4355555553", "333333333.3333332"],
  ["41b3de4355555554", "333333333.33333325"],
  ["41b3de4355555555", "333333333.3333333"],
  ["41b3de4355555556", "333333333.3333334"],
  ["41b3de4355555557", "333333333.33333343"],
  ["becbf647612f3696", "-0.0000033333333333333333"],
  ["43143ff3c1cb0959", "1424953923781206.2"],
]

describe("canonicalJson", () => {
  it("writes numbers as RFC 8785 does", () => {
    for (const [hex, text] of NUMBERS) assert.strictEqual(canonicalJson(double(hex)), text, hex)
  })

  it("refuses numbers that JSON has no text for", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      assert.throws(() => canonicalJson({ value }), RangeError)
    }
  })

  it("sorts fields by UTF-16 code units", () => {
    const given = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    }
    const values = Object.values(JSON.parse(canonicalJson(given)) as object)
    // `JSON.parse` puts names that are integers first, as the canonical order does not.
    assert.strictEqual(canonicalJson(given).indexOf('"\\r"'), 1)
    assert.deepStrictEqual(
      [...canonicalJson(given).matchAll(/:"([^"]*)"/g)].map(([, value]) => value),
      [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
      ],
    )
    assert.lengthOf(values, 7)
  })

  it("writes texts and literals as RFC 8785 does", () => {
    const given = {
      numbers: JSON.parse("[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]") as unknown,
      string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/",
      literals: [null, true, false],
    }
    assert.strictEqual(
      canonicalJson(given),
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })
})
