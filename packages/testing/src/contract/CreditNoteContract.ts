/**
 * The contract of `CreditNoteStore`, and of what `InvoiceStore` says about credits.
 */
import { CreditNoteStore, InvoiceStore, StorageError, SubscriptionStore, Transactor } from "@billwright/core"
import { assert } from "@effect/vitest"
import { Effect, Option, Struct } from "effect"
import { asTenant, otherTenants, same } from "./ContractTest.ts"
import {
  credit,
  creditedBy,
  creditNoteOf,
  draftOf,
  insertCustomer,
  type InvoicingTest,
  issue,
  issuedOf,
  lineOf,
  seriesOf,
  subscriptionOf,
  listsNothing,
} from "./InvoicingProbe.ts"
import { firstPage } from "./WebhookProbe.ts"

/** An issued invoice of 20.00 of a new subscription. */
const issued = Effect.gen(function* () {
  const { id } = yield* insertCustomer
  const subscription = yield* subscriptionOf(id, { dueAt: null })
  yield* (yield* SubscriptionStore).insert(subscription)
  return { subscription, invoice: yield* issue(yield* draftOf(subscription, 0)) }
})

export const creditNoteContract = (test: InvoicingTest): void => {
  test(
    "a credit note is found and listed as it was stored, newest first",
    Effect.gen(function* () {
      const notes = yield* CreditNoteStore
      const { invoice, subscription } = yield* issued
      const first = yield* credit(invoice, 1)
      const second = yield* credit(invoice, 2)
      const other = yield* draftOf(subscription, 1)
      yield* (yield* InvoiceStore).insert(other)
      same(yield* notes.find(first.id), Option.some(first))
      same(yield* notes.find((yield* creditNoteOf(invoice, 3)).id), Option.none())
      same(yield* notes.ofInvoice(invoice.id), [first, second])
      same(yield* notes.ofInvoice(other.id), [])
      same((yield* notes.list({}, firstPage)).data, [second, first])
      same((yield* notes.list({ invoiceId: invoice.id }, firstPage)).data, [second, first])
      same((yield* notes.list({ invoiceId: other.id }, firstPage)).data, [])
      same((yield* notes.list({ customerId: invoice.customerId }, firstPage)).data, [second, first])
      const older = { limit: 1, cursor: { direction: "older", id: second.id } } as const
      same(yield* notes.list({}, older), { data: [first], hasMore: false })
      const one = { ...firstPage, limit: 1 }
      same(yield* notes.list({}, one), { data: [second], hasMore: true })
    }),
  )

  test(
    "no other tenant sees a credit note, or credits of an invoice",
    Effect.gen(function* () {
      const [notes, invoices] = [yield* CreditNoteStore, yield* InvoiceStore]
      const transactor = yield* Transactor
      const { invoice } = yield* issued
      const note = yield* credit(invoice, 1)
      for (const other of yield* otherTenants) {
        const theirs = asTenant(other)
        same(yield* theirs(notes.find(note.id)), Option.none())
        yield* listsNothing(other, notes.list, note.id, [
          {},
          { customerId: note.customerId },
          { invoiceId: note.invoiceId },
        ])
        same(yield* theirs(notes.ofInvoice(invoice.id)), [])
        same(yield* theirs(invoices.creditsOf(invoice.id)), [])
        same(yield* theirs(transactor.atomically(invoices.lockWithSubscriptions(invoice.id))), Option.none())
      }
    }),
  )

  test(
    "an id is taken once, and a failed transaction leaves no credit note",
    Effect.gen(function* () {
      const [notes, invoices] = [yield* CreditNoteStore, yield* InvoiceStore]
      const transactor = yield* Transactor
      const { invoice } = yield* issued
      const note = yield* credit(invoice, 1)
      assert.instanceOf(yield* Effect.flip(notes.insert(note)), StorageError)
      const next = yield* creditNoteOf(invoice, 2)
      const failing = Effect.gen(function* () {
        same(yield* invoices.lockSeries("credit_note"), Option.some(seriesOf("CN-", 1)))
        yield* invoices.save(creditedBy(invoice, 2))
        yield* notes.insert(next)
        yield* invoices.saveSeries("credit_note", seriesOf("CN-", 2))
        return yield* Effect.fail("no")
      })
      yield* Effect.flip(transactor.atomically(failing))
      same(yield* notes.ofInvoice(invoice.id), [note])
      same(yield* transactor.atomically(invoices.lockSeries("credit_note")), Option.some(seriesOf("CN-", 1)))
    }),
  )

  test(
    "lines say what credit notes gave back of them, and lines of later invoices what those did",
    Effect.gen(function* () {
      const invoices = yield* InvoiceStore
      const { invoice, subscription } = yield* issued
      yield* credit(invoice, 1)
      yield* credit(invoice, 2)
      const line = lineOf(subscription.id, 0)
      same(yield* invoices.billedLines(subscription.id, 0), [
        {
          invoiceId: invoice.id,
          status: "open",
          line: Struct.omit(line, ["steps", "receipt"]),
          forgiven: 1_000n,
        },
      ])
      same(yield* invoices.creditsOf(invoice.id), [])
      // A draft gives nothing back yet.
      const draft = yield* draftOf(subscription, 1)
      const creditOf = { invoiceId: invoice.id, lineId: line.id }
      const lines = [{ ...draft.state.lines[0]!, creditOf }]
      const crediting = { ...draft, state: { ...draft.state, lines } }
      yield* invoices.insert(crediting)
      same(yield* invoices.creditsOf(invoice.id), [])
      // Once it is void, it never did.
      const { state, ...voided } = issuedOf(crediting)
      yield* (yield* Transactor).atomically(
        Effect.gen(function* () {
          yield* invoices.lockSeries("invoice")
          yield* invoices.saveSeries("invoice", seriesOf("", 2))
          const isVoid = { status: "void", number: "2026-0002", amountDue: 0n } as const
          yield* invoices.save({ ...voided, state: { ...state, ...isVoid } })
        }),
      )
      same(yield* invoices.creditsOf(invoice.id), [])
    }),
  )
}
