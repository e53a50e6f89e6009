/**
 * New payments of a provider, and whether it can take their amounts.
 */
import {
  type Chargeable,
  collect,
  type Collection,
  type CollectionInput,
  Currency,
  IDLE,
} from "@billwright/engine"
import { Cause, DateTime, Effect } from "effect"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import type { IdGenerator } from "../shared/Id.ts"
import { ATTEMPT_ID_PREFIX, PAYMENT_ID_PREFIX, PaymentId, type StoredPayment } from "./Payment.ts"
import type { PaymentProvider } from "./PaymentProvider.ts"

/** An amount as people write it, such as `0.50 EUR`. */
const written = (amount: bigint, currency: string): string => {
  const digits = Currency.exponentOf(currency) ?? 0
  const text = amount.toString().padStart(digits + 1, "0")
  const whole = text.slice(0, text.length - digits)
  return `${digits === 0 ? text : `${whole}.${text.slice(-digits)}`} ${currency}`
}

/** Why an amount can't be taken. `undefined`: it can. */
const problemOf = (answer: Chargeable, name: string, currency: string): string | undefined => {
  switch (answer.status) {
    case "ok":
      return undefined
    case "below_minimum":
      return `${name} takes at least ${written(answer.minimum, currency)}`
    case "above_maximum":
      return `${name} takes at most ${written(answer.maximum, currency)}`
    case "not_representable":
      return `${name} takes only multiples of ${written(answer.multipleOf, currency)}`
    case "unsupported_currency":
      return `${name} does not take ${currency}`
  }
}

/**
 * Why the provider can't take what is due of an invoice. `undefined`: it can. A provider that throws is asked again by the
 * call that opens the payment: an invoice is issued whatever the provider does.
 */
export const problemOfAmount = (
  provider: PaymentProvider,
  { state: { amountDue, currency } }: StoredInvoice,
): Effect.Effect<string | undefined> =>
  Effect.sync(() =>
    problemOf(provider.chargeable({ amount: amountDue, currency }), provider.name, currency),
  ).pipe(
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logWarning("the payment provider failed to say what it takes", Cause.pretty(cause)),
        undefined,
      ),
    ),
  )

const unlessProblem = (
  collection: Collection,
  problem: string | undefined,
  now: DateTime.Utc,
): Collection => {
  if (problem === undefined) return collection
  const refused = collect(collection, { type: "not_chargeable", problem }, now.epochMilliseconds, "UTC")
  return refused.type === "changed" ? refused.collection : collection
}

/** An attempt that is made. */
export type AttemptInput = Extract<CollectionInput, { readonly type: "attempt" }>

/** The id of an attempt is its key at the provider. */
export const nextAttempt = Effect.fnUntraced(function* (
  ids: IdGenerator["Service"],
  method: string | null,
): Effect.fn.Return<AttemptInput> {
  return { type: "attempt", attemptId: yield* ids.next(ATTEMPT_ID_PREFIX), method }
})

/**
 * A new payment of what is due, whose first attempt is ready. It goes on with the declines of the one before. If the
 * provider can't take the amount, it needs attention, and nothing is sent.
 */
export const openedOf = Effect.fnUntraced(function* (
  ids: IdGenerator["Service"],
  name: string,
  provider: PaymentProvider | null,
  invoice: StoredInvoice,
  before: StoredPayment | undefined,
  asked?: AttemptInput,
): Effect.fn.Return<StoredPayment> {
  const now = yield* DateTime.now
  const input = asked ?? (yield* nextAttempt(ids, before?.collection?.attempt?.method ?? null))
  const declines = before?.collection?.declines ?? []
  const begun = collect({ ...IDLE, declines }, input, now.epochMilliseconds, "UTC")
  const problem = provider === null ? undefined : yield* problemOfAmount(provider, invoice)
  const collection = begun.type === "changed" ? unlessProblem(begun.collection, problem, now) : IDLE
  return {
    id: PaymentId.make(yield* ids.next(PAYMENT_ID_PREFIX)),
    invoiceId: invoice.id,
    customerId: invoice.customerId,
    currency: invoice.state.currency,
    provider: name,
    reference: null,
    status: "open",
    amount: invoice.state.amountDue,
    applied: 0n,
    overpaid: 0n,
    paidAt: null,
    sequence: 1,
    createdAt: now,
    updatedAt: now,
    collection,
    dueAt: collection.nextAt,
    failure: null,
  }
})
