/**
 * Notices of a provider: whatever comes, in whatever order and how often, the books are what the provider states.
 */
import { FakeProvider, type Notice, Payments, type ProviderFault, Transactor } from "@billwright/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Redacted } from "effect"
import { as, globex } from "../world.ts"
import {
  advanceTo,
  declined,
  inHours,
  look,
  outcomes,
  SOON,
  subscribe,
  typesOf,
  withProvider,
} from "./collecting.ts"

const tell = Effect.fnUntraced(function* (fake: FakeProvider, notice: object) {
  const { epochMilliseconds: at } = yield* DateTime.now
  return yield* (yield* Payments).receive(fake.sign(notice, { at }))
})

const outcomeOf = (fake: FakeProvider, notice: object) =>
  Effect.map(tell(fake, notice), ({ httpStatus, outcome }) => `${outcome} ${httpStatus}`)

const waiting = (status: "processing" | "requires_action", faultOf?: () => ProviderFault | undefined) =>
  new FakeProvider({ mode: "live", outcomeOf: outcomes({ status }), ...(faultOf && { faultOf }) })

describe("a notice", () => {
  it.effect("that the customer has confirmed pays the invoice at once, and counts once", () => {
    const fake = waiting("requires_action")
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      assert.strictEqual((yield* look(fake)).invoice.collection, "awaiting_customer")
      fake.settle(fake.payments[0]!.reference, "succeeded")
      const notice = fake.notices.at(-1)!
      assert.strictEqual(yield* outcomeOf(fake, notice), "accepted 200")
      assert.strictEqual(yield* outcomeOf(fake, notice), "accepted 200")
      const { booked, invoice, taken } = yield* look(fake)
      assert.strictEqual(invoice.status, "paid")
      assert.deepStrictEqual(booked, taken)
      const succeeded = (yield* typesOf).filter((type) => type === "payment.succeeded")
      assert.lengthOf(succeeded, 1)
    }).pipe(withProvider(fake))
  })

  it.effect("about a payment that nobody waits for any more: the money is booked as overpaid", () => {
    const fake = waiting("requires_action")
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { invoice } = yield* look(fake)
      yield* (yield* Payments).record({ invoiceId: invoice.id })
      fake.settle(fake.payments[0]!.reference, "succeeded")
      yield* tell(fake, fake.notices.at(-1)!)
      const { booked, payments, taken } = yield* look(fake)
      assert.deepStrictEqual(booked, taken)
      const late = payments.find(({ provider }) => provider === "fake")
      assert.deepInclude(late, { status: "succeeded", applied: 0n, overpaid: 2_000n })
      assert.include(yield* typesOf, "payment.overpaid")
    }).pipe(withProvider(fake))
  })

  it.effect.each([1, 2, 3, 4, 5])("of a history, permuted and repeated (%i): the same end", (seed) => {
    const fake = new FakeProvider({
      mode: "live",
      outcomeOf: outcomes(declined("insufficient_funds"), { status: "processing" }),
    })
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(inHours(48))
      fake.settle(fake.payments[0]!.reference, "succeeded")
      const all = [...fake.notices, ...fake.notices, ...fake.notices]
      const order = all.map((notice, index) => ({ notice, rank: (index * 7 + seed * 5) % 11 }))
      for (const { notice } of order.sort((a, b) => a.rank - b.rank)) {
        assert.strictEqual(yield* outcomeOf(fake, notice), "accepted 200")
      }
      const { booked, invoice, taken } = yield* look(fake)
      assert.strictEqual(invoice.status, "paid")
      assert.deepStrictEqual(booked, taken)
      const types = yield* typesOf
      for (const type of ["payment.failed", "payment.processing", "payment.succeeded", "invoice.paid"]) {
        assert.lengthOf(
          types.filter((one) => one === type),
          1,
          type,
        )
      }
    }).pipe(withProvider(fake))
  })

  it.effect("that is not ours, of another mode or account, or about something else is ignored", () => {
    const fake = waiting("requires_action")
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      const { reference } = fake.payments[0]!
      fake.settle(reference, "succeeded")
      const notice: Notice = { eventId: "evt_1", mode: "live", about: "payment", reference }
      const others = [
        { ...notice, reference: "fake_of_another_shop" },
        { ...notice, mode: "test" },
        { ...notice, about: "payout" },
        { ...notice, about: 7 },
        {},
      ]
      for (const other of others) {
        assert.strictEqual(yield* outcomeOf(fake, other), "ignored 200", JSON.stringify(other))
      }
      const elsewhere = as(globex)
      assert.strictEqual(yield* elsewhere(outcomeOf(fake, notice)), "ignored 200")
      assert.strictEqual((yield* look(fake)).invoice.collection, "awaiting_customer")
      assert.strictEqual(yield* outcomeOf(fake, notice), "accepted 200")
      assert.strictEqual((yield* look(fake)).invoice.status, "paid")
    }).pipe(withProvider(fake))
  })

  it.effect("that is not signed, too old or dated in the future changes nothing", () => {
    const fake = waiting("requires_action")
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      fake.settle(fake.payments[0]!.reference, "succeeded")
      const { epochMilliseconds: now } = yield* DateTime.now
      const notice = fake.notices.at(-1)!
      const payments = yield* Payments
      const signed = fake.sign(notice, { at: now })
      const requests = [
        fake.sign(notice, { at: now, secret: Redacted.make("guessed") }),
        fake.sign(notice, { at: now - 3_600_000 }),
        fake.sign(notice, { at: now + 3_600_000 }),
        { ...signed, headers: {} },
        { ...signed, body: new Uint8Array([0xff, 0x00]) },
      ]
      for (const request of requests) {
        assert.deepStrictEqual(yield* payments.receive(request), { outcome: "refused", httpStatus: 400 })
      }
      for (const body of [new Uint8Array(1_048_577), "{}" as never, undefined as never]) {
        const error = yield* Effect.flip(payments.receive({ ...signed, body }))
        assert.deepInclude(error, { _tag: "InvalidInput", field: "body" })
      }
      assert.strictEqual((yield* look(fake)).invoice.collection, "awaiting_customer")
    }).pipe(withProvider(fake))
  })

  it.effect("while the provider can't be read is postponed, and counts when it comes again", () => {
    let isDown = false
    const fake = waiting("requires_action", () => (isDown ? "lose_request" : undefined))
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      fake.settle(fake.payments[0]!.reference, "succeeded")
      const notice = fake.notices.at(-1)!
      isDown = true
      assert.strictEqual(yield* outcomeOf(fake, notice), "postponed 503")
      assert.strictEqual((yield* look(fake)).invoice.collection, "awaiting_customer")
      isDown = false
      assert.strictEqual(yield* outcomeOf(fake, notice), "accepted 200")
      assert.strictEqual((yield* look(fake)).invoice.status, "paid")
    }).pipe(withProvider(fake))
  })

  it.effect("without a provider is ignored", () => {
    const fake = new FakeProvider()
    return Effect.gen(function* () {
      const notice = { eventId: "evt_1", mode: "test", about: "payment", reference: "x" }
      assert.strictEqual(yield* outcomeOf(fake, notice), "ignored 200")
    }).pipe(withProvider(null as never))
  })
})

describe("a notice in a transaction", () => {
  it.effect("is refused, and nothing is read", () => {
    const fake = waiting("requires_action", () => undefined)
    return Effect.gen(function* () {
      yield* subscribe
      yield* advanceTo(SOON)
      fake.settle(fake.payments[0]!.reference, "succeeded")
      const { atomically } = yield* Transactor
      const error = yield* Effect.flip(atomically(tell(fake, fake.notices.at(-1)!)))
      assert.include(error.message, "the payment provider can't be called within a transaction")
      assert.strictEqual((yield* look(fake)).invoice.collection, "awaiting_customer")
    }).pipe(withProvider(fake))
  })
})
