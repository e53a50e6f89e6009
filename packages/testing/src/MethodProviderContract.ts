/**
 * The contract of payment providers that save payment methods, and of what amounts they take.
 */
import { type AttemptPayment, type CustomerAction, IdGenerator, type MethodProvider } from "@billwright/core"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { attemptOf, paymentOf, startedSetup, type TestCustomer, type TestProvider } from "./ProviderWorld.ts"

/** All that a customer was given to go on with. */
const secretsOf = ({ clientSecret, url }: CustomerAction): ReadonlyArray<string> =>
  [clientSecret, url].flatMap((secret) => (secret === null ? [] : [Redacted.value(secret)]))

const RETURN_URL = "https://shop.example/return"

type Given = Omit<TestProvider, "customer"> & {
  readonly methods: MethodProvider
  readonly customer: TestCustomer
}

/** Registers the tests of what amounts a provider takes. */
export const chargeable = (make: () => TestProvider): void => {
  it("says which amounts it takes of each currency, and its bounds are among them", () => {
    const { provider } = make()
    for (const currency of Intl.supportedValuesOf("currency")) {
      for (const amount of [1n, 7n, 2_000n, 999_990n, 10n ** 12n, 10n ** 30n]) {
        const answer = provider.chargeable({ amount, currency })
        const says = `${amount} ${currency}: ${answer.status}`
        assert.deepStrictEqual(provider.chargeable({ amount, currency }), answer, says)
        const taken = (one: bigint) => provider.chargeable({ amount: one, currency }).status
        if (answer.status === "below_minimum") {
          assert.isTrue(answer.minimum > amount, says)
          assert.strictEqual(taken(answer.minimum), "ok", says)
        }
        if (answer.status === "above_maximum") {
          assert.isTrue(answer.maximum < amount, says)
          assert.strictEqual(taken(answer.maximum), "ok", says)
        }
        if (answer.status === "not_representable") {
          const rest = amount % answer.multipleOf
          assert.notStrictEqual(rest, 0n, says)
          assert.notStrictEqual(taken(amount - rest + answer.multipleOf), answer.status, says)
        }
      }
    }
  })
}

/** Registers the tests of saved payment methods. */
export const methods = (make: () => TestProvider): void => {
  const test = (title: string, body: (given: Given) => Effect.Effect<unknown, unknown, IdGenerator>) =>
    it.effect(title, () => {
      const { customer, provider, ...rest } = make()
      const { methods: port } = provider
      if (port === undefined || customer === undefined) {
        return assert.fail("a provider with methods needs the levers of a customer, and the other way round")
      }
      return body({ ...rest, provider, customer, methods: port }).pipe(Effect.provide(IdGenerator.layer))
    })

  test("the same customer is made once, whatever is lost", ({ fail, methods: port }) =>
    Effect.gen(function* () {
      const { customer, details } = yield* startedSetup(port)
      fail("ensureCustomer", "lose_reply")
      assert.strictEqual((yield* Effect.flip(port.ensureCustomer(details))).reason, "unknown")
      assert.deepStrictEqual(yield* port.ensureCustomer(details), { reference: customer })
      const other = yield* startedSetup(port)
      assert.notStrictEqual(other.customer, customer)
    }))

  for (const returnUrl of [null, RETURN_URL]) {
    const place = returnUrl === null ? "on the host's page" : "on a page of the provider"
    test(`a setup ${place} is started once, and gives the customer something to go on with`, (given) =>
      Effect.gen(function* () {
        const { fail, methods: port } = given
        const { input, setup } = yield* startedSetup(port, returnUrl)
        const secrets = secretsOf(setup)
        assert.isAbove(secrets.length, 0)
        assert.notInclude(secrets, setup.reference)
        assert.isTrue(setup.reference.length >= 1 && setup.reference.length <= 255)
        fail("startSetup", "lose_reply")
        const lost = yield* Effect.flip(port.startSetup(input))
        for (const secret of secrets) assert.notInclude(lost.message, secret)
        assert.strictEqual((yield* port.startSetup(input)).reference, setup.reference)
        assert.deepStrictEqual(yield* port.readSetup(setup.reference), { status: "pending" })
      }))

    test(`a setup ${place} that the customer finishes gives its method, the same each time`, (given) =>
      Effect.gen(function* () {
        const { customer, fail, methods: port } = given
        const { setup } = yield* startedSetup(port, returnUrl)
        customer.save(setup.reference, "works")
        fail("readSetup", "lose_reply")
        assert.strictEqual((yield* Effect.flip(port.readSetup(setup.reference))).reason, "unknown")
        const read = yield* port.readSetup(setup.reference)
        if (read.status !== "saved") return assert.fail(`it is ${read.status}`)
        assert.match(read.method.type, /^[a-z0-9_]{1,40}$/)
        assert.isTrue(read.method.reference.length >= 1 && read.method.reference.length <= 255)
        assert.isTrue(read.method.last4 === null || read.method.last4.length === 4)
        if (read.method.expiry !== null) {
          assert.isTrue(read.method.expiry.month >= 1 && read.method.expiry.month <= 12)
          assert.isAtLeast(read.method.expiry.year, 2_000)
        }
        assert.deepStrictEqual(yield* port.readSetup(setup.reference), read)
      }))

    test(`a setup ${place} whose card is refused has failed, with a code`, ({ customer, methods: port }) =>
      Effect.gen(function* () {
        const { setup } = yield* startedSetup(port, returnUrl)
        customer.fail(setup.reference)
        const read = yield* port.readSetup(setup.reference)
        assert.strictEqual(read.status, "failed")
        assert.isTrue(read.status === "failed" && read.code.length > 0)
      }))
  }

  /** An open payment, and a saved card that behaves so. */
  const withCard = Effect.fnUntraced(function* (
    { customer: person, methods: port, provider }: Given,
    card: Parameters<TestCustomer["save"]>[1],
  ) {
    const { customer, setup } = yield* startedSetup(port)
    person.save(setup.reference, card)
    const read = yield* port.readSetup(setup.reference)
    const method = read.status === "saved" ? read.method.reference : ""
    const { reference } = yield* provider.openPayment(yield* paymentOf("EUR", { customer, method }))
    return { method, reference }
  })

  test("a saved method pays while the customer is not there", (given) =>
    Effect.gen(function* () {
      const card = yield* withCard(given, "works")
      const answer = yield* given.provider.attemptPayment(attemptOf(card, "1"))
      assert.deepStrictEqual(answer, { status: "succeeded" })
      assert.strictEqual(given.charges(card.reference), 1)
    }))

  test("a method that needs a confirmation takes nothing until the customer gives it", (given) =>
    Effect.gen(function* () {
      const { charges, provider, settle } = given
      const card = yield* withCard(given, "needs_confirmation")
      const absent = yield* provider.attemptPayment(attemptOf(card, "1"))
      if (absent.status === "declined") assert.strictEqual(absent.code, "authentication_required")
      else assert.deepStrictEqual(absent, { status: "requires_action" })
      const attempt: AttemptPayment = { ...attemptOf(card, "2"), presence: "on_session" }
      const answer = yield* provider.attemptPayment(attempt)
      if (answer.status !== "requires_action" || answer.action === undefined) {
        return assert.fail(`it is ${answer.status}, and the customer does not know how to go on`)
      }
      assert.isAbove(secretsOf(answer.action).length, 0)
      assert.strictEqual(charges(card.reference), 0)
      assert.deepStrictEqual(yield* provider.readPayment(card.reference), { status: "requires_action" })
      settle(card.reference)
      assert.deepStrictEqual(yield* provider.readPayment(card.reference), { status: "succeeded" })
      assert.strictEqual(charges(card.reference), 1)
    }))

  test("a detached method takes nothing, and detaching it again is fine", (given) =>
    Effect.gen(function* () {
      const { charges, methods: port, provider } = given
      const card = yield* withCard(given, "works")
      yield* port.detachMethod(card.method)
      yield* port.detachMethod(card.method)
      yield* Effect.exit(provider.attemptPayment(attemptOf(card, "1")))
      assert.strictEqual(charges(card.reference), 0)
    }))

  test("forgets a customer who was erased, also again, and when the answer was lost", (given) =>
    Effect.gen(function* () {
      const { fail, methods: port } = given
      const { forgetCustomer } = port
      if (forgetCustomer === undefined) return
      const { customer } = yield* startedSetup(port)
      fail("forgetCustomer", "lose_reply")
      assert.strictEqual((yield* Effect.flip(port.forgetCustomer!(customer))).reason, "unknown")
      yield* port.forgetCustomer!(customer)
      yield* port.forgetCustomer!(customer)
      yield* port.forgetCustomer!(`${customer}_unknown`)
    }))
}
