/**
 * Receives what a payment provider tells by itself. A notice is never believed: it says what to read again.
 */
import { DateTime, Effect, Option } from "effect"
import { CustomerTime } from "../customers/CustomerTime.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import { Collections } from "../shared/Collections.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { makeDisputeBook } from "./DisputeBook.ts"
import type { StoredPayment } from "./Payment.ts"
import { makePaymentBook, type PaymentPorts } from "./PaymentBook.ts"
import { CurrentProvider, type PaymentProvider } from "./PaymentProvider.ts"
import { PaymentStore } from "./PaymentStore.ts"
import { disputeRead, paymentRead, refundRead } from "./ProviderAnswers.ts"
import { within } from "./ProviderCalls.ts"
import { MAX_NOTICE_BYTES, type Notice, type NoticeReceipt, type NoticeRequest } from "./ProviderNotices.ts"
import { makeRefundBook } from "./RefundBook.ts"

type Received = Effect.Effect<
  NoticeReceipt,
  InvalidInput | InvoicingUnsupported | StorageError,
  CurrentTenant
>

const ACCEPTED: NoticeReceipt = { outcome: "accepted", httpStatus: 200 }
const IGNORED: NoticeReceipt = { outcome: "ignored", httpStatus: 200 }
const REFUSED: NoticeReceipt = { outcome: "refused", httpStatus: 400 }
const POSTPONED: NoticeReceipt = { outcome: "postponed", httpStatus: 503 }

/** Of several notices in a request. The provider sends all of them again when one is postponed. */
const RANK: ReadonlyArray<NoticeReceipt> = [POSTPONED, ACCEPTED, IGNORED]

/** Gives the function that receives a request of the provider, for the current tenant. */
export const makeNoticeReceiver = Effect.gen(function* () {
  const provider = yield* CurrentProvider
  const paymentPort = yield* optionalPort(PaymentStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const transactor = yield* Transactor
  const time = new CustomerTime(yield* Collections)
  const book = yield* makePaymentBook
  const refunds = yield* makeRefundBook
  const disputed = yield* makeDisputeBook

  /** Reads a payment again, and applies what the provider states, together with a note that the event was received. */
  const readPayment = Effect.fnUntraced(function* (from: PaymentProvider, { eventId, reference }: Notice) {
    const ports = { payments: yield* paymentPort, invoices: yield* invoicePort }
    const found = yield* ports.payments.findByReference(from.name, reference)
    if (Option.isNone(found)) return IGNORED
    const { customerId, id, invoiceId } = found.value
    const read = yield* Effect.option(within(() => Effect.flatMap(from.readPayment(reference), paymentRead)))
    if (Option.isNone(read)) return POSTPONED
    return yield* transactor.atomically(
      Effect.gen(function* () {
        const invoice = yield* ports.invoices.lock(invoiceId)
        const payment = yield* ports.payments.find(id)
        if (Option.isNone(invoice) || Option.isNone(payment)) return IGNORED
        if (!(yield* ports.payments.noteEvent(from.name, eventId, yield* DateTime.now))) return ACCEPTED
        const applied = book.apply(ports, payment.value, invoice.value, { type: "read", read: read.value })
        yield* time.within(customerId, applied)
        return ACCEPTED
      }),
    )
  })

  /** Applies what the provider states about money of a payment that went back, with a note that the event was received. */
  const applyTo = Effect.fnUntraced(function* (
    from: PaymentProvider,
    { eventId }: Notice,
    paymentReference: string,
    apply: (ports: PaymentPorts, payment: StoredPayment, invoice: StoredInvoice) => Received,
  ) {
    const ports = { payments: yield* paymentPort, invoices: yield* invoicePort }
    const found = yield* ports.payments.findByReference(from.name, paymentReference)
    if (Option.isNone(found)) return IGNORED
    const { customerId, id, invoiceId } = found.value
    return yield* transactor.atomically(
      Effect.gen(function* () {
        const invoice = yield* ports.invoices.lock(invoiceId)
        const payment = yield* ports.payments.find(id)
        if (Option.isNone(invoice) || Option.isNone(payment)) return IGNORED
        // Money does not go back of a payment before it has come, so that the notice of that is still to come.
        if (payment.value.status !== "succeeded") return POSTPONED
        if (yield* ports.payments.hasEvent(from.name, eventId)) return ACCEPTED
        const receipt = yield* time.within(customerId, apply(ports, payment.value, invoice.value))
        if (receipt === ACCEPTED) {
          yield* ports.payments.noteEvent(from.name, eventId, yield* DateTime.now)
        }
        return receipt
      }),
    )
  })

  const readRefund = Effect.fnUntraced(function* (from: PaymentProvider, notice: Notice) {
    const { reference } = notice
    const read = yield* Effect.option(
      within(() => Effect.flatMap(from.readRefund({ reference }), refundRead)),
    )
    if (Option.isNone(read)) return POSTPONED
    const stated = read.value
    if (stated === null) return IGNORED
    return yield* applyTo(from, notice, stated.paymentReference, (_, payment, invoice) =>
      Effect.map(refunds.receive(payment, invoice, stated), (isKnown) => (isKnown ? ACCEPTED : POSTPONED)),
    )
  })

  /**
   * A dispute goes back and forth. So what is read of it counts only if nothing newer was stored since before the reading.
   * It is read a first time to know its payment.
   */
  const readDispute = Effect.fnUntraced(function* (from: PaymentProvider, notice: Notice) {
    const { reference } = notice
    const read = Effect.option(within(() => Effect.flatMap(from.readDispute(reference), disputeRead)))
    const first = yield* read
    if (Option.isNone(first)) return POSTPONED
    if (first.value === null) return IGNORED
    const { paymentReference } = first.value
    const found = yield* (yield* paymentPort).findByReference(from.name, paymentReference)
    if (Option.isNone(found)) return IGNORED
    const sequence = yield* disputed.sequenceOf(found.value.id, reference)
    const stated = Option.getOrNull(yield* read)
    if (stated === null) return POSTPONED
    return yield* applyTo(from, notice, paymentReference, (ports, payment, invoice) =>
      Effect.gen(function* () {
        if ((yield* disputed.sequenceOf(payment.id, reference)) !== sequence) return POSTPONED
        yield* disputed.apply(ports, payment, invoice, stated)
        return ACCEPTED
      }),
    )
  })

  const work = Effect.fnUntraced(function* (
    from: PaymentProvider,
    notice: Notice,
  ): Effect.fn.Return<NoticeReceipt, Effect.Error<Received>, CurrentTenant> {
    const { mode } = yield* CurrentTenant
    if (notice.mode !== mode || notice.about === "setup") return IGNORED
    const payments = yield* paymentPort
    if (yield* payments.hasEvent(from.name, notice.eventId)) return ACCEPTED
    switch (notice.about) {
      case "payment":
        return yield* readPayment(from, notice)
      case "refund":
        return yield* readRefund(from, notice)
      case "dispute":
        return yield* readDispute(from, notice)
    }
  })

  return (
    request: NoticeRequest,
  ): Effect.Effect<
    NoticeReceipt,
    ActionUnavailable | InvalidInput | InvoicingUnsupported | StorageError,
    CurrentTenant
  > =>
    Effect.gen(function* () {
      yield* checkBody(request.body)
      if (provider === null) return IGNORED
      if (yield* transactor.inTransaction) {
        const problem = "receive is not possible: the payment provider can't be called within a transaction"
        return yield* new ActionUnavailable({ object: "payment provider", id: provider.name, problem })
      }
      const now = yield* DateTime.now
      const received = provider.receive(request, now.epochMilliseconds)
      if (received.type === "invalid") return REFUSED
      if (received.type === "foreign") return IGNORED
      const receipts = yield* Effect.forEach(received.notices, (notice) => work(provider, notice))
      return RANK.find((rank) => receipts.includes(rank)) ?? IGNORED
    })
})

/** A body that was parsed and written again is another one to the signature. */
const checkBody = (body: unknown): Effect.Effect<void, InvalidInput> => {
  const isBytes = body instanceof Uint8Array
  if (isBytes && body.length <= MAX_NOTICE_BYTES) return Effect.void
  const problem = isBytes ? `must have at most ${MAX_NOTICE_BYTES} bytes` : "must be the bytes that came"
  return Effect.fail(new InvalidInput({ field: "body", problem }))
}
