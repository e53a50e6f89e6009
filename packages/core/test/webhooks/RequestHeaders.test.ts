import { RequestHeaders } from "@billwright/core"
import { assert, describe, it, vi } from "@effect/vitest"
import { Schema } from "effect"
import { HiddenWords } from "../../src/webhooks/HiddenWords.ts"
import { fc, holds } from "../property.ts"

const accepts = Schema.is(RequestHeaders.RequestHeaders)

describe("the headers of an endpoint", () => {
  it.each<[string, Record<string, string>]>([
    ["none", {}],
    ["one of its own", { "x-tenant": "acme 1" }],
    ["credentials of the receiver", { authorization: "Basic dXNlcjpwYXNz", cookie: "a=b" }],
    ["20", Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x-${i}`, "a"]))],
  ])("may be %s", (_, headers) => {
    assert.isTrue(accepts(headers))
  })

  it.each<[string, Record<string, string>]>([
    ["21", Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x-${i}`, "a"]))],
    ["a line break", { "x-a": "a\r\nhost: b" }],
    ["a lone line feed", { "x-a": "a\nb" }],
    ["spaces around", { "x-a": " a" }],
    ["an empty value", { "x-a": "" }],
    ["beyond ASCII", { "x-a": "é" }],
    ["a long value", { "x-a": "a".repeat(1_025) }],
    ["an empty name", { "": "a" }],
    ["upper case", { "X-A": "a" }],
    ["a colon in a name", { "x:a": "a" }],
    ["a long name", { ["x".repeat(101)]: "a" }],
    ["a live key of ours", { authorization: "Bearer sk_live_" + "x".repeat(38) }],
    ["a test key of ours", { "x-key": "sk_test_" + "x".repeat(38) }],
    ["a key of ours within a word", { "x-key": `key_${"sk"}_live_${"x".repeat(38)}` }],
    ["a key of ours as a user's name", { authorization: `Basic ${btoa(`${"sk"}_test_${"x".repeat(38)}:`)}` }],
    ["a key of ours as a password", { authorization: `Basic ${btoa(`ada:${"sk"}_live_${"x".repeat(38)}`)}` }],
    [
      "a key of ours in base64url",
      { "x-key": btoa(`>>>${"sk"}_live_${"x".repeat(38)}`).replaceAll("+", "-") },
    ],
  ])("may not be %s", (_, headers) => {
    assert.isFalse(accepts(headers))
  })

  it.each([
    "host",
    "connection",
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "keep-alive",
    "proxy-authorization",
    "accept-encoding",
    "user-agent",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
    "svix-id",
    "__proto__",
  ])("may not be %s, which is taken", (name) => {
    assert.isFalse(accepts(Object.fromEntries([[name, "a"]])))
  })

  it("never lets a byte through that could end a header", () =>
    holds([fc.string({ unit: "binary", maxLength: 20 })], (value) => {
      // oxlint-disable-next-line no-control-regex -- it is these that must not pass
      if (accepts({ "x-a": value })) assert.notMatch(value, /[\x00-\x08\x0a-\x1f\x7f-\uffff]/)
    }))
})

describe("what is shown of headers", () => {
  it("masks the signature and the endpoint's own, whatever their names", () => {
    assert.deepStrictEqual(
      RequestHeaders.masked({
        authorization: "Basic a",
        "x-tenant": "acme",
        accept: "application/json",
        "accept-language": "de",
        "content-type": "application/json",
        "user-agent": "Billwright-Webhooks/1",
        "webhook-id": "evt_1",
        "webhook-timestamp": "1",
        "webhook-signature": "v1,a",
      }),
      {
        authorization: "***",
        "x-tenant": "***",
        accept: "application/json",
        "accept-language": "de",
        "content-type": "application/json",
        "user-agent": "Billwright-Webhooks/1",
        "webhook-id": "evt_1",
        "webhook-timestamp": "1",
        "webhook-signature": "***",
      },
    )
  })

  it("shows none of those that an endpoint can set, but for what it accepts", () =>
    holds([fc.stringMatching(/^[a-z0-9!#$%&'*+.^_`|~-]{1,30}$/u)], (name) => {
      if (!accepts({ [name]: "a" }) || name === "accept" || name === "accept-language") return
      assert.deepStrictEqual(RequestHeaders.masked({ [name]: "a" }), { [name]: "***" })
    }))
})

describe("what a receiver repeats", () => {
  const text = (words: string) => `<pre>you sent: ${words}, ${words}</pre>`

  it.each<[string, Record<string, string>, string, string]>([
    ["a value", { "x-key": "hunter2-hunter2" }, "x-key=hunter2-hunter2", "x-key=***"],
    [
      "a credential without its scheme",
      { authorization: "Bearer hunter2-hunter2" },
      "hunter2-hunter2",
      "***",
    ],
    ["all of a value", { authorization: "Bearer hunter2-hunter2" }, "Bearer hunter2-hunter2", "***"],
    ["the longer of two", { "x-a": "hunter2-", "x-b": "hunter2-hunter2" }, "hunter2-hunter2", "***"],
    ["no short word", { "x-tenant": "acme" }, "acme", "acme"],
    ["not what is accepted", { accept: "application/json" }, "application/json", "application/json"],
    ["nothing of other text", { "x-key": "hunter2-hunter2" }, "hunter1-hunter2", "hunter1-hunter2"],
  ])("loses %s", (_, headers, sent, shown) => {
    assert.strictEqual(RequestHeaders.withoutValues(headers)(text(sent)), text(shown))
  })

  it.each([
    ["you sent: hunter2-hunte", "you sent: ***"],
    ["you sent: hunt", "you sent: ***"],
    ["you sent: hun", "you sent: hun"],
    ["you sent: Bearer hunter2", "you sent: ***"],
  ])("loses what is left of a value where the text was cut: %s", (sent, shown) => {
    const headers = { authorization: "Bearer hunter2-hunter2" }
    assert.strictEqual(RequestHeaders.withoutValues(headers)(sent), shown)
  })

  it("hides all parts of values that overlap", () => {
    const hide = RequestHeaders.withoutValues({ "x-a": "abcdefgh", "x-b": "efghijklmnop" })
    assert.strictEqual(hide("<abcdefghijklmnop>"), "<***>")
    assert.strictEqual(hide("<abcdefghabcdefgh>"), "<***>")
  })

  /** Each character that is part of a word, found one by one. */
  const plainlyHidden = (words: ReadonlyArray<string>, text: string): string => {
    const isHidden = Array.from(text, () => false)
    for (const word of words) {
      for (let at = 0; at < text.length; at++) {
        const rest = text.length - at
        const isCut = rest >= 4 && rest < word.length && word.startsWith(text.slice(at))
        if (isCut || text.startsWith(word, at)) isHidden.fill(true, at, at + word.length)
      }
    }
    return Array.from(text, (character, at) =>
      isHidden[at] ? (isHidden[at - 1] ? "" : "***") : character,
    ).join("")
  }

  it("hides what the plain rule hides", () => {
    const value = fc.array(fc.string({ unit: fc.constantFrom("a", "b"), minLength: 4, maxLength: 12 }), {
      minLength: 1,
      maxLength: 3,
    })
    const headers = fc.array(value, { minLength: 1, maxLength: 4 })
    const sent = fc.string({ unit: fc.constantFrom("a", "b", " "), maxLength: 60 })
    const wordsOf = (values: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> =>
      [...values.flat(), ...values.map((words) => words.join(" "))].filter(({ length }) => length >= 8)
    holds(
      [headers, sent],
      (values, text) => {
        const named = Object.fromEntries(values.map((words, index) => [`x-${index}`, words.join(" ")]))
        assert.strictEqual(RequestHeaders.withoutValues(named)(text), plainlyHidden(wordsOf(values), text))
      },
      2_000,
    )
  })

  it.each([
    ["one letter", (index: number) => "a".repeat(1_000 + index), "a".repeat(50_000)],
    ["words that begin alike", (index: number) => `${"a".repeat(1_000)}${index}`, "a".repeat(50_000)],
    ["many words of one value", (index: number) => `aaaaaaa${index} `.repeat(90), "aaaaaaa ".repeat(6_000)],
    [
      "ends that begin a word",
      (index: number) => `${"ab".repeat(500)}${index}`,
      `${"ab".repeat(499)}a`.repeat(50),
    ],
  ])("takes steps in proportion to its input, even with %s", (_, valueOf, text) => {
    const steps = vi.spyOn(HiddenWords.prototype, "edge")
    try {
      const values = Array.from({ length: RequestHeaders.MAX_HEADERS }, (__, index) => valueOf(index))
      const headers = Object.fromEntries(values.map((value, index) => [`x-${index}`, value]))
      const hide = RequestHeaders.withoutValues(headers)
      hide("a")
      // A value and its words.
      assert.isAtMost(steps.mock.calls.length, 3 * 2 * values.join("").length)
      steps.mockClear()
      hide(text)
      assert.isAtMost(steps.mock.calls.length, 2 * text.length)
    } finally {
      steps.mockRestore()
    }
  })
})
