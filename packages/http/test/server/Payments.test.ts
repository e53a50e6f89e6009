import {
  type AttemptPayment,
  BillingRuns,
  type FakeBehaviour,
  FakeProvider,
  type OpenPayment,
  PaymentMethods,
} from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as ApiServer from "../ApiServer.ts"
import * as Faults from "../Faults.ts"

const PRO = {
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
}

/** A server with an open invoice of 20.00. */
const begin = Effect.fnUntraced(function* (options?: Parameters<typeof ApiServer.start>[0]) {
  const api = yield* ApiServer.start(options)
  yield* api.expect(200, "POST", "/v1/catalog/push", { json: { plans: [PRO] } })
  const json = { customer_id: yield* api.newCustomer(), plan: "pro" }
  yield* api.expect(201, "POST", "/v1/subscriptions", { json })
  yield* api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
  const invoices = yield* api.expect(200, "GET", "/v1/invoices")
  return { api, customer: json.customer_id, invoice: String(invoices.at("data", 0, "id")) }
})

describe("payments", () => {
  it.effect("are recorded, read and listed, and pay their invoice", () =>
    Effect.gen(function* () {
      const { api, customer, invoice } = yield* begin()
      const json = {
        invoice_id: invoice,
        amount: 800,
        paid_at: "2026-11-20T10:00:00+01:00",
        reference: "TRN 7",
      }
      const payment = yield* api.expect(201, "POST", "/v1/payments", { json })
      assert.deepStrictEqual(payment.body, {
        object: "payment",
        id: payment.id,
        invoice_id: invoice,
        customer_id: customer,
        currency: "EUR",
        provider: "manual",
        reference: "TRN 7",
        status: "succeeded",
        amount: 800,
        applied: 800,
        overpaid: 0,
        paid_at: "2026-11-20T09:00:00.000Z",
        attention: null,
        sequence: 1,
        livemode: false,
        created_at: ApiServer.NOW,
        updated_at: ApiServer.NOW,
      })
      const again = yield* api.expect(201, "POST", "/v1/payments", { json })
      assert.deepStrictEqual(again.body, payment.body)
      const more = { invoice_id: invoice, amount: 1300 }
      const refused = yield* api.expect(400, "POST", "/v1/payments", { json: more })
      assert.strictEqual(
        refused.at("message"),
        "amount must be from 1 to 1200, which is due, unless an overpayment is accepted",
      )
      const rest = yield* api.expect(201, "POST", "/v1/payments", {
        json: { ...more, accept_overpayment: true },
      })
      assert.deepInclude(rest.body, { applied: 1200, overpaid: 100 })
      const found = yield* api.expect(200, "GET", `/v1/payments/${rest.id}`)
      assert.deepStrictEqual(found.body, rest.body)
      for (const query of ["", `?invoice_id=${invoice}`, `?customer_id=${customer}&status=succeeded`]) {
        const listed = yield* api.expect(200, "GET", `/v1/payments${query}`)
        assert.deepStrictEqual(listed.at("data"), [rest.body, payment.body], query)
      }
      const open = yield* api.expect(200, "GET", "/v1/payments?status=open")
      assert.deepStrictEqual(open.at("data"), [])
      const paid = yield* api.expect(200, "GET", `/v1/invoices/${invoice}`)
      assert.deepInclude(paid.body, { status: "paid", amount_paid: 2000, amount_due: 0, collection: "paid" })
      const none = yield* api.expect(409, "POST", "/v1/payments", { json: { invoice_id: invoice } })
      assert.deepStrictEqual(none.body, {
        error: "conflict",
        message: `${invoice}: pay is not possible: the invoice is paid`,
      })
    }),
  )

  it.effect("need their own scopes", () =>
    Effect.gen(function* () {
      const { api, invoice } = yield* begin()
      const { secret: key } = yield* api.issue({ scopes: ["payments:read", "invoices:*"] })
      yield* api.expect(200, "GET", "/v1/payments", { key })
      yield* api.expect(403, "POST", "/v1/payments", { key, json: { invoice_id: invoice } })
    }),
  )

  it.effect("are not found by an unknown id", () =>
    Effect.gen(function* () {
      const { api } = yield* begin()
      yield* api.expect(404, "GET", `/v1/payments/${ApiServer.UNKNOWN.payment}`)
      yield* api.expect(404, "POST", "/v1/payments", { json: { invoice_id: ApiServer.UNKNOWN.invoice } })
    }),
  )

  it.effect("of a provider are made by call, say why a person has to look, and are canceled", () =>
    Effect.gen(function* () {
      let isBroken = true
      const faultOf = (call: string) => (isBroken && call === "openPayment" ? "break" : undefined)
      const decline = {
        status: "declined",
        code: "stop_payment_order",
        advice: null,
        notBefore: null,
      } as const
      const payments = new FakeProvider({ faultOf, outcomeOf: () => (isBroken ? undefined : decline) })
      const { api, invoice } = yield* begin({ billing: { payments } })
      const pay = `/v1/invoices/${invoice}/pay`
      yield* api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
      const broken = yield* api.expect(200, "GET", "/v1/payments?status=open")
      assert.deepStrictEqual(broken.at("data", 0, "attention"), {
        code: "provider_refused",
        message:
          "the provider refused the call for good: mend the cause, and pay the invoice again (the key is wrong)",
        since: ApiServer.NOW,
      })
      isBroken = false
      const declined = yield* api.expect(200, "POST", pay, { json: {} })
      assert.deepInclude(declined.body, { id: invoice, status: "open", collection: "exhausted" })
      const id = String(broken.at("data", 0, "id"))
      const method = { payment_method_id: ApiServer.UNKNOWN.paymentMethod }
      yield* api.expect(404, "POST", pay, { json: method })
      const canceled = yield* api.expect(200, "POST", `/v1/payments/${id}/cancel`)
      assert.deepInclude(canceled.body, { id, status: "closed", attention: null })
      assert.deepStrictEqual(
        (yield* api.expect(200, "POST", `/v1/payments/${id}/cancel`)).body,
        canceled.body,
      )
      const stopped = yield* api.expect(200, "GET", `/v1/invoices/${invoice}`)
      assert.strictEqual(stopped.at("collection"), "stopped")
      const { secret: key } = yield* api.issue({ scopes: ["payments:read", "invoices:*"] })
      yield* api.expect(403, "POST", pay, { key, json: {} })
      yield* api.expect(403, "POST", `/v1/payments/${id}/cancel`, { key })
    }),
  )
})

/** Saves a card of a customer. It becomes the default. */
const saveCard = Effect.fnUntraced(function* (
  fake: FakeProvider,
  customer: string,
  behaviour: FakeBehaviour = "works",
) {
  const methods = yield* PaymentMethods
  const { id } = yield* methods.create({ customerId: customer as never })
  const { paymentMethod } = yield* methods.startSetup(id)
  fake.methods!.save(paymentMethod.setupReference!, { behaviour })
  yield* methods.refresh(id)
})

const attemptsAt = (fake: FakeProvider) => fake.payments.flatMap(({ attempts }) => attempts).length

describe("a repeat of a request that attempts a payment", () => {
  it.effect("attempts nothing again after a decline, and gets the invoice as it is", () =>
    Effect.gen(function* () {
      const fake = new FakeProvider({ hasMethods: true })
      const { api, customer, invoice } = yield* begin({ billing: { payments: fake } })
      yield* api.as({})(Effect.orDie(saveCard(fake, customer, { code: "insufficient_funds" })))
      for (const [n, name] of ["pay", "payment"].entries()) {
        const path = `/v1/invoices/${invoice}/${name}`
        const call = { json: {}, headers: { "idempotency-key": "k" } }
        const first = yield* api.expect(200, "POST", path, call)
        assert.notProperty(first.headers, "idempotent-replayed")
        const repeat = yield* api.expect(200, "POST", path, call)
        assert.strictEqual(repeat.headers["idempotent-replayed"], "true")
        assert.deepStrictEqual(repeat.body, first.body)
        assert.include(repeat.text, '"collection":"retrying"')
        assert.strictEqual(attemptsAt(fake), n * 2 + 1)
        const json = { payment_method_id: ApiServer.UNKNOWN.paymentMethod }
        yield* api.expect(422, "POST", path, { ...call, json })
        yield* api.expect(200, "POST", path, { json: {}, headers: { "idempotency-key": "another" } })
        assert.strictEqual(attemptsAt(fake), n * 2 + 2)
      }
    }),
  )

  it.effect("gets the invoice as it is while the first one waits for the provider", () =>
    Effect.gen(function* () {
      const [called, answers] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      class Slow extends FakeProvider {
        override openPayment(payment: OpenPayment) {
          return Deferred.succeed(called, undefined).pipe(
            Effect.andThen(Deferred.await(answers)),
            Effect.andThen(super.openPayment(payment)),
          )
        }
      }
      const fake = new Slow({ hasMethods: true })
      const { api, customer, invoice } = yield* begin({ billing: { payments: fake } })
      yield* api.as({})(Effect.orDie(saveCard(fake, customer)))
      const pay = api.expect(200, "POST", `/v1/invoices/${invoice}/pay`, {
        json: {},
        headers: { "idempotency-key": "k" },
      })
      const first = yield* Effect.forkChild(pay)
      yield* Deferred.await(called)
      assert.deepInclude((yield* pay).body, { id: invoice, status: "open", collection: "collecting" })
      yield* Deferred.succeed(answers, undefined)
      assert.deepInclude((yield* Fiber.join(first)).body, { status: "paid" })
      assert.deepInclude((yield* pay).body, { status: "paid" })
      assert.strictEqual(attemptsAt(fake), 1)
    }),
  )

  it.effect("attempts nothing when nobody knows what came of the first one", () =>
    Effect.gen(function* () {
      const { faults, storage } = Faults.make()
      class Broken extends FakeProvider {
        override attemptPayment(attempt: AttemptPayment) {
          return Effect.tap(super.attemptPayment(attempt), () =>
            Effect.sync(() => {
              faults.data = Faults.unavailable
            }),
          )
        }
      }
      const fake = new Broken({ hasMethods: true })
      const { api, customer, invoice } = yield* begin({ storage, billing: { payments: fake } })
      yield* api.as({})(Effect.orDie(saveCard(fake, customer, { code: "insufficient_funds" })))
      const path = `/v1/invoices/${invoice}/pay`
      const call = { json: {}, headers: { "idempotency-key": "k" } }
      yield* api.expect(503, "POST", path, call)
      faults.data = Effect.void
      const repeat = yield* api.expect(200, "POST", path, call)
      assert.strictEqual(repeat.headers["idempotent-replayed"], "true")
      assert.deepInclude(repeat.body, { id: invoice, status: "open" })
      assert.strictEqual(attemptsAt(fake), 1)
    }),
  )

  it.effect("is carried out if the first one was refused", () =>
    Effect.gen(function* () {
      const fake = new FakeProvider({ hasMethods: true })
      const { api, customer, invoice } = yield* begin({ billing: { payments: fake } })
      const path = `/v1/invoices/${invoice}/pay`
      const call = { json: {}, headers: { "idempotency-key": "k" } }
      const refused = yield* api.expect(409, "POST", path, call)
      assert.include(refused.message, "the customer has no default payment method")
      yield* api.as({})(Effect.orDie(saveCard(fake, customer)))
      const paid = yield* api.expect(200, "POST", path, call)
      assert.strictEqual(paid.at("status"), "paid")
      assert.notProperty(paid.headers, "idempotent-replayed")
    }),
  )

  it.effect("says that another key is needed for what the customer confirms", () =>
    Effect.gen(function* () {
      const fake = new FakeProvider({ hasMethods: true })
      const { api, customer, invoice } = yield* begin({ billing: { payments: fake } })
      yield* api.as({})(Effect.orDie(saveCard(fake, customer, "needs_confirmation")))
      const path = `/v1/invoices/${invoice}/payment`
      const start = (key: string) => ({ json: {}, headers: { "idempotency-key": key } })
      const first = yield* api.expect(200, "POST", path, start("k"))
      assert.isString(first.at("client_secret"))
      const repeat = yield* api.expect(409, "POST", path, start("k"))
      assert.include(repeat.message, "start it again with another key")
      const again = yield* api.expect(200, "POST", path, start("another"))
      assert.strictEqual(again.at("client_secret"), first.at("client_secret"))
    }),
  )
})
