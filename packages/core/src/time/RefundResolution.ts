/**
 * What a person does about a refund whose outcome is not known: has it read at the payment provider now, or says what came of
 * it. It calls the provider, so that it is not done within a transaction.
 */
import { Effect, Option } from "effect"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { MANUAL_PROVIDER } from "../payments/Payment.ts"
import { PaymentProviderUnavailable } from "../payments/PaymentMethod.ts"
import { CurrentProvider } from "../payments/PaymentProvider.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import { refundRead } from "../payments/ProviderAnswers.ts"
import { within } from "../payments/ProviderCalls.ts"
import { type Refund, type RefundNotFound, refunds, ResolveRefund } from "../payments/Refund.ts"
import {
  isOpenRefund,
  isSentRefund,
  makeRefundBook,
  newsOf,
  type RefundNews,
} from "../payments/RefundBook.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { DueStore } from "./DueStore.ts"

const decodeResolve = decoder(ResolveRefund)
const { knownId, orNotFound } = ById.of(refunds)

type Asked = Effect.Effect<
  Refund,
  | ActionUnavailable
  | InvalidInput
  | PaymentProviderUnavailable
  | RefundNotFound
  | InvoicingUnsupported
  | StorageError,
  CurrentTenant
>

const unavailable = (id: string, problem: string) =>
  Effect.fail(new ActionUnavailable({ object: "refund", id, problem }))

/** Gives the functions that resolve a refund. */
export const makeRefundResolution = Effect.gen(function* () {
  const provider = yield* CurrentProvider
  const book = yield* makeRefundBook
  const duePort = yield* optionalPort(DueStore)
  const invoicePort = yield* optionalPort(InvoiceStore)
  const paymentPort = yield* optionalPort(PaymentStore)
  const transactor = yield* Transactor
  const time = new CustomerTime(yield* Collections)

  /** Applies what is said of a refund. Whether it is still allowed is asked once the invoice is held. */
  const apply = Effect.fnUntraced(function* (
    { customerId, id, invoiceId }: Refund,
    news: RefundNews,
    allowed: (held: Refund) => Effect.Effect<void, ActionUnavailable>,
  ) {
    const [invoices, due] = [yield* invoicePort, yield* duePort]
    return yield* transactor.atomically(
      Effect.gen(function* () {
        const invoice = yield* Effect.orDie(Effect.flatMap(invoices.lock(invoiceId), Effect.fromOption))
        const held = yield* orNotFound(yield* book.store.find(id), id)
        yield* allowed(held)
        const applied = yield* time.within(customerId, book.apply(held, invoice, news))
        if (!isOpenRefund(applied)) yield* due.schedule({ kind: "refund", id }, null)
        return applied
      }),
    )
  })

  /** What the provider states of a refund. `undefined`: it knows nothing of it. */
  const stated = Effect.fnUntraced(function* (refund: Refund) {
    const { id, paymentId, provider: name, reference } = refund
    if (provider?.name !== name) return yield* unavailable(id, `the payment provider ${name} is not there`)
    if (yield* transactor.inTransaction) {
      return yield* unavailable(id, "the payment provider can't be called within a transaction")
    }
    const payment = Option.getOrUndefined(yield* (yield* paymentPort).find(paymentId))
    const paymentReference = payment?.reference ?? null
    if (paymentReference === null) return undefined
    const query = reference === null ? { paymentReference, refundId: id } : { reference }
    const read = yield* Effect.mapError(
      within(() => Effect.flatMap(provider.readRefund(query), refundRead)),
      ({ reason }) => new PaymentProviderUnavailable({ provider: name, reason }),
    )
    return read === null ? undefined : newsOf(refund, read)
  })

  /** Whether the provider can be asked about a refund. One that was not sent yet is not there. */
  const isSent = (refund: Refund): boolean => refund.provider !== MANUAL_PROVIDER && isSentRefund(refund)

  const found = Effect.fnUntraced(function* (id: string) {
    return yield* orNotFound(yield* book.store.find(yield* knownId(id)), id)
  })

  const refresh = (id: string): Asked =>
    Effect.gen(function* () {
      const refund = yield* found(id)
      const news = isSent(refund) ? yield* stated(refund) : undefined
      return news === undefined ? refund : yield* apply(refund, news, () => Effect.void)
    })

  const resolve = (id: string, input: ResolveRefund): Asked =>
    Effect.gen(function* () {
      const { reference = null, status } = yield* decodeResolve(input)
      const refund = yield* found(id)
      const refuse = (problem: string) => unavailable(id, `resolve is not possible: ${problem}`)
      const allowed = (held: Refund) => {
        if (!isOpenRefund(held)) return refuse(`the refund has ${held.status}`)
        const isUnchanged = isSent(held) === isSent(refund)
        return isUnchanged ? Effect.void : refuse("it was just sent: try again in a moment")
      }
      if (refund.status === status) return refund
      yield* allowed(refund)
      // Without its provider, a person's word is all that there is.
      const isThere = provider?.name === refund.provider
      const news = isThere && isSent(refund) ? yield* stated(refund) : undefined
      if (news === undefined) {
        return yield* apply(refund, { type: "resolved", status, reference }, allowed)
      }
      const known = yield* apply(refund, news, () => Effect.void)
      return isOpenRefund(known) ? yield* refuse("the payment provider is working on it") : known
    })

  return { refresh, resolve }
})
