/**
 * Cancels an open payment, because somebody asks for it. It calls the provider, so that it is not done within a transaction.
 */
import { Effect, Option, Schema } from "effect"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { type Payment, PaymentId, PaymentNotFound, type StoredPayment, toPayment } from "./Payment.ts"
import { makePaymentBook, type PaymentPorts } from "./PaymentBook.ts"
import { PaymentProviderUnavailable } from "./PaymentMethod.ts"
import { CurrentProvider } from "./PaymentProvider.ts"
import { PaymentStore } from "./PaymentStore.ts"
import { closedPayment } from "./ProviderAnswers.ts"
import { within } from "./ProviderCalls.ts"

const { knownId, orNotFound } = ById.make(Schema.is(PaymentId), (id) => new PaymentNotFound({ id }))

const unavailable = (id: string, problem: string) =>
  Effect.fail(new ActionUnavailable({ object: "payment", id, problem: `cancel is not possible: ${problem}` }))

/** Most times that a payment is closed, because it was opened at the provider in the meantime. */
const MAX_CLOSES = 3

/** Gives the function that cancels a payment. */
export const makeCancelPayment = Effect.gen(function* () {
  const current = yield* CurrentProvider
  const paymentPort = yield* optionalPort(PaymentStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const transactor = yield* Transactor
  const time = new CustomerTime(yield* Collections)
  const book = yield* makePaymentBook

  /** Has the provider close the payment. Gives whether it has taken the money before. */
  const closeAt = Effect.fnUntraced(function* ({ id, provider, reference }: StoredPayment) {
    if (current?.name !== provider) {
      return yield* unavailable(id, `the payment provider ${provider} is not there`)
    }
    // It is opened with this reference only while the payment is open here.
    if (reference === null) return false
    const closed = yield* Effect.mapError(
      within(() => Effect.flatMap(current.closePayment(reference), closedPayment)),
      ({ reason }) => new PaymentProviderUnavailable({ provider, reason }),
    )
    return closed === "already_succeeded"
  })

  /**
   * Whether the provider's notice of a close came before its answer, and nobody has asked for another payment since. The invoice
   * follows that one then.
   */
  const isNoticed = Effect.fnUntraced(function* (
    { payments }: PaymentPorts,
    { collection, invoiceId, status }: StoredPayment,
  ) {
    if (status !== "closed" || collection?.attention?.code !== "closed_at_provider") return false
    const { data } = yield* payments
      .list({ invoiceId, status: "open" }, { limit: 1, cursor: undefined })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))
    return data.length === 0
  })

  /** Books what came of closing it. One that was opened at the provider meanwhile is still open there, and stays as it is. */
  const note = Effect.fnUntraced(function* (
    { id, invoiceId, reference }: StoredPayment,
    hasSucceeded: boolean,
  ) {
    const ports: PaymentPorts = { payments: yield* paymentPort, invoices: yield* invoicePort }
    const invoice = Option.getOrUndefined(yield* ports.invoices.lock(invoiceId))
    const held = yield* orNotFound(yield* ports.payments.find(id), id)
    if (invoice === undefined || held.reference !== reference) return held
    if (held.status !== "open" && !(yield* isNoticed(ports, held))) return held
    if (hasSucceeded) {
      return yield* book.apply(ports, held, invoice, { type: "read", read: { status: "succeeded" } })
    }
    return yield* book.end(ports, held, invoice)
  })

  return (
    paymentId: string,
  ): Effect.Effect<
    Payment,
    | ActionUnavailable
    | InvalidInput
    | PaymentNotFound
    | PaymentProviderUnavailable
    | InvoicingUnsupported
    | StorageError,
    CurrentTenant
  > =>
    Effect.gen(function* () {
      const id = yield* knownId(paymentId)
      const payments = yield* paymentPort
      const payment = yield* orNotFound(yield* payments.find(id), id)
      if (payment.status === "closed") return toPayment(payment)
      if (payment.status === "succeeded") return yield* unavailable(id, "the payment has succeeded")
      if (yield* transactor.inTransaction) {
        return yield* unavailable(id, "the payment provider can't be called within a transaction")
      }
      let known = payment
      for (let closes = 0; closes < MAX_CLOSES; closes++) {
        const hasSucceeded = yield* closeAt(known)
        const noted = time.within(payment.customerId, note(known, hasSucceeded))
        known = yield* transactor.atomically(noted)
        if (known.status !== "open") return toPayment(known)
      }
      return yield* unavailable(id, "it is being opened at the payment provider: try again")
    })
})
