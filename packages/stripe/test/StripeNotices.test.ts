import { signEvent, type StripeEvent } from "@billwright/testing/stripe"
import { assert, describe, it } from "@effect/vitest"
import { Stripe } from "stripe"
import { afterAll } from "vitest"
import { fake, open, SECRETS } from "./AtFake.ts"

afterAll(() => fake.close())

const NOW = Date.UTC(2026, 0, 15, 12)
const HOUR_MILLIS = 3_600_000

const ofPayment = (metadata: object): Omit<StripeEvent, "data"> & { readonly data: object } => ({
  id: "evt_1",
  object: "event",
  created: NOW / 1_000,
  livemode: false,
  type: "payment_intent.succeeded",
  api_version: "2026-08-26.dahlia",
  pending_webhooks: 1,
  request: { id: null, idempotency_key: null },
  data: { object: { id: "pi_1", object: "payment_intent", metadata } },
})

const OURS = ofPayment({ billwright_payment: "pay_1" })

const requestOf = (event: object, at = NOW, secret = SECRETS.current) => {
  const { body, headers } = signEvent(event, secret, at)
  return { body: new TextEncoder().encode(body), headers }
}

const { client, provider } = open()

describe("events of Stripe", () => {
  it("an hour in the future, the SDK takes a signature, and the adapter does not", () => {
    const { body, headers } = requestOf(OURS, NOW + HOUR_MILLIS)
    const event = client.webhooks.constructEvent(
      Buffer.from(body),
      headers["stripe-signature"],
      SECRETS.current,
      300,
      undefined,
      NOW,
    )
    assert.strictEqual(event.id, "evt_1")
    assert.deepStrictEqual(provider.receive({ body, headers }, NOW), { type: "invalid" })
  })

  it("says what to read again, and in which mode", () => {
    for (const [livemode, mode] of [
      [false, "test"],
      [true, "live"],
    ] as const) {
      assert.deepStrictEqual(provider.receive(requestOf({ ...OURS, livemode }), NOW), {
        type: "notices",
        notices: [{ eventId: "evt_1", mode, about: "payment", reference: "pi_1" }],
      })
    }
  })

  it("payments of others, other accounts and other things are foreign", () => {
    const foreign: ReadonlyArray<object> = [
      ofPayment({}),
      ofPayment({ order: "7" }),
      { ...OURS, account: "acct_2" },
      { ...OURS, data: { object: { id: "po_1", object: "payout" } } },
      { ...OURS, data: {} },
      { ...OURS, id: 7 },
      [],
    ]
    for (const event of foreign) {
      assert.deepStrictEqual(provider.receive(requestOf(event), NOW), { type: "foreign" })
    }
    const connected = open({ account: "acct_2" }).provider
    assert.strictEqual(connected.receive(requestOf({ ...OURS, account: "acct_2" }), NOW).type, "notices")
    assert.strictEqual(connected.receive(requestOf(OURS), NOW).type, "foreign")
  })

  it("without a secret, nothing is signed", () => {
    const none = open({ webhookSecrets: [] }).provider
    assert.deepStrictEqual(none.receive(requestOf(OURS), NOW), { type: "invalid" })
    assert.instanceOf(client, Stripe)
  })
})
