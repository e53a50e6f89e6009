/** Properties of every message: it verifies unchanged, and fails with any single bit changed. */
import { type VerifyOptions, verify, verifySignature, WebhookVerificationError } from "billwright/verify"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { codeOf, failureOf } from "./Failure.ts"
import { headersOf, makeKeyPair, type Message, secretOf, signV1, signV1a } from "./Signer.ts"

/** A fixed seed, so that a failure can be repeated. */
const SEED = 20_261_121

const holds = <T>(arbitrary: fc.Arbitrary<T>, property: (value: T) => Promise<void>, numRuns = 200) =>
  fc.assert(fc.asyncProperty(arbitrary, property), { seed: SEED, numRuns })

const idCharacter = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
const id = fc.string({
  unit: idCharacter.filter((character) => character !== "."),
  minLength: 1,
  maxLength: 256,
})
const timestamp = fc.integer({ min: 0, max: 8.64e12 }).map(String)
const text = fc.string({ unit: "binary" })
const bytes = fc.uint8Array({ maxLength: 300 })

const message: fc.Arbitrary<Message> = fc.record({ id, timestamp, body: fc.oneof(text, bytes) })
const secret = fc.uint8Array({ minLength: 1, maxLength: 100 })

const at = (timestamp: string): Date => new Date(Number(timestamp) * 1000)

/** One key pair for all tests, because making key pairs takes longer than the tests. */
const pair = makeKeyPair()

const signedV1 = fc.tuple(message, secret).map(([message, key]): readonly [Message, VerifyOptions] => [
  message,
  {
    secret: secretOf(key),
    headers: headersOf(message, signV1(message, key)),
    body: message.body,
    now: at(message.timestamp),
  },
])

const signedV1a = message.map((message): readonly [Message, VerifyOptions] => [
  message,
  {
    publicKey: pair.publicKey,
    headers: headersOf(message, signV1a(message, pair.privateKey)),
    body: message.body,
    now: at(message.timestamp),
  },
])

const signed = fc.oneof(signedV1, signedV1a)

/** A position, taken modulo the length of the thing. */
const place = fc.nat()
const bit = fc.integer({ min: 0, max: 7 })

const flipByte = (bytes: Uint8Array, place: number, bit: number): Uint8Array =>
  bytes.map((byte, index) => (index === place % bytes.length ? byte ^ (1 << bit) : byte))

const flipCharacter = (text: string, place: number, bit: number): string =>
  Buffer.from(flipByte(Buffer.from(text, "latin1"), place, bit)).toString("latin1")

describe("a signed message", () => {
  it("verifies with any id, time and body", () =>
    holds(signed, async ([{ id, timestamp }, options]) => {
      assert.deepStrictEqual(await verifySignature(options), { id, timestamp: at(timestamp) })
    }))

  it("returns its JSON", () =>
    holds(fc.tuple(fc.json(), secret, fc.boolean()), async ([body, key, asBytes]) => {
      const message = { id: "msg_1", timestamp: "1614265330", body }
      const { event } = await verify({
        secret: secretOf(key),
        headers: headersOf(message, signV1(message, key)),
        body: asBytes ? Buffer.from(body) : body,
        now: at(message.timestamp),
      })
      assert.deepStrictEqual(event as unknown, JSON.parse(body))
    }))

  it("fails with one bit of the body changed", () =>
    holds(fc.tuple(signed, place, bit), async ([[{ body }, options], place, bit]) => {
      const sent = Buffer.from(body as string)
      fc.pre(sent.length > 0)
      const verification = verifySignature({ ...options, body: flipByte(sent, place, bit) })
      assert.strictEqual(await codeOf(verification), "no_matching_signature")
    }))

  it("fails with a piece cut off the body or added to it", () =>
    holds(fc.tuple(signed, fc.uint8Array({ minLength: 1 })), async ([[{ body }, options], more]) => {
      const sent = Buffer.from(body as string)
      const longer = verifySignature({ ...options, body: Buffer.concat([sent, more]) })
      assert.strictEqual(await codeOf(longer), "no_matching_signature")
      fc.pre(sent.length > 0)
      const shorter = verifySignature({ ...options, body: sent.subarray(0, -1) })
      assert.strictEqual(await codeOf(shorter), "no_matching_signature")
    }))

  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"] as const)
    it(`fails with one bit of ${name} changed`, () =>
      holds(
        fc.tuple(signed, place, bit),
        async ([[, options], place, bit]) => {
          const headers = options.headers as Record<string, string>
          const changed = { ...headers, [name]: flipCharacter(headers[name]!, place, bit) }
          // Every age is accepted here, so that only the signature can detect a changed time.
          await failureOf(verifySignature({ ...options, headers: changed, toleranceSeconds: Infinity }))
        },
        500,
      ))

  it("fails with another key", () =>
    holds(
      fc.tuple(signedV1, secret),
      async ([[, options], other]) => {
        fc.pre(secretOf(other) !== options.secret)
        const { publicKey } = makeKeyPair()
        for (const keys of [{ secret: secretOf(other) }, { secret: undefined, publicKey }])
          assert.strictEqual(
            await codeOf(verifySignature({ ...options, ...keys } as VerifyOptions)),
            "no_matching_signature",
          )
      },
      50,
    ))
})

describe("random input", () => {
  const junk = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("v1,", "v1a,", " ", ".", "0"),
  )
  const value = fc.oneof(junk, fc.array(junk), fc.constant(undefined))
  const headers = fc.record(
    { "webhook-id": value, "Webhook-Timestamp": fc.oneof(value, timestamp), "webhook-signature": value },
    { requiredKeys: [] },
  )

  it("fails with a WebhookVerificationError", () =>
    holds(fc.tuple(headers, fc.anything(), fc.anything()), async ([headers, body, key]) => {
      const wild = { headers, body, secret: key, now: new Date(0), toleranceSeconds: Infinity }
      await failureOf(verifySignature(wild as VerifyOptions))
      await failureOf(verifySignature({ ...wild, secret: "c2VjcmV0", body: "" } as VerifyOptions))
    }))

  it("for the headers fails with one, too", () =>
    holds(fc.anything(), async (headers) => {
      const wild = { secret: "c2VjcmV0", body: "", headers } as VerifyOptions
      assert.instanceOf(await failureOf(verifySignature(wild)), WebhookVerificationError)
    }))
})
