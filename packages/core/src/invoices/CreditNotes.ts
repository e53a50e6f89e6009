/**
 * The use cases of credit notes.
 */
import {
  type CreditNoteAmounts,
  creditNoteAmounts,
  type CreditRequest,
  InvoiceError,
} from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { Outbox } from "../events/Outbox.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { Crediting } from "./Crediting.ts"
import {
  CreateCreditNote,
  CREDIT_NOTE_ID_PREFIX,
  type CreditNote,
  CreditNoteId,
  CreditNoteNotFound,
  ListCreditNotes,
  MAX_CREDIT_NOTES,
} from "./CreditNote.ts"
import { creditNoteData, creditNoteEvents } from "./CreditNoteEvents.ts"
import { CreditNoteStore } from "./CreditNoteStore.ts"
import { InvoiceNotFound, type StoredInvoice } from "./Invoice.ts"
import { invoiceBooks } from "./InvoiceBook.ts"
import { InvoiceSettings } from "./InvoiceSettings.ts"
import { InvoiceStore } from "./InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "./InvoicingUnsupported.ts"
import { nextNumber } from "./NextNumber.ts"
import { Refunding } from "./Refunding.ts"

const decodeCreate = decoder(CreateCreditNote)
const decodeList = decoder(ListCreditNotes)
const { knownId, orNotFound } = ById.make(Schema.is(CreditNoteId), (id) => new CreditNoteNotFound({ id }))

type Failure = InvoicingUnsupported | StorageError

/** Issues, reads and lists the credit notes of the current tenant. */
export class CreditNotes extends Context.Service<
  CreditNotes,
  {
    /**
     * Gives back a part of an issued invoice, or all that is left of it, with its tax. It never gives back more than is
     * left of a line after discounts, earlier credit notes and credits of later invoices, also when several are issued at
     * once.
     *
     * What is still due is waived first. The rest was paid: it is refunded as far as `refund` says, and becomes
     * paid credits of the customer otherwise, which pay later invoices. The refunds are created with the note, of the newest payments first; a billing run
     * sends them to the payment provider. An invoice of which nothing is due any more is `paid`.
     *
     * It takes its number at once, also in a transaction of the host: a note has no draft that could wait for one, and its
     * caller needs what it gives back. Until that transaction ends, others that issue credit notes of the tenant wait.
     */
    readonly create: (
      input: CreateCreditNote,
    ) => Effect.Effect<
      CreditNote,
      ActionUnavailable | InvalidInput | InvoiceNotFound | Failure,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<CreditNote, CreditNoteNotFound | Failure, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListCreditNotes,
    ) => Effect.Effect<Page<CreditNote>, InvalidInput | Failure, CurrentTenant>
  }
>()("@billwright/core/invoices/CreditNotes") {
  static readonly layer = Layer.effect(
    CreditNotes,
    Effect.gen(function* () {
      const port = yield* optionalPort(CreditNoteStore)
      const invoicePort = yield* optionalPort(InvoiceStore)
      const outbox = yield* Outbox
      const transactor = yield* Transactor
      const settings = yield* InvoiceSettings
      const bookOf = yield* invoiceBooks
      const ids = yield* IdGenerator
      const refunding = yield* Refunding
      const crediting = yield* Crediting
      const time = new CustomerTime(yield* Collections)

      const create = Effect.fn("CreditNotes.create")(function* (input: CreateCreditNote) {
        const [store, invoices] = [yield* port, yield* invoicePort]
        const { invoiceId, reason, ...request } = yield* decodeCreate(input)
        const asked = yield* requestOf(request)
        const book = bookOf(invoices)
        const credit = Effect.fnUntraced(function* (invoice: StoredInvoice) {
          const earlier = yield* store.ofInvoice(invoiceId)
          if (earlier.length >= MAX_CREDIT_NOTES) {
            return yield* unavailable(invoice, `has ${MAX_CREDIT_NOTES} credit notes, which is the limit`)
          }
          const givenBack = yield* invoices.creditsOf(invoiceId)
          const amounts = yield* amountsOf(invoice, earlier, { ...asked, givenBack })
          const { format, timezone } = { format: settings.creditNoteFormat, timezone: settings.timezone }
          const { issuedAt, number } = yield* nextNumber(invoices, "credit_note", { format, timezone })
          const { total, waived } = amounts
          const after = yield* book.apply(invoice, { action: "credit", total, waived })
          const note: CreditNote = {
            ...amounts,
            id: CreditNoteId.make(yield* ids.next(CREDIT_NOTE_ID_PREFIX)),
            number,
            invoiceId,
            customerId: invoice.customerId,
            currency: invoice.state.currency,
            reason,
            issuedAt,
            createdAt: yield* DateTime.now,
          }
          yield* store.insert(note)
          yield* crediting.give(note, note.toBalance, { type: "credit_note", id: note.id })
          yield* outbox.publish(creditNoteEvents["credit_note.created"], creditNoteData(note, after.state), {
            customerId: note.customerId,
          })
          return note
        })
        return yield* transactor.atomically(
          Effect.gen(function* () {
            const found = yield* invoices.lockWithSubscriptions(invoiceId)
            if (Option.isNone(found)) return yield* new InvoiceNotFound({ id: invoiceId, field: "invoiceId" })
            const note = yield* time.within(found.value.customerId, credit(found.value))
            if (note.refund > 0n) yield* refunding.refund(note)
            return note
          }),
        )
      })

      const get = Effect.fn("CreditNotes.get")(function* (id: string) {
        const store = yield* port
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const list = Effect.fn("CreditNotes.list")(function* (query: ListCreditNotes = {}) {
        const store = yield* port
        const request = yield* decodeList(query)
        return yield* store.list(filterOf(request), yield* toQuery(request)).pipe(nameCursor(request))
      })

      return CreditNotes.of({ create, get, list })
    }),
  )
}

const unavailable = ({ id }: StoredInvoice, problem: string) =>
  Effect.fail(new ActionUnavailable({ object: "invoice", id, problem }))

/** What the engine is asked for: amounts of lines, one amount, or the rest. */
const requestOf = ({
  amount,
  lines,
  refund = 0n,
}: Pick<CreateCreditNote, "amount" | "lines" | "refund">): Effect.Effect<CreditRequest, InvalidInput> =>
  lines !== undefined && amount !== undefined
    ? Effect.fail(new InvalidInput({ field: "amount", problem: "must be left out: the lines have amounts" }))
    : Effect.succeed({ lines: lines ?? amount ?? "rest", refund })

/** The amounts of the next note. What an invoice does not allow is an error of its own. */
const amountsOf = (
  invoice: StoredInvoice,
  earlier: ReadonlyArray<CreditNote>,
  request: CreditRequest,
): Effect.Effect<CreditNoteAmounts, ActionUnavailable | InvalidInput> =>
  Effect.suspend((): Effect.Effect<CreditNoteAmounts, ActionUnavailable | InvalidInput> => {
    try {
      return Effect.succeed(creditNoteAmounts(invoice.state, earlier, request))
    } catch (error) {
      if (!(error instanceof InvoiceError)) return Effect.die(error)
      const [first] = error.problems
      if (first?.path === "invoice") return unavailable(invoice, first.problem)
      return Effect.fail(
        new InvalidInput({ field: first?.path ?? "lines", problem: first?.problem ?? error.message }),
      )
    }
  })
