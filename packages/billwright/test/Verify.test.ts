import { randomBytes } from "node:crypto"
import { Readable } from "node:stream"
import {
  DEFAULT_TOLERANCE_SECONDS,
  MAX_ID_LENGTH,
  MAX_SIGNATURE_HEADER_LENGTH,
  MAX_SIGNATURES,
  type VerifyOptions,
  verify,
  verifySignature,
  type WebhookHeaders,
} from "billwright/verify"
import { assert, describe, expectTypeOf, it } from "vitest"
import { codeOf, failureOf } from "./Failure.ts"
import { headersOf, makeKeyPair, type Message, secretOf, signV1, signV1a } from "./Signer.ts"

const key = randomBytes(32)
const secret = secretOf(key)
const pair = makeKeyPair()
const seconds = 1_614_265_330
const now = new Date(seconds * 1000)
const body = '{"id":"evt_1","type":"invoice.paid","livemode":false,"data":{"amount":5}}'
const message: Message = { id: "evt_1", timestamp: String(seconds), body }
const headers = headersOf(message, signV1(message, key))
const options = { secret, headers, body, now } satisfies VerifyOptions

const other = () => signV1(message, randomBytes(32))
const signedBy = (...signatures: ReadonlyArray<string>) => ({
  ...options,
  headers: headersOf(message, ...signatures),
})

/** Options without types, as from JavaScript. */
const untyped = (changes: Record<string, unknown>) => ({ ...options, ...changes }) as VerifyOptions

const accepts = async (options: VerifyOptions): Promise<void> => {
  assert.deepStrictEqual(await verifySignature(options), { id: "evt_1", timestamp: now })
}

const refuses = async (code: string, options: VerifyOptions, message = /./): Promise<void> => {
  const failure = await failureOf(verifySignature(options))
  assert.strictEqual(failure.code, code)
  assert.match(failure.message, message)
}

describe("verify", () => {
  it("returns the id, the time and the event", async () => {
    assert.deepStrictEqual<unknown>(await verify(options), {
      id: "evt_1",
      timestamp: now,
      event: JSON.parse(body),
    })
  })

  it("types the event by its type", async () => {
    const { event, id, timestamp } = await verify<{
      "invoice.paid": { readonly amount: number }
      "customer.created": { readonly name: string }
    }>(options)
    expectTypeOf(id).toEqualTypeOf<string>()
    expectTypeOf(timestamp).toEqualTypeOf<Date>()
    expectTypeOf(event.type).toEqualTypeOf<"invoice.paid" | "customer.created">()
    expectTypeOf(event.livemode).toEqualTypeOf<boolean>()
    if (event.type !== "invoice.paid") {
      expectTypeOf(event.data.name).toEqualTypeOf<string>()
      assert.fail(event.type)
    }
    expectTypeOf(event.data.amount).toEqualTypeOf<number>()
    assert.strictEqual(event.data.amount, 5)
  })

  it("types an event of unknown type", async () => {
    const { event } = await verify(options)
    expectTypeOf(event).toEqualTypeOf<{
      readonly id: string
      readonly type: string
      readonly timestamp: string
      readonly livemode: boolean
      readonly data: unknown
    }>()
    assert.strictEqual(event.type, "invoice.paid")
  })

  it("needs a key to compile", () => {
    // @ts-expect-error neither a secret nor a public key
    const without: VerifyOptions = { headers, body }
    // @ts-expect-error an environment variable may be missing
    const missing: VerifyOptions = { headers, body, secret: process.env["SECRET"] }
    // @ts-expect-error an object was parsed
    const parsed: VerifyOptions = { headers, body: {}, secret }
    assert.lengthOf([without, missing, parsed], 3)
  })

  for (const [name, payload] of [
    ["text", "hello"],
    ["nothing", ""],
    ["a byte order mark", "\uFEFF{}"],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
  ] as const)
    it(`says that ${name} is not JSON, and verifySignature accepts it`, async () => {
      const sent = { ...message, body: payload }
      const signed = { ...options, body: payload, headers: headersOf(sent, signV1(sent, key)) }
      await accepts(signed)
      assert.strictEqual(await codeOf(verify(signed)), "payload_not_json")
    })

  it("reports a wrong signature before a body that is not JSON", async () => {
    assert.strictEqual(await codeOf(verify({ ...options, body: "hello" })), "no_matching_signature")
  })

  it("reads the verified bytes, even if the caller changes them meanwhile", async () => {
    const bytes = Buffer.from(body)
    const verification = verify({ ...options, body: bytes })
    bytes.write(body.replace('"amount":5', '"amount":9'))
    assert.deepStrictEqual((await verification).event.data, { amount: 5 })
  })

  it("explains a call without options", async () => {
    for (const nothing of [undefined, null, secret])
      assert.strictEqual(await codeOf(verify(nothing as never)), "invalid_option")
  })
})

describe("keys", () => {
  it("may be several secrets during a rotation", async () => {
    await accepts({ ...options, secret: [secretOf(randomBytes(32)), secret] })
    await accepts({ ...options, secret: [secret, secretOf(randomBytes(32))] })
    await accepts(signedBy(other(), signV1(message, key)))
    await refuses("no_matching_signature", { ...options, secret: [secretOf(randomBytes(32))] })
    await refuses("no_matching_signature", signedBy(other(), other()))
  })

  it("may be several public keys", async () => {
    const signed = signedBy(
      other(),
      signV1a(message, makeKeyPair().privateKey),
      signV1a(message, pair.privateKey),
    )
    const { secret: _, ...publicly } = signed
    await accepts({ ...publicly, publicKey: pair.publicKey })
    await accepts({ ...publicly, publicKey: [makeKeyPair().publicKey, pair.publicKey] })
    await refuses("no_matching_signature", { ...publicly, publicKey: makeKeyPair().publicKey })
  })

  it("may be of both kinds, and one match is enough", async () => {
    const keys = { secret, publicKey: pair.publicKey }
    await accepts({ ...options, ...keys })
    await accepts({ ...signedBy(signV1a(message, pair.privateKey)), ...keys })
    await refuses("no_matching_signature", { ...signedBy(other()), ...keys })
  })

  it("are only used for their own version of signatures", async () => {
    const v1 = signV1(message, key)
    const v1a = signV1a(message, pair.privateKey)
    await refuses("invalid_signature_header", signedBy(v1.replace("v1,", "v1a,")))
    await refuses("invalid_signature_header", signedBy(v1a.replace("v1a,", "v1,")))
    await refuses("no_matching_signature", signedBy(v1a), /private key \(v1a\), but only a secret/)
    const both = [other(), signV1a(message, makeKeyPair().privateKey)] as const
    await refuses("no_matching_signature", signedBy(...both), /belongs to this endpoint/)
    const publicly = { headers, body, now, publicKey: pair.publicKey }
    const { headers: bothKinds } = signedBy(...both)
    await refuses("no_matching_signature", { ...publicly, headers: bothKinds }, /belongs to this endpoint/)
    const { headers: v1aOnly } = signedBy(both[1])
    await refuses("no_matching_signature", { ...publicly, headers: v1aOnly }, /belongs to this endpoint/)
    await refuses("no_matching_signature", signedBy(other()), /belongs to this endpoint/)
    await refuses("no_matching_signature", publicly, /secret \(v1\), but only a publicKey/)
    await refuses(
      "no_matching_signature",
      { ...publicly, secret: secretOf(randomBytes(32)) },
      /belongs to this endpoint/,
    )
  })

  it("never use a public key as a secret", async () => {
    const publicBytes = Buffer.from(pair.publicKey.slice("whpk_".length), "base64")
    const forged = signedBy(signV1(message, publicBytes))
    await refuses("invalid_secret", { ...forged, secret: pair.publicKey }, /pass it as publicKey/)
  })

  it("are refused when they are invalid, before anything else is checked", async () => {
    const wrong = { headers: {}, body: undefined }
    for (const secret of [
      "",
      "whsec_",
      "whsec_!",
      "a",
      "whsec_whsec_AAAA",
      5,
      null,
      {},
      [""],
      [options.secret, ""],
    ])
      await refuses("invalid_secret", untyped({ ...wrong, secret }))
    await refuses("invalid_secret", untyped({ secret: "whsk_AAAA" }), /only for the sender/)
    await refuses("invalid_secret", untyped({ secret: undefined }), /environment variable/)
    await refuses("invalid_secret", untyped({ secret: [], publicKey: [] }), /Neither/)
    const short = `whpk_${Buffer.alloc(31).toString("base64")}`
    const bare = pair.publicKey.slice("whpk_".length)
    for (const publicKey of [
      "",
      "whpk_",
      "whpk_!",
      short,
      bare,
      `whsk_${bare}`,
      secret,
      5,
      null,
      [pair.publicKey, ""],
    ])
      await refuses("invalid_public_key", untyped({ ...wrong, publicKey }))
  })

  it("are never in an error", async () => {
    const leaky = `whsec_${Buffer.from("correct horse").toString("base64")}`
    const failures = [
      await failureOf(verifySignature({ ...options, secret: leaky })),
      await failureOf(verifySignature({ ...options, secret: `${leaky}!` })),
      await failureOf(verifySignature({ ...options, secret: "", publicKey: `${pair.publicKey}!` })),
      await failureOf(verifySignature({ headers, body, now, publicKey: `${pair.publicKey}!` })),
    ]
    for (const failure of failures) {
      const told = `${failure.message} ${String(failure.stack)} ${JSON.stringify(failure)} ${String(failure.cause)}`
      for (const part of [
        leaky.slice(6, -4),
        pair.publicKey.slice(5, 20),
        "correct",
        signV1(message, key).slice(3),
      ])
        assert.notInclude(told, part)
    }
  })
})

describe("headers", () => {
  const shouted = Object.entries(headers).map(([name, value]): [string, string] => [
    name.toUpperCase(),
    value,
  ])
  const shapes: Readonly<Record<string, WebhookHeaders>> = {
    "a Headers": new Headers(headers),
    "a plain object": headers,
    "a plain object in another case": Object.fromEntries(shouted),
    "a plain object with lists, as Node may give": {
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      "set-cookie": ["a=1", "b=2"],
      "x-none": undefined,
    },
    "an object without a prototype": Object.assign(Object.create(null) as Record<string, string>, headers),
    "a Map": new Map(shouted),
    "an array of pairs": shouted,
    "a generator of pairs": (function* () {
      yield* shouted
    })(),
    "something with get": { get: (name: string) => new Headers(headers).get(name) },
  }
  for (const [name, shape] of Object.entries(shapes))
    it(`are read from ${name}`, () => accepts({ ...options, headers: shape }))

  for (const name of Object.keys(headers))
    it(`are all required: ${name}`, async () => {
      for (const value of [undefined, "", []])
        await refuses("missing_header", { ...options, headers: { ...headers, [name]: value } }, RegExp(name))
      await refuses("missing_header", { ...options, headers: { get: () => null } }, /webhook-id/)
    })

  it("are refused when they are invalid", async () => {
    const flat = Object.entries(headers).flat()
    for (const wrong of [undefined, null, "webhook-id: 1", 5, flat, [1], { ...headers, "webhook-id": 5 }])
      await refuses("invalid_headers", untyped({ headers: wrong }))
  })

  it("that are given twice are refused", async () => {
    const twice = (name: keyof typeof headers) => [...Object.entries(headers), [name, headers[name]] as const]
    await refuses("invalid_id", { ...options, headers: twice("webhook-id") })
    await refuses("invalid_timestamp", { ...options, headers: twice("webhook-timestamp") })
    const object = { ...headers, "Webhook-Id": "evt_2" }
    await refuses("invalid_id", { ...options, headers: object })
    const joined = new Headers(headers)
    joined.append("webhook-timestamp", "1")
    await refuses("invalid_timestamp", { ...options, headers: joined })
  })

  it("need an id of limited length, of visible characters, without a dot", async () => {
    const signedAs = (id: string) => {
      const sent = { ...message, id }
      return verifySignature({ ...options, headers: headersOf(sent, signV1(sent, key)) })
    }
    const longest = "x".repeat(MAX_ID_LENGTH)
    assert.strictEqual((await signedAs(longest)).id, longest)
    for (const id of [`${longest}x`, "a.b", ".", "a b", "a\n", "é", "\u{1F98A}", "\u007F"])
      assert.strictEqual(await codeOf(signedAs(id)), "invalid_id", JSON.stringify(id))
  })
})

describe("the time", () => {
  const signedAt = (timestamp: string, changes: Partial<VerifyOptions> = {}) => {
    const sent = { ...message, timestamp }
    return verifySignature({ ...untyped(changes), headers: headersOf(sent, signV1(sent, key)) })
  }

  it("may be wrong by 300 seconds in both directions", async () => {
    assert.strictEqual(DEFAULT_TOLERANCE_SECONDS, 300)
    for (const offset of [-300, 0, 300]) await signedAt(String(seconds + offset))
    assert.strictEqual(await codeOf(signedAt(String(seconds - 301))), "timestamp_too_old")
    assert.strictEqual(await codeOf(signedAt(String(seconds + 301))), "timestamp_too_new")
  })

  it("is compared in whole seconds", async () => {
    const late = new Date(now.getTime() + 999)
    await signedAt(String(seconds - 300), { now: late })
    assert.strictEqual(await codeOf(signedAt(String(seconds + 301), { now: late })), "timestamp_too_new")
  })

  it("may be wrong by the tolerance of the options", async () => {
    await signedAt(String(seconds), { toleranceSeconds: 0 })
    await signedAt("0", { toleranceSeconds: Infinity })
    assert.strictEqual(
      await codeOf(signedAt(String(seconds - 1), { toleranceSeconds: 0 })),
      "timestamp_too_old",
    )
    assert.strictEqual(
      await codeOf(signedAt(String(seconds + 1), { toleranceSeconds: 0 })),
      "timestamp_too_new",
    )
  })

  it("is compared with the clock unless the options set now", async () => {
    await signedAt(String(Math.floor(Date.now() / 1000)), { now: undefined, toleranceSeconds: undefined })
    assert.strictEqual(await codeOf(signedAt(String(seconds), { now: undefined })), "timestamp_too_old")
  })

  it("refuses invalid options", async () => {
    for (const toleranceSeconds of [Number.NaN, -1, "300", null])
      await refuses("invalid_option", untyped({ toleranceSeconds }), /toleranceSeconds/)
    for (const now of [new Date(Number.NaN), "yesterday", {}])
      await refuses("invalid_option", untyped({ now }), /now/)
  })

  it("must be digits, within the range of a Date", async () => {
    const all = { toleranceSeconds: Infinity }
    assert.deepStrictEqual((await signedAt("8640000000000", all)).timestamp, new Date(8.64e15))
    for (const text of [
      "8640000000001",
      "9999999999999999",
      "99999999999999999",
      "1e9",
      "0x10",
      "01",
      "00",
      "-0",
      "+1",
      "1.0",
      " 1",
      "1 ",
      "1\n",
      "1,000",
      "٣",
      "Infinity",
      "NaN",
      "-1",
      "1n",
      "1_000",
    ])
      assert.strictEqual(await codeOf(signedAt(text, all)), "invalid_timestamp", JSON.stringify(text))
  })
})

describe("signatures", () => {
  const right = signV1(message, key)

  it("are found among unknown and malformed ones", async () => {
    await accepts(signedBy("v0,AAAA", "v1", "v1,", "v1,?", "v1a,AAAA", "v9,", ",", "v1,AAAA", right))
    await accepts(signedBy("", right, "", ""))
  })

  it(`are at most ${MAX_SIGNATURES}`, async () => {
    const others = Array.from({ length: MAX_SIGNATURES - 1 }, other)
    await accepts(signedBy(...others, right))
    await accepts(signedBy(...others, right, "", ""))
    await refuses("invalid_signature_header", signedBy(right, ...others, "v9,AAAA"), /more than 32/)
  })

  it(`have at most ${MAX_SIGNATURE_HEADER_LENGTH} characters in total`, async () => {
    const rest = (length: number) => signedBy(`v9,${"A".repeat(length - right.length - 4)}`, right)
    await accepts(rest(MAX_SIGNATURE_HEADER_LENGTH))
    await refuses("invalid_signature_header", rest(MAX_SIGNATURE_HEADER_LENGTH + 1), /longer than 4096/)
  })

  it("have only one spelling", async () => {
    const [, text = ""] = right.split(",")
    const urlSafe = Buffer.from(text, "base64").toString("base64url")
    const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".indexOf(text.at(-2)!)
    const stray = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[last + 1]!
    for (const spelling of [text.slice(0, -1), `${text}=`, `${urlSafe}`, `${text.slice(0, -2)}${stray}=`])
      await refuses("invalid_signature_header", signedBy(`v1,${spelling}`))
    await refuses("invalid_signature_header", signedBy(`V1,${text}`))
    await refuses("invalid_signature_header", signedBy(`v1,${text},`))
    await refuses("invalid_signature_header", signedBy(`v1\t,${text}`))
  })

  it("that begin or end like the right one do not match", async () => {
    const bytes = Buffer.from(right.slice(3), "base64")
    for (const index of [0, 15, 31]) {
      const changed = Buffer.from(bytes)
      changed[index]! ^= 1
      await refuses("no_matching_signature", signedBy(`v1,${changed.toString("base64")}`))
    }
    for (const changed of [
      bytes.subarray(1),
      bytes.subarray(0, 31),
      Buffer.concat([bytes, bytes]),
      bytes.fill(0, 16),
    ])
      await refuses(
        changed.length === 32 ? "no_matching_signature" : "invalid_signature_header",
        signedBy(`v1,${changed.toString("base64")}`),
      )
  })
})

describe("the body", () => {
  it("is text or any kind of bytes", async () => {
    const bytes = new TextEncoder().encode(body)
    const padded = Buffer.concat([Buffer.from("before"), bytes, Buffer.from("after")])
    const view = padded.subarray(6, 6 + bytes.length)
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
    shared.set(bytes)
    await accepts({ ...options, body })
    await accepts({ ...options, body: bytes })
    await accepts({ ...options, body: bytes.buffer })
    await accepts({ ...options, body: Buffer.from(body) })
    await accepts({ ...options, body: view })
    await accepts({ ...options, body: new DataView(view.buffer, view.byteOffset, view.byteLength) })
    await accepts({ ...options, body: shared })
  })

  it("is signed as the UTF-8 bytes of any text", async () => {
    const sent = { ...message, body: '{"name":"Zoë € 🦊"}' }
    const signed = { ...options, headers: headersOf(sent, signV1(sent, key)) }
    await accepts({ ...signed, body: sent.body })
    await accepts({ ...signed, body: Buffer.from(sent.body) })
    await refuses("no_matching_signature", { ...signed, body: Buffer.from(sent.body, "latin1") })
  })

  it("is refused as text with a lone surrogate", async () => {
    const sent = { ...message, body: '"\uFFFD"' }
    const signed = { ...options, headers: headersOf(sent, signV1(sent, key)) }
    await accepts({ ...signed, body: sent.body })
    await refuses("invalid_body", { ...signed, body: '"\uD800"' })
  })

  for (const [name, wrong, told] of [
    ["parsed JSON", JSON.parse(body), /parsed already.*raw body/],
    ["a parsed array", [1], /parsed already/],
    ["nothing", undefined, /There is no body/],
    ["null", null, /There is no body/],
    ["a number", 5, /is a number/],
    ["a promise", Promise.resolve(body), /await it/],
    ["a stream", new Response(body).body, /is a stream/],
    ["a stream of Node", Readable.from([body]), /is a stream/],
    ["a Request", new Request("http://localhost", { method: "POST", body }), /raw body/],
  ] as const)
    it(`is refused as ${name}, with an explanation`, () =>
      refuses("invalid_body", untyped({ body: wrong as unknown }), told))
})
