import {
  type AttemptPayment,
  IdGenerator,
  Invoice,
  type OpenPayment,
  Payment,
  type PaymentRead,
} from "@billwright/core"
import { Sample } from "@billwright/testing"
import { KEY_MILLIS, type StripeDecline, type StripeFault } from "@billwright/testing/stripe"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { afterAll } from "vitest"
import { fake, open, time } from "./AtFake.ts"

afterAll(() => fake.close())

type Declined = Extract<PaymentRead, { readonly status: "declined" }>

const HOUR_MILLIS = 3_600_000

/** A payment of 20.00 EUR of a customer with a card, and an attempt of it. */
const opened = Effect.fnUntraced(function* (card = "pm_card_visa") {
  const at = open()
  const { account, provider } = at
  const ids = yield* IdGenerator
  const customerId = yield* Sample.customerId
  const details = { customerId, name: "Ada Lovelace", email: "ada@example.com" }
  const { reference: customer } = yield* provider.methods!.ensureCustomer(details)
  const { id: method } = account.attach(card, customer)
  const payment: OpenPayment = {
    paymentId: Payment.PaymentId.make(yield* ids.next(Payment.PAYMENT_ID_PREFIX)),
    mode: "test",
    invoiceId: Invoice.InvoiceId.make(yield* ids.next(Invoice.INVOICE_ID_PREFIX)),
    customerId,
    customer,
    amount: 2_000n,
    currency: "EUR",
  }
  const { reference } = yield* provider.openPayment(payment)
  const attempt: AttemptPayment = {
    reference,
    attemptId: "att_1",
    method,
    presence: "off_session",
    returnUrl: null,
  }
  return {
    ...at,
    attempt,
    customer,
    details,
    payment,
    reference,
    charges: () => account.charged(reference).count,
  }
})

type Opened = Effect.Success<ReturnType<typeof opened>>

const test = (
  title: string,
  body: (given: Opened) => Effect.Effect<unknown, unknown, IdGenerator>,
  card?: string,
) => it.effect(title, () => Effect.flatMap(opened(card), body).pipe(Effect.provide(IdGenerator.layer)))

const CONFIRM = { path: /confirm$/ }

describe("payments at Stripe", () => {
  test("are refused for good, before any money moves, when the key is of the other mode", ({
    account,
    payment,
    provider,
  }) =>
    Effect.gen(function* () {
      const paymentId = Payment.PaymentId.make(yield* (yield* IdGenerator).next(Payment.PAYMENT_ID_PREFIX))
      const failure = yield* Effect.flip(provider.openPayment({ ...payment, paymentId, mode: "live" }))
      assert.strictEqual(failure.reason, "permanent")
      assert.include(failure.message, "the API key is not of live mode")
      assert.lengthOf(account.all("charge"), 0)
    }))
})

describe("attempts at Stripe", () => {
  test(
    "off session, a card that asks for the customer is a 402, and waits for the customer",
    ({ account, attempt, charges, provider, reference }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* provider.attemptPayment(attempt), { status: "requires_action" })
        assert.strictEqual(account.all("payment_intent")[0]?.status, "requires_payment_method")
        assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "requires_action" })
        const next: AttemptPayment = { ...attempt, attemptId: "att_2", presence: "on_session" }
        const answer = yield* provider.attemptPayment(next)
        const secret = account.all("payment_intent")[0]?.client_secret
        assert.isTrue(answer.status === "requires_action" && answer.action?.url === null)
        if (answer.status !== "requires_action" || !answer.action?.clientSecret)
          return assert.fail("no secret")
        assert.strictEqual(Redacted.value(answer.action.clientSecret), secret)
        assert.strictEqual(charges(), 0)
      }),
    "pm_card_authenticationRequired",
  )

  const faults: ReadonlyArray<readonly [StripeFault, "unknown" | "transient", number]> = [
    ["cut_body", "unknown", 1],
    ["server_error", "unknown", 0],
    ["server_error_after", "unknown", 1],
    ["in_use", "unknown", 0],
    ["locked", "transient", 0],
    ["rate_limited", "transient", 0],
  ]
  for (const [fault, reason, taken] of faults) {
    test(`after ${fault} the outcome is ${reason}, and a read says what came of it`, (given) =>
      Effect.gen(function* () {
        const { account, attempt, charges, provider, reference } = given
        account.fail(CONFIRM, fault)
        assert.strictEqual((yield* Effect.flip(provider.attemptPayment(attempt))).reason, reason)
        const status = taken === 1 ? "succeeded" : "open"
        assert.deepStrictEqual(yield* provider.readPayment(reference), { status })
        assert.strictEqual(charges(), taken)
        // A new attempt takes the money if the first did not, and never a second time.
        yield* provider.attemptPayment({ ...attempt, attemptId: "att_2" })
        assert.strictEqual(charges(), 1)
      }))
  }

  test("the SDK sends again after a reset, with the same key: the money is taken once", (given) =>
    Effect.gen(function* () {
      const { account, attempt, charges, provider } = given
      account.fail(CONFIRM, "lost_reply")
      assert.deepStrictEqual(yield* provider.attemptPayment(attempt), { status: "succeeded" })
      const confirms = account.requests.filter(({ path }) => CONFIRM.path.test(path))
      assert.deepStrictEqual(
        confirms.map(({ idempotencyKey, isReplay }) => [idempotencyKey, isReplay]),
        [
          ["billwright:att_1", false],
          ["billwright:att_1", true],
        ],
      )
      assert.strictEqual(charges(), 1)
    }))

  test("a connection that is refused after a reset is unknown, for the first request may have arrived", (given) =>
    Effect.gen(function* () {
      const { account, attempt, charges, provider } = given
      account.fail(CONFIRM, "lost_reply")
      account.fail(CONFIRM, "lost_request")
      assert.strictEqual((yield* Effect.flip(provider.attemptPayment(attempt))).reason, "unknown")
      assert.strictEqual(charges(), 1)
    }))

  test("a key that was used with other parameters means that an earlier call ran", (given) =>
    Effect.gen(function* () {
      const { account, attempt, charges, customer, provider, reference } = given
      account.fail(CONFIRM, "server_error")
      yield* Effect.flip(provider.attemptPayment(attempt))
      const { id: method } = account.attach("pm_card_visa", customer)
      const other = yield* Effect.flip(provider.attemptPayment({ ...attempt, method }))
      assert.deepInclude(other, { reason: "unknown" })
      assert.include(other.message, "idempotency_error")
      assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "open" })
      assert.strictEqual(charges(), 0)
    }))

  test("an attempt that was declined is not sent again when Stripe has forgotten its key", (given) =>
    Effect.gen(function* () {
      const { account, attempt, provider } = given
      account.next({ decline: { declineCode: "insufficient_funds" } })
      const declined = yield* provider.attemptPayment(attempt)
      time.now += KEY_MILLIS + HOUR_MILLIS
      assert.deepStrictEqual(yield* provider.attemptPayment(attempt), declined)
      assert.strictEqual(account.all("charge").length, 1)
    }))

  test("what was said of an attempt before says nothing of one whose request never arrived", (given) =>
    Effect.gen(function* () {
      const { account, attempt, provider, reference } = given
      for (const behaviour of [
        { decline: { declineCode: "insufficient_funds" } },
        { authentication: "always" },
      ] as const) {
        const attemptId = `att_${behaviour.decline === undefined ? "a" : "d"}`
        account.next(behaviour)
        yield* provider.attemptPayment({ ...attempt, attemptId })
        account.fail(CONFIRM, "lost_request", 2)
        yield* Effect.flip(provider.attemptPayment({ ...attempt, attemptId: `${attemptId}_later` }))
        const read = yield* provider.readPayment(reference)
        // A decline names the attempt before. That the customer was waited for is not said again.
        if (behaviour.decline === undefined) assert.deepStrictEqual(read, { status: "open" })
        else assert.deepInclude(read, { status: "declined", attemptId })
      }
    }))

  test("an announcement that is lost is transient: nothing was confirmed", (given) =>
    Effect.gen(function* () {
      const { account, attempt, charges, provider, reference } = given
      account.fail({ method: "POST", path: new RegExp(`${reference}$`) }, "cut_body")
      assert.strictEqual((yield* Effect.flip(provider.attemptPayment(attempt))).reason, "transient")
      assert.strictEqual(charges(), 0)
      assert.deepStrictEqual(yield* provider.attemptPayment(attempt), { status: "succeeded" })
    }))

  test("a customer who fails to confirm is declined, whatever was charged before", (given) =>
    Effect.gen(function* () {
      const { account, attempt, provider, reference } = given
      account.next({ decline: { declineCode: "insufficient_funds" } })
      assert.deepInclude(yield* provider.attemptPayment(attempt), { status: "declined", attemptId: "att_1" })
      const asked: AttemptPayment = { ...attempt, attemptId: "att_2", presence: "on_session" }
      account.next({ authentication: "always" })
      assert.deepInclude(yield* provider.attemptPayment(asked), { status: "requires_action" })
      account.complete(reference, { code: "payment_intent_authentication_failure" })
      const failed = yield* provider.readPayment(reference)
      assert.deepInclude(failed, { status: "declined", attemptId: "att_2" })
      assert.strictEqual((failed as Declined).code, "payment_intent_authentication_failure")
      // The next one does not arrive: what was said of the one before says nothing of it.
      account.fail(CONFIRM, "lost_request", 2)
      yield* Effect.flip(provider.attemptPayment({ ...asked, attemptId: "att_3" }))
      assert.deepInclude(yield* provider.readPayment(reference), { status: "declined", attemptId: "att_1" })
    }))

  test("a payment that somebody canceled at Stripe needs a person, and is not charged", (given) =>
    Effect.gen(function* () {
      const { attempt, charges, client, provider, reference } = given
      yield* Effect.promise(() => client.paymentIntents.cancel(reference))
      assert.deepStrictEqual(yield* provider.attemptPayment(attempt), { status: "closed" })
      assert.deepStrictEqual(yield* provider.readPayment(reference), { status: "closed" })
      assert.strictEqual(charges(), 0)
    }))

  test("a payment that a bank works on can't be closed yet, and is closed once it has failed", (given) =>
    Effect.gen(function* () {
      const { account, attempt, provider, reference } = given
      account.next({ isDelayed: true })
      assert.deepStrictEqual(yield* provider.attemptPayment(attempt), { status: "processing" })
      assert.strictEqual((yield* Effect.flip(provider.closePayment(reference))).reason, "transient")
      account.complete(reference, { declineCode: "insufficient_funds" })
      assert.strictEqual(yield* provider.closePayment(reference), "closed")
    }))

  test("a debit that fails after another attempt was announced is declined as the attempt that made it", (given) =>
    Effect.gen(function* () {
      const { account, attempt, provider, reference } = given
      account.next({ isDelayed: true })
      yield* provider.attemptPayment(attempt)
      const later = yield* provider.attemptPayment({ ...attempt, attemptId: "att_2" })
      assert.deepStrictEqual(later, { status: "processing" })
      account.complete(reference, { code: "account_closed" })
      assert.lengthOf(account.all("charge"), 1)
      const read = yield* provider.readPayment(reference)
      assert.deepInclude(read, { status: "declined", attemptId: "att_1", code: "account_closed" })
    }))

  test("without a method, Stripe's default of the customer is charged; without one, it is declined", (given) =>
    Effect.gen(function* () {
      const { attempt, client, customer, provider } = given
      const none = yield* provider.attemptPayment({ ...attempt, method: null })
      assert.deepInclude(none, { status: "declined", code: "no_method", attemptId: "att_1" })
      const invoice_settings = { default_payment_method: attempt.method ?? "" }
      yield* Effect.promise(() => client.customers.update(customer, { invoice_settings }))
      const paid = yield* provider.attemptPayment({ ...attempt, attemptId: "att_2", method: null })
      assert.deepStrictEqual(paid, { status: "succeeded" })
    }))

  test("a method that is detached, or of another customer, needs another method", (given) =>
    Effect.gen(function* () {
      const { account, attempt, client, provider } = given
      const stranger = yield* Effect.promise(() => client.customers.create({}))
      const methods = [account.attach("pm_card_visa", stranger.id).id, attempt.method ?? "", "pm_nobody"]
      yield* provider.methods!.detachMethod(attempt.method ?? "")
      for (const [index, method] of methods.entries()) {
        const answer = yield* provider.attemptPayment({ ...attempt, attemptId: `att_${index}`, method })
        assert.deepInclude(answer, { status: "declined", code: "method_unavailable", advice: "new_method" })
      }
    }))

  test("a customer who was erased has no name and e-mail address any more, and what was paid stays", (given) =>
    Effect.gen(function* () {
      const { account, attempt, charges, customer, details, provider } = given
      yield* provider.attemptPayment(attempt)
      const known = () => account.all("customer").find(({ id }) => id === customer)
      assert.deepInclude(known(), { name: details.name, email: details.email })
      yield* provider.methods!.forgetCustomer!(customer)
      assert.deepInclude(known(), { name: null, email: null })
      assert.strictEqual(charges(), 1)
      assert.deepStrictEqual(yield* provider.readPayment(attempt.reference), { status: "succeeded" })
    }))

  it.effect("a wrong key is permanent", () =>
    Effect.gen(function* () {
      const { provider } = open({ client: open().client, account: "acct_1" })
      const failure = yield* Effect.flip(provider.readPayment("pi_nobody"))
      assert.deepInclude(failure, { reason: "permanent" })
    }),
  )
})

describe("what a decline advises", () => {
  const DAY_MILLIS = 24 * HOUR_MILLIS
  const cases: ReadonlyArray<readonly [StripeDecline, string, Declined["advice"], number | null]> = [
    [{ declineCode: "insufficient_funds" }, "insufficient_funds", null, null],
    [{ declineCode: "lost_card", adviceCode: "do_not_try_again" }, "lost_card", "new_method", null],
    [{ declineCode: "generic_decline", adviceCode: "try_again_later" }, "generic_decline", "retry", null],
    [{ declineCode: "incorrect_cvc", adviceCode: "confirm_card_data" }, "incorrect_cvc", "new_method", null],
    [
      { declineCode: "do_not_honor", adviceCode: "do_not_try_again", networkAdviceCode: "26" },
      "do_not_honor",
      "retry",
      2 * DAY_MILLIS,
    ],
    [
      { declineCode: "do_not_honor", adviceCode: "try_again_later", networkAdviceCode: "21" },
      "do_not_honor",
      "stop",
      null,
    ],
  ]
  for (const [decline, code, advice, delay] of cases) {
    test(`${JSON.stringify(decline)}: ${advice}`, ({ account, attempt, provider, reference }) =>
      Effect.gen(function* () {
        account.next({ decline })
        const answer = yield* provider.attemptPayment(attempt)
        assert.deepInclude(answer, { status: "declined", code, advice })
        const created = (account.all("charge")[0]?.created ?? 0) * 1_000
        assert.deepStrictEqual(yield* provider.readPayment(reference), {
          status: "declined",
          attemptId: "att_1",
          code,
          advice,
          notBefore: delay === null ? null : created + delay,
        })
      }))
  }
})

describe("customers at Stripe", () => {
  test("the same customer is found when Stripe has forgotten the key, and has the new name", (given) =>
    Effect.gen(function* () {
      const { account, customer, details, provider } = given
      time.now += KEY_MILLIS + HOUR_MILLIS
      const again = yield* provider.methods!.ensureCustomer({ ...details, name: "Ada King" })
      assert.deepStrictEqual(again, { reference: customer })
      assert.deepStrictEqual(
        account.all("customer").map(({ id, name }) => [id, name]),
        [[customer, "Ada King"]],
      )
    }))

  test("a card that was refused can be entered again, until the setup is given up", (given) =>
    Effect.gen(function* () {
      const { account, customer, provider } = given
      const methods = provider.methods!
      const { reference } = yield* methods.startSetup({ setupId: "seti_1", customer, returnUrl: null })
      assert.throws(() => account.enterCard(reference, "pm_card_visa_chargeDeclined"))
      assert.deepStrictEqual(yield* methods.readSetup(reference), { status: "pending" })
      account.enterCard(reference, "pm_card_visa")
      assert.deepInclude(yield* methods.readSetup(reference), { status: "saved" })
    }))

  test("a page saves a card for 24 hours, and the address to which it returns belongs to it", (given) =>
    Effect.gen(function* () {
      const { account, customer, provider } = given
      const methods = provider.methods!
      const input = { setupId: "seti_1", customer, returnUrl: "https://shop.example/return" }
      const page = yield* methods.startSetup(input)
      const [session] = account.all("checkout.session")
      assert.deepInclude(session, {
        id: page.reference,
        customer,
        success_url: input.returnUrl,
        cancel_url: input.returnUrl,
        metadata: { billwright_setup: "seti_1" },
      })
      assert.deepStrictEqual(page.clientSecret, null)
      assert.strictEqual(page.url && Redacted.value(page.url), session?.url)
      assert.deepInclude(account.all("setup_intent")[0], { metadata: { billwright_setup: "seti_1" } })
      const other = yield* methods.startSetup({ ...input, returnUrl: "https://shop.example/other" })
      assert.notStrictEqual(other.reference, page.reference)
      assert.throws(() => account.enterCard(page.reference, "pm_card_visa_chargeDeclined"))
      assert.deepStrictEqual(yield* methods.readSetup(page.reference), { status: "pending" })
      account.enterCard(page.reference, "pm_card_visa")
      assert.deepInclude(yield* methods.readSetup(page.reference), { status: "saved" })
      time.now += KEY_MILLIS
      const expired = yield* methods.readSetup(other.reference)
      assert.deepStrictEqual(expired, { status: "failed", code: "expired" })
    }))
})
