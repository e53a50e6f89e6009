import { assert, describe, it } from "vitest"
import * as ExactJson from "../../app/api/ExactJson.ts"

describe("ExactJson", () => {
  it("reads integers of any size exactly", () => {
    const text = `{"total_quantity":9007199254740993,"n":-900719925474099300000,"small":7,"half":0.5,"big":1e21,"s":"9007199254740993"}`
    assert.deepEqual(ExactJson.parse(text), {
      total_quantity: 9_007_199_254_740_993n,
      n: -900_719_925_474_099_300_000n,
      small: 7,
      half: 0.5,
      big: 1e21,
      s: "9007199254740993",
    })
  })

  it("writes the text that it has read", () => {
    for (const text of [
      `{"a":[1,9007199254740993,{"b":null}],"c":"\\u0000\\"<script>","d":{},"e":[],"f":true,"":-0.5}`,
      `[]`,
      `"x"`,
      `12345678901234567890`,
    ])
      assert.strictEqual(ExactJson.stringify(ExactJson.parse(text)), text)
  })

  it("indents as JSON.stringify does", () => {
    const value = { a: [1, { b: "c" }, []], d: {}, e: null }
    assert.strictEqual(ExactJson.stringify(value, "indented"), JSON.stringify(value, null, 2))
  })

  it("refuses text that is not JSON", () => {
    assert.throws(() => ExactJson.parse("<html>"), SyntaxError)
  })
})
