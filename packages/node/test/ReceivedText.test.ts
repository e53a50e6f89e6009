import { MAX_KEPT_RESPONSE_BYTES } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import * as ReceivedText from "../src/ReceivedText.ts"

describe("the text of an answer", () => {
  it("is storable whatever the bytes are, and however they are cut", () => {
    // Every pair of bytes, with a NUL and characters of two to four bytes among them, at every offset to the cut.
    const pairs = Buffer.from(
      Array.from({ length: 131_072 }, (_, index) => (index % 2 ? index >> 1 : index >> 9)),
    )
    const bytes = Buffer.concat([pairs, Buffer.from("é€😀\0".repeat(2_000))])
    for (let start = 0; start < bytes.length; start += 509) {
      const text = ReceivedText.fromBody([
        bytes.subarray(start, start + 1_000),
        bytes.subarray(start + 1_000, start + MAX_KEPT_RESPONSE_BYTES + 1),
      ])
      assert.isTrue(text.isWellFormed() && !text.includes("\0"))
      assert.isAtMost(Buffer.byteLength(text), MAX_KEPT_RESPONSE_BYTES)
    }
  })

  it("has headers without control characters, which the parser should refuse", () => {
    assert.deepStrictEqual(
      ReceivedText.fromHeaders({ x: "a\0b\r\n\tc\u007f", y: ["1\u001b", "2"], z: undefined }),
      {
        x: "ab\tc",
        y: "1, 2",
        z: "",
      },
    )
  })
})
