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
import type { Money, PaymentProvider } from "./PaymentProvider.ts"

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
 * Asks the provider about an amount. `undefined`: there is no problem. A provider that throws is asked again by the call that
 * follows: an invoice is issued whatever the provider does.
 */
const askedOf = (
  provider: PaymentProvider,
  money: Money,
  isProblem: (answer: Chargeable) => boolean,
): Effect.Effect<string | undefined> =>
  Effect.sync(() => {
    const answer = provider.chargeable(money)
    return isProblem(answer) ? problemOf(answer, provider.name, money.currency) : undefined
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logWarning("the payment provider failed to say what it takes", Cause.pretty(cause)),
        undefined,
      ),
    ),
  )

/** Why the provider can't take what is due of an invoice. `undefined`: it can. */
export const problemOfAmount = (
  provider: PaymentProvider,
  { state: { amountDue: amount, currency } }: StoredInvoice,
): Effect.Effect<string | undefined> => askedOf(provider, { amount, currency }, () => true)

/** Why the provider can't give an amount back. There is no minimum for that. `undefined`: it can. */
export const problemOfRefund = (provider: PaymentProvider, money: Money): Effect.Effect<string | undefined> =>
  askedOf(provider, money, ({ status }) => status === "not_representable")

const unlessProblem = (
  collection: Collection,
  problem: string | undefined,
  now: DateTime.Utc,
): Collection => {
  if (problem === undefined) return collection
  const refused = collect(collection, { type: "not_chargeable", problem }, now.epochMilliseconds, "UTC")
  return refused.type === "changed" ? refused.collection : collection
}

/**
 * How a payment that takes the place of another one waits: as that one did, so that a change of the amount alone is no reason
 * to attempt it. A new method, or somebody who asks, has it attempted. `undefined`: it is attempted at once.
 */
const waitingAs = (before: Collection): Collection | undefined => {
  const { attempt, attention, declines, isEnding, nextAt, retryAt, state, tries } = before
  const isNotClosed = attention?.code === "not_closed" && attempt?.status === "declined"
  const isRetried = state === "retrying" || (isNotClosed && retryAt !== undefined)
  if (isRetried) return { state: "retrying", attempt, declines, tries, nextAt: retryAt ?? nextAt }
  const waiting = { attempt, declines, tries, nextAt: null, ...(isEnding === true ? { isEnding } : {}) }
  if (state === "awaiting_method" || state === "exhausted") return { ...waiting, state }
  // Nobody knows any more what it waited for, and a person has looked since.
  return isNotClosed ? { ...waiting, state: "exhausted" } : undefined
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
 * A new payment of what is due. Its first attempt is ready, unless it waits as the one before did. It goes on with the
 * declines of that one. If the provider can't take the amount, it needs attention, and nothing is sent.
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
  const waits =
    asked === undefined && problem === undefined && before?.collection
      ? waitingAs(before.collection)
      : undefined
  const ready = begun.type === "changed" ? unlessProblem(begun.collection, problem, now) : IDLE
  const collection = waits ?? ready
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
    dueAt: collection.isEnding === true ? now.epochMilliseconds : collection.nextAt,
    failure: null,
  }
})
