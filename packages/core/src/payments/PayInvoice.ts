/**
 * Takes the payment of an invoice now, because somebody asks for it. It calls the provider, so that it is not done within
 * a transaction.
 */
import { type CollectionState, payStepOf } from "@billwright/engine"
import { DateTime, Effect, Option, Schema } from "effect"
import { chargedAutomatically } from "../customers/ChargedAutomatically.ts"
import type { CustomerId } from "../customers/Customer.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import {
  type Invoice,
  InvoiceId,
  InvoiceNotFound,
  type StoredInvoice,
  toInvoice,
} from "../invoices/Invoice.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { afterStoring, StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { makeCollector, type Session } from "./Collector.ts"
import { makeMethodBook } from "./MethodBook.ts"
import type { CustomerAction } from "./MethodProvider.ts"
import { type AttemptInput, nextAttempt, openedOf, problemOfAmount } from "./OpenedPayment.ts"
import {
  CurrentPayProgress,
  MAX_PAYMENTS,
  type PaymentId,
  type PayProgress,
  type StoredPayment,
} from "./Payment.ts"
import { makePaymentBook, type PaymentPorts } from "./PaymentBook.ts"
import {
  PaymentMethodId,
  PaymentMethodNotFound,
  PaymentProviderUnavailable,
  ReturnUrl,
} from "./PaymentMethod.ts"
import { CurrentProvider, type PaymentProvider } from "./PaymentProvider.ts"
import { PaymentStore } from "./PaymentStore.ts"
import { paymentRead } from "./ProviderAnswers.ts"
import { within } from "./ProviderCalls.ts"

/** The input of `Payments.pay`. */
export const PayInvoice = Schema.Struct({
  /** The payment method of the customer to attempt it with. Default: the customer's default method. */
  paymentMethodId: Schema.optionalKey(PaymentMethodId),
})
export interface PayInvoice extends Schema.Schema.Type<typeof PayInvoice> {}

/** The input of `Payments.startPayment`. */
export const StartPayment = Schema.Struct({
  ...PayInvoice.fields,
  /** Where a page of the provider sends the customer after the confirmation. Default: the customer stays on the page. */
  returnUrl: Schema.optionalKey(Schema.NullOr(ReturnUrl)),
})
export interface StartPayment extends Schema.Schema.Type<typeof StartPayment> {}

/** An invoice whose payment was attempted while the customer is there. */
export interface StartedPayment extends CustomerAction {
  /** The invoice afterwards. Unless it is `awaiting_customer`, there is nothing to confirm. */
  readonly invoice: Invoice
}

/**
 * Steps of one call: a payment that is not wanted is closed, one whose outcome is unknown is read, then it is attempted. A
 * runner may have attempted it without the customer first, so that it is attempted again.
 */
const MAX_ROUNDS = 5
/** The states in which the customer, a bank or the provider may have done something since. */
const WAITING: ReadonlySet<CollectionState> = new Set(["awaiting_customer", "processing", "unresolved"])
/** The customer has nothing to confirm. */
const NOTHING: CustomerAction = { clientSecret: null, url: null }
/** Calls of the provider for one attempt: it is opened, and attempted, at most twice. */
const MAX_VISITS = 4

const decodePay = decoder(PayInvoice)
const decodeStart = decoder(StartPayment)
const { knownId, orNotFound } = ById.make(Schema.is(InvoiceId), (id) => new InvoiceNotFound({ id }))

type Failure = InvoicingUnsupported | StorageError
type Asked<A> = Effect.Effect<
  A,
  | ActionUnavailable
  | InvalidInput
  | InvoiceNotFound
  | PaymentMethodNotFound
  | PaymentProviderUnavailable
  | Failure,
  CurrentTenant
>

/** What to do next for an invoice whose payment is asked for. */
type Next =
  | { readonly type: "visit" | "close" | "read"; readonly payment: StoredPayment }
  | { readonly type: "refused"; readonly problem: string }

const unavailable = (id: string, problem: string) =>
  Effect.fail(new ActionUnavailable({ object: "invoice", id, problem: `pay is not possible: ${problem}` }))

/** After any other failure of a transaction, nothing of it is stored. */
const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof StorageError && error.isOutcomeUnknown === true

/**
 * Runs a step in a transaction, and notes whether it may have stored an attempt. That is noted before the commit, because an
 * interruption may come during it. A transaction that is repeated was undone before.
 */
const noting = <E, R>(
  progress: PayProgress,
  step: Effect.Effect<Next, E, R>,
  atomically: Transactor["Service"]["atomically"],
) => {
  const before = progress.mayBeStored
  const note = (mayBeStored: boolean) => Effect.sync(() => (progress.mayBeStored = mayBeStored))
  const noted = Effect.andThen(
    note(before),
    Effect.tap(step, ({ type }) => note(before || type === "visit")),
  )
  return Effect.tapError(atomically(noted), (error) => (isOutcomeUnknown(error) ? Effect.void : note(before)))
}

/** Gives the functions that take the payment of an invoice now: with the customer there, and without. */
export const makePayInvoice = Effect.gen(function* () {
  const current = yield* CurrentProvider
  const paymentPort = yield* optionalPort(PaymentStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const transactor = yield* Transactor
  const ids = yield* IdGenerator
  const collections = yield* Collections
  const time = new CustomerTime(collections)
  const isCharged = chargedAutomatically(collections)
  const book = yield* makePaymentBook
  const methods = yield* makeMethodBook
  const { applyTo, visit } = yield* makeCollector

  const portsOf = Effect.gen(function* () {
    const ports: PaymentPorts = { payments: yield* paymentPort, invoices: yield* invoicePort }
    return ports
  })

  /** The method that is named. It is the customer's, and still there. */
  const named = Effect.fnUntraced(function* (
    { name }: PaymentProvider,
    { customerId, id }: StoredInvoice,
    methodId: PaymentMethodId,
  ) {
    const found = Option.getOrUndefined(yield* methods.store.find(methodId))
    if (found?.customerId !== customerId) {
      return yield* new PaymentMethodNotFound({ id: methodId, field: "paymentMethodId" })
    }
    if (found.provider !== name) {
      return yield* unavailable(id, `${methodId} is saved by the payment provider ${found.provider}`)
    }
    return found.status === "attached"
      ? found.id
      : yield* unavailable(id, `the payment method ${methodId} is ${found.status}`)
  })

  /** The id of the method to attempt it with. `null` if the provider knows by itself. */
  const methodOf = Effect.fnUntraced(function* (
    provider: PaymentProvider,
    invoice: StoredInvoice,
    { paymentMethodId }: PayInvoice,
  ) {
    if (paymentMethodId !== undefined) return yield* named(provider, invoice, paymentMethodId)
    if (provider.methods === undefined) return null
    const found = yield* methods.defaultOf(invoice.customerId, provider.name)
    const problem = "the customer has no default payment method: name one"
    return found?.id ?? (yield* unavailable(invoice.id, problem))
  })

  /**
   * The attempt that is asked for. One for an invoice that was written off, or of a customer who pays by itself, is not
   * followed by others.
   */
  const attemptOf = Effect.fnUntraced(function* (
    provider: PaymentProvider,
    invoice: StoredInvoice,
    asked: PayInvoice,
  ) {
    const input = yield* nextAttempt(ids, yield* methodOf(provider, invoice, asked))
    const isOnce = invoice.state.status === "uncollectible" || !(yield* isCharged(invoice.customerId))
    return isOnce ? ({ ...input, once: true } satisfies AttemptInput) : input
  })

  /** A new payment, which is ready to be attempted. There is no open one. */
  const open = Effect.fnUntraced(function* (
    ports: PaymentPorts,
    provider: PaymentProvider,
    invoice: StoredInvoice,
    asked: AttemptInput,
  ) {
    const earlier = yield* ports.payments.ofInvoice(invoice.id)
    if (earlier.length >= MAX_PAYMENTS) {
      return yield* unavailable(invoice.id, `it has ${MAX_PAYMENTS} payments, which is the limit`)
    }
    const before = earlier.findLast(({ collection }) => collection !== null)
    const opened = yield* openedOf(ids, provider.name, provider, invoice, before, asked)
    yield* book.open(ports, opened, invoice)
    return opened
  })

  /** Decides what to do next, and stores the attempt that is asked for. */
  const next = Effect.fnUntraced(function* (
    provider: PaymentProvider,
    id: InvoiceId,
    asked: PayInvoice,
    isRead: boolean,
  ): Effect.fn.Return<
    Next,
    ActionUnavailable | InvalidInput | InvoiceNotFound | PaymentMethodNotFound | Failure,
    CurrentTenant
  > {
    const ports = yield* portsOf
    const invoice = yield* orNotFound(yield* ports.invoices.lock(id), id)
    if (!invoice.state.availableActions.includes("pay")) {
      return { type: "refused", problem: `the invoice is ${invoice.state.status}` }
    }
    const problem = yield* problemOfAmount(provider, invoice)
    if (problem !== undefined) return { type: "refused", problem }
    const { data } = yield* ports.payments
      .list({ invoiceId: id, status: "open" }, { limit: 1, cursor: undefined })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))
    const [payment] = data
    if (payment === undefined || payment.collection === null) {
      const input = yield* attemptOf(provider, invoice, asked)
      return { type: "visit", payment: yield* open(ports, provider, invoice, input) }
    }
    if (payment.provider !== provider.name) {
      return { type: "refused", problem: `its payment is at the provider ${payment.provider}` }
    }
    const step = payStepOf(payment.collection, isRead)
    if (step.type === "refused") return step
    if (step.type === "read") return { type: "read", payment }
    if (payment.amount !== invoice.state.amountDue)
      return { type: "close", payment: yield* dueNow(ports, payment) }
    const input = yield* attemptOf(provider, invoice, asked)
    return { type: "visit", payment: yield* book.apply(ports, payment, invoice, input) }
  })

  /** It is not wanted as it is. What is left of a schedule is not waited for. */
  const dueNow = Effect.fnUntraced(function* ({ payments }: PaymentPorts, payment: StoredPayment) {
    const { epochMilliseconds: dueAt } = yield* DateTime.now
    const due = { ...payment, dueAt }
    yield* payments.save(due)
    return due
  })

  /** Does what is due on a payment, unless a runner does it. Gives how the customer confirms it. */
  const visitAll = Effect.fnUntraced(function* (
    id: PaymentId,
    customerId: CustomerId,
    session: Session | undefined,
  ) {
    let action: CustomerAction | null = null
    const isDue = Effect.gen(function* () {
      const payments = yield* Effect.orDie(paymentPort)
      const found = Option.getOrUndefined(yield* payments.find(id))
      const { epochMilliseconds: now } = yield* DateTime.now
      return found?.status === "open" && found.dueAt !== null && found.dueAt <= now
    })
    for (let visits = 0; visits < MAX_VISITS && (yield* time.within(customerId, isDue)); visits++) {
      action = yield* visit(
        id,
        isDue,
        (planned) => transactor.atomically(time.within(customerId, planned)),
        session,
      )
    }
    return action
  })

  /** Reads what came of the last attempt. The provider is called in real time, also under a test clock. */
  const read = (provider: PaymentProvider, payment: StoredPayment) =>
    Effect.gen(function* () {
      const { reference } = payment
      if (reference === null) return
      const stated = yield* Effect.mapError(
        within(() => Effect.flatMap(provider.readPayment(reference), paymentRead)),
        ({ reason }) => new PaymentProviderUnavailable({ provider: provider.name, reason }),
      )
      yield* applyTo(payment, { type: "read", read: stated })
    })

  /** Attempts the payment of an invoice, and gives the invoice afterwards. */
  const attempt = Effect.fnUntraced(function* (
    id: InvoiceId,
    asked: PayInvoice,
    session: Session | undefined,
  ): Effect.fn.Return<StartedPayment, Effect.Error<Asked<unknown>>, CurrentTenant> {
    const invoices = yield* invoicePort
    const found = yield* orNotFound(yield* invoices.find(id), id)
    if (found.state.status === "paid") return { invoice: toInvoice(found), ...NOTHING }
    if (current === null) {
      return yield* unavailable(id, "there is no payment provider: record what came")
    }
    if (yield* transactor.inTransaction) {
      return yield* unavailable(id, "the payment provider can't be called within a transaction")
    }
    const progress = (yield* CurrentPayProgress) ?? { mayBeStored: false }
    return yield* Effect.mapError(rounds(current, found, asked, session, progress), (error) =>
      error._tag === "StorageError" && progress.mayBeStored ? afterStoring(error) : error,
    )
  })

  /** The rounds of one call. When the storage fails in it, an attempt may have been made. */
  const rounds = Effect.fnUntraced(function* (
    provider: PaymentProvider,
    { customerId, id }: StoredInvoice,
    asked: PayInvoice,
    session: Session | undefined,
    progress: PayProgress,
  ): Effect.fn.Return<StartedPayment, Effect.Error<Asked<unknown>>, CurrentTenant> {
    const invoices = yield* invoicePort
    let isRead = false
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const work = next(provider, id, asked, isRead)
      const decided = yield* noting(progress, time.within(customerId, work), transactor.atomically)
      isRead ||= decided.type === "read"
      // Later, it says what the round before came to.
      if (decided.type === "refused" && round === 0) return yield* unavailable(id, decided.problem)
      if (decided.type === "read") yield* read(provider, decided.payment)
      const action =
        decided.type === "close" || decided.type === "visit"
          ? yield* visitAll(decided.payment.id, customerId, session)
          : null
      if (decided.type === "read" || decided.type === "close") continue
      const invoice = toInvoice(yield* orNotFound(yield* invoices.find(id), id))
      // A runner was faster, and has attempted it without the customer.
      const isOvertaken = session !== undefined && action === null && decided.type === "visit"
      if (isOvertaken && invoice.collection === "awaiting_customer" && round < MAX_ROUNDS - 1) isRead = true
      else return { invoice, ...(action ?? NOTHING) }
    }
    return yield* new PaymentProviderUnavailable({ provider: provider.name, reason: "transient" })
  })

  const pay = (invoiceId: string, input: PayInvoice = {}): Asked<Invoice> =>
    Effect.gen(function* () {
      const asked = yield* decodePay(input)
      return (yield* attempt(yield* knownId(invoiceId), asked, undefined)).invoice
    })

  const startPayment = (invoiceId: string, input: StartPayment = {}): Asked<StartedPayment> =>
    Effect.gen(function* () {
      const { returnUrl = null, ...asked } = yield* decodeStart(input)
      return yield* attempt(yield* knownId(invoiceId), asked, { returnUrl })
    })

  /** Reads at the provider how the open payment of an invoice stands, if an attempt waits there for somebody. */
  const refresh = (invoiceId: string): Asked<Invoice> =>
    Effect.gen(function* () {
      const id = yield* knownId(invoiceId)
      const invoices = yield* invoicePort
      const { state } = yield* orNotFound(yield* invoices.find(id), id)
      if (current !== null && WAITING.has(state.collection)) {
        const { data } = yield* (yield* paymentPort)
          .list({ invoiceId: id, status: "open" }, { limit: 1, cursor: undefined })
          .pipe(Effect.catchTag("CursorNotFound", Effect.die))
        const [payment] = data
        if (payment?.provider === current.name) yield* read(current, payment)
      }
      return toInvoice(yield* orNotFound(yield* invoices.find(id), id))
    })

  return { pay, startPayment, refresh }
})
