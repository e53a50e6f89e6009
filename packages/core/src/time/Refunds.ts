/**
 * The use cases of refunds.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { CreditNoteNotFound } from "../invoices/CreditNote.ts"
import { CreditNoteStore } from "../invoices/CreditNoteStore.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { problemOfRefund } from "../payments/OpenedPayment.ts"
import { MANUAL_PROVIDER, PaymentNotFound, type StoredPayment } from "../payments/Payment.ts"
import type { PaymentProviderUnavailable } from "../payments/PaymentMethod.ts"
import { CurrentProvider } from "../payments/PaymentProvider.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import {
  CreateRefund,
  ListRefunds,
  MAX_REFUNDS,
  type Refund,
  type RefundNotFound,
  refunds,
  type ResolveRefund,
} from "../payments/Refund.ts"
import { makeRefundBook, refundable, type ReturnedOf } from "../payments/RefundBook.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { DueStore } from "./DueStore.ts"
import { makeRefundResolution } from "./RefundResolution.ts"

const decodeCreate = decoder(CreateRefund)
const decodeList = decoder(ListRefunds)
const { knownId, orNotFound } = ById.of(refunds)

type Failure = InvoicingUnsupported | StorageError

/** Creates, reads and lists the refunds of the current tenant. */
export class Refunds extends Context.Service<
  Refunds,
  {
    /**
     * Gives money of a payment back: at most its amount, less refunds that have not failed, and less disputes that are open
     * or lost, also when several are created at once. A billing run calls the payment provider; until then the refund is
     * `pending`. One of a recorded payment has succeeded: a person has given the money back.
     *
     * With a credit note, the invoice stays paid. Without one, what goes back is due again once it has gone, except what is
     * the customer's credit. It is not collected by itself.
     */
    readonly create: (
      input: CreateRefund,
    ) => Effect.Effect<
      Refund,
      ActionUnavailable | CreditNoteNotFound | InvalidInput | PaymentNotFound | Failure,
      CurrentTenant
    >

    /**
     * Reads a refund at the payment provider now, whatever is planned. What it states is stored. One that was not sent yet,
     * that it does not know, or that a person has recorded is given as it is. Not within a transaction.
     */
    readonly refresh: (
      id: string,
    ) => Effect.Effect<
      Refund,
      ActionUnavailable | InvalidInput | PaymentProviderUnavailable | RefundNotFound | Failure,
      CurrentTenant
    >

    /**
     * Says what came of a refund that is `pending` or `unresolved`, because a person has found out. One that was not sent yet
     * is not sent any more. Otherwise the provider is read first, and what it states counts instead; while it works on the
     * refund, this is refused. Repeating it changes nothing.
     *
     * One that is said to have failed has succeeded after all when the provider tells so later.
     */
    readonly resolve: (
      id: string,
      input: ResolveRefund,
    ) => Effect.Effect<
      Refund,
      ActionUnavailable | InvalidInput | PaymentProviderUnavailable | RefundNotFound | Failure,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<Refund, RefundNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListRefunds,
    ) => Effect.Effect<Page<Refund>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/time/Refunds") {
  static readonly layer = Layer.effect(
    Refunds,
    Effect.gen(function* () {
      const provider = yield* CurrentProvider
      const book = yield* makeRefundBook
      const { store } = book
      const paymentPort = yield* optionalPort(PaymentStore)
      const invoicePort = yield* optionalPort(InvoiceStore)
      const notePort = yield* optionalPort(CreditNoteStore)
      const duePort = yield* optionalPort(DueStore)
      const transactor = yield* Transactor
      const time = new CustomerTime(yield* Collections)

      /** What a credit note of the invoice still refunds. */
      const leftOfNote = Effect.fnUntraced(function* (
        id: NonNullable<CreateRefund["creditNoteId"]>,
        { invoiceId }: StoredPayment,
      ) {
        const note = Option.getOrUndefined(yield* (yield* notePort).find(id))
        if (note === undefined) return yield* new CreditNoteNotFound({ id, field: "creditNoteId" })
        if (note.invoiceId !== invoiceId) {
          const problem = "must be a credit note of the invoice of the payment"
          return yield* new InvalidInput({ field: "creditNoteId", problem })
        }
        const payments = yield* (yield* paymentPort).ofInvoice(invoiceId)
        const returned = yield* Effect.forEach(payments, (payment) => book.returnedOf(payment.id))
        const given = returned
          .flatMap((one) => one.refunds)
          .filter(({ creditNoteId, status }) => creditNoteId === id && status !== "failed")
        return given.reduce((left, { amount }) => left - amount, note.refund)
      })

      /** What is given back, if that is possible. */
      const amountOf = Effect.fnUntraced(function* (
        payment: StoredPayment,
        returned: ReturnedOf,
        { amount: asked, creditNoteId = null }: CreateRefund,
      ) {
        if (payment.status !== "succeeded") {
          return yield* unavailable(payment, `the payment is ${payment.status}`)
        }
        if (payment.provider !== MANUAL_PROVIDER && payment.provider !== provider?.name) {
          return yield* unavailable(payment, `the payment provider ${payment.provider} is not there`)
        }
        if (returned.refunds.length >= MAX_REFUNDS) {
          return yield* unavailable(payment, `it has ${MAX_REFUNDS} refunds, which is the limit`)
        }
        const left = refundable(payment, returned)
        const ofNote = creditNoteId === null ? left : yield* leftOfNote(creditNoteId, payment)
        const most = ofNote < left ? ofNote : left
        if (most <= 0n) return yield* unavailable(payment, "nothing of it is left to refund")
        const amount = asked ?? most
        if (amount > most) {
          const problem = `must be from 1 to ${most}, which is left to refund`
          return yield* new InvalidInput({ field: "amount", problem })
        }
        const { currency } = payment
        const isManual = payment.provider === MANUAL_PROVIDER || provider === null
        const problem = isManual ? undefined : yield* problemOfRefund(provider, { amount, currency })
        if (problem === undefined) return amount
        return yield* new InvalidInput({ field: "amount", problem: `can't be given back: ${problem}` })
      })

      const create = Effect.fn("Refunds.create")(function* (input: CreateRefund) {
        const asked = yield* decodeCreate(input)
        const { creditNoteId = null, paymentId, reason } = asked
        const [payments, invoices, due] = [yield* paymentPort, yield* invoicePort, yield* duePort]
        const missing = () => new PaymentNotFound({ id: paymentId, field: "paymentId" })
        const { epochMilliseconds: now } = yield* DateTime.now
        return yield* transactor.atomically(
          Effect.gen(function* () {
            const found = yield* Effect.mapError(Effect.fromOption(yield* payments.find(paymentId)), missing)
            const invoice = yield* Effect.orDie(Effect.fromOption(yield* invoices.lock(found.invoiceId)))
            const payment = yield* Effect.orDie(Effect.fromOption(yield* payments.find(paymentId)))
            const amount = yield* amountOf(payment, yield* book.returnedOf(paymentId), asked)
            const refund = yield* time.within(
              payment.customerId,
              book.create(payment, invoice, { amount, reason, creditNoteId }),
            )
            if (refund.status === "pending") yield* due.schedule({ kind: "refund", id: refund.id }, now)
            return refund
          }),
        )
      })

      const { refresh, resolve } = yield* makeRefundResolution

      const get = Effect.fn("Refunds.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const list = Effect.fn("Refunds.list")(function* (query: ListRefunds = {}) {
        const request = yield* decodeList(query)
        return yield* store.list(filterOf(request), yield* toQuery(request)).pipe(nameCursor(request))
      })

      return Refunds.of({ create, refresh, resolve, get, list })
    }),
  )
}

const unavailable = ({ id }: StoredPayment, problem: string): Effect.Effect<never, ActionUnavailable> =>
  Effect.fail(new ActionUnavailable({ object: "payment", id, problem: `refund is not possible: ${problem}` }))
