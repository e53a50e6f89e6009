/** `fakePayments`: a payment provider for the tests of a host. */
import { createBilling, definePlan, InvalidInputError, PaymentProviderUnavailableError } from "billwright"
import { memory } from "billwright/memory"
import { createTestBilling, fakePayments, type FakePaymentsOptions } from "billwright/testing"
import { assert, describe, it } from "vitest"
import { rejection } from "./Rejection.ts"

const plan = definePlan("pro", {
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", name: "Base fee", model: "flat", price: { EUR: "20.00" } }],
})

const begin = async (options: FakePaymentsOptions = {}, mode: "live" | "test" = "test") => {
  const payments = fakePayments(options)
  const billing = await createTestBilling({ now: "2026-01-01T00:00:00Z", payments, mode })
  await billing.plans.push(plan)
  const { id: customerId } = await billing.testing.customer()
  /** Issues the first invoice, and attempts it. */
  const invoice = async () => {
    await billing.subscriptions.create({ customerId, plan: "pro" })
    await billing.testing.advance({ minutes: 1 })
    return (await billing.invoices.list({ customerId }).page()).data[0]!.id
  }
  const collection = async (id: string) => (await billing.invoices.get(id)).collection
  const types = async () => (await billing.events.list({ customerId }).page()).data.map(({ type }) => type)
  return {
    billing,
    collection,
    customerId,
    invoice,
    payments,
    types,
    [Symbol.asyncDispose]: () => billing.close(),
  }
}

describe("fakePayments", () => {
  it("takes the money of every invoice with a saved card, once", async () => {
    await using test = await begin()
    const { billing, customerId, invoice, payments } = test
    const method = await payments.saveCard(customerId, { brand: "mastercard", last4: "4444" })
    assert.deepInclude(method, { status: "attached", isDefault: true, brand: "mastercard", last4: "4444" })
    const id = await invoice()
    assert.strictEqual(await test.collection(id), "paid")
    const [payment] = (await billing.payments.list({ invoiceId: id }).page()).data
    assert.deepStrictEqual(payments.payments, [
      {
        reference: payment!.reference!,
        paymentId: payment!.id,
        invoiceId: id,
        customerId,
        amount: 2_000n,
        currency: "EUR",
        status: "succeeded",
        attempts: 1,
        charges: 1,
      },
    ])
  })

  it("charges customers without a card, if it saves none", async () => {
    await using test = await begin({ savesMethods: false })
    assert.strictEqual(await test.collection(await test.invoice()), "paid")
  })

  it("declines the next attempts as it is told, and then does what the card does", async () => {
    await using test = await begin()
    await test.payments.saveCard(test.customerId)
    test.payments.next(
      { code: "insufficient_funds" },
      { code: "do_not_honor", notBefore: "2026-01-10T00:00:00Z" },
    )
    const id = await test.invoice()
    assert.strictEqual(await test.collection(id), "retrying")
    await test.billing.testing.advance({ days: 2 })
    assert.strictEqual(await test.collection(id), "retrying")
    await test.billing.testing.advanceTo("2026-01-09T23:00:00Z")
    assert.strictEqual(test.payments.payments[0]?.attempts, 2)
    await test.billing.testing.advance({ days: 1 })
    assert.strictEqual(await test.collection(id), "paid")
    assert.deepInclude(test.payments.payments[0], { attempts: 3, charges: 1 })
  })

  it("waits for a customer who confirms, refuses, or tries another card", async () => {
    await using test = await begin()
    const { customerId, payments } = test
    await payments.saveCard(customerId, { behaviour: "needs_confirmation" })
    const id = await test.invoice()
    assert.strictEqual(await test.collection(id), "awaiting_customer")
    await payments.confirm(id)
    assert.strictEqual(await test.collection(id), "paid")
    assert.includeMembers(await test.types(), [
      "payment.action_required",
      "payment.succeeded",
      "invoice.paid",
    ])

    payments.next("requires_action")
    await test.billing.testing.advance({ months: 1 })
    const [second] = (await test.billing.invoices.list({ customerId }).page()).data
    assert.strictEqual(second!.collection, "awaiting_customer")
    await payments.refuse(second!.id)
    assert.notInclude(["paid", "awaiting_customer"], await test.collection(second!.id))
    const other = await payments.saveCard(customerId)
    await test.billing.paymentMethods.update(other.id, { isDefault: true })
    await test.billing.testing.advance({ minutes: 1 })
    assert.strictEqual(await test.collection(second!.id), "paid")
  })

  it("is told of a bank that answers later, in live mode, too", async () => {
    await using test = await begin({}, "live")
    await test.payments.saveCard(test.customerId)
    test.payments.next("processing")
    const id = await test.invoice()
    assert.strictEqual(await test.collection(id), "processing")
    await test.payments.confirm(id)
    assert.strictEqual(await test.collection(id), "paid")
  })

  it("loses an answer: nothing is charged twice, and the webhook may be first", async () => {
    await using test = await begin()
    const { collection, payments } = test
    await payments.saveCard(test.customerId)
    payments.fail("lose_reply")
    const id = await test.invoice()
    assert.strictEqual(await collection(id), "unresolved")
    await payments.tell()
    assert.strictEqual(await collection(id), "paid")
    assert.deepInclude(payments.payments[0], { attempts: 1, charges: 1 })

    payments.fail("lose_request")
    await test.billing.testing.advance({ months: 1 })
    const [second] = (await test.billing.invoices.list().page()).data
    await test.billing.testing.advance({ hours: 1 })
    assert.strictEqual(await collection(second!.id), "paid")
    assert.deepInclude(payments.payments[1], { attempts: 1, charges: 1 })
  })

  it("lets your own page save a card, and refuses one", async () => {
    await using test = await begin()
    const { billing, customerId, payments } = test
    const page = await billing.paymentMethods.create({ customerId })
    assert.throws(() => payments.enterCard(page.id), InvalidInputError, /startSetup was called/)
    const { url } = await billing.paymentMethods.startSetup(page.id, { returnUrl: "https://shop.example/" })
    assert.isString(url)
    payments.refuseCard(page.id, "incorrect_cvc")
    const refused = await billing.paymentMethods.refresh(page.id)
    assert.deepInclude(refused, { status: "failed", failureCode: "incorrect_cvc" })
    const form = await billing.paymentMethods.create({ customerId })
    assert.isString((await billing.paymentMethods.startSetup(form.id)).clientSecret)
    payments.enterCard(form.id, { last4: "0077" })
    assert.deepInclude(await billing.paymentMethods.refresh(form.id), { status: "attached", last4: "0077" })
    payments.fail("break", "startSetup")
    const { id } = await billing.paymentMethods.create({ customerId })
    const down = await rejection(billing.paymentMethods.startSetup(id))
    assert.instanceOf(down, PaymentProviderUnavailableError)
    assert.strictEqual(down.reason, "permanent")
  })

  it("sends notices that your own webhook route can receive", async () => {
    await using test = await begin()
    await test.payments.saveCard(test.customerId)
    test.payments.fail("lose_reply")
    const id = await test.invoice()
    const [notice] = test.payments.notices
    const send = (body: Uint8Array) =>
      test.billing.fetch(
        new Request("http://localhost/payment_providers/fake/webhook?mode=test", {
          method: "POST",
          headers: notice!.headers,
          body: new Uint8Array(body),
        }),
      )
    assert.strictEqual((await send(new TextEncoder().encode("{}"))).status, 400)
    assert.strictEqual((await send(notice!.body)).status, 200)
    assert.strictEqual(await test.collection(id), "paid")
  })

  it("opens disputes, and refunds by hand", async () => {
    await using test = await begin()
    const { customerId, payments } = test
    await payments.saveCard(customerId)
    const id = await test.invoice()
    const refund = await payments.refundByHand(id, 500n)
    assert.deepInclude(payments.refunds[0], { reference: refund, amount: 500n, status: "succeeded" })
    await payments.settleRefund(refund, { code: "lost_card" })
    assert.deepInclude(payments.refunds[0], { status: "failed", code: "lost_card" })
    const dispute = await payments.dispute(id)
    assert.deepInclude(payments.disputes[0], { reference: dispute, amount: 2_000n, status: "open" })
    await payments.closeDispute(dispute, "won")
    assert.deepInclude(payments.disputes[0], { status: "won" })
  })

  it("tells of a dispute at once: the invoice is open again when it is lost", async () => {
    await using test = await begin()
    await test.payments.saveCard(test.customerId)
    const id = await test.invoice()
    const dispute = await test.payments.dispute(id)
    assert.include(await test.types(), "dispute.opened")
    await test.payments.closeDispute(dispute, "lost")
    const { amountDue, collection, status } = await test.billing.invoices.get(id)
    assert.deepStrictEqual([status, collection, amountDue], ["open", "stopped", 2_000n])
  })

  it("says what is wrong with a lever", async () => {
    await using test = await begin()
    const { invoice, payments } = test
    const wrong = (lever: () => void, sentence: RegExp) => assert.throws(lever, InvalidInputError, sentence)
    wrong(
      () => payments.next("decline" as never),
      /^outcome must be one of succeeded, processing, requires_action/,
    )
    wrong(() => payments.next({ code: "" }), /^outcome must be/)
    wrong(() => payments.next({ code: "x", notBefore: "soon" }), /^notBefore must be a Date/)
    wrong(() => payments.fail("lose" as never), /^fault must be one of lose_request/)
    wrong(() => payments.fail("lose_reply", "attempt" as never), /^call must be one of ensureCustomer/)
    wrong(() => payments.fail("lose_reply", "refund", 0), /^times must be/)
    wrong(() => payments.nextRefund("failed" as never), /^outcome must be succeeded, pending/)
    const none = await rejection(payments.confirm("inv_1"))
    assert.instanceOf(none, InvalidInputError)
    assert.match(none.message, /^invoiceId must have a payment that waits .*: it has none$/)
    await payments.saveCard(test.customerId)
    const id = await invoice()
    assert.match((await rejection(payments.refuse(id))).message, /: it is succeeded$/)
    assert.match((await rejection(payments.refundByHand(id, 2_001n))).message, /amount_too_large/)
    wrong(() => fakePayments({ savesMethod: false } as never), /^options has no field "savesMethod"/)
    const misspelled = await rejection(payments.saveCard(test.customerId, { behavior: "works" } as never))
    assert.match(misspelled.message, /^card has no field "behavior": its fields are behaviour/)
    const unknown = await rejection(payments.saveCard(test.customerId, { behaviour: "decline" as never }))
    assert.match(unknown.message, /^card.behaviour must be works, needs_confirmation/)
    assert.match((await rejection(payments.dispute(id, 2_001n))).message, /^amount must be from 1 .* 2000$/)
    assert.match((await rejection(payments.closeDispute("x", "won"))).message, /^reference must be/)
    assert.match((await rejection(payments.settleRefund("x", "succeeded"))).message, /^reference must be/)
    const alone = fakePayments()
    assert.match((await rejection(alone.saveCard("cus_1"))).message, /createTestBilling/)
    const again = await rejection(createTestBilling({ payments }))
    assert.instanceOf(again, InvalidInputError)
  })

  it("is a provider of createBilling, too", async () => {
    const payments = fakePayments({ savesMethods: false })
    await using billing = await createBilling({
      store: memory(),
      mode: "test",
      dispatcher: false,
      log: false,
      payments,
    })
    const customer = await billing.customers.create({
      name: "Ada",
      email: "ada@example.com",
      currency: "EUR",
    })
    const lines = [{ description: "Workshop", amount: 9_000 }]
    const { id } = await billing.invoices.create({ customerId: customer.id, lines })
    await billing.invoices.finalize(id)
    await billing.runDue()
    assert.strictEqual((await billing.invoices.get(id)).status, "paid")
  })
})
