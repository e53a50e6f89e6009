/** Payment methods by promises, and over the client. */
import {
  ActionUnavailableError,
  type Billing,
  createBilling,
  InvalidInputError,
  type MethodProvider,
  PaymentMethodNotFoundError,
  type PaymentProvider,
  PaymentProviderError,
  PaymentProviderUnavailableError,
} from "billwright"
import { type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

const SECRET = `seti_1_${"secret"}_abc`

let isSaved = false
let isDown = false
const methods: MethodProvider = {
  ensureCustomer: async ({ customerId }) => ({ reference: `acme_${customerId}` }),
  startSetup: async ({ returnUrl, setupId }) => {
    if (isDown) throw new PaymentProviderError("permanent", `no ${SECRET}`)
    return {
      reference: `setup_${setupId}`,
      clientSecret: returnUrl === null ? SECRET : null,
      url: returnUrl === null ? null : `https://acme.example/${SECRET}`,
    }
  },
  readSetup: async (reference) =>
    isSaved
      ? {
          status: "saved",
          method: {
            reference: `card_${reference}`,
            type: "card",
            brand: "visa",
            last4: "4242",
            expiry: { month: 12, year: 2034 },
          },
        }
      : { status: "pending" },
  detachMethod: async () => {},
}
const payments: PaymentProvider = {
  name: "acme",
  chargeable: () => ({ status: "ok" }),
  methods,
  openPayment: async () => ({ reference: "ref" }),
  attemptPayment: async () => ({ status: "succeeded" }),
  readPayment: async () => ({ status: "succeeded" }),
  closePayment: async () => "closed",
  refund: async (refund) => ({ ...refund, reference: refund.refundId, status: "succeeded", code: null }),
  readRefund: async () => null,
  readDispute: async () => null,
  receive: () => ({ type: "foreign" }),
}

let billing: Billing
let client: BillingClient
let customerId: string
let logged: Array<unknown>

beforeEach(async () => {
  isSaved = false
  isDown = false
  logged = []
  billing = await createBilling({
    store: memory(),
    mode: "test",
    dispatcher: false,
    log: (entry) => void logged.push(entry),
    payments,
  })
  const apiKey = (await billing.keys.create({ name: "app", scopes: ["payments:*"] })).secret
  const fetch = (url: string, init: RequestInit) =>
    billing.fetch(new Request(url, init), { basePath: "/billing" })
  client = createClient({ url: "http://localhost/billing", apiKey, fetch })
  customerId = (await billing.customers.create({ name: "Ada", email: "ada@example.com" })).id
})

afterEach(() => billing.close())

describe("payment methods", () => {
  it("are the same for promises and for the client", async () => {
    const ours = await billing.paymentMethods.create({ customerId, metadata: { label: "work" } })
    assert.deepInclude(ours, { status: "pending", provider: "acme", metadata: { label: "work" } })
    const setup = { paymentMethodId: ours.id, clientSecret: SECRET, url: null }
    assert.deepStrictEqual(await billing.paymentMethods.startSetup(ours.id), setup)
    assert.deepInclude(await client.paymentMethods.startSetup(ours.id), setup)
    const returnUrl = "https://shop.example/account"
    const { url } = await client.paymentMethods.startSetup(ours.id, { returnUrl })
    assert.strictEqual(url, `https://acme.example/${SECRET}`)
    assert.strictEqual((await client.paymentMethods.refresh(ours.id)).status, "pending")
    isSaved = true
    const saved = await client.paymentMethods.refresh(ours.id)
    assert.deepInclude(saved, { status: "attached", isDefault: true, brand: "visa", last4: "4242" })
    assert.deepStrictEqual(await billing.paymentMethods.refresh(ours.id), saved)
    const theirs = await client.paymentMethods.create({ customerId })
    await client.paymentMethods.startSetup(theirs.id)
    await client.paymentMethods.refresh(theirs.id)
    const preferred = await client.paymentMethods.update(theirs.id, { isDefault: true })
    assert.deepStrictEqual(await billing.paymentMethods.get(theirs.id), preferred)
    for (const { paymentMethods } of [billing, client]) {
      const { data } = await paymentMethods.list({ customerId, status: "attached" }).page()
      assert.deepStrictEqual(
        data.map(({ id, isDefault }) => [id, isDefault]),
        [
          [theirs.id, true],
          [ours.id, false],
        ],
      )
    }
    await client.paymentMethods.detach(ours.id)
    await billing.paymentMethods.detach(ours.id)
    const detached = await client.paymentMethods.get(ours.id)
    assert.strictEqual(detached.status, "detached")
    assert.instanceOf(detached.detachedAt, Date)
    const types = (await billing.events.list().page()).data.map(({ type }) => type)
    assert.includeMembers(types, [
      "payment_method.attached",
      "payment_method.updated",
      "payment_method.detached",
    ])
  })

  it("are refused with an error that says why, and without a secret", async () => {
    const { paymentMethods } = billing
    const unknown = `mtd_${"0".repeat(26)}`
    assert.instanceOf(await rejection(paymentMethods.get(unknown)), PaymentMethodNotFoundError)
    const { id } = await paymentMethods.create({ customerId })
    const url = await rejection(paymentMethods.startSetup(id, { returnUrl: "ftp://example.com" }))
    assert.instanceOf(url, InvalidInputError)
    assert.strictEqual(url.field, "returnUrl")
    assert.instanceOf(await rejection(paymentMethods.update(id, { isDefault: true })), ActionUnavailableError)
    const inside = billing.transaction((tx) => tx.paymentMethods.startSetup(id))
    assert.include((await rejection(inside)).message, "can't be called within a transaction")
    isDown = true
    const down = await rejection(paymentMethods.startSetup(id))
    assert.instanceOf(down, PaymentProviderUnavailableError)
    assert.deepInclude(down, { provider: "acme", reason: "permanent", code: "payment_provider_unavailable" })
    const theirs = await rejection(client.paymentMethods.startSetup(id))
    for (const said of [down.message, theirs.message, JSON.stringify(logged)]) assert.notInclude(said, SECRET)
    const none = await createBilling({ store: memory(), mode: "test", dispatcher: false, log: false })
    const ada = await none.customers.create({ name: "Ada", email: "ada@example.com" })
    assert.instanceOf(
      await rejection(none.paymentMethods.create({ customerId: ada.id })),
      ActionUnavailableError,
    )
    await none.close()
  })
})
