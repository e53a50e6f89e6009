/**
 * Collects the payments of invoices with a provider: opens them, attempts them, reads those whose outcome is not known,
 * and closes those that are not wanted any more.
 *
 * Each visit makes one call of the provider, between two transactions. What is about to be sent is stored before the call.
 * So a process may die anywhere: the attempt is read, and nothing is charged twice.
 */
import { type CollectionInput, stepOf } from "@billwright/engine"
import { DateTime, Effect, Layer, Option } from "effect"
import { chargedAutomatically } from "../customers/ChargedAutomatically.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { Collecting, NOBODY } from "../invoices/Collecting.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import * as Text from "../shared/Text.ts"
import { Transactor } from "../shared/Transactor.ts"
import { declinesElsewhere } from "./Declines.ts"
import { makeMethodBook } from "./MethodBook.ts"
import type { CustomerAction } from "./MethodProvider.ts"
import { openDisputesIn } from "./OpenDisputes.ts"
import { nextAttempt, openedOf } from "./OpenedPayment.ts"
import { CurrentPayProgress, type PaymentId, type StoredPayment } from "./Payment.ts"
import { isToClose, makePaymentBook, type PaymentPorts } from "./PaymentBook.ts"
import {
  type AttemptAnswer,
  type AttemptPayment,
  CurrentProvider,
  type PaymentProvider,
  type PaymentRead,
} from "./PaymentProvider.ts"
import { PaymentStore } from "./PaymentStore.ts"
import { attemptAnswer, closedPayment, openedPayment, paymentRead } from "./ProviderAnswers.ts"
import { within } from "./ProviderCalls.ts"
import type { ProviderFailure } from "./ProviderFailure.ts"

/** Longest message of a provider that is kept, in code points. The rest is cut. */
const MAX_MESSAGE_LENGTH = 500

/** The next call of the provider. */
type Call =
  | { readonly type: "open"; readonly payment: StoredPayment; readonly customer: string | null }
  | { readonly type: "attempt"; readonly payment: StoredPayment; readonly attempt: AttemptPayment }
  | { readonly type: "read" | "close"; readonly payment: StoredPayment; readonly reference: string }

/** Whether an attempt is stored before the call: one that is sent, or that follows when the payment is opened. */
const storesAttempt = (call: Call | undefined): boolean => call?.type === "attempt" || call?.type === "open"

/** The customer is there to confirm the payment. */
export interface Session {
  /** Where a page of the provider sends the customer after the confirmation. `null`: the customer stays on the page. */
  readonly returnUrl: string | null
}

/** Whether the caller may work on the payment. It is asked once the payment is held. */
type Holds = Effect.Effect<boolean, StorageError, CurrentTenant>

type Worked<A> = Effect.Effect<A, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>

/** Gives the work on payments that are due. */
export const makeCollector = Effect.gen(function* () {
  const provider = yield* CurrentProvider
  const paymentPort = yield* optionalPort(PaymentStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const transactor = yield* Transactor
  const ids = yield* IdGenerator
  const collections = yield* Collections
  const isDisputed = openDisputesIn(collections)
  const time = new CustomerTime(collections)
  const book = yield* makePaymentBook
  const methods = yield* makeMethodBook

  /**
   * The method with which a payment is attempted next: that of its ready attempt, if it is still there, else the default
   * of the customer. `null` if the provider knows by itself. `undefined` if there is none.
   */
  const methodOf = Effect.fnUntraced(function* ({ collection, customerId, provider: name }: StoredPayment) {
    if (provider?.methods === undefined) return null
    const attempt = collection?.attempt
    if (attempt?.status === "ready" && attempt.method !== null) {
      const chosen = yield* methods.attached(attempt.method, customerId, name)
      if (chosen !== undefined) return chosen
    }
    return yield* methods.defaultOf(customerId, name)
  })
  const portsOf = Effect.gen(function* () {
    const ports: PaymentPorts = { payments: yield* paymentPort, invoices: yield* invoicePort }
    return ports
  })

  /** Whether money of an invoice went back without a credit note. What is due of it is then not collected by itself. */
  const isReopened = Effect.fnUntraced(function* ({ payments }: PaymentPorts, { id, state }: StoredInvoice) {
    const paid = yield* payments.ofInvoice(id)
    return paid.reduce((sum, { applied }) => sum + applied, 0n) > state.amountPaid
  })

  /**
   * A payment that is not wanted as it is, and takes no money at the provider any more, becomes closed. What is due now gets
   * a new one, which waits as it did. Does nothing if another runner has done that.
   */
  const replace = Effect.fnUntraced(function* (
    ports: PaymentPorts,
    payment: StoredPayment,
    invoice: StoredInvoice,
  ) {
    if (payment.status !== "open") return
    yield* book.end(ports, payment, invoice)
    const isAskedAlone = payment.collection?.attempt?.once === true
    if (isAskedAlone || invoice.state.status !== "open" || (yield* isReopened(ports, invoice))) return
    const opened = yield* openedOf(ids, payment.provider, provider, invoice, payment)
    const [current] = Option.toArray(yield* ports.invoices.find(invoice.id))
    if (current !== undefined) yield* book.open(ports, opened, current)
  })

  /** The provider of a payment. It has to be the one that the host has now. */
  const requireProvider = ({ provider: name }: StoredPayment): Effect.Effect<PaymentProvider> =>
    provider?.name === name
      ? Effect.succeed(provider)
      : Effect.die(new TypeError(`the payment provider ${name} is not there`))

  /** Decides what to do next with a payment that is due, and stores what is about to be sent. */
  const plan = Effect.fnUntraced(function* (id: PaymentId, holds: Holds, session: Session | undefined) {
    const ports = yield* portsOf
    const found = yield* ports.payments.find(id)
    if (Option.isNone(found)) return undefined
    const invoice = yield* ports.invoices.lock(found.value.invoiceId)
    if (Option.isNone(invoice) || !(yield* holds)) return undefined
    const held = yield* ports.payments.find(id)
    return Option.isNone(held) ? undefined : yield* callOf(ports, held.value, invoice.value, session)
  })

  const callOf = Effect.fnUntraced(function* (
    ports: PaymentPorts,
    payment: StoredPayment,
    invoice: StoredInvoice,
    session: Session | undefined,
  ): Effect.fn.Return<Call | undefined, InvalidInput | StorageError, CurrentTenant> {
    const { collection, reference } = payment
    if (isToClose(payment, invoice)) {
      if (reference !== null) return { type: "close", payment, reference }
      yield* replace(ports, payment, invoice)
      return undefined
    }
    // What follows is done by `PaymentRun`, which holds the subscriptions, too.
    const isEnding = collection?.state === "exhausted" && collection.isEnding === true
    if (isEnding && payment.status === "open") return undefined
    const step = collection === null || payment.status !== "open" ? null : stepOf(collection)
    if (collection === null || step === null) {
      yield* ports.payments.save({ ...payment, dueAt: null })
      return undefined
    }
    // Nothing is stored as sent that nobody can send.
    yield* requireProvider(payment)
    if (step === "read" && reference !== null) {
      const isLapsed = collection.attempt?.status === "sent"
      if (isLapsed) yield* book.apply(ports, payment, invoice, { type: "failed", reason: "unknown" })
      return { type: "read", payment, reference }
    }
    // One that is sent again by itself is like a new one. One that somebody asks for is sent.
    const isByItself = step === "attempt" || (collection.attempt?.sentAt ?? null) !== null
    if (isByItself && (yield* isDisputed(invoice))) {
      yield* book.apply(ports, payment, invoice, { type: "stop" })
      return undefined
    }
    const chosen = yield* methodOf(payment)
    if (chosen === undefined) {
      yield* book.apply(ports, payment, invoice, { type: "no_method" })
      return undefined
    }
    const last = collection.attempt?.method ?? null
    const next = chosen === null ? last : chosen.id
    const ready =
      step === "send" && last === next
        ? payment
        : yield* book.apply(ports, payment, invoice, yield* nextAttempt(ids, next))
    // It has a new attempt by now, also if it waited for a retry: so it is known what follows when opening it fails.
    if (reference === null)
      return { type: "open", payment: ready, customer: chosen?.providerCustomer ?? null }
    const sent = yield* book.apply(ports, ready, invoice, {
      type: "send",
      elsewhere: yield* declinesElsewhere(ports.payments, ready),
    })
    const attempted = sent.collection?.attempt
    // It is too late to send it again, or its method was declined too often.
    if (attempted?.status !== "sent") return undefined
    const attempt: AttemptPayment = {
      reference,
      attemptId: attempted.id,
      method: chosen?.reference ?? null,
      presence: session === undefined ? "off_session" : "on_session",
      returnUrl: session?.returnUrl ?? null,
    }
    return { type: "attempt", payment: sent, attempt }
  })

  /** Changes a payment in a transaction of its own, which holds its invoice, at the time of its customer. */
  const change = (
    { customerId, id, invoiceId }: StoredPayment,
    work: (ports: PaymentPorts, payment: StoredPayment, invoice: StoredInvoice) => Worked<unknown>,
  ): Worked<void> =>
    transactor.atomically(
      Effect.gen(function* () {
        const ports = yield* portsOf
        const invoice = yield* ports.invoices.lock(invoiceId)
        const payment = yield* ports.payments.find(id)
        if (Option.isNone(invoice) || Option.isNone(payment)) return
        yield* time.within(customerId, work(ports, payment.value, invoice.value))
      }),
    )

  /** Applies what came of a call. */
  const applyTo = (payment: StoredPayment, input: CollectionInput): Worked<void> =>
    change(payment, (ports, current, invoice) => book.apply(ports, current, invoice, input))

  /** Applies what the provider stated, or how the call failed. */
  const stateOf = (
    payment: StoredPayment,
    call: () => Effect.Effect<PaymentRead, ProviderFailure>,
  ): Worked<void> =>
    Effect.matchEffect(within(call), {
      onFailure: (failure) => applyTo(payment, failedBy(failure)),
      onSuccess: (read) => applyTo(payment, { type: "read", read }),
    })

  /** Attempts a payment. Gives how the customer confirms it, which is stored nowhere. */
  const attemptOf = Effect.fnUntraced(function* (
    from: PaymentProvider,
    payment: StoredPayment,
    attempt: AttemptPayment,
  ) {
    let action: CustomerAction | null = null
    const withoutAction = (answer: AttemptAnswer): PaymentRead => {
      if (answer.status !== "requires_action") return answer
      action = answer.action ?? null
      return { status: answer.status }
    }
    yield* stateOf(payment, () =>
      Effect.map(Effect.flatMap(from.attemptPayment(attempt), attemptAnswer), withoutAction),
    )
    return action
  })

  const open = (from: PaymentProvider, payment: StoredPayment, customer: string | null): Worked<void> => {
    const { amount, currency, customerId, id: paymentId, invoiceId } = payment
    const opened = Effect.flatMap(CurrentTenant, ({ mode }) =>
      within(() =>
        Effect.flatMap(
          from.openPayment({ paymentId, mode, invoiceId, customerId, customer, amount, currency }),
          openedPayment,
        ),
      ),
    )
    return Effect.matchEffect(opened, {
      onFailure: (failure) => applyTo(payment, failedBy(failure)),
      onSuccess: ({ reference }) =>
        change(payment, ({ payments }, current) =>
          current.reference === null && current.status === "open"
            ? payments.save({ ...current, reference, sequence: current.sequence + 1 })
            : Effect.void,
        ),
    })
  }

  const close = (from: PaymentProvider, payment: StoredPayment, reference: string): Worked<void> =>
    Effect.matchEffect(
      within(() => Effect.flatMap(from.closePayment(reference), closedPayment)),
      {
        onFailure: ({ message }) =>
          change(payment, (ports, current, invoice) =>
            isToClose(current, invoice)
              ? book.noteNotClosed(ports, current, invoice, cleaned(message))
              : Effect.void,
          ),
        onSuccess: (closed) =>
          closed === "already_succeeded"
            ? applyTo(payment, { type: "read", read: { status: "succeeded" } })
            : change(payment, replace),
      },
    )

  const perform = (from: PaymentProvider, call: Call): Worked<CustomerAction | null> => {
    switch (call.type) {
      case "open":
        return Effect.as(open(from, call.payment, call.customer), null)
      case "attempt":
        return attemptOf(from, call.payment, call.attempt)
      case "read":
        return Effect.as(
          stateOf(call.payment, () => Effect.flatMap(from.readPayment(call.reference), paymentRead)),
          null,
        )
      case "close":
        return Effect.as(close(from, call.payment, call.reference), null)
    }
  }

  /**
   * Does the next thing on a payment that is due. `atomically` makes a transaction of what comes before the call; not
   * within another one. With a `session`, the customer is there, and the result is how the customer confirms an attempt.
   */
  const visit = <E, R>(
    id: PaymentId,
    holds: Holds,
    atomically: (work: ReturnType<typeof plan>) => Effect.Effect<unknown, E, R>,
    session?: Session,
  ) =>
    Effect.gen(function* () {
      let call: Call | undefined
      const progress = yield* CurrentPayProgress
      yield* atomically(
        Effect.tap(plan(id, holds, session), (planned) =>
          Effect.sync(() => {
            call = planned
            // Also one that was to be closed may be wanted again by now.
            if (progress !== undefined && storesAttempt(planned)) progress.mayBeStored = true
          }),
        ),
      )
      return call === undefined ? null : yield* perform(yield* requireProvider(call.payment), call)
    })

  return { visit, applyTo }
})

const failedBy = ({ message, reason }: ProviderFailure): CollectionInput => ({
  type: "failed",
  reason,
  message: cleaned(message),
})

const cleaned = (message: string): string => Text.cleaned(message, MAX_MESSAGE_LENGTH)

/**
 * Begins to collect what is issued to a customer who is charged automatically, and closes what is not wanted any more, if there
 * is a provider.
 */
export const layer = Layer.effect(
  Collecting,
  Effect.gen(function* () {
    const provider = yield* CurrentProvider
    const port = yield* optionalPort(PaymentStore)
    const ids = yield* IdGenerator
    const book = yield* makePaymentBook
    const isCharged = chargedAutomatically(yield* Collections)
    if (provider === null) return NOBODY
    return {
      review: Effect.fnUntraced(function* (changed: StoredInvoice) {
        if (changed.state.collection === "idle") return
        const payments = yield* Effect.orDie(port)
        const { data } = yield* Effect.orDie(
          payments.list({ invoiceId: changed.id, status: "open" }, { limit: 1, cursor: undefined }),
        )
        const [open] = data
        if (open === undefined || !isToClose(open, changed)) return
        const { epochMilliseconds: dueAt } = yield* DateTime.now
        yield* payments.save({ ...open, dueAt })
      }),
      begin: Effect.fnUntraced(function* (issued: StoredInvoice, invoices: InvoiceStore["Service"]) {
        if (issued.state.amountDue === 0n || !(yield* isCharged(issued.customerId))) return issued
        const payments = yield* Effect.orDie(port)
        const opened = yield* openedOf(ids, provider.name, provider, issued, undefined)
        return yield* book.open({ payments, invoices }, opened, issued)
      }),
    }
  }),
)
