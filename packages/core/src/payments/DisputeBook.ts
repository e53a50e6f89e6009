/**
 * Writes disputes, and what follows from them for invoices. Each change publishes its events.
 */
import { DateTime, Effect } from "effect"
import { Outbox } from "../events/Outbox.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import type { InvoicingUnsupported } from "../invoices/InvoicingUnsupported.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import * as Resource from "../shared/Resource.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { type Dispute, DISPUTE_ID_PREFIX, DisputeId, disputes } from "./Dispute.ts"
import { nextAttempt } from "./OpenedPayment.ts"
import type { StoredPayment } from "./Payment.ts"
import { isWanted, makePaymentBook, type PaymentPorts } from "./PaymentBook.ts"
import type { ProviderDispute } from "./ProviderRefunds.ts"
import { makeRefundBook, withChanged } from "./RefundBook.ts"
import { disputeData, disputeEvents } from "./RefundEvents.ts"

/** Gives the functions that write disputes in the current transaction, which holds the invoice. */
export const makeDisputeBook = Effect.gen(function* () {
  const outbox = yield* Outbox
  const ids = yield* IdGenerator
  const store = (yield* Collections).of(disputes)
  const payments = yield* makePaymentBook
  const refunds = yield* makeRefundBook

  const publish = (dispute: Dispute, type: keyof typeof disputeEvents) =>
    outbox.publish(disputeEvents[type], disputeData(dispute), { customerId: dispute.customerId })

  /** The open payment of an invoice, and the invoice as it is now. */
  const openOf = Effect.fnUntraced(function* (ports: PaymentPorts, { id }: StoredInvoice) {
    const found = yield* Effect.orDie(Effect.flatMap(ports.invoices.find(id), Effect.fromOption))
    const page = { limit: 1, cursor: undefined }
    const { data } = yield* Effect.orDie(ports.payments.list({ invoiceId: id, status: "open" }, page))
    return { invoice: found, open: data[0] }
  })

  /** Stops the collection of the invoice. An attempt that may still take money is read on. */
  const stopCollection = Effect.fnUntraced(function* (ports: PaymentPorts, disputed: StoredInvoice) {
    const { invoice, open } = yield* openOf(ports, disputed)
    if (open !== undefined) yield* payments.apply(ports, open, invoice, { type: "stop" })
  })

  /** Goes on with the collection of the invoice, if it was stopped and nothing else is disputed. */
  const resumeCollection = Effect.fnUntraced(function* (ports: PaymentPorts, disputed: StoredInvoice) {
    const { invoice, open } = yield* openOf(ports, disputed)
    const filter = { invoiceId: invoice.id, status: "open" } as const
    const { data } = yield* Effect.orDie(store.list(filter, { limit: 1, cursor: undefined }))
    const isStopped =
      open?.collection?.state === "stopped" &&
      open.collection.attempt?.once !== true &&
      isWanted(open, invoice)
    if (data.length > 0 || open === undefined || !isStopped) return
    const input = yield* nextAttempt(ids, open.collection?.attempt?.method ?? null)
    yield* payments.apply(ports, open, invoice, input)
  })

  const opened = Effect.fnUntraced(function* (
    ports: PaymentPorts,
    payment: StoredPayment,
    invoice: StoredInvoice,
    stated: ProviderDispute,
  ) {
    const now = yield* DateTime.now
    const dispute: Dispute = {
      ...Resource.unset(disputes),
      id: DisputeId.make(yield* ids.next(DISPUTE_ID_PREFIX)),
      customerId: payment.customerId,
      invoiceId: payment.invoiceId,
      paymentId: payment.id,
      amount: stated.amount,
      reversed: 0n,
      currency: payment.currency,
      reason: stated.reason,
      status: "open",
      provider: payment.provider,
      reference: stated.reference,
      respondBy: stated.respondBy === null ? null : DateTime.makeUnsafe(stated.respondBy),
      sequence: 1,
      createdAt: now,
      updatedAt: now,
    }
    yield* store.insert(dispute)
    yield* publish(dispute, "dispute.opened")
    yield* stopCollection(ports, invoice)
    return dispute
  })

  /** How often a dispute of a payment has changed. `undefined`: it is not known. */
  const sequenceOf = (paymentId: StoredPayment["id"], reference: string) =>
    Effect.map(
      refunds.returnedOf(paymentId),
      (returned) => returned.disputes.find((one) => one.reference === reference)?.sequence,
    )

  /** Applies what the provider states of a dispute: the one way that it changes. What is known changes nothing. */
  const apply = Effect.fnUntraced(function* (
    ports: PaymentPorts,
    payment: StoredPayment,
    invoice: StoredInvoice,
    stated: ProviderDispute,
  ): Effect.fn.Return<void, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant> {
    const before = yield* refunds.returnedOf(payment.id)
    const known = before.disputes.find(({ reference }) => reference === stated.reference)
    const dispute = known ?? (yield* opened(ports, payment, invoice, stated))
    const { status } = stated
    if (status === dispute.status) return
    const current = (yield* openOf(ports, invoice)).invoice
    const decided: Dispute = { ...dispute, status }
    const returned = { ...before, disputes: withChanged(before.disputes, decided) }
    const reversed =
      status === "lost"
        ? yield* refunds.reverse(decided, payment, current, returned)
        : yield* refunds.restore(decided.reversed, payment, current, returned)
    const updatedAt = yield* DateTime.now
    const changed: Dispute = {
      ...decided,
      reversed,
      closedAt: status === "open" ? null : updatedAt,
      updatedAt,
      sequence: dispute.sequence + 1,
    }
    yield* store.modify(dispute.id, () => Effect.succeed(changed))
    if (status === "open") return yield* stopCollection(ports, current)
    yield* publish(changed, "dispute.closed")
    if (status === "won") yield* resumeCollection(ports, current)
  })

  return { apply, sequenceOf }
})
