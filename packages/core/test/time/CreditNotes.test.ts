import {
  ActionUnavailable,
  CreditNote,
  CreditNotes,
  InvalidInput,
  Invoice,
  Invoices,
  Plans,
  Subscriptions,
  Transactor,
  Usage,
} from "@billwright/core"
import { problemsOfCreditNotes, problemsOfSums } from "@billwright/engine"
import { MemoryInspector } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { acmeTest, as, at, globex, newCustomer } from "../world.ts"
import { advanceTo, allEvents, allInvoices, inYears, pro, pushPro, use } from "./billing.ts"

const START = at("2026-06-01T00:00:00.000Z").epochMilliseconds
const millis = (text: string): number => at(text).epochMilliseconds

/** A subscription whose first invoice of 20.00 is issued, and later the second one: 20.00, and 10.00 for usage. */
const begin = Effect.gen(function* () {
  yield* pushPro
  const customer = yield* newCustomer()
  const subscription = yield* (yield* Subscriptions).create({ customerId: customer.id, plan: "pro" })
  yield* advanceTo(START)
  const record = yield* use(customer, 1_100)
  yield* advanceTo(millis("2026-07-02T00:00:00.000Z"))
  const [first, second] = yield* allInvoices
  return { customer, subscription, record, first: first!, second: second! }
})

const fieldOf = (error: unknown): string => {
  assert.instanceOf(error, InvalidInput)
  return `${error.field} ${error.problem}`
}

describe("CreditNotes.create", () => {
  it.effect("credits an amount of a line: the invoice says so, and an event", () =>
    Effect.gen(function* () {
      const { customer, first } = yield* begin
      const { create, get, list } = yield* CreditNotes
      const lines = [{ lineId: "0.0.base", amount: 500n }]
      const note = yield* create({ invoiceId: first.id, lines, reason: "order_change" })
      const { net, number, refund, tax, toBalance, total, waived } = note
      assert.deepStrictEqual(
        { net, number, refund, tax, toBalance, total, waived },
        { net: 500n, number: "CN-2026-0001", refund: 0n, tax: 0n, toBalance: 0n, total: 500n, waived: 500n },
      )
      assert.deepStrictEqual(yield* get(note.id), note)
      assert.deepStrictEqual((yield* list({ invoiceId: first.id })).data, [note])
      const after = yield* (yield* Invoices).get(first.id)
      assert.deepStrictEqual(
        [after.status, after.amountCredited, after.amountWaived, after.amountDue, after.sequence],
        ["open", 500n, 500n, 1_500n, first.sequence + 1],
      )
      assert.strictEqual((yield* allEvents).at(-1)?.split(" ")[1], "credit_note.created")
      const { events } = yield* (yield* MemoryInspector).snapshot
      assert.deepInclude(JSON.parse(events.at(-1)!.event.payload).data, {
        credit_note_id: note.id,
        customer_id: customer.id,
        total: 500,
        invoice: { status: "open", amount_credited: 500, amount_due: 1500, sequence: after.sequence },
      })
    }).pipe(inYears(START)),
  )

  it.effect("credits the rest, after which nothing is left", () =>
    Effect.gen(function* () {
      const { second } = yield* begin
      const { create, list } = yield* CreditNotes
      yield* create({ invoiceId: second.id, amount: 101n, reason: "unsatisfactory" })
      const rest = yield* create({ invoiceId: second.id, reason: "duplicate" })
      assert.strictEqual(rest.total, second.total - 101n)
      const after = yield* (yield* Invoices).get(second.id)
      assert.deepStrictEqual([after.status, after.amountDue], ["paid", 0n])
      assert.include((yield* allEvents).at(-2), "invoice.paid")
      const error = yield* Effect.flip(create({ invoiceId: second.id, reason: "other" }))
      assert.instanceOf(error, ActionUnavailable)
      const notes = (yield* list()).data.toReversed()
      assert.deepStrictEqual(
        notes.map(({ number }) => number),
        ["CN-2026-0001", "CN-2026-0002"],
      )
      assert.deepStrictEqual([...problemsOfCreditNotes(after, notes), ...problemsOfSums(after)], [])
    }).pipe(inYears(START)),
  )

  it.effect("credits again what a later invoice gave back, once that is credited", () =>
    Effect.gen(function* () {
      const { second, subscription } = yield* begin
      const { create } = yield* CreditNotes
      const [base] = pro.charges
      const large = { ...pro, key: "large", charges: [{ ...base!, price: { EUR: "90.00" } }] } as typeof pro
      yield* (yield* Plans).push({ plans: [large] })
      yield* (yield* Subscriptions).change(subscription.id, { plan: "large", at: "now" })
      yield* advanceTo(millis("2026-07-02T12:00:00.000Z"))
      const change = (yield* allInvoices).at(-1)!
      const back = change.lines.find(({ creditOf }) => creditOf?.invoiceId === second.id)!
      assert.isBelow(Number(back.amount), 0)
      const asked = { invoiceId: second.id, amount: second.total, reason: "other" } as const
      assert.match(fieldOf(yield* Effect.flip(create(asked))), /amount must be from 1 to/)
      yield* create({ invoiceId: change.id, reason: "other" })
      assert.strictEqual((yield* create(asked)).total, second.total)
    }).pipe(inYears(START)),
  )

  it.effect("spreads an amount over what is left of the lines", () =>
    Effect.gen(function* () {
      const { second } = yield* begin
      const { create } = yield* CreditNotes
      const { lines } = yield* create({ invoiceId: second.id, amount: 100n, reason: "other" })
      // 10.00 of usage and 20.00 of the fee: a third and two thirds.
      assert.deepStrictEqual(
        lines.map(({ amount, lineId }) => [lineId, amount]),
        [
          ["0.0.calls", 33n],
          ["1.0.base", 67n],
        ],
      )
    }).pipe(inYears(START)),
  )

  it.effect("refuses what is not left, not paid, not known and not issued, and then writes nothing", () =>
    Effect.gen(function* () {
      const { first, subscription } = yield* begin
      const { create, list } = yield* CreditNotes
      const invoiceId = first.id
      const line = (lineId: string, amount: bigint) => ({
        invoiceId,
        lines: [{ lineId, amount }],
        reason: "other" as const,
      })
      const before = yield* (yield* MemoryInspector).snapshot
      const asked = [
        line("0.0.base", 2_001n),
        line("nothing", 1n),
        line("0.0.base", 0n),
        { invoiceId, amount: 2_001n, reason: "other" as const },
        { invoiceId, amount: 5n, refund: 1n, reason: "other" as const },
        { ...line("0.0.base", 1n), amount: 1n },
      ]
      const problems = []
      for (const one of asked) problems.push(fieldOf(yield* Effect.flip(create(one))))
      assert.deepStrictEqual(problems, [
        'lines["0.0.base"] must be from 1 to 2000, which is left of the line',
        "lines.nothing is not a line of the invoice",
        "lines[0].amount must be an integer from 1 to 10^30",
        "amount must be from 1 to 2000, which is left of the lines",
        "refund must be from 0 to 0: no more than was paid, and not what is still due",
        "amount must be left out: the lines have amounts",
      ])
      const unknown = Invoice.InvoiceId.make("inv_01kb2r6ghefxhs59czp23x4vmk")
      const missing = yield* Effect.flip(create({ invoiceId: unknown, reason: "other" }))
      assert.instanceOf(missing, Invoice.InvoiceNotFound)
      assert.strictEqual(missing.field, "invoiceId")
      assert.deepStrictEqual(yield* (yield* MemoryInspector).snapshot, before)
      yield* advanceTo(millis("2026-08-01T00:00:00.000Z"))
      const draft = (yield* allInvoices).at(-1)!
      assert.strictEqual(draft.subscriptionId, subscription.id)
      const early = yield* Effect.flip(create({ invoiceId: draft.id, reason: "other" }))
      assert.instanceOf(early, ActionUnavailable)
      assert.match(early.message, /can't be credited: it is draft/)
      assert.deepStrictEqual((yield* list()).data, [])
    }).pipe(inYears(START)),
  )

  it.effect("credits nothing of another tenant's invoice", () =>
    Effect.gen(function* () {
      const { first } = yield* begin
      const { create, get } = yield* CreditNotes
      const note = yield* create({ invoiceId: first.id, amount: 1n, reason: "other" })
      for (const tenant of [acmeTest, globex]) {
        const theirs = as(tenant)
        const refused = yield* Effect.flip(theirs(create({ invoiceId: first.id, reason: "other" })))
        assert.instanceOf(refused, Invoice.InvoiceNotFound)
        assert.instanceOf(yield* Effect.flip(theirs(get(note.id))), CreditNote.CreditNoteNotFound)
      }
    }).pipe(inYears(START)),
  )
})

describe("late usage and credit notes", () => {
  it.effect("what a credit note gave back is not given back again when its usage is voided", () =>
    Effect.gen(function* () {
      const { record, second } = yield* begin
      const lines = [{ lineId: "0.0.calls", amount: 600n }]
      yield* (yield* CreditNotes).create({ invoiceId: second.id, lines, reason: "unsatisfactory" })
      yield* (yield* Usage).voidRecord(record.record.id)
      yield* advanceTo(millis("2026-08-02T00:00:00.000Z"))
      const third = (yield* allInvoices)[2]!
      const credits = third.lines.filter(({ kind }) => kind === "credit")
      assert.deepStrictEqual(
        credits.map(({ amount, creditOf }) => [amount, creditOf?.lineId]),
        [[-400n, "0.0.calls"]],
      )
    }).pipe(inYears(START)),
  )

  it.effect("what the next invoice gave back can't be credited again", () =>
    Effect.gen(function* () {
      const { record, second } = yield* begin
      yield* (yield* Usage).voidRecord(record.record.id)
      yield* advanceTo(millis("2026-08-02T00:00:00.000Z"))
      const { create } = yield* CreditNotes
      const lines = [{ lineId: "0.0.calls", amount: 1n }]
      const error = yield* Effect.flip(create({ invoiceId: second.id, lines, reason: "other" }))
      assert.strictEqual(fieldOf(error), 'lines["0.0.calls"] has nothing left to credit')
      const rest = yield* create({ invoiceId: second.id, reason: "other" })
      assert.strictEqual(rest.total, 2_000n)
    }).pipe(inYears(START)),
  )

  it.effect("an invoice of which a later one gave back a part can't be voided", () =>
    Effect.gen(function* () {
      const { first, second, subscription } = yield* begin
      yield* (yield* Invoices).void(first.id)
      yield* (yield* Subscriptions).cancel(subscription.id, { at: "now" })
      yield* advanceTo(millis("2026-07-02T12:00:00.000Z"))
      const last = (yield* allInvoices).at(-1)!
      assert.isTrue(last.lines.some(({ creditOf }) => creditOf?.invoiceId === second.id))
      const error = yield* Effect.flip((yield* Invoices).void(second.id))
      assert.instanceOf(error, ActionUnavailable)
      assert.include(error.message, "void is not possible: a later invoice gave back a part of it")
      assert.strictEqual((yield* (yield* Invoices).get(second.id)).status, "open")
    }).pipe(inYears(START)),
  )
})

describe("a credit note in a transaction that fails", () => {
  it.effect("takes no number", () =>
    Effect.gen(function* () {
      const { first } = yield* begin
      const { create, list } = yield* CreditNotes
      const note = create({ invoiceId: first.id, amount: 1n, reason: "other" })
      const failing = Effect.andThen(note, Effect.fail("no"))
      yield* Effect.flip((yield* Transactor).atomically(failing))
      assert.deepStrictEqual((yield* list()).data, [])
      assert.strictEqual((yield* note).number, "CN-2026-0001")
    }).pipe(inYears(START)),
  )
})
