/** Tests against independent implementations: we verify what they sign, and they verify what our test sender signs. */
import { randomBytes } from "node:crypto"
import { verify, verifySignature } from "billwright/verify"
import * as StandardWebhooks from "standardwebhooks"
import * as Svix from "svix"
import { assert, describe, it } from "vitest"
import { codeOf } from "./Failure.ts"
import { headersOf, secretOf, signV1 } from "./Signer.ts"

interface Library {
  readonly sign: (id: string, timestamp: Date, body: string) => string
  readonly verify: (body: string | Buffer, headers: Record<string, string>) => unknown
}

const libraries: Readonly<Record<string, new (secret: string) => Library>> = {
  standardwebhooks: StandardWebhooks.Webhook,
  svix: Svix.Webhook,
}

// These libraries always use the current time.
const now = new Date(Math.floor(Date.now() / 1000) * 1000)
const timestamp = String(now.getTime() / 1000)
const bodies = [
  '{"id":"evt_1","type":"invoice.paid","livemode":false}',
  '{"name":"Zoë € 🦊"}',
  " [1, 2] ",
  '{"text":"a.b.c\\n"}',
]
const lengths = [1, 24, 32, 64, 65, 200]

for (const [name, Library] of Object.entries(libraries))
  describe(name, () => {
    for (const length of lengths) {
      const bytes = randomBytes(length)
      const secret = secretOf(bytes)
      const library = new Library(secret)

      it(`signs with ${length} bytes, and we verify`, async () => {
        for (const body of bodies) {
          const headers = headersOf({ id: "msg_1", timestamp, body }, library.sign("msg_1", now, body))
          const { event, ...message } = await verify<Record<string, unknown>>({ secret, headers, body, now })
          assert.deepStrictEqual(message, { id: "msg_1", timestamp: now })
          assert.deepStrictEqual(event, JSON.parse(body))
          const tampered = verifySignature({ secret, headers, body: `${body} `, now })
          assert.strictEqual(await codeOf(tampered), "no_matching_signature")
        }
      })

      it(`verifies a signature with ${length} bytes, like our library`, async () => {
        for (const body of bodies) {
          const message = { id: "evt_01m7y9ej8sekb8mmyxck33ym36", timestamp, body }
          const headers = headersOf(message, signV1(message, randomBytes(32)), signV1(message, bytes))
          library.verify(body, headers)
          assert.strictEqual((await verifySignature({ secret, headers, body, now })).id, message.id)
          const others = headersOf(message, signV1(message, randomBytes(32)))
          assert.throws(() => library.verify(body, others), /No matching signature/)
          const refused = verifySignature({ secret, headers: others, body, now })
          assert.strictEqual(await codeOf(refused), "no_matching_signature")
        }
      })
    }
  })
