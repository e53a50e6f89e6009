/**
 * What follows from a new default method: invoices of the customer that wait are attempted with it at once.
 */
import { Effect, Option } from "effect"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { PageQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { openDisputesIn } from "./OpenDisputes.ts"
import { nextAttempt } from "./OpenedPayment.ts"
import type { PaymentId } from "./Payment.ts"
import { makePaymentBook, type PaymentPorts } from "./PaymentBook.ts"
import type { PaymentMethod } from "./PaymentMethod.ts"
import { PaymentStore } from "./PaymentStore.ts"

type Worked<A> = Effect.Effect<A, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>

/** Payments that are looked at together. */
const PAGE = 100
/** The states in which another method may help. */
const WAITING = new Set(["awaiting_method", "retrying", "exhausted"])

/** Gives what attempts the waiting payments of a method's customer with it. Each has a transaction of its own. */
export const makeNewMethod = Effect.gen(function* () {
  const paymentPort = yield* optionalPort(PaymentStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const book = yield* makePaymentBook
  const ids = yield* IdGenerator
  const collections = yield* Collections
  const time = new CustomerTime(collections)
  const isDisputed = openDisputesIn(collections)
  const { atomically } = yield* Transactor

  const attempt = (id: PaymentId, method: PaymentMethod): Worked<void> =>
    atomically(
      Effect.gen(function* () {
        const ports: PaymentPorts = { payments: yield* paymentPort, invoices: yield* invoicePort }
        const known = Option.getOrUndefined(yield* ports.payments.find(id))
        if (known === undefined) return
        const invoice = Option.getOrUndefined(yield* ports.invoices.lock(known.invoiceId))
        const payment = Option.getOrUndefined(yield* ports.payments.find(id))
        if (
          invoice === undefined ||
          payment === undefined ||
          payment.collection === null ||
          // One of another amount than what is due is closed, and the one in its place goes on with the method.
          invoice.state.status !== "open"
        )
          return
        const { attempt: last, state } = payment.collection
        // What somebody asked for alone is not followed by other attempts.
        if (!WAITING.has(state) || last?.method === method.id || last?.once === true) return
        if (yield* isDisputed(invoice)) return
        const input = yield* nextAttempt(ids, method.id)
        yield* time.within(payment.customerId, book.apply(ports, payment, invoice, input))
      }),
    )

  return (method: PaymentMethod): Worked<void> =>
    Effect.gen(function* () {
      const payments = yield* paymentPort
      const { customerId, isDefault, provider } = method
      if (!isDefault) return
      let cursor: PageQuery["cursor"]
      for (;;) {
        const page = yield* payments
          .list({ customerId, status: "open" }, { limit: PAGE, cursor })
          .pipe(Effect.catchTag("CursorNotFound", Effect.die))
        for (const payment of page.data) {
          if (payment.provider === provider) yield* attempt(payment.id, method)
        }
        const last = page.data.at(-1)
        if (!page.hasMore || last === undefined) return
        cursor = { direction: "older", id: last.id }
      }
    })
})
