/** The receiver as a process, with a sender over node:crypto. */
import { createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { assert, describe, it, onTestFinished } from "vitest"
import { startProgram, startReceiver } from "./ReceiverProcess.ts"

const MEBIBYTE = 1_048_576

type Sign = (content: string) => string

const secretSender = () => {
  const bytes = randomBytes(32)
  return {
    key: `whsec_${bytes.toString("base64")}`,
    sign: (content: string) => `v1,${createHmac("sha256", bytes).update(content).digest("base64")}`,
  }
}

const keyPairSender = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url")
  return {
    key: `whpk_${raw.toString("base64")}`,
    sign: (content: string) => `v1a,${sign(null, Buffer.from(content), privateKey).toString("base64")}`,
  }
}

const eventOf = (id: string, data: unknown = {}): string =>
  JSON.stringify({ id, type: "invoice.paid", timestamp: "2026-11-21T09:30:00.000Z", livemode: false, data })

/** Posts a signed text, or another body with its signature. */
const post = async (url: string, sign: Sign, id: string, signed: string, body = signed) => {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": sign(`${id}.${timestamp}.${signed}`),
    },
    body,
  })
  const answer = await response.text()
  return [response.status, answer === "" ? undefined : (JSON.parse(answer) as { error: string }).error]
}

describe("the receiver", () => {
  for (const [kind, sender] of [
    ["a secret", secretSender()],
    ["a public key", keyPairSender()],
  ] as const)
    it(`accepts events that are signed for ${kind}, handles them once, and refuses others`, async () => {
      await using receiver = await startReceiver(sender.key)
      const send = (id: string, signed: string, body?: string) =>
        post(receiver.url, sender.sign, id, signed, body)

      assert.deepStrictEqual(await send("evt_1", eventOf("evt_1")), [204, undefined])
      assert.deepStrictEqual(await send("evt_1", eventOf("evt_1")), [204, undefined])
      assert.deepStrictEqual(await send("evt_2", eventOf("evt_2"), eventOf("evt_3")), [
        400,
        "no_matching_signature",
      ])
      assert.deepStrictEqual(await send("evt_2", "hello"), [400, "payload_not_json"])
      assert.deepStrictEqual(await send("evt_2", eventOf("evt_2")), [204, undefined])

      const { events, refusals } = await receiver.stop()
      assert.deepStrictEqual(events, [
        "verified invoice.paid evt_1 (livemode false)",
        "repeated invoice.paid evt_1: answered, not handled again",
        "verified invoice.paid evt_2 (livemode false)",
      ])
      assert.deepStrictEqual(
        refusals.map((line) => line.split(":")[0]),
        ["refused no_matching_signature", "refused payload_not_json"],
      )
    })

  it("accepts the old and the new secret, and no third one", async () => {
    const [before, after, other] = [secretSender(), secretSender(), secretSender()]
    await using receiver = await startReceiver(`${before.key} ${after.key}`)
    const codes = [before, after, other].map(({ sign }, index) =>
      post(receiver.url, sign, `evt_${index}`, eventOf(`evt_${index}`)),
    )
    assert.deepStrictEqual(await Promise.all(codes), [
      [204, undefined],
      [204, undefined],
      [400, "no_matching_signature"],
    ])
  })

  it("accepts bodies of up to 1 MiB", async () => {
    const { key, sign } = secretSender()
    await using receiver = await startReceiver(key)
    const largest = eventOf("evt_1", "x".repeat(MEBIBYTE - eventOf("evt_1", "").length))
    assert.lengthOf(largest, MEBIBYTE)
    assert.deepStrictEqual(await post(receiver.url, sign, "evt_1", largest), [204, undefined])
    assert.deepStrictEqual(await post(receiver.url, sign, "evt_2", `${largest} `), [413, "payload_too_large"])
    const huge = " ".repeat(8 * MEBIBYTE)
    assert.deepStrictEqual(await post(receiver.url, sign, "evt_2", huge), [413, "payload_too_large"])
  })

  it("refuses requests that are not webhooks", async () => {
    await using receiver = await startReceiver(secretSender().key)
    const response = await fetch(receiver.url)
    assert.strictEqual(response.status, 400)
    assert.strictEqual(((await response.json()) as { error: string }).error, "missing_header")
  })

  it("answers 500 to an event that it can't handle, and handles its retry", async () => {
    const { key, sign } = secretSender()
    await using receiver = await startReceiver(key)
    assert.deepStrictEqual(await post(receiver.url, sign, "evt_1", "null"), [500, "internal_error"])
    assert.deepStrictEqual(await post(receiver.url, sign, "evt_1", eventOf("evt_1")), [204, undefined])
    assert.lengthOf((await receiver.stop()).events, 1)
  })

  it("explains an invalid secret", async () => {
    await using receiver = await startReceiver("whsec_?")
    assert.deepStrictEqual(await post(receiver.url, secretSender().sign, "evt_1", eventOf("evt_1")), [
      500,
      "invalid_secret",
    ])
  })

  it("does not start without a secret", async () => {
    const child = startProgram({ PORT: "0" })
    onTestFinished(() => void child.kill())
    const [told, [code]] = await Promise.all([text(child.stderr), once(child, "close")])
    assert.strictEqual(code, 1)
    assert.match(told, /^Set WEBHOOK_SECRET/)
  })
})
