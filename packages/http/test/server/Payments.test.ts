import {
  type AttemptPayment,
  BillingRuns,
  type FakeBehaviour,
  FakeProvider,
  IdempotencyStore,
  type OpenPayment,
  PaymentMethods,
  StorageError,
  Transactor,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
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

/** An open invoice of a customer whose card is declined, and a call that attempts its payment. */
const beginDeclined = Effect.fnUntraced(function* (
  of?: ApiServer.Storage,
  fake = new FakeProvider({ hasMethods: true }),
) {
  const { faults, storage } = Faults.make()
  const { api, customer, invoice } = yield* begin({ storage: of ?? storage, billing: { payments: fake } })
  yield* api.as({})(Effect.orDie(saveCard(fake, customer, { code: "insufficient_funds" })))
  const call = { json: {}, headers: { "idempotency-key": "k" } }
  return { api, call, fake, faults, invoice, path: `/v1/invoices/${invoice}/pay` }
})

/** Sends a request that attempts a payment, and breaks it off as a server does when its client leaves. */
const leaveAt = Effect.fnUntraced(function* (
  moment: Effect.Effect<void>,
  api: ApiServer.Api,
  path: string,
  key: string,
) {
  const headers = new Map([
    ["authorization", `Bearer ${api.testKey}`],
    ["content-type", "application/json"],
    ["idempotency-key", key],
  ])
  const answering = api.server({
    method: "POST",
    path,
    query: "",
    header: (name) => headers.get(name),
    headers: () => Object.fromEntries(headers),
    body: Effect.succeed(new TextEncoder().encode("{}")),
  })
  const fiber = yield* Effect.forkChild(answering)
  yield* moment
  yield* Fiber.interrupt(fiber)
})

/** A storage in memory of which one service is changed. */
const withStore = <I extends Layer.Success<ApiServer.Storage>, S>(
  tag: Context.Key<I, S>,
  change: (service: S) => S,
): ApiServer.Storage =>
  Layer.effectContext(
    Effect.map(Effect.context<Layer.Success<ApiServer.Storage>>(), (context) =>
      Context.add(context, tag, change(Context.get(context, tag))),
    ),
  ).pipe(Layer.provide(Memory.layer))

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

  it.effect(
    "makes the one attempt if the storage failed before it, wherever that was",
    () =>
      Effect.gen(function* () {
        let replays = 0
        let tries = 0
        // With the number of accesses that come before the failure.
        for (let before = 0, hasFailed = true; hasFailed; before++) {
          const { api, call, fake, faults, path } = yield* beginDeclined()
          let left = before
          faults.data = Effect.suspend(() => (left-- === 0 ? Faults.unavailable : Effect.void))
          const first = yield* api.call("POST", path, call)
          hasFailed = left < 0
          assert.strictEqual(first.status, hasFailed ? 503 : 200)
          faults.data = Effect.void
          const repeat = yield* api.expect(200, "POST", path, call)
          const isReplay = "idempotent-replayed" in repeat.headers
          if (hasFailed) [tries, replays] = [tries + 1, replays + Number(isReplay)]
          // A repeat that attempts nothing finds an attempt, which is made already, or by itself.
          if (isReplay) assert.notInclude(repeat.text, '"awaiting_method"', `after ${before}`)
          else assert.strictEqual(attemptsAt(fake), 1, `after ${before}`)
          yield* api.as({})(Effect.orDie(Effect.flatMap(BillingRuns, (runs) => runs.runDue())))
          assert.strictEqual(attemptsAt(fake), 1, `after ${before}`)
        }
        // Both happened: keys that were freed, and keys that were kept.
        assert.isAbove(replays, 0)
        assert.isAbove(tries - replays, 3)
      }),
    30_000,
  )

  it.effect("attempts nothing if nobody knows whether the attempt was stored, and else what was undone", () =>
    Effect.gen(function* () {
      const failed = { operation: "Transactor.atomically", retryable: false }
      for (const isOutcomeUnknown of [true, false]) {
        let isBroken = false
        const error = new StorageError({ ...failed, isOutcomeUnknown })
        const storage = withStore(Transactor, ({ atomically, ...rest }) => ({
          ...rest,
          atomically: (effect) =>
            Effect.suspend(() => {
              if (!isBroken) return atomically(effect)
              isBroken = false
              const fail = Effect.fail(error)
              return isOutcomeUnknown
                ? Effect.andThen(atomically(effect), fail)
                : atomically(Effect.andThen(effect, fail))
            }),
        }))
        const { api, call, fake, path } = yield* beginDeclined(storage)
        isBroken = true
        yield* api.expect(503, "POST", path, call)
        assert.isFalse(isBroken)
        assert.strictEqual(attemptsAt(fake), 0)
        const repeat = yield* api.expect(200, "POST", path, call)
        assert.strictEqual("idempotent-replayed" in repeat.headers, isOutcomeUnknown)
        assert.strictEqual(attemptsAt(fake), isOutcomeUnknown ? 0 : 1)
      }
    }),
  )

  it.effect("is carried out if nobody knew whether the key of the first one was stored", () =>
    Effect.gen(function* () {
      let isBroken = false
      const error = new StorageError({ operation: "once", retryable: false, isOutcomeUnknown: true })
      const storage = withStore(IdempotencyStore, ({ once, ...rest }) => ({
        ...rest,
        once: (...args) =>
          Effect.tap(once(...args), () => {
            const isLost = isBroken
            isBroken = false
            return isLost ? Effect.fail(error) : Effect.void
          }),
      }))
      const { api, call, fake, path } = yield* beginDeclined(storage)
      isBroken = true
      yield* api.expect(503, "POST", path, call)
      const repeat = yield* api.expect(200, "POST", path, call)
      assert.notProperty(repeat.headers, "idempotent-replayed")
      assert.strictEqual(attemptsAt(fake), 1)
    }),
  )

  it.effect("is carried out if the client of the first one left before the attempt", () =>
    Effect.gen(function* () {
      const { api, call, fake, faults, path } = yield* beginDeclined()
      const reached = yield* Deferred.make<void>()
      faults.data = Effect.andThen(Deferred.succeed(reached, undefined), Effect.never)
      yield* leaveAt(Deferred.await(reached), api, path, call.headers["idempotency-key"])
      faults.data = Effect.void
      const repeat = yield* api.expect(200, "POST", path, call)
      assert.notProperty(repeat.headers, "idempotent-replayed")
      assert.strictEqual(attemptsAt(fake), 1)
    }),
  )

  it.effect("attempts nothing again if the first one attempted what it was about to close", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      class Silent extends FakeProvider {
        isSilent = false
        override attemptPayment(attempt: AttemptPayment) {
          const silence = Effect.andThen(Deferred.succeed(reached, undefined), Effect.never)
          return Effect.suspend(() => (this.isSilent ? silence : super.attemptPayment(attempt)))
        }
      }
      let afterwards: Effect.Effect<unknown> | undefined
      const storage = withStore(Transactor, ({ atomically, ...rest }) => ({
        ...rest,
        atomically: (effect) =>
          Effect.tap(atomically(effect), () => {
            const once = afterwards ?? Effect.void
            afterwards = undefined
            return once
          }),
      }))
      const fake = new Silent({ hasMethods: true })
      const { api, call, invoice, path } = yield* beginDeclined(storage, fake)
      yield* api.expect(200, "POST", path, { json: {} })
      const part = { invoice_id: invoice, amount: 500 }
      const payment = yield* api.expect(201, "POST", "/v1/payments", { json: part })
      fake.isSilent = true
      // Once it is decided that the payment is closed, the amount of it is due again.
      const json = { payment_id: payment.id, reason: "other" }
      afterwards = api.expect(201, "POST", "/v1/refunds", { json })
      yield* leaveAt(Deferred.await(reached), api, path, call.headers["idempotency-key"])
      const repeat = yield* api.expect(200, "POST", path, call)
      assert.strictEqual(repeat.headers["idempotent-replayed"], "true")
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
