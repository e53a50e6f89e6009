/** Tokens of links: what they say, and that nothing of it can be changed. */
import { createHmac } from "node:crypto"
import { Tenant } from "@billwright/core"
import { Effect, Redacted } from "effect"
import { assert, describe, it } from "vitest"
import {
  CLOCK_SKEW_SECONDS,
  type LinkClaims,
  MAX_LINK_SECONDS,
  TokenKeys,
} from "../../src/payer/LinkToken.ts"
import { parseLinkKeys } from "../../src/webhooks/Keyring.ts"
import { fc, holds } from "../property.ts"

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString("base64")}`
const keysOf = (...keys: ReadonlyArray<string>) =>
  new TokenKeys(Effect.runSync(parseLinkKeys(Redacted.make(keys.join(",")))))

const claims: LinkClaims = {
  kind: "invoice",
  tenant: { accountId: Tenant.AccountId.make("acme"), mode: "test" },
  id: `inv_${"0".repeat(26)}`,
  expiresAt: 1_800_000_000,
  language: "de",
}
const BEFORE = 1_799_999_999_999

const anyClaims: fc.Arbitrary<LinkClaims> = fc.record({
  kind: fc.constantFrom("invoice", "portal"),
  tenant: fc.record({
    accountId: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/).map((id) => Tenant.AccountId.make(id)),
    mode: fc.constantFrom("live", "test"),
  }),
  id: fc.stringMatching(/^(inv|cus)_[0-9a-z]{26}$/),
  expiresAt: fc.integer({ min: 1, max: 99_999_999_999 }),
  language: fc.constantFrom(null, "de", "en", "es", "fr"),
})

describe("a token", () => {
  it("is the claims and their HMAC-SHA-256, in text for addresses", () => {
    const token = keysOf(key("k", 7)).sign(claims)
    const body = `i.k.acme.test.${claims.id}.1800000000.de`
    const code = createHmac("sha256", Buffer.alloc(32, 7)).update(`billwright payer link v1:${body}`)
    assert.strictEqual(token, `${body}.${code.digest("base64url")}`)
  })

  it("gives the claims that were signed, until it expires", () => {
    const keys = keysOf(key("k", 1))
    holds([anyClaims], (given) => {
      const token = keys.sign(given)
      assert.match(token, /^[\w.~-]+$/)
      assert.deepStrictEqual(keys.open(token, given.expiresAt * 1000 - 1), { ...given, keyId: "k" })
      assert.strictEqual(keys.open(token, given.expiresAt * 1000), "expired")
    })
  })

  it("is wrong when one character is changed, added or left out, also if it has expired", () => {
    const keys = keysOf(key("k", 1))
    const change = fc.record({
      at: fc.nat(),
      text: fc.constantFrom("", "0", "a", "A", ".", "-", "i", "p", "1"),
    })
    holds([anyClaims, change, fc.nat({ max: 1 })], (given, { at, text }, removed) => {
      const token = keys.sign(given)
      const position = at % token.length
      const changed = token.slice(0, position) + text + token.slice(position + removed)
      fc.pre(changed !== token)
      assert.strictEqual(keys.open(changed, given.expiresAt * 1000 - 1), "wrong")
      assert.strictEqual(keys.open(changed, given.expiresAt * 1000), "wrong")
    })
  })

  it("is opened by every key, signed by the first, and wrong without its key", () => {
    const [older, newer] = [key("older", 1), key("newer", 2)]
    const old = keysOf(older).sign(claims)
    assert.deepStrictEqual(keysOf(newer, older).open(old, BEFORE), { ...claims, keyId: "older" })
    assert.match(keysOf(newer, older).sign(claims), /^i\.newer\./)
    assert.strictEqual(keysOf(newer).open(old, BEFORE), "wrong")
    // Another key with the same name.
    assert.strictEqual(keysOf(key("older", 3)).open(old, BEFORE), "wrong")
    // The code covers which key it is.
    const same = keysOf(key("a", 1), key("b", 1))
    assert.strictEqual(same.open(same.sign(claims).replace("i.a.", "i.b."), BEFORE), "wrong")
  })

  it("is signed by the key that it names, if there is that key", () => {
    const [older, newer] = [key("older", 1), key("newer", 2)]
    const both = keysOf(newer, older)
    assert.strictEqual(both.sign(claims, "older"), keysOf(older).sign(claims))
    assert.throws(() => keysOf(newer).sign(claims, "older"), TypeError, "no key of links has the id")
  })

  it("is wrong when it would be valid for longer than links may be, also if a key has signed it", () => {
    const keys = keysOf(key("k", 1))
    const latest = claims.expiresAt - MAX_LINK_SECONDS - CLOCK_SKEW_SECONDS
    const token = keys.sign(claims)
    assert.deepStrictEqual(keys.open(token, latest * 1000), { ...claims, keyId: "k" })
    assert.strictEqual(keys.open(token, latest * 1000 - 1), "wrong")
    assert.strictEqual(keys.open(keys.sign({ ...claims, expiresAt: 999_999_999_999 }), BEFORE), "wrong")
  })

  it("is wrong when it is no token at all", () => {
    const keys = keysOf(key("k", 1))
    for (const text of [
      "",
      ".",
      "i.k",
      "x".repeat(401),
      "__proto__.__proto__.x",
      `i.constructor.${claims.id}.x`,
    ])
      assert.strictEqual(keys.open(text, BEFORE), "wrong")
  })
})

describe("keys of links", () => {
  it("are refused by name of the problem, and never shown", () => {
    const problemOf = (text: string) =>
      Effect.runSync(Effect.flip(parseLinkKeys(Redacted.make(text)))).message
    assert.strictEqual(problemOf(""), "the link keys are not valid: there are no keys")
    assert.include(problemOf("k:c2hvcnQ="), `the key "k" is not 32 bytes of base64`)
    assert.include(problemOf(`${key("k", 1)},plain`), `the entry "plain" signs nothing`)
    assert.notInclude(String(Effect.runSync(parseLinkKeys(Redacted.make(key("k", 65))))[0].bytes), "AAAA")
  })
})
