/**
 * Writes refunds, and what follows from them for invoices. Each change publishes its events.
 */
import {
  creditableOf,
  nextRefundRead,
  refundableOf,
  type RefundInput,
  type Returned,
  restorationOf,
  reversalOf,
  mayTakeMoney,
  reverseInvoice,
  reversalsOf,
  stepRefund,
} from "@billwright/engine"
import { DateTime, Effect } from "effect"
import { Outbox } from "../events/Outbox.ts"
import { Collecting } from "../invoices/Collecting.ts"
import type { CreditNote } from "../invoices/CreditNote.ts"
import { CreditNoteStore } from "../invoices/CreditNoteStore.ts"
import { overdueAtOf, type StoredInvoice } from "../invoices/Invoice.ts"
import { invoiceBooks } from "../invoices/InvoiceBook.ts"
import { dataOf } from "../invoices/InvoiceEvents.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import * as Resource from "../shared/Resource.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import * as WallClock from "../shared/WallClock.ts"
import { type Dispute, disputes } from "./Dispute.ts"
import { MANUAL_PROVIDER, type PaymentId, type StoredPayment } from "./Payment.ts"
import { PaymentStore } from "./PaymentStore.ts"
import type { ProviderRefund } from "./ProviderRefunds.ts"
import { MAX_REFUNDS, type Refund, REFUND_ID_PREFIX, RefundId, refunds } from "./Refund.ts"
import { refundData, refundEvents, reopenedEvents } from "./RefundEvents.ts"
import { RefundReading } from "./RefundReading.ts"

/** What went back of a payment, or may do so. */
export interface ReturnedOf {
  readonly refunds: ReadonlyArray<Refund>
  readonly disputes: ReadonlyArray<Dispute>
}

/** The same for the rules. */
const amountsOf = ({ disputes: disputed, refunds: given }: ReturnedOf): Returned => ({
  refunds: given.map((one) => ({ ...one, isCredited: one.creditNoteId !== null })),
  disputes: disputed,
})

/** The values with one that is new or has changed. */
export const withChanged = <A extends { readonly id: string }>(
  all: ReadonlyArray<A>,
  changed: A,
): ReadonlyArray<A> => [...all.filter(({ id }) => id !== changed.id), changed]

/** The most that can be refunded of a payment now. */
export const refundable = (payment: StoredPayment, returned: ReturnedOf): bigint =>
  refundableOf(payment, amountsOf(returned))

/** The most that a credit note can refund of a payment now. */
export const creditable = (payment: StoredPayment, returned: ReturnedOf): bigint =>
  creditableOf(payment, amountsOf(returned))

/** What a new refund is about. */
export interface NewRefund {
  readonly amount: bigint
  readonly reason: Refund["reason"]
  readonly creditNoteId: CreditNote["id"] | null
  /** How the provider names one that somebody has made there, and since when it is on its way. */
  readonly made?: Pick<Refund, "reference" | "sentAt">
}

/** What the provider has said of a refund, and how it names it. */
export type RefundNews = RefundInput & { readonly reference?: string | null }

/** Whether something may still come of a refund by itself. */
export const isOpenRefund = ({ status }: Pick<Refund, "status">): boolean =>
  status === "pending" || status === "unresolved"

/** Whether the provider may know a refund. It is then read, and never sent as another one. */
export const isSentRefund = ({ reference, sentAt }: Pick<Refund, "reference" | "sentAt">): boolean =>
  sentAt !== null || reference !== null

/** Gives the functions that write refunds in the current transaction, which holds the invoice. */
export const makeRefundBook = Effect.gen(function* () {
  const outbox = yield* Outbox
  const ids = yield* IdGenerator
  const collecting = yield* Collecting
  const reading = yield* RefundReading
  const bookOf = yield* invoiceBooks
  const collections = yield* Collections
  const store = collections.of(refunds)
  const disputeStore = collections.of(disputes)
  const notePort = yield* optionalPort(CreditNoteStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const paymentPort = yield* optionalPort(PaymentStore)

  const publish = (refund: Refund, type: keyof typeof refundEvents) =>
    outbox.publish(refundEvents[type], refundData(refund), { customerId: refund.customerId })

  /** What went back of a payment. It has `MAX_REFUNDS` refunds and disputes at most. */
  const returnedOf = Effect.fnUntraced(function* (paymentId: PaymentId) {
    const page = { limit: MAX_REFUNDS, cursor: undefined }
    const given = yield* Effect.orDie(store.list({ paymentId }, page))
    const disputed = yield* Effect.orDie(disputeStore.list({ paymentId }, page))
    const returned: ReturnedOf = { refunds: given.data, disputes: disputed.data }
    return returned
  })

  /**
   * What an invoice is not paid with any more is due again, now that money of a payment has gone back. `returned` says so
   * already. Gives what is reversed for the one that has just gone back. What is more than that is noted with the others.
   */
  const reverse = Effect.fnUntraced(function* (
    { amount, id, reversed: before }: Pick<Refund | Dispute, "id" | "amount" | "reversed">,
    payment: StoredPayment,
    invoice: StoredInvoice,
    returned: ReturnedOf,
  ): Effect.fn.Return<bigint, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant> {
    const notes = yield* (yield* notePort).ofInvoice(invoice.id)
    const creditedRefunds = notes.reduce((sum, { refund }) => sum + refund, 0n)
    const { amountPaid } = invoice.state
    const reversed = reversalOf(payment, amountsOf(returned), { amountPaid, creditedRefunds })
    if (reversed === 0n) return before
    const updatedAt = yield* DateTime.now
    const payments = yield* (yield* paymentPort).ofInvoice(invoice.id)
    const waiting = payments.find(
      ({ collection, status }) => status === "open" && collection !== null && mayTakeMoney(collection),
    )
    const state = reverseInvoice(invoice.state, reversed, waiting?.collection?.state)
    const changed: StoredInvoice = {
      ...invoice,
      state,
      ...timesOfReopened(invoice, state, updatedAt.epochMilliseconds),
      updatedAt,
    }
    yield* (yield* invoicePort).save(changed)
    yield* collecting.review(changed)
    if (invoice.state.status === "paid") {
      yield* outbox.publish(reopenedEvents["invoice.reopened"], dataOf(changed), {
        customerId: changed.customerId,
      })
    }
    const refunded = returned.refunds.filter(
      (one) => one.id !== id && one.status === "succeeded" && one.creditNoteId === null,
    )
    const lost = returned.disputes.filter((one) => one.id !== id && one.status === "lost")
    const [own = 0n, ...shares] = reversalsOf(reversed, [{ amount, reversed: before }, ...refunded, ...lost])
    const more = <A extends Refund | Dispute>(one: A, share: bigint) =>
      Effect.succeed({ ...one, reversed: one.reversed + share, sequence: one.sequence + 1, updatedAt })
    for (const [index, share] of shares.entries()) {
      if (share === 0n) continue
      const [refund, dispute] = [refunded[index], lost[index - refunded.length]]
      if (refund !== undefined) yield* store.modify(refund.id, (one) => more(one, share))
      if (dispute !== undefined) yield* disputeStore.modify(dispute.id, (one) => more(one, share))
    }
    return before + own
  })

  /**
   * Money that went back has come again: the invoice takes what is due of it. `returned` says so already. Gives what the
   * invoice did not take.
   */
  const restore = Effect.fnUntraced(function* (
    reversed: bigint,
    payment: StoredPayment,
    invoice: StoredInvoice,
    returned: ReturnedOf,
  ) {
    const amount = restorationOf(reversed, payment, amountsOf(returned), invoice.state)
    if (amount > 0n) {
      yield* bookOf(yield* invoicePort)
        .apply(invoice, { action: "pay", amount })
        .pipe(Effect.catchTag("ActionUnavailable", Effect.die))
    }
    return reversed - amount
  })

  /** The refund with what its new status does to the invoice. */
  const settled = Effect.fnUntraced(function* (refund: Refund, invoice: StoredInvoice) {
    const succeededAt = refund.status === "succeeded" ? yield* DateTime.now : refund.succeededAt
    const changed = { ...refund, succeededAt }
    if (refund.creditNoteId !== null || (refund.status !== "succeeded" && refund.reversed === 0n))
      return changed
    const payment = yield* Effect.orDie(
      Effect.flatMap((yield* paymentPort).find(refund.paymentId), Effect.fromOption),
    )
    const before = yield* returnedOf(refund.paymentId)
    const returned = { ...before, refunds: withChanged(before.refunds, refund) }
    const reversed =
      refund.status === "succeeded"
        ? yield* reverse(refund, payment, invoice, returned)
        : yield* restore(refund.reversed, payment, invoice, returned)
    return { ...changed, reversed }
  })

  /**
   * Applies what is said of a refund: the one way that it changes. News that change nothing give the refund as it is.
   */
  const apply = Effect.fnUntraced(function* (
    before: Refund,
    invoice: StoredInvoice,
    news: RefundNews,
  ): Effect.fn.Return<Refund, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant> {
    const step = stepRefund(before, news)
    const reference = before.reference ?? news.reference ?? null
    if (step === undefined && reference === before.reference) return before
    const updatedAt = yield* DateTime.now
    const named = { ...before, ...step, reference, updatedAt, sequence: before.sequence + 1 }
    const changed = step === undefined ? named : yield* settled(named, invoice)
    yield* store.modify(before.id, () => Effect.succeed(changed))
    if (step?.status === "succeeded") yield* publish(changed, "refund.succeeded")
    if (step?.status === "failed") yield* publish(changed, "refund.failed")
    return changed
  })

  /** A new refund of a payment. Of a payment that a person has recorded, a person has given the money back. */
  const create = Effect.fnUntraced(function* (
    payment: StoredPayment,
    invoice: StoredInvoice,
    { made, ...asked }: NewRefund,
  ): Effect.fn.Return<Refund, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant> {
    const now = yield* DateTime.now
    const { currency, customerId, id: paymentId, invoiceId, provider } = payment
    const refund: Refund = {
      ...Resource.unset(refunds),
      ...asked,
      ...made,
      id: RefundId.make(yield* ids.next(REFUND_ID_PREFIX)),
      paymentId,
      invoiceId,
      customerId,
      currency,
      provider,
      reversed: 0n,
      status: "pending",
      sequence: 1,
      createdAt: now,
      updatedAt: now,
    }
    yield* store.insert(refund)
    yield* publish(refund, "refund.created")
    return provider === MANUAL_PROVIDER
      ? yield* apply(refund, invoice, { type: "stated", status: "succeeded", code: null })
      : refund
  })

  /**
   * Applies what the provider states of a refund that it knows. One that somebody has made at the provider becomes a refund
   * here. Gives false for one that the payment has no money left for: what holds it is about to fail.
   */
  const receive = Effect.fnUntraced(function* (
    payment: StoredPayment,
    invoice: StoredInvoice,
    stated: ProviderRefund,
  ): Effect.fn.Return<boolean, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant> {
    const returned = yield* returnedOf(payment.id)
    const known =
      returned.refunds.find(({ id }) => id === stated.refundId) ??
      returned.refunds.find(({ reference }) => reference !== null && reference === stated.reference)
    if (known === undefined && stated.status === "failed") return true
    const { amount } = stated
    const held = returned.refunds.filter(({ status }) => status !== "failed")
    const left = held.reduce((rest, one) => rest - one.amount, payment.amount)
    if (known === undefined && (amount > left || returned.refunds.length >= MAX_REFUNDS)) return false
    // The queue is in real time, also for customers of test clocks.
    const now = yield* WallClock.now
    const made = { reference: stated.reference, sentAt: now }
    const asked: NewRefund = { amount, reason: "other", creditNoteId: null, made }
    const refund = known ?? (yield* create(payment, invoice, asked))
    const news = newsOf(refund, stated)
    const applied = news === undefined ? refund : yield* apply(refund, invoice, news)
    // Nobody has planned to read it. Without a name of the provider it could only be sent.
    if (known === undefined && isOpenRefund(applied) && applied.reference !== null) {
      yield* reading.plan(applied.id, nextRefundRead(now.epochMilliseconds, now.epochMilliseconds))
    }
    return true
  })

  return { apply, create, receive, restore, returnedOf, reverse, store }
})

/** What the provider states of a refund. `undefined`: what it states is not of this refund. */
export const newsOf = (
  { amount, currency }: Pick<Refund, "amount" | "currency">,
  stated: ProviderRefund,
): RefundNews | undefined => {
  const { code, reference, status } = stated
  const isSame = stated.amount === amount && stated.currency === currency
  return isSame ? { type: "stated", status, code, reference } : undefined
}

/** An invoice that is open again is not written off. It is late from now on if its due date is over. If not, its due date has to be noted. */
const timesOfReopened = (
  { dueAt, pastDueSince, state: { status }, writtenOffAt }: StoredInvoice,
  reopened: StoredInvoice["state"],
  now: number,
): Pick<StoredInvoice, "dueAt" | "pastDueSince" | "writtenOffAt"> => {
  const overdueAt = overdueAtOf(reopened)
  const isReopened = status === "paid" && reopened.status === "open"
  const rest = { writtenOffAt: isReopened ? null : writtenOffAt }
  if (!isReopened) return { dueAt, pastDueSince, ...rest }
  // How late it was before it was paid counts no more: a plan's days of grace begin again.
  if (overdueAt === null) return { dueAt, pastDueSince: null, ...rest }
  if (overdueAt > now) return { dueAt: overdueAt, pastDueSince: null, ...rest }
  return { dueAt, pastDueSince: now, ...rest }
}
