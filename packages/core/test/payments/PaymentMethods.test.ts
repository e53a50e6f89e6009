/** Payment methods: saved at the provider, one default a customer, told when they expire, detached. */
import { BillingRuns, Customers, FakeProvider, PaymentMethods } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Option, Redacted } from "effect"
import { as, at, globex, inWorld, newCustomer, NOON } from "../world.ts"
import { advanceTo, events, inHours, script, subscribe, withProvider } from "./collecting.ts"

/** A customer's method that was begun, and its setup at the provider. */
const begin = Effect.fnUntraced(function* (customerId: string) {
  const methods = yield* PaymentMethods
  const { id } = yield* methods.create({ customerId: customerId as never })
  const setup = yield* methods.startSetup(id)
  return { id, setup, reference: setup.paymentMethod.setupReference! }
})

/** A method that the customer has saved. */
const save = Effect.fnUntraced(function* (
  fake: FakeProvider,
  customerId: string,
  card: Parameters<NonNullable<FakeProvider["methods"]>["save"]>[1] = {},
) {
  const { id, reference } = yield* begin(customerId)
  fake.methods!.save(reference, card)
  return yield* (yield* PaymentMethods).refresh(id)
})

const methodEvents = Effect.map(events, (all) =>
  all
    .filter(({ type }) => type.startsWith("payment_method."))
    .map(({ data, type }) => [type, data.payment_method_id]),
)

describe("payment methods", () => {
  it.effect("are saved at the provider, and the first one is the default", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const customer = yield* newCustomer()
      const begun = yield* begin(customer.id)
      assert.deepInclude(begun.setup.paymentMethod, { status: "pending", isDefault: false, type: null })
      assert.isString(Redacted.value(begun.setup.clientSecret!))
      assert.deepInclude(yield* methods.refresh(begun.id), { status: "pending" })
      fake.methods!.save(begun.reference, { brand: "mastercard", last4: "4444" })
      const saved = yield* methods.refresh(begun.id)
      assert.deepInclude(saved, {
        status: "attached",
        isDefault: true,
        type: "card",
        brand: "mastercard",
        last4: "4444",
        provider: "fake",
      })
      assert.deepStrictEqual(yield* methods.refresh(begun.id), saved)
      const second = yield* save(fake, customer.id)
      assert.isFalse(second.isDefault)
      assert.lengthOf(fake.methods!.customers, 1)
      assert.deepStrictEqual(yield* methodEvents, [
        ["payment_method.attached", saved.id],
        ["payment_method.attached", second.id],
      ])
      const { data } = yield* methods.list({ customerId: customer.id, status: "attached" })
      assert.deepStrictEqual(data, [second, saved])
    }).pipe(withProvider(fake))
  })

  it.effect("have one default, which can be moved and taken away", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const customer = yield* newCustomer()
      const first = yield* save(fake, customer.id)
      const second = yield* save(fake, customer.id)
      assert.isTrue((yield* methods.update(second.id, { isDefault: true, metadata: { a: "1" } })).isDefault)
      assert.isFalse((yield* methods.get(first.id)).isDefault)
      assert.deepStrictEqual((yield* methodEvents).slice(-2), [
        ["payment_method.updated", first.id],
        ["payment_method.updated", second.id],
      ])
      yield* methods.detach(second.id)
      assert.deepInclude(yield* methods.get(second.id), { status: "detached", isDefault: false })
      const error = yield* Effect.flip(methods.update(second.id, { isDefault: true }))
      assert.strictEqual(error._tag, "ActionUnavailable")
      assert.isFalse((yield* methods.get(first.id)).isDefault)
      assert.isTrue((yield* save(fake, customer.id)).isDefault)
    }).pipe(withProvider(fake))
  })

  it.effect("are forgotten by the provider once they are detached, also after it did not answer", () => {
    const fake = new FakeProvider({
      hasMethods: true,
      faultOf: script({ detachMethod: ["lose_request", "lose_reply"] }),
    })
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const customer = yield* newCustomer()
      const saved = yield* save(fake, customer.id)
      yield* methods.detach(saved.id)
      yield* methods.detach(saved.id)
      yield* advanceTo(inHours(1))
      assert.isUndefined(fake.methods!.behaviourOf(saved.reference!))
      assert.isTrue(Option.isNone(yield* (yield* BillingRuns).nextDueAt))
      assert.deepStrictEqual(yield* methodEvents, [
        ["payment_method.attached", saved.id],
        ["payment_method.detached", saved.id],
      ])
    }).pipe(withProvider(fake))
  })

  it.effect("are forgotten when they were detached while their setup was started", () => {
    const fake = new FakeProvider({ hasMethods: true })
    const provider = fake.methods!
    const start = provider.startSetup.bind(provider)
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const [called, answers] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      provider.startSetup = (setup) =>
        Deferred.succeed(called, undefined).pipe(
          Effect.andThen(Deferred.await(answers)),
          Effect.andThen(start(setup)),
        )
      const { id } = yield* methods.create({ customerId: (yield* newCustomer()).id })
      const starting = yield* Effect.forkChild(methods.startSetup(id))
      yield* Deferred.await(called)
      yield* methods.detach(id)
      yield* Deferred.succeed(answers, undefined)
      const { paymentMethod } = yield* Fiber.join(starting)
      const card = provider.save(paymentMethod.setupReference!)
      yield* advanceTo(inHours(2))
      assert.isUndefined(provider.behaviourOf(card))
    }).pipe(withProvider(fake))
  })

  it.effect("of a customer who is erased are detached, and forgotten by the provider", () => {
    const fake = new FakeProvider({
      hasMethods: true,
      faultOf: script({
        detachMethod: ["lose_request", "lose_reply"],
        readSetup: [undefined, undefined, "lose_reply"],
      }),
    })
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const [customer, other] = [yield* newCustomer(), yield* newCustomer()]
      const saved = yield* save(fake, customer.id)
      const [late, never] = [yield* begin(customer.id), yield* begin(customer.id)]
      const kept = yield* save(fake, other.id)
      yield* (yield* Customers).erase(customer.id)
      for (const { id } of [saved, late, never]) {
        assert.deepInclude(yield* methods.get(id), { status: "detached", isDefault: false })
      }
      assert.deepStrictEqual((yield* methodEvents).slice(2), [["payment_method.detached", saved.id]])
      // The form was still open in the browser.
      const card = fake.methods!.save(late.reference)
      yield* advanceTo(inHours(2))
      assert.isUndefined(fake.methods!.behaviourOf(saved.reference!))
      assert.isUndefined(fake.methods!.behaviourOf(card))
      assert.strictEqual((yield* methods.get(late.id)).status, "detached")
      assert.strictEqual(fake.methods!.behaviourOf(kept.reference!), "works")
      yield* advanceTo(inHours(26))
      assert.strictEqual((yield* methods.get(kept.id)).status, "attached")
      yield* (yield* Customers).erase(customer.id)
      assert.lengthOf(yield* methodEvents, 3)
    }).pipe(withProvider(fake))
  })

  it.effect("of a customer who is erased lead to what the provider knows of the customer", () => {
    const fake = new FakeProvider({
      hasMethods: true,
      faultOf: script({ forgetCustomer: ["lose_request", "lose_reply"] }),
    })
    const names = () => fake.methods!.customers.map(({ email, name }) => [name, email])
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const [detached, failed, kept] = [yield* newCustomer(), yield* newCustomer(), yield* newCustomer()]
      const saved = yield* save(fake, detached.id)
      yield* methods.detach(saved.id)
      const begun = yield* begin(failed.id)
      fake.methods!.fail(begun.reference, "card_declined")
      yield* methods.refresh(begun.id)
      yield* save(fake, kept.id)
      yield* advanceTo(inHours(1))
      const own = ["Ada", "ada@example.com"]
      assert.deepStrictEqual(names(), [own, own, own])
      for (const { id } of [detached, failed]) yield* (yield* Customers).erase(id)
      yield* advanceTo(inHours(12))
      assert.deepStrictEqual(names(), [["", ""], ["", ""], own])
    }).pipe(withProvider(fake))
  })

  it.effect("that could not be started lead an erasure to what the provider knows of the customer", () => {
    const fake = new FakeProvider({ hasMethods: true, faultOf: script({ startSetup: ["lose_request"] }) })
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const { id: customerId } = yield* newCustomer()
      const { id } = yield* methods.create({ customerId })
      assert.strictEqual((yield* Effect.flip(methods.startSetup(id)))._tag, "PaymentProviderUnavailable")
      assert.deepInclude(fake.methods!.customers[0], { name: "Ada", email: "ada@example.com" })
      yield* (yield* Customers).erase(customerId)
      yield* advanceTo(inHours(1))
      assert.deepInclude(fake.methods!.customers[0], { name: "", email: "" })
    }).pipe(withProvider(fake))
  })

  it.effect("of a customer who is erased while the provider makes the customer are not started", () => {
    const fake = new FakeProvider({ hasMethods: true })
    const provider = fake.methods!
    const ensure = provider.ensureCustomer.bind(provider)
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const { id: customerId } = yield* newCustomer()
      const [called, answers] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      provider.ensureCustomer = (asked) =>
        Deferred.succeed(called, undefined).pipe(
          Effect.andThen(Deferred.await(answers)),
          Effect.andThen(ensure(asked)),
        )
      const { id } = yield* methods.create({ customerId })
      const starting = yield* Effect.forkChild(Effect.flip(methods.startSetup(id)))
      yield* Deferred.await(called)
      yield* (yield* Customers).erase(customerId)
      // The visit that the erasure asked for is over before the provider answers.
      yield* (yield* BillingRuns).runDue()
      yield* Deferred.succeed(answers, undefined)
      assert.strictEqual(
        (yield* Fiber.join(starting)).message,
        `${id}: startSetup is not possible: the payment method is detached`,
      )
      assert.lengthOf(provider.setups, 0)
      yield* advanceTo(inHours(1))
      assert.deepInclude(provider.customers[0], { name: "", email: "" })
    }).pipe(withProvider(fake))
  })

  it.effect("of a customer who was erased take no metadata any more", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const customer = yield* newCustomer()
      const { id } = yield* save(fake, customer.id)
      yield* (yield* Customers).erase(customer.id)
      const error = yield* Effect.flip(methods.update(id, { metadata: { name: "Ada" } }))
      assert.strictEqual(error._tag, "ActionUnavailable")
      assert.strictEqual(error.message, `${id}: its customer was erased`)
      assert.deepStrictEqual((yield* methods.get(id)).metadata, {})
    }).pipe(withProvider(fake))
  })

  it.effect("of a customer who is erased are forgotten, however long the provider is out of reach", () => {
    const fake = new FakeProvider({
      hasMethods: true,
      faultOf: (call) => (call === "detachMethod" && isDown ? "lose_request" : undefined),
    })
    const names = () => fake.methods!.customers.map(({ name }) => name)
    let isDown = true
    return Effect.gen(function* () {
      const { id } = yield* newCustomer()
      yield* save(fake, id)
      yield* (yield* Customers).erase(id)
      yield* advanceTo(inHours(10 * 24))
      assert.deepStrictEqual(names(), ["Ada"])
      isDown = false
      yield* advanceTo(inHours(11 * 24))
      assert.deepStrictEqual(names(), [""])
    }).pipe(withProvider(fake))
  })

  it.effect("of a customer who can't be erased stay", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const customer = yield* subscribe
      const saved = yield* save(fake, customer.id)
      const error = yield* Effect.flip((yield* Customers).erase(customer.id))
      assert.strictEqual(error._tag, "CustomerHasSubscription")
      assert.strictEqual((yield* (yield* PaymentMethods).get(saved.id)).status, "attached")
      assert.lengthOf(yield* methodEvents, 1)
    }).pipe(withProvider(fake))
  })

  it.effect(
    "are attached by themselves when the customer does not come back, or given up after a day",
    () => {
      const fake = new FakeProvider({ hasMethods: true })
      return Effect.gen(function* () {
        const methods = yield* PaymentMethods
        const customer = yield* newCustomer()
        const finished = yield* begin(customer.id)
        const refused = yield* begin(customer.id)
        const left = yield* begin(customer.id)
        fake.methods!.save(finished.reference)
        fake.methods!.fail(refused.reference, "card_declined")
        yield* advanceTo(inHours(0.5))
        assert.deepInclude(yield* methods.get(finished.id), { status: "attached", isDefault: true })
        assert.deepInclude(yield* methods.get(refused.id), { status: "failed", failureCode: "card_declined" })
        assert.deepInclude(yield* methods.get(left.id), { status: "pending" })
        yield* advanceTo(inHours(25))
        assert.deepInclude(yield* methods.get(left.id), { status: "failed", failureCode: "abandoned" })
        fake.methods!.save(left.reference)
        assert.strictEqual((yield* methods.refresh(left.id)).status, "failed")
      }).pipe(withProvider(fake))
    },
  )

  it.effect("that expire are told once, when their last month begins where the customer is", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const customer = yield* newCustomer({ timezone: "Europe/Berlin" })
      const saved = yield* save(fake, customer.id, { expiry: { month: 3, year: 2027 } })
      yield* save(fake, customer.id, { expiry: null })
      yield* advanceTo(at("2027-02-28T22:59:59.000Z"))
      assert.lengthOf(yield* methodEvents, 2)
      yield* advanceTo(at("2027-02-28T23:00:00.000Z"))
      yield* (yield* PaymentMethods).update(saved.id, { isDefault: true })
      yield* advanceTo(at("2027-05-01T00:00:00.000Z"))
      const told = (yield* events).filter(({ type }) => type === "payment_method.expiring")
      assert.deepStrictEqual(
        told.map(({ at: when, data }) => [when, data.payment_method_id, data.expiry]),
        [["2027-02-28T23:00:00.000Z", saved.id, { month: 3, year: 2027 }]],
      )
      const { expiringSince } = yield* (yield* PaymentMethods).get(saved.id)
      assert.strictEqual(DateTime.formatIso(expiringSince!), "2027-02-28T23:00:00.000Z")
    }).pipe(withProvider(fake))
  })

  it.effect("say what the provider does not do, and are not saved twice after that", () => {
    const fake = new FakeProvider({
      hasMethods: true,
      faultOf: script({ ensureCustomer: ["lose_reply"], startSetup: ["break"], readSetup: ["lose_reply"] }),
    })
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const customer = yield* newCustomer()
      const { id } = yield* methods.create({ customerId: customer.id })
      for (const reason of ["unknown", "permanent"] as const) {
        assert.deepInclude(yield* Effect.flip(methods.startSetup(id)), {
          _tag: "PaymentProviderUnavailable",
          provider: "fake",
          reason,
        })
      }
      yield* methods.startSetup(id)
      fake.methods!.save(fake.methods!.setups[0]!.reference)
      yield* Effect.flip(methods.refresh(id))
      assert.strictEqual((yield* methods.refresh(id)).status, "attached")
      assert.lengthOf(fake.methods!.setups, 1)
      assert.lengthOf(fake.methods!.customers, 1)
    }).pipe(withProvider(fake))
  })

  it.effect("are refused with an error that says why", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const customer = yield* newCustomer()
      const stranger = yield* Effect.flip(as(globex)(methods.create({ customerId: customer.id })))
      assert.deepInclude(stranger, { _tag: "CustomerNotFound", field: "customerId" })
      const { id } = yield* methods.create({ customerId: customer.id })
      assert.strictEqual(
        (yield* Effect.flip(as(globex)(methods.startSetup(id))))._tag,
        "PaymentMethodNotFound",
      )
      const url = yield* Effect.flip(methods.startSetup(id, { returnUrl: "javascript:alert(1)" }))
      assert.include(url.message, "returnUrl must be a URL")
      const pending = yield* Effect.flip(methods.update(id, { isDefault: true }))
      assert.include(pending.message, "it can't be the default: the payment method is pending")
      for (let n = 1; n < 50; n++) yield* methods.create({ customerId: customer.id })
      const many = yield* Effect.flip(methods.create({ customerId: customer.id }))
      assert.include(many.message, "has 50 payment methods that are pending or attached, which is the limit")
      yield* (yield* Customers).get(customer.id)
    }).pipe(withProvider(fake))
  })

  it.effect("need a provider that saves them", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const error = yield* Effect.flip((yield* PaymentMethods).create({ customerId: customer.id }))
      assert.include(error.message, "there is no payment provider that saves payment methods")
      assert.strictEqual((yield* DateTime.now).epochMilliseconds, NOON.epochMilliseconds)
    }).pipe(inWorld()),
  )

  it.effect("show no secret in what is stored or published", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const customer = yield* newCustomer()
      const { id } = yield* methods.create({ customerId: customer.id })
      const setup = yield* methods.startSetup(id)
      const page = yield* methods.startSetup(id, { returnUrl: "https://shop.example/return" })
      const secrets = [Redacted.value(setup.clientSecret!), Redacted.value(page.url!)]
      fake.methods!.save(setup.paymentMethod.setupReference!)
      const saved = yield* methods.refresh(id)
      const seen = JSON.stringify([setup, page, saved, yield* events])
      for (const secret of secrets) assert.notInclude(seen, secret)
      for (const { data } of yield* events) assert.notInclude(JSON.stringify(data), "4242")
    }).pipe(withProvider(fake))
  })
})
