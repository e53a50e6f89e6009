import {
  ActionUnavailable,
  CreditNotes,
  InvalidInput,
  Invoice,
  Invoices,
  Payment,
  Payments,
  Subscriptions,
  Transactor,
} from "@billwright/core"
import { problemsOfPayments, problemsOfSums } from "@billwright/engine"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { acmeTest, as, at, globex, newCustomer } from "../world.ts"
import { advanceTo, allEvents, inYears, pushPro } from "./billing.ts"

const START = at("2026-06-01T00:00:00.000Z").epochMilliseconds

/** An open invoice of 20.00. */
const begin = Effect.gen(function* () {
  yield* pushPro
  const customer = yield* newCustomer()
  yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
  yield* advanceTo(START)
  const { data } = yield* (yield* Invoices).list({ status: "open" })
  return { customer, invoice: data[0]! }
})

/** The invoice and its payments, which must agree. */
const look = Effect.fnUntraced(function* (id: Invoice.InvoiceId) {
  const invoice = yield* (yield* Invoices).get(id)
  const { data } = yield* (yield* Payments).list({ invoiceId: id })
  assert.deepStrictEqual(problemsOfSums(invoice), [])
  assert.deepStrictEqual(problemsOfPayments(invoice, data), [])
  return invoice
})

/** The last events: their types. */
const lastEvents = (count: number) =>
  Effect.map(allEvents, (all) => all.slice(-count).map((event) => event.split(" ")[1]))

const problemOf = (error: unknown): string => {
  assert.instanceOf(error, InvalidInput)
  return `${error.field} ${error.problem}`
}

describe("Payments.record", () => {
  it.effect("pays an invoice, and says so in the invoice and in events", () =>
    Effect.gen(function* () {
      const { customer, invoice } = yield* begin
      const { get, list, record } = yield* Payments
      const payment = yield* record({ invoiceId: invoice.id })
      assert.deepInclude(payment, {
        customerId: customer.id,
        currency: "EUR",
        provider: "manual",
        reference: null,
        status: "succeeded",
        amount: 2_000n,
        applied: 2_000n,
        overpaid: 0n,
        paidAt: START,
        sequence: 1,
      })
      assert.deepStrictEqual(yield* get(payment.id), payment)
      assert.deepStrictEqual((yield* list({ customerId: customer.id })).data, [payment])
      const paid = yield* look(invoice.id)
      assert.deepInclude(paid, { status: "paid", amountPaid: 2_000n, amountDue: 0n, collection: "paid" })
      assert.deepStrictEqual(paid.availableActions, ["credit"])
      assert.deepStrictEqual(yield* lastEvents(2), ["payment.succeeded", "invoice.paid"])
      const { events } = yield* (yield* MemoryInspector).snapshot
      const { data } = JSON.parse(events.at(-2)!.event.payload)
      assert.deepInclude(data, {
        payment_id: payment.id,
        invoice_id: invoice.id,
        amount: 2_000,
        currency: "EUR",
      })
      assert.deepInclude(data.payment, { status: "succeeded", applied: 2_000, overpaid: 0, sequence: 1 })
    }).pipe(inYears(START)),
  )

  it.effect("takes parts, and leaves the invoice open until nothing is due", () =>
    Effect.gen(function* () {
      const { invoice } = yield* begin
      const { record } = yield* Payments
      yield* record({ invoiceId: invoice.id, amount: 700n })
      const part = yield* look(invoice.id)
      assert.deepInclude(part, { status: "open", amountPaid: 700n, amountDue: 1_300n, collection: "idle" })
      assert.deepStrictEqual(part.availableActions, ["pay", "credit", "mark_uncollectible"])
      assert.deepStrictEqual(yield* lastEvents(1), ["payment.succeeded"])
      yield* record({ invoiceId: invoice.id })
      assert.strictEqual((yield* look(invoice.id)).status, "paid")
      const { data } = yield* (yield* Payments).list({ invoiceId: invoice.id })
      assert.deepStrictEqual(
        data.map(({ applied }) => applied),
        [1_300n, 700n],
      )
    }).pipe(inYears(START)),
  )

  it.effect("pays what was written off, and what a credit note left", () =>
    Effect.gen(function* () {
      const { invoice } = yield* begin
      yield* (yield* CreditNotes).create({ invoiceId: invoice.id, amount: 500n, reason: "other" })
      yield* (yield* Invoices).markUncollectible(invoice.id)
      assert.strictEqual((yield* (yield* Payments).record({ invoiceId: invoice.id })).amount, 1_500n)
      assert.deepInclude(yield* look(invoice.id), { status: "paid", amountPaid: 1_500n })
      const note = yield* (yield* CreditNotes).create({
        invoiceId: invoice.id,
        reason: "other",
        refund: 1_500n,
      })
      assert.deepInclude(note, { waived: 0n, refund: 1_500n, toBalance: 0n })
    }).pipe(inYears(START)),
  )

  it.effect("takes more than is due only when that is meant", () =>
    Effect.gen(function* () {
      const { invoice } = yield* begin
      const { record } = yield* Payments
      const tooMuch = { invoiceId: invoice.id, amount: 2_001n }
      assert.strictEqual(
        problemOf(yield* Effect.flip(record(tooMuch))),
        "amount must be from 1 to 2000, which is due, unless an overpayment is accepted",
      )
      assert.deepStrictEqual((yield* (yield* Payments).list()).data, [])
      const payment = yield* record({ ...tooMuch, acceptOverpayment: true })
      assert.deepInclude(payment, { amount: 2_001n, applied: 2_000n, overpaid: 1n })
      assert.deepInclude(yield* look(invoice.id), { status: "paid", amountPaid: 2_000n })
      assert.deepStrictEqual(yield* lastEvents(3), ["payment.succeeded", "invoice.paid", "payment.overpaid"])
    }).pipe(inYears(START)),
  )

  it.effect("records a reference once", () =>
    Effect.gen(function* () {
      const { invoice } = yield* begin
      const { record } = yield* Payments
      const input = { invoiceId: invoice.id, reference: "TRN 7" }
      const payment = yield* record({ ...input, amount: 800n })
      const before = yield* allEvents
      assert.deepStrictEqual(yield* record({ ...input, amount: 800n }), payment)
      assert.deepStrictEqual(yield* record(input), payment)
      const error = yield* Effect.flip(record({ ...input, amount: 900n }))
      assert.instanceOf(error, ActionUnavailable)
      assert.strictEqual(
        error.message,
        `${invoice.id}: pay is not possible: ${payment.id} has this reference and an amount of 800`,
      )
      assert.deepStrictEqual(yield* allEvents, before)
      assert.strictEqual((yield* look(invoice.id)).amountPaid, 800n)
    }).pipe(inYears(START)),
  )

  it.effect("names what is wrong, and writes nothing then", () =>
    Effect.gen(function* () {
      const { invoice } = yield* begin
      const { get, list, record } = yield* Payments
      const invoiceId = invoice.id
      const wrong: ReadonlyArray<readonly [Payment.RecordPayment, string]> = [
        [{ invoiceId, amount: 0n }, "amount must be an integer from 1 to 10^30"],
        [{ invoiceId, amount: 10n ** 30n + 1n }, "amount must be an integer from 1 to 10^30"],
        [{ invoiceId, paidAt: at("2026-06-01T00:00:00.001Z") }, "paidAt must not be in the future"],
        [{ invoiceId, reference: "" }, "reference must be 1 to 255 characters"],
        [{ invoiceId, reference: "x".repeat(256) }, "reference must be 1 to 255 characters"],
      ]
      for (const [input, problem] of wrong)
        assert.strictEqual(problemOf(yield* Effect.flip(record(input))), problem)
      const unknown = Invoice.InvoiceId.make(invoiceId.replace(/.{4}$/, "0000"))
      const missing = yield* Effect.flip(record({ invoiceId: unknown }))
      assert.instanceOf(missing, Invoice.InvoiceNotFound)
      assert.strictEqual(missing.field, "invoiceId")
      assert.instanceOf(yield* Effect.flip(get("pay_1")), Payment.PaymentNotFound)
      assert.deepStrictEqual((yield* list()).data, [])
      assert.strictEqual((yield* look(invoiceId)).sequence, invoice.sequence)
    }).pipe(inYears(START)),
  )

  it.effect("is refused by an invoice that is paid or void", () =>
    Effect.gen(function* () {
      const { invoice } = yield* begin
      const { list, record } = yield* Payments
      yield* (yield* Invoices).void(invoice.id)
      const refused = yield* Effect.flip(record({ invoiceId: invoice.id, amount: 1n }))
      assert.instanceOf(refused, ActionUnavailable)
      assert.strictEqual(refused.problem, "pay is not possible: the invoice is void")
      const whole = yield* Effect.flip((yield* Payments).record({ invoiceId: invoice.id }))
      assert.include(whole.message, "pay is not possible: the invoice is void")
      assert.deepStrictEqual((yield* list()).data, [])
    }).pipe(inYears(START)),
  )

  it.effect("ends at the most payments that an invoice can have", () =>
    Effect.gen(function* () {
      const { invoice } = yield* begin
      const { record } = yield* Payments
      const one = { invoiceId: invoice.id, amount: 1n }
      for (let n = 0; n < Payment.MAX_PAYMENTS; n++) yield* record(one)
      const refused = yield* Effect.flip(record(one))
      assert.instanceOf(refused, ActionUnavailable)
      assert.strictEqual(refused.problem, "pay is not possible: it has 100 payments, which is the limit")
    }).pipe(inYears(START)),
  )

  it.effect("is undone with the transaction around it", () =>
    Effect.gen(function* () {
      const { invoice } = yield* begin
      const { list, record } = yield* Payments
      const before = yield* allEvents
      const failing = Effect.andThen(record({ invoiceId: invoice.id }), Effect.fail("no"))
      yield* Effect.flip((yield* Transactor).atomically(failing))
      assert.deepStrictEqual((yield* list()).data, [])
      assert.deepStrictEqual(yield* allEvents, before)
      assert.strictEqual((yield* look(invoice.id)).status, "open")
    }).pipe(inYears(START)),
  )

  it.effect("pays nothing of another tenant's invoice", () =>
    Effect.gen(function* () {
      const { invoice } = yield* begin
      const { get, list, record } = yield* Payments
      const payment = yield* record({ invoiceId: invoice.id, amount: 1n })
      for (const tenant of [acmeTest, globex]) {
        const theirs = as(tenant)
        const refused = yield* Effect.flip(theirs(record({ invoiceId: invoice.id })))
        assert.instanceOf(refused, Invoice.InvoiceNotFound)
        assert.instanceOf(yield* Effect.flip(theirs(get(payment.id))), Payment.PaymentNotFound)
        assert.deepStrictEqual((yield* theirs(list())).data, [])
      }
    }).pipe(inYears(START)),
  )
})
