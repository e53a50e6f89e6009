/**
 * Writes the payments that a provider takes, and what follows from them for their invoices. Each change publishes its
 * events.
 */
import {
  collect,
  type Collected,
  type Collection,
  type CollectionEvent,
  type CollectionInput,
  IDLE,
  isRequested,
  isUnderWay,
  mayTakeMoney,
  notClosed,
  successOf,
  withActions,
} from "@billwright/engine"
import { DateTime, Effect } from "effect"
import { type CustomerId, customers } from "../customers/Customer.ts"
import { Outbox } from "../events/Outbox.ts"
import { Crediting } from "../invoices/Crediting.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import { invoiceBooks } from "../invoices/InvoiceBook.ts"
import { dataOf } from "../invoices/InvoiceEvents.ts"
import { InvoiceSettings } from "../invoices/InvoiceSettings.ts"
import type { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { Collections } from "../shared/Collections.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { declinesElsewhere } from "./Declines.ts"
import type { StoredPayment } from "./Payment.ts"
import { attentionData, collectionEvents, failedData, paymentData, paymentEvents } from "./PaymentEvents.ts"
import type { PaymentStore } from "./PaymentStore.ts"

type Written<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/** The ports that payments are written to. */
export interface PaymentPorts {
  readonly payments: PaymentStore["Service"]
  readonly invoices: InvoiceStore["Service"]
}

/** Whether the invoice takes money. */
const isPayable = ({ state: { amountDue, status } }: StoredInvoice): boolean =>
  amountDue > 0n && (status === "open" || status === "uncollectible")

/**
 * Whether the money of an open payment is still wanted: all that is due, and of an invoice that is not written off, unless
 * somebody has asked for it since.
 */
export const isWanted = ({ amount, collection }: StoredPayment, { state }: StoredInvoice): boolean => {
  const isAsked = state.status === "uncollectible" && collection !== null && isRequested(collection)
  return (state.status === "open" || isAsked) && state.amountDue === amount
}

/**
 * Whether an open payment is to be closed at the provider: its money is not wanted any more. While an attempt may still
 * take it, that is read first.
 */
export const isToClose = (payment: StoredPayment, invoice: StoredInvoice): boolean =>
  payment.status === "open" &&
  payment.collection !== null &&
  !isUnderWay(payment.collection) &&
  !isWanted(payment, invoice)

/** Whether the provider says that a payment is closed. */
const isClosedRead = (input: CollectionInput): boolean =>
  input.type === "read" && input.read.status === "closed"

/** Whether the payment of an open invoice is not attempted any more by itself. */
const isEnded = (events: ReadonlyArray<CollectionEvent>, { state }: StoredInvoice): boolean =>
  state.status === "open" && events.includes("invoice.collection_exhausted")

/** Gives the functions that write payments in the current transaction, which holds the invoice. */
export const makePaymentBook = Effect.gen(function* () {
  const outbox = yield* Outbox
  const bookOf = yield* invoiceBooks
  const owners = (yield* Collections).of(customers)
  const settings = yield* InvoiceSettings
  const crediting = yield* Crediting

  const timezoneOf = (id: CustomerId) =>
    Effect.map(owners.find(id), (found) =>
      found._tag === "Some" ? (found.value.timezone ?? settings.timezone) : settings.timezone,
    )

  /** Says on the invoice how its payment fares, and whether it is late now. */
  const noteCollection = Effect.fnUntraced(function* (
    { invoices }: Pick<PaymentPorts, "invoices">,
    invoice: StoredInvoice,
    { attempt, state: collection }: Pick<Collection, "attempt" | "state">,
    isLate = false,
  ) {
    const updatedAt = yield* DateTime.now
    const pastDueSince = invoice.pastDueSince ?? (isLate ? updatedAt.epochMilliseconds : null)
    if (invoice.state.collection === collection && invoice.pastDueSince === pastDueSince) return invoice
    const sequence = invoice.state.sequence + 1
    const state = withActions({ ...invoice.state, collection, sequence }, !mayTakeMoney({ attempt }))
    const changed: StoredInvoice = { ...invoice, state, pastDueSince, updatedAt }
    yield* invoices.save(changed)
    return changed
  })

  const publishPayment = (payment: StoredPayment, type: keyof typeof paymentEvents) =>
    outbox.publish(paymentEvents[type], paymentData(payment), { customerId: payment.customerId })

  const publishEvent = (
    payment: StoredPayment,
    invoice: StoredInvoice,
    event: CollectionEvent,
    input: CollectionInput,
  ): Written<unknown> => {
    const { customerId } = payment
    switch (event) {
      case "payment.failed":
        return outbox.publish(
          collectionEvents[event],
          failedData(payment, input, isWanted(payment, invoice)),
          {
            customerId,
          },
        )
      case "payment.needs_attention":
        return outbox.publish(collectionEvents[event], attentionData(payment), { customerId })
      case "invoice.collection_exhausted":
        return outbox.publish(collectionEvents[event], dataOf(invoice), { customerId })
      default:
        return publishPayment(payment, event)
    }
  }

  /** Books the money of a payment: the invoice takes what is due, and the customer has the rest as credit. */
  const book = Effect.fnUntraced(function* (
    ports: PaymentPorts,
    payment: StoredPayment,
    invoice: StoredInvoice,
    paidAt: number,
  ): Effect.fn.Return<StoredPayment, InvalidInput | StorageError, CurrentTenant> {
    const due = isPayable(invoice) ? invoice.state.amountDue : 0n
    const paid: StoredPayment = { ...payment, ...successOf(payment, { amountDue: due }, paidAt) }
    yield* ports.payments.save(paid)
    yield* publishPayment(paid, "payment.succeeded")
    if (paid.applied > 0n) {
      const amount = paid.amount
      yield* bookOf(ports.invoices)
        .apply(invoice, { action: "pay", amount })
        .pipe(Effect.catchTag("ActionUnavailable", Effect.die))
    }
    if (paid.overpaid > 0n) yield* publishPayment(paid, "payment.overpaid")
    return paid
  })

  /** Stores a new payment of an invoice, and says so on the invoice, which it gives. */
  const open = Effect.fnUntraced(function* (
    ports: PaymentPorts,
    payment: StoredPayment,
    invoice: StoredInvoice,
  ) {
    yield* ports.payments.insert(payment)
    const noted = yield* noteCollection(ports, invoice, payment.collection ?? IDLE)
    if (payment.collection?.state === "needs_attention") {
      yield* outbox.publish(collectionEvents["payment.needs_attention"], attentionData(payment), {
        customerId: payment.customerId,
      })
    }
    return noted
  })

  const write = Effect.fnUntraced(function* (
    ports: PaymentPorts,
    payment: StoredPayment,
    invoice: StoredInvoice,
    { collection, events, isPaid }: Collected,
    input: CollectionInput,
  ): Effect.fn.Return<StoredPayment, InvalidInput | StorageError, CurrentTenant> {
    const updatedAt = yield* DateTime.now
    const isOver = settings.whenExhausted !== "leave" && isEnded(events, invoice)
    const changed: StoredPayment = {
      ...payment,
      collection: isOver ? { ...collection, isEnding: true } : collection,
      dueAt: collection.nextAt,
      failure: null,
      updatedAt,
    }
    if (isPaid) return yield* book(ports, changed, invoice, updatedAt.epochMilliseconds)
    const isClosed = isClosedRead(input)
    const status = isClosed ? "closed" : changed.status
    const isLeft = isToClose({ ...changed, status }, invoice)
    const dueAt = isClosed ? null : isLeft || isOver ? updatedAt.epochMilliseconds : changed.dueAt
    const saved: StoredPayment = { ...changed, status, dueAt, sequence: payment.sequence + 1 }
    yield* ports.payments.save(saved)
    const state = isPayable(invoice) ? collection.state : invoice.state.collection
    // What somebody asked for alone says nothing about the time in which it has to be paid.
    const isLate =
      events.includes("payment.failed") &&
      invoice.state.status === "open" &&
      collection.attempt?.once !== true
    const noted = yield* noteCollection(ports, invoice, { ...collection, state }, isLate)
    const isSilent = (event: CollectionEvent) =>
      event === "invoice.collection_exhausted" && !isPayable(invoice)
    for (const event of events) if (!isSilent(event)) yield* publishEvent(saved, noted, event, input)
    if (events.includes("payment.failed")) yield* crediting.noteDeclined(noted)
    return saved
  })

  /**
   * Applies an input to the collection of a payment: the one way that a payment of a provider changes, whoever has called
   * or read the provider. An input that changes nothing gives the payment as it is.
   */
  const apply = Effect.fnUntraced(function* (
    ports: PaymentPorts,
    payment: StoredPayment,
    invoice: StoredInvoice,
    input: CollectionInput,
  ) {
    if (payment.collection === null || payment.status === "succeeded") return payment
    const { epochMilliseconds: now } = yield* DateTime.now
    if (isClosedRead(input) && isToClose(payment, invoice)) {
      // It is the close that we ask for, and its answer has not come yet. Asking again gives that, and what is due then gets
      // a payment of its own.
      const due: StoredPayment = { ...payment, dueAt: now }
      yield* ports.payments.save(due)
      return due
    }
    const timezone = yield* timezoneOf(payment.customerId)
    const isDecline = input.type === "read" && input.read.status === "declined"
    const known = isDecline
      ? { ...input, elsewhere: yield* declinesElsewhere(ports.payments, payment) }
      : input
    const collected = collect(payment.collection, known, now, timezone)
    if (collected.type === "unchanged") return payment
    return yield* write(ports, payment, invoice, collected, input)
  })

  /** Takes note that the provider did not close a payment that is not wanted any more. It is tried again, to a limit. */
  const noteNotClosed = Effect.fnUntraced(function* (
    ports: PaymentPorts,
    payment: StoredPayment,
    invoice: StoredInvoice,
    detail: string,
  ) {
    if (payment.collection === null) return
    const updatedAt = yield* DateTime.now
    const collection = notClosed(payment.collection, updatedAt.epochMilliseconds, detail)
    const sequence = payment.sequence + 1
    const noted: StoredPayment = { ...payment, collection, dueAt: collection.nextAt, sequence, updatedAt }
    yield* ports.payments.save(noted)
    if (isPayable(invoice)) yield* noteCollection(ports, invoice, collection)
    if (collection.state !== payment.collection.state) {
      yield* publishEvent(noted, invoice, "payment.needs_attention", { type: "stop" })
    }
  })

  /** The payment is not waited for any more. It takes no money at the provider. */
  const end = Effect.fnUntraced(function* (
    ports: PaymentPorts,
    payment: StoredPayment,
    invoice: StoredInvoice,
  ) {
    const stopped = yield* apply(ports, payment, invoice, { type: "stop", isClosed: true })
    const ended: StoredPayment = {
      ...stopped,
      status: "closed",
      dueAt: null,
      sequence: stopped.sequence + 1,
    }
    yield* ports.payments.save(ended)
    return ended
  })

  return { apply, end, noteNotClosed, open }
})
