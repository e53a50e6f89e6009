import {
  MAX_KEPT_HEADER_LENGTH,
  MAX_KEPT_RESPONSE_BYTES,
  MAX_KEPT_RESPONSE_HEADERS,
  ReceivedText,
  type WebhookResponse,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { fc, holds } from "../property.ts"

type Answered = Extract<WebhookResponse, { readonly _tag: "Answered" }>

const kept = (fields: Partial<Answered>): Answered => {
  const response = ReceivedText.storable({ _tag: "Answered", status: 200, headers: {}, body: "", ...fields })
  assert(response._tag === "Answered")
  return response
}

/** Text of any code units: lone surrogates, NUL and other controls too. */
const anyText = (maxLength: number) =>
  fc
    .array(fc.oneof(fc.constantFrom(0, 0x7f, 0xd83d, 0xde00, 0x20ac), fc.integer({ min: 0, max: 0xffff })), {
      maxLength,
    })
    .map((units) => String.fromCharCode(...units))

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

describe("what a receiver answered", () => {
  it("is storable whatever it is", () => {
    const texts = [anyText(6_000), fc.dictionary(anyText(200), anyText(2_000), { maxKeys: 80 })] as const
    holds([...texts], (body, headers) => {
      const response = kept({ body, headers })
      assert.isTrue(isStorable(response.body))
      assert.isAtMost(Buffer.byteLength(response.body), MAX_KEPT_RESPONSE_BYTES)
      const entries = Object.entries(response.headers)
      assert.isAtMost(entries.length, MAX_KEPT_RESPONSE_HEADERS)
      for (const [name, value] of entries) {
        assert.isTrue(isStorable(name) && isStorable(value))
        assert.isAtMost(value.length, MAX_KEPT_HEADER_LENGTH)
      }
    })
  })

  it("is cut between two characters, and otherwise as it came", () => {
    assert.strictEqual(kept({ body: "<b>no</b>\r\n\t€" }).body, "<b>no</b>\r\n\t€")
    assert.strictEqual(kept({ body: `a${"€".repeat(2_000)}` }).body, `a${"€".repeat(1_365)}`)
    assert.strictEqual(kept({ body: `ab${"😀".repeat(2_000)}` }).body, `ab${"😀".repeat(1_023)}`)
    assert.strictEqual(kept({ body: "a\0b\ud83d" }).body, "ab\ufffd")
    const headers = { x: "a\0b\r\n\tc\u007f", ["n".repeat(129)]: "", ["__proto__"]: "p" }
    assert.deepStrictEqual(Object.entries(kept({ headers }).headers), [
      ["x", "ab\tc"],
      ["__proto__", "p"],
    ])
  })

  it.each([Number.NaN, 0, 99, 600, 200.5])("is no answer with the status %d", (status) => {
    assert.deepStrictEqual(ReceivedText.storable({ _tag: "Answered", status, headers: {}, body: "" }), {
      _tag: "Failed",
      error: "bad_response",
    })
  })
})
