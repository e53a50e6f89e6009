/**
 * The use cases of payments.
 */
import { successOf } from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { Outbox } from "../events/Outbox.ts"
import { type Invoice, InvoiceNotFound, type StoredInvoice } from "../invoices/Invoice.ts"
import { invoiceBooks } from "../invoices/InvoiceBook.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { makeCancelPayment } from "./CancelPayment.ts"
import { makeNoticeReceiver } from "./NoticeReceiver.ts"
import { makePayInvoice, type PayInvoice, type StartedPayment, type StartPayment } from "./PayInvoice.ts"
import {
  ListPayments,
  MANUAL_PROVIDER,
  MAX_PAYMENTS,
  type Payment,
  PAYMENT_ID_PREFIX,
  PaymentId,
  PaymentNotFound,
  RecordPayment,
  type StoredPayment,
  toPayment,
} from "./Payment.ts"
import { paymentData, paymentEvents } from "./PaymentEvents.ts"
import type { PaymentMethodNotFound, PaymentProviderUnavailable } from "./PaymentMethod.ts"
import { PaymentStore } from "./PaymentStore.ts"
import type { NoticeReceipt, NoticeRequest } from "./ProviderNotices.ts"

const decodeRecord = decoder(RecordPayment)
const decodeList = decoder(ListPayments)
const { knownId, orNotFound } = ById.make(Schema.is(PaymentId), (id) => new PaymentNotFound({ id }))

type Failure = InvoicingUnsupported | StorageError

/** Records, reads and lists the payments of the current tenant. */
export class Payments extends Context.Service<
  Payments,
  {
    /**
     * Records money that came for an open invoice, or for one that was written off. The invoice is `paid` once nothing of
     * it is due. A part of the amount due is allowed; more than that only with `acceptOverpayment`.
     *
     * With a `reference`, recording the same payment again changes nothing and gives the first one. Without one, it is
     * recorded twice.
     */
    readonly record: (
      input: RecordPayment,
    ) => Effect.Effect<Payment, ActionUnavailable | InvalidInput | InvoiceNotFound | Failure, CurrentTenant>

    /**
     * Receives a request that the payment provider has sent: the body as it came, and its headers. What it tells is read
     * again from the provider, and stored before this ends. Answer the request with the `httpStatus`.
     *
     * The same event counts once. Fails with `InvalidInput` for a body of more than `MAX_NOTICE_BYTES`. Within a
     * transaction it is refused, because it calls the provider.
     */
    readonly receive: (
      request: NoticeRequest,
    ) => Effect.Effect<NoticeReceipt, ActionUnavailable | InvalidInput | Failure, CurrentTenant>

    /**
     * Has the payment provider take what is due of an invoice now: of an open one, or of one that was written off. With
     * the customer's default payment method, or with another one of the customer. The answer is the invoice afterwards: its
     * `collection` says what came of it.
     *
     * An invoice never has two attempts at once. While one is under way, or its outcome is unknown, this is refused. In
     * `needs_attention` the provider is asked first what came of the last attempt. When an attempt for an invoice that was
     * written off is declined, no other one follows by itself. An invoice that is paid is given as it is.
     *
     * Not within a transaction. Fails with `PaymentProviderUnavailable` if the provider can't be read before the attempt.
     */
    readonly pay: (
      invoiceId: string,
      input?: PayInvoice,
    ) => Effect.Effect<
      Invoice,
      | ActionUnavailable
      | InvalidInput
      | InvoiceNotFound
      | PaymentMethodNotFound
      | PaymentProviderUnavailable
      | Failure,
      CurrentTenant
    >

    /**
     * The same as `pay`, while the customer is there: what the bank asks the customer to confirm is confirmed on the page.
     * The answer says how: with the client secret, or, with a `returnUrl`, on a page of the provider. Both are given out once
     * and stored nowhere. An attempt that waits for the customer is read first, and attempted again if it still waits.
     */
    readonly startPayment: (
      invoiceId: string,
      input?: StartPayment,
    ) => Effect.Effect<
      StartedPayment,
      | ActionUnavailable
      | InvalidInput
      | InvoiceNotFound
      | PaymentMethodNotFound
      | PaymentProviderUnavailable
      | Failure,
      CurrentTenant
    >

    /**
     * Reads at the payment provider how the payment of an invoice stands, if it waits for the customer or a bank, or its
     * outcome is unknown. Gives the invoice afterwards. It charges nothing. Call it when the customer comes back. Not within
     * a transaction.
     */
    readonly refresh: (
      invoiceId: string,
    ) => Effect.Effect<
      Invoice,
      | ActionUnavailable
      | InvalidInput
      | InvoiceNotFound
      | PaymentMethodNotFound
      | PaymentProviderUnavailable
      | Failure,
      CurrentTenant
    >

    /**
     * Closes an open payment at its provider, for good. Nothing is attempted for its invoice any more by itself: its
     * `collection` is `stopped` until `pay` is called. If the provider has taken the money before, the payment has
     * succeeded instead. Canceling it again changes nothing. Not within a transaction.
     */
    readonly cancel: (
      id: string,
    ) => Effect.Effect<
      Payment,
      ActionUnavailable | InvalidInput | PaymentNotFound | PaymentProviderUnavailable | Failure,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<Payment, PaymentNotFound | Failure, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListPayments,
    ) => Effect.Effect<Page<Payment>, InvalidInput | Failure, CurrentTenant>
  }
>()("@billwright/core/payments/Payments") {
  static readonly layer = Layer.effect(
    Payments,
    Effect.gen(function* () {
      const port = yield* optionalPort(PaymentStore)
      const invoicePort = yield* optionalPort(InvoiceStore)
      const outbox = yield* Outbox
      const transactor = yield* Transactor
      const bookOf = yield* invoiceBooks
      const ids = yield* IdGenerator
      const time = new CustomerTime(yield* Collections)

      const receive = yield* makeNoticeReceiver
      const { pay, refresh, startPayment } = yield* makePayInvoice
      const cancel = yield* makeCancelPayment

      const publish = (payment: StoredPayment, type: keyof typeof paymentEvents) =>
        outbox.publish(paymentEvents[type], paymentData(payment), { customerId: payment.customerId })

      /** Writes a payment whose money has come, and its invoice. The current transaction holds the invoice. */
      const settle = Effect.fnUntraced(function* (invoice: StoredInvoice, asked: Asked) {
        const [store, invoices] = [yield* port, yield* invoicePort]
        const now = yield* DateTime.now
        const paidAt = asked.paidAt ?? now
        if (DateTime.isGreaterThan(paidAt, now)) {
          return yield* new InvalidInput({ field: "paidAt", problem: "must not be in the future" })
        }
        const amount = yield* amountOf(invoice, asked)
        const payment: StoredPayment = {
          id: PaymentId.make(yield* ids.next(PAYMENT_ID_PREFIX)),
          invoiceId: invoice.id,
          customerId: invoice.customerId,
          currency: invoice.state.currency,
          provider: MANUAL_PROVIDER,
          reference: asked.reference ?? null,
          amount,
          ...successOf({ amount, sequence: 0 }, invoice.state, paidAt.epochMilliseconds),
          createdAt: now,
          updatedAt: now,
          collection: null,
          dueAt: null,
          failure: null,
        }
        yield* store.insert(payment)
        yield* publish(payment, "payment.succeeded")
        yield* bookOf(invoices).apply(invoice, { action: "pay", amount })
        if (payment.overpaid > 0n) yield* publish(payment, "payment.overpaid")
        return toPayment(payment)
      })

      const record = Effect.fn("Payments.record")(function* (input: RecordPayment) {
        const [store, invoices] = [yield* port, yield* invoicePort]
        const { invoiceId, ...asked } = yield* decodeRecord(input)
        return yield* transactor.atomically(
          Effect.gen(function* () {
            const missing = () => new InvoiceNotFound({ id: invoiceId, field: "invoiceId" })
            const invoice = yield* Effect.mapError(
              Effect.fromOption(yield* invoices.lock(invoiceId)),
              missing,
            )
            const earlier = yield* store.ofInvoice(invoiceId)
            const known = yield* sameReference(invoice, earlier, asked)
            if (known !== undefined) return toPayment(known)
            if (!invoice.state.availableActions.includes("pay")) {
              return yield* unavailable(invoice, `the invoice is ${invoice.state.status}`)
            }
            if (earlier.length >= MAX_PAYMENTS) {
              return yield* unavailable(invoice, `it has ${MAX_PAYMENTS} payments, which is the limit`)
            }
            return yield* time.within(invoice.customerId, settle(invoice, asked))
          }),
        )
      })

      const get = Effect.fn("Payments.get")(function* (id: string) {
        const store = yield* port
        return toPayment(yield* orNotFound(yield* store.find(yield* knownId(id)), id))
      })

      const list = Effect.fn("Payments.list")(function* (query: ListPayments = {}) {
        const store = yield* port
        const request = yield* decodeList(query)
        const { figure, ...filter } = filterOf(request)
        const at = (yield* DateTime.now).epochMilliseconds
        const { data, hasMore } = yield* store
          .list(
            { ...filter, figure: figure === undefined ? undefined : { figure, at } },
            yield* toQuery(request),
          )
          .pipe(nameCursor(request))
        return { data: data.map(toPayment), hasMore }
      })

      return Payments.of({ record, receive, pay, startPayment, refresh, cancel, get, list })
    }),
  )
}

type Asked = Omit<RecordPayment, "invoiceId">

const unavailable = ({ id }: StoredInvoice, problem: string) =>
  Effect.fail(new ActionUnavailable({ object: "invoice", id, problem: `pay is not possible: ${problem}` }))

/** The payment that was recorded with the reference before, if there is one. */
const sameReference = (
  invoice: StoredInvoice,
  earlier: ReadonlyArray<StoredPayment>,
  { amount, reference }: Asked,
): Effect.Effect<StoredPayment | undefined, ActionUnavailable> => {
  const known = earlier.find(
    (one) => one.provider === MANUAL_PROVIDER && reference !== undefined && one.reference === reference,
  )
  return known === undefined || amount === undefined || amount === known.amount
    ? Effect.succeed(known)
    : unavailable(invoice, `${known.id} has this reference and an amount of ${known.amount}`)
}

/** What came. */
const amountOf = (
  { state: { amountDue } }: StoredInvoice,
  { acceptOverpayment = false, amount = amountDue }: Asked,
): Effect.Effect<bigint, InvalidInput> =>
  amount <= amountDue || acceptOverpayment
    ? Effect.succeed(amount)
    : Effect.fail(
        new InvalidInput({
          field: "amount",
          problem: `must be from 1 to ${amountDue}, which is due, unless an overpayment is accepted`,
        }),
      )
