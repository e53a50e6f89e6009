import {
  FakeStripe,
  KEY_MILLIS,
  signEvent,
  type StripeFault,
  TEST_BANK_ACCOUNT,
  TEST_CARDS,
} from "@billwright/testing/stripe"
import { Stripe } from "stripe"
import { afterAll, assert, describe, it } from "vitest"

let now = Date.UTC(2026, 0, 15, 12)
const fake = await FakeStripe.start({ now: () => now })
afterAll(() => fake.close())

let accounts = 0

/** A new account at the fake, with a client of the official SDK. */
const open = () => {
  accounts += 1
  const key = ["sk", "test", `fake${accounts}`].join("_")
  const { host, port } = fake
  const client = new Stripe(key, { host, port, protocol: "http", maxNetworkRetries: 0, telemetry: false })
  const intent = (params: Partial<Stripe.PaymentIntentCreateParams> = {}) =>
    client.paymentIntents.create({ amount: 2_000, currency: "eur", ...params })
  const withCard = async (name: string) => {
    const customer = (await client.customers.create({ name: "Ada" })).id
    return { customer, method: (await client.paymentMethods.attach(name, { customer })).id }
  }
  return { account: fake.account(key), client, intent, withCard, key }
}

const errorOf = async (call: Promise<unknown>) => {
  try {
    await call
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) return error
    throw error
  }
  throw new Error("it did not fail")
}

const isReplay = ({ lastResponse }: Stripe.Response<object>): boolean =>
  lastResponse.headers["idempotent-replayed"] === "true"

describe("FakeStripe: keys", () => {
  it("the same key with the same parameters gives the first answer, for 24 hours", async () => {
    const { account, client } = open()
    const params = { amount: 2_000, currency: "eur" }
    const options = { idempotencyKey: "pay_1" }
    const first = await client.paymentIntents.create(params, options)
    const again = await client.paymentIntents.create(params, options)
    assert.deepStrictEqual([again.id, isReplay(first), isReplay(again)], [first.id, false, true])
    now += KEY_MILLIS
    const later = await client.paymentIntents.create(params, options)
    assert.notStrictEqual(later.id, first.id)
    assert.strictEqual(account.all("payment_intent").length, 2)
  })

  it("the same key with other parameters is refused, and says that an earlier call ran", async () => {
    const { client } = open()
    await client.paymentIntents.create({ amount: 1, currency: "eur" }, { idempotencyKey: "pay_1" })
    const other = client.paymentIntents.create({ amount: 2, currency: "eur" }, { idempotencyKey: "pay_1" })
    const error = await errorOf(other)
    assert.deepStrictEqual([error.statusCode, error.rawType], [400, "idempotency_error"])
  })

  it("a decline is kept with its key; what was refused before it began is not", async () => {
    const { client, intent } = open()
    const { id } = await intent()
    const unknown = { payment_method: "pm_nobody" }
    const declined = { payment_method: "pm_card_visa_chargeDeclined" }
    const options = { idempotencyKey: "att_1" }
    assert.strictEqual(
      (await errorOf(client.paymentIntents.confirm(id, unknown, options))).code,
      "resource_missing",
    )
    const first = await errorOf(client.paymentIntents.confirm(id, declined, options))
    const again = await errorOf(client.paymentIntents.confirm(id, declined, options))
    assert.deepStrictEqual([first.code, again.charge], ["card_declined", first.charge])
    assert.strictEqual(again.headers?.["idempotent-replayed"], "true")
  })
})

describe("FakeStripe: payments", () => {
  for (const { decline, name, number } of TEST_CARDS.filter((card) => card.decline !== undefined)) {
    it(`${name} is declined with its codes, and the error is the one that is read`, async () => {
      const { account, client, intent } = open()
      const { id } = await intent({ metadata: { attempt: "1" } })
      const card = { number, exp_month: 12, exp_year: 2030, cvc: "123" }
      const method = await client.paymentMethods.create({ type: "card", card })
      const error = await errorOf(client.paymentIntents.confirm(id, { payment_method: method.id }))
      assert.deepStrictEqual(
        [error.statusCode, error.code, error.decline_code, error.advice_code],
        [402, decline?.code ?? "card_declined", decline?.declineCode, decline?.adviceCode],
      )
      const read = await client.paymentIntents.retrieve(id, { expand: ["latest_charge"] })
      assert.deepStrictEqual(
        [read.status, read.last_payment_error?.decline_code, read.payment_method],
        ["requires_payment_method", decline?.declineCode, null],
      )
      const { latest_charge: charge } = read
      assert.isTrue(
        typeof charge === "object" && charge?.metadata.attempt === "1" && charge.status === "failed",
      )
      assert.deepStrictEqual(account.charged(id), { count: 0, amount: 0 })
    })
  }

  it("a card is declined when it is saved, or only when it is charged", async () => {
    const { client, intent, withCard } = open()
    const { id: customer } = await client.customers.create({})
    const refused = client.paymentMethods.attach("pm_card_visa_chargeDeclined", { customer })
    assert.strictEqual((await errorOf(refused)).code, "card_declined")
    const saved = await withCard("pm_card_chargeCustomerFail")
    const { id } = await intent({ customer: saved.customer })
    const confirmed = client.paymentIntents.confirm(id, { payment_method: saved.method, off_session: true })
    assert.strictEqual((await errorOf(confirmed)).decline_code, "generic_decline")
  })

  it("a card that asks for the customer is 402 off session, and waits on session", async () => {
    const { account, client, intent, withCard } = open()
    const { customer, method: payment_method } = await withCard("pm_card_authenticationRequired")
    const { client_secret, id } = await intent({ customer })
    const refused = await errorOf(client.paymentIntents.confirm(id, { payment_method, off_session: true }))
    assert.deepStrictEqual([refused.statusCode, refused.code], [402, "authentication_required"])
    const waiting = await client.paymentIntents.confirm(id, { payment_method })
    assert.deepStrictEqual([waiting.status, waiting.client_secret], ["requires_action", client_secret])
    account.complete(id)
    assert.strictEqual((await client.paymentIntents.retrieve(id)).status, "succeeded")
    assert.deepStrictEqual(account.charged(id), { count: 1, amount: 2_000 })
  })

  it("a card that was set up by the customer is not asked again", async () => {
    const { account, client, intent } = open()
    const { id: customer } = await client.customers.create({})
    const setup = await client.setupIntents.create({ customer, usage: "off_session" })
    account.enterCard(setup.id, "pm_card_authenticationRequiredOnSetup")
    account.completeSetup(setup.id)
    const { payment_method, status } = await client.setupIntents.retrieve(setup.id)
    assert.strictEqual(status, "succeeded")
    const { id } = await intent({ customer })
    const params = { payment_method: String(payment_method), off_session: true }
    assert.strictEqual((await client.paymentIntents.confirm(id, params)).status, "succeeded")
  })

  it("a bank account takes its time, and then pays or does not", async () => {
    for (const decline of [undefined, { declineCode: "insufficient_funds" }]) {
      const { account, client, intent, withCard } = open()
      const { customer, method } = await withCard(TEST_BANK_ACCOUNT.name)
      const { id } = await intent({ customer })
      assert.strictEqual(
        (await client.paymentIntents.confirm(id, { payment_method: method })).status,
        "processing",
      )
      assert.strictEqual(
        (await errorOf(client.paymentIntents.cancel(id))).code,
        "payment_intent_unexpected_state",
      )
      account.complete(id, decline)
      const { status } = await client.paymentIntents.retrieve(id)
      assert.strictEqual(status, decline === undefined ? "succeeded" : "requires_payment_method")
    }
  })

  it("a payment succeeds once, and neither after it was canceled nor with another customer's card", async () => {
    const { account, client, intent, withCard } = open()
    const paid = await intent({ payment_method: "pm_card_visa", confirm: true })
    const again = await errorOf(client.paymentIntents.confirm(paid.id, { payment_method: "pm_card_visa" }))
    assert.strictEqual(again.code, "payment_intent_unexpected_state")
    const canceled = await intent()
    await client.paymentIntents.cancel(canceled.id)
    const late = await errorOf(client.paymentIntents.confirm(canceled.id, { payment_method: "pm_card_visa" }))
    assert.strictEqual(late.payment_intent?.status, "canceled")
    const { method } = await withCard("pm_card_visa")
    const { id } = await intent()
    assert.strictEqual(
      (await errorOf(client.paymentIntents.confirm(id, { payment_method: method }))).statusCode,
      400,
    )
    await client.paymentMethods.detach(method)
    assert.strictEqual(
      (await errorOf(client.paymentIntents.confirm(id, { payment_method: method }))).statusCode,
      400,
    )
    assert.deepStrictEqual(
      [paid.id, canceled.id, id].map((one) => account.charged(one).count),
      [1, 0, 0],
    )
  })
})

describe("FakeStripe: refunds, disputes, events", () => {
  it("refunds add up to what was taken, and a failed one comes back", async () => {
    const { account, client, intent } = open()
    const { id } = await intent({ payment_method: "pm_card_visa", confirm: true })
    await client.refunds.create({ payment_intent: id, amount: 1_500 })
    const tooLarge = await errorOf(client.refunds.create({ payment_intent: id, amount: 501 }))
    assert.deepStrictEqual([tooLarge.statusCode, tooLarge.param], [400, "amount"])
    account.next({ refund: "pending" })
    const pending = await client.refunds.create({ payment_intent: id })
    assert.deepStrictEqual([pending.status, pending.amount, account.refunded(id)], ["pending", 500, 2_000])
    account.completeRefund(pending.id, "failed")
    assert.strictEqual((await client.refunds.retrieve(pending.id)).status, "failed")
    assert.strictEqual(account.refunded(id), 1_500)
    const all = await client.refunds.list({ payment_intent: id, limit: 1 })
    assert.deepStrictEqual([all.data.map((one) => one.id), all.has_more], [[pending.id], true])
  })

  it("disputes are opened and closed", async () => {
    const { account, client, intent } = open()
    const { id } = await intent({ payment_method: "pm_card_createDispute", confirm: true })
    const [dispute] = account.all("dispute")
    account.closeDispute(dispute?.id ?? "", "lost")
    const read = await client.disputes.retrieve(dispute?.id ?? "")
    assert.deepStrictEqual([read.status, read.payment_intent, read.amount], ["lost", id, 2_000])
  })

  it("each change is an event with the object as it was then, signed as the SDK checks it", async () => {
    const { account, client, intent } = open()
    await intent({ payment_method: "pm_card_visa", confirm: true })
    assert.deepStrictEqual(
      account.events.map(({ type }) => type),
      ["payment_intent.created", "charge.succeeded", "payment_intent.succeeded"],
    )
    const [created] = account.events
    const secret = ["whsec", "fake"].join("_")
    const { body, headers } = signEvent(created ?? {}, secret, now)
    const signature = headers["stripe-signature"]
    const event = client.webhooks.constructEvent(body, signature, secret, 300, undefined, now)
    assert.strictEqual(event.type, "payment_intent.created")
    const other = () => client.webhooks.constructEvent(`${body} `, signature, secret, 300, undefined, now)
    assert.throws(other, Stripe.errors.StripeSignatureVerificationError)
  })
})

describe("FakeStripe: faults", () => {
  const cases: ReadonlyArray<readonly [StripeFault, number | undefined, number]> = [
    ["lost_request", undefined, 0],
    ["lost_reply", undefined, 1],
    ["cut_body", undefined, 1],
    ["server_error", 500, 0],
    ["server_error_after", 500, 1],
    ["in_use", 409, 0],
    ["locked", 429, 0],
    ["rate_limited", 429, 0],
  ]
  for (const [fault, status, charges] of cases) {
    it(`${fault} takes money ${charges} times, and the same key says what came of it`, async () => {
      const { account, client, intent } = open()
      const { id } = await intent()
      // The SDK sends a request again by itself after a reset.
      const isReset = fault === "lost_request" || fault === "lost_reply"
      account.fail({ path: /confirm$/ }, fault)
      if (isReset) account.fail({ path: /confirm$/ }, "lost_request")
      const confirm = () =>
        client.paymentIntents.confirm(id, { payment_method: "pm_card_visa" }, { idempotencyKey: "att_1" })
      const error = await errorOf(confirm())
      assert.strictEqual(error.statusCode, status)
      assert.strictEqual(account.charged(id).count, charges)
      if (status === 500) {
        assert.strictEqual((await errorOf(confirm())).headers?.["idempotent-replayed"], "true")
      } else {
        assert.strictEqual((await confirm()).status, "succeeded")
        assert.strictEqual(account.charged(id).count, 1)
      }
    })
  }

  it("a request without an answer ends when the client gives up", async () => {
    const { account, client } = open()
    account.fail({ path: /payment_intents$/ }, "no_answer")
    const waiting = client.paymentIntents.create({ amount: 1, currency: "eur" }, { timeout: 100 })
    assert.strictEqual((await errorOf(waiting)).type, "StripeConnectionError")
    assert.strictEqual(account.all("payment_intent").length, 0)
  })

  it("what Stripe would refuse is refused: keys, unknown parameters, calls and objects", async () => {
    const { client, intent, key } = open()
    const { host, port } = fake
    const stranger = new Stripe(["sk", "live", "1"].join("_"), { host, port, protocol: "http" })
    assert.strictEqual((await errorOf(stranger.customers.create({}))).statusCode, 401)
    const browser = new Stripe(key.replace("sk", "pk"), { host, port, protocol: "http" })
    const { client_secret, id } = await intent()
    assert.strictEqual((await errorOf(browser.paymentIntents.retrieve(id))).statusCode, 401)
    const own = await browser.paymentIntents.retrieve(id, { client_secret: client_secret ?? "" })
    assert.strictEqual(own.id, id)
    const card = { number: "4242424242424242", exp_month: 12, exp_year: 2040 }
    const { id: method } = await browser.paymentMethods.create({ type: "card", card })
    assert.strictEqual((await errorOf(browser.paymentMethods.retrieve(method))).statusCode, 401)
    assert.strictEqual((await errorOf(browser.customers.create({}))).statusCode, 401)
    assert.strictEqual((await errorOf(intent({ statement_descriptor: "x" }))).code, "parameter_unknown")
    assert.strictEqual((await errorOf(client.balance.retrieve())).statusCode, 404)
    assert.strictEqual((await errorOf(client.customers.retrieve("cus_x"))).code, "resource_missing")
    assert.strictEqual((await errorOf(intent({ amount: 100_000_000 }))).code, "amount_too_large")
  })
})

describe("FakeStripe: pages", () => {
  const begun = async () => {
    const { account, client } = open()
    const customer = (await client.customers.create({ name: "Ada" })).id
    const session = await client.checkout.sessions.create({
      mode: "setup",
      customer,
      allowed_payment_method_types: ["card"],
      success_url: "https://shop.example/thanks",
      cancel_url: "https://shop.example/back?a=1&b=2",
    })
    const url = session.url ?? ""
    const get = () => fetch(url)
    const post = (form: Record<string, string>) =>
      fetch(url, { method: "POST", body: new URLSearchParams(form), redirect: "manual" })
    return { account, client, customer, get, post, session }
  }

  it("save a card: the bank may ask, and the customer goes on at the shop", async () => {
    const { account, client, customer, get, post, session } = await begun()
    const form = await (await get()).text()
    assert.include(form, "Card number")
    assert.include(form, "https://shop.example/back?a=1&#38;b=2")
    for (const [card, problem] of [
      ["1234", "card number is incorrect"],
      ["4000 0000 0000 0002", "card was declined"],
      ["<b>", "card number is incorrect"],
    ] as const) {
      const refused = await post({ card })
      assert.strictEqual(refused.status, 200)
      assert.include(await refused.text(), problem)
    }
    assert.include(await (await post({ card: "4000 0025 0000 3155" })).text(), "Your bank asks")
    assert.include(await (await get()).text(), "Your bank asks")
    assert.include(await (await post({ bank: "no" })).text(), "failed authentication")
    await post({ card: "4000002500003155" })
    const done = await post({ bank: "yes" })
    assert.deepStrictEqual([done.status, done.headers.get("location")], [303, "https://shop.example/thanks"])
    const read = await client.checkout.sessions.retrieve(session.id, {
      expand: ["setup_intent.payment_method"],
    })
    assert.deepInclude(read, { status: "complete", url: null })
    const setup = typeof read.setup_intent === "object" ? read.setup_intent : null
    assert.deepInclude(setup?.payment_method, { type: "card", customer })
    assert.strictEqual((await get()).status, 404)
    const types = account.events.map(({ type }) => type)
    assert.include(types, "checkout.session.completed")
  })

  it("are gone after a day, when they are expired, and where there were none", async () => {
    const { account, client, get, session } = await begun()
    await client.checkout.sessions.expire(session.id)
    assert.strictEqual((await errorOf(client.checkout.sessions.expire(session.id))).statusCode, 400)
    assert.strictEqual((await get()).status, 404)
    const other = await begun()
    now += KEY_MILLIS
    assert.strictEqual((await other.get()).status, 404)
    assert.strictEqual((await client.checkout.sessions.retrieve(session.id)).status, "expired")
    assert.strictEqual((await fetch(`http://${fake.host}:${fake.port}/c/pay/cs_none`)).status, 404)
    assert.throws(() => account.enterCard(session.id, "pm_card_visa"), TypeError, /is expired/)
  })

  it("take no money", async () => {
    const { client } = open()
    const error = await errorOf(client.checkout.sessions.create({ mode: "payment" }))
    assert.strictEqual(error.param, "mode")
  })
})
