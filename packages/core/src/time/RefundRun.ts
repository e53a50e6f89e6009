/**
 * What a runner does on refunds: it sends them to the payment provider, and reads those whose outcome is not known yet.
 *
 * What is about to be sent is stored before the call. So a process may die anywhere: the refund is read, and it is sent
 * again, with the same key, only if the provider has none. Nothing is given back twice.
 */
import { nextRefundRead } from "@billwright/engine"
import { DateTime, Effect, Option } from "effect"
import { CustomerTime } from "../customers/CustomerTime.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { StoredPayment } from "../payments/Payment.ts"
import { CurrentProvider, type PaymentProvider } from "../payments/PaymentProvider.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import { madeRefund, refundRead } from "../payments/ProviderAnswers.ts"
import { within } from "../payments/ProviderCalls.ts"
import type { ProviderFailure } from "../payments/ProviderFailure.ts"
import type { Refund, RefundId } from "../payments/Refund.ts"
import {
  isOpenRefund,
  isSentRefund,
  makeRefundBook,
  newsOf,
  refundable,
  type RefundNews,
} from "../payments/RefundBook.ts"
import { Collections } from "../shared/Collections.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { type ClaimedSubject, DueStore } from "./DueStore.ts"

type Run<A> = Effect.Effect<A, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>

/** A refund to call the provider about. */
interface Planned {
  readonly refund: Refund
  /** How the provider names its payment. */
  readonly paymentReference: string
  /** Whether it may have been sent before. Then it is read first. */
  readonly isSent: boolean
}

/** Makes the work on a refund that a runner has claimed. */
export const makeRefundRun = Effect.gen(function* () {
  const provider = yield* CurrentProvider
  const book = yield* makeRefundBook
  const duePort = yield* optionalPort(DueStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const paymentPort = yield* optionalPort(PaymentStore)
  const time = new CustomerTime(yield* Collections)
  const { atomically } = yield* Transactor

  const schedule = (id: RefundId, at: number | null) =>
    Effect.flatMap(duePort, (due) => due.schedule({ kind: "refund", id }, at))

  /** Gives up a refund that was not sent yet, if its money is disputed meanwhile: it is not given back twice. */
  const unlessDisputed = (refund: Refund, payment: StoredPayment, invoice: StoredInvoice): Run<Refund> =>
    Effect.gen(function* () {
      if (isSentRefund(refund) || !isOpenRefund(refund)) return refund
      const returned = yield* book.returnedOf(refund.paymentId)
      const others = { ...returned, refunds: returned.refunds.filter(({ id }) => id !== refund.id) }
      if (refundable(payment, others) >= refund.amount) return refund
      const news: RefundNews = { type: "stated", status: "failed", code: DISPUTED }
      return yield* time.within(refund.customerId, book.apply(refund, invoice, news))
    })

  /** Stores that the refund is about to be sent. `undefined`: there is nothing to do about it. */
  const plan = (claimed: ClaimedSubject, id: RefundId): Run<Planned | undefined> =>
    atomically(
      Effect.gen(function* () {
        const known = Option.getOrUndefined(yield* book.store.find(id))
        if (known === undefined) {
          yield* schedule(id, null)
          return undefined
        }
        const invoice = Option.getOrUndefined(yield* (yield* invoicePort).lock(known.invoiceId))
        if (!(yield* (yield* duePort).holds(claimed))) return undefined
        const found = Option.getOrUndefined(yield* book.store.find(id))
        const payment = Option.getOrUndefined(yield* (yield* paymentPort).find(known.paymentId))
        const isThere = found !== undefined && payment !== undefined && invoice !== undefined
        const refund = isThere ? yield* unlessDisputed(found, payment, invoice) : undefined
        const paymentReference = payment?.reference ?? null
        if (refund === undefined || paymentReference === null || !isOpenRefund(refund)) {
          yield* schedule(id, null)
          return undefined
        }
        const isSent = isSentRefund(refund)
        const sentAt = refund.sentAt ?? (yield* DateTime.now)
        yield* book.store.modify(id, (one) => Effect.succeed({ ...one, sentAt }))
        return { refund: { ...refund, sentAt }, paymentReference, isSent }
      }),
    )

  const send = (
    from: PaymentProvider,
    { isSent, paymentReference, refund }: Planned,
  ): Effect.Effect<RefundNews> => {
    const { amount, currency, id: refundId } = refund
    return within(() =>
      Effect.flatMap(from.refund({ refundId, paymentReference, amount, currency }), madeRefund),
    ).pipe(
      Effect.map((made) => newsOf(refund, made) ?? UNKNOWN),
      Effect.catch(failedTo(isSent ? "send_again" : "send")),
    )
  }

  const read = (from: PaymentProvider, planned: Planned): Effect.Effect<RefundNews> => {
    const { paymentReference, refund } = planned
    const { id: refundId, reference } = refund
    const query = reference === null ? { paymentReference, refundId } : { reference }
    return within(() => Effect.flatMap(from.readRefund(query), refundRead)).pipe(
      Effect.flatMap((found) => {
        if (found !== null) return Effect.succeed(newsOf(refund, found) ?? UNKNOWN)
        // One that the provider has named does not vanish.
        return reference === null ? send(from, planned) : Effect.succeed(UNKNOWN)
      }),
      Effect.catch(failedTo("read")),
    )
  }

  /** Applies what came of the call, and comes back as long as that is not the last word. */
  const note = ({ refund: { customerId, id, invoiceId } }: Planned, news: RefundNews): Run<void> =>
    atomically(
      Effect.gen(function* () {
        const { epochMilliseconds: now } = yield* DateTime.now
        const invoice = yield* (yield* invoicePort).lock(invoiceId)
        const refund = yield* book.store.find(id)
        if (Option.isNone(invoice) || Option.isNone(refund)) return
        const applied = yield* time.within(customerId, book.apply(refund.value, invoice.value, news))
        const sentAt = applied.sentAt?.epochMilliseconds ?? now
        yield* schedule(id, isOpenRefund(applied) ? nextRefundRead(sentAt, now) : null)
      }),
    )

  return (claimed: ClaimedSubject, id: RefundId): Run<void> =>
    Effect.gen(function* () {
      const found = yield* book.store.find(id)
      // Nothing is stored as sent that nobody can send.
      if (Option.isSome(found) && isOpenRefund(found.value) && found.value.provider !== provider?.name) {
        return yield* Effect.die(new TypeError(`the payment provider ${found.value.provider} is not there`))
      }
      const planned = yield* plan(claimed, id)
      if (planned === undefined || provider === null) return
      yield* note(planned, yield* planned.isSent ? read(provider, planned) : send(provider, planned))
    })
})

/** The code of a refund that was given up for a dispute. */
const DISPUTED = "payment_disputed"

/** The provider has said something else than it was asked for. */
const UNKNOWN: RefundNews = { type: "failed", call: "send", reason: "unknown" }

const failedTo =
  (call: "send" | "send_again" | "read") =>
  ({ reason }: ProviderFailure): Effect.Effect<RefundNews> =>
    Effect.succeed({ type: "failed", call, reason })
