/**
 * What is done on a subject that is due. The caller decides whether and when.
 */
import { isRejected, nextDue, step } from "@billwright/engine"
import { DateTime, Effect, Option } from "effect"
import type { InvoiceId } from "../invoices/Invoice.ts"
import { InvoiceSettings } from "../invoices/InvoiceSettings.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import { answering, isAsked, type TaxAnswer } from "../invoices/Taxes.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { inOrder } from "../subscriptions/SubscriptionBilling.ts"
import type { Updated } from "../subscriptions/SubscriptionBook.ts"
import { bookOf } from "../subscriptions/Subscriptions.ts"
import type { FirstDue } from "./DueStore.ts"

/** Most due instants of a subscription that one transaction works through. */
const MAX_STEPS = 12

type BilledSubject = Exclude<FirstDue["subject"], { readonly kind: "payment" }>

type Asked<A> = Effect.Effect<A, StorageError, CurrentTenant>

/** What was done. */
export interface Done {
  readonly subscriptions?: number
  readonly invoices?: number
}
export const NOTHING: Done = {}

/** The caller's claim to a subject. */
export interface Hold {
  /** How often the subject has failed in a row. */
  readonly attempts: number
  /** Whether it may still work on the subject. It is asked once the subject is locked. If it is false, nothing is done. */
  readonly holds: Asked<boolean>
  /** Called when something else had to be done first, so that the subject is as due as before. */
  readonly giveBack: Asked<unknown>
}

/** Gives the work on subjects. */
export const make = Effect.gen(function* () {
  const makeBook = yield* bookOf
  const { tax } = yield* InvoiceSettings

  /** Whether a draft of a subscription is to be issued at an instant or before it, and has not failed. */
  const hasDueDraft = Effect.fnUntraced(function* (id: SubscriptionId, at: number) {
    const { invoices } = yield* makeBook
    const drafts = yield* invoices.lockDrafts(id)
    return drafts.some(({ dueAt, failure }) => failure === null && dueAt !== null && dueAt <= at)
  })

  /**
   * Moves a subscription on, through at most `MAX_STEPS` due instants, up to a bound. It stops before an instant by which a
   * draft is to be issued, as on time: the next invoice has what that one leaves of credits. If the last step makes a draft
   * that waits for nothing, the draft is finalized at once. After a failure it is not: then it has a turn of its own.
   */
  const moveOn = Effect.fnUntraced(function* (id: SubscriptionId, until: number, hold: Hold) {
    const { book, invoiceBook, store } = yield* makeBook
    const { epochMilliseconds: now } = yield* DateTime.now
    const found = yield* store.lock(id)
    if (Option.isNone(found) || !(yield* hold.holds)) return NOTHING
    let { draft, stored }: Updated = { stored: found.value, draft: undefined }
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const next = nextDue(stored.state)
      if (next === null || next.at > until) break
      if (steps > 0 && (yield* hasDueDraft(id, next.at))) break
      const stepped = step(stored.state, { type: "due" }, now)
      if (isRejected(stepped)) return yield* Effect.die(new TypeError(stepped.problems[0].problem))
      const after = nextDue(stepped.subscription)
      const issueBy = Math.min(until, after?.at ?? until)
      ;({ draft, stored } = yield* book.update(stored, stepped, hold.attempts === 0 ? issueBy : undefined))
      if (draft !== undefined && !draft.isStored) break
    }
    if (draft === undefined || draft.isStored) return { subscriptions: 1 }
    yield* invoiceBook.finalize(draft)
    return { subscriptions: 1, invoices: 1 }
  })

  /**
   * Finalizes a draft. Its subscription is held first, as by commands, so that nobody bills the same usage meanwhile. If
   * there is a draft before it, it finalizes that one, and the other is due as before: an invoice states what those before
   * it have left.
   */
  const finalize = Effect.fnUntraced(function* (
    id: InvoiceId,
    { giveBack, holds }: Hold,
    answer: TaxAnswer | undefined,
  ) {
    const { billing, invoiceBook, invoices, store } = yield* makeBook
    const found = yield* invoices.find(id)
    if (Option.isNone(found)) return NOTHING
    const { subscriptionId } = found.value
    const held = subscriptionId === null ? Option.none() : yield* store.lock(subscriptionId)
    if (Option.isNone(held)) {
      const draft = yield* invoices.lock(id)
      if (Option.isNone(draft) || !(yield* holds)) return NOTHING
      yield* invoiceBook.finalize(yield* invoiceBook.redraft(draft.value, [], answer))
      return { invoices: 1 }
    }
    const [first, ...later] = inOrder(yield* invoices.lockDrafts(held.value.id))
    if (first === undefined || !(yield* holds)) return NOTHING
    yield* invoiceBook.finalize(yield* billing.redraft(held.value, first, later, answer))
    if (first.id !== id) yield* giveBack
    return { invoices: 1 }
  })

  /**
   * Does what is due on a subject at an instant or before it. `atomically` makes a transaction of it. Taxes may be asked
   * for outside of it, and the transaction then runs again with their answer.
   */
  const run = <A, E, R>(
    { id, kind }: BilledSubject,
    until: number,
    hold: Hold,
    atomically: (work: ReturnType<typeof moveOn> | ReturnType<typeof finalize>) => Effect.Effect<A, E, R>,
  ) =>
    kind === "subscription"
      ? atomically(moveOn(id, until, hold))
      : answering(tax, (answer) => atomically(finalize(id, hold, answer)))

  /** Does it within the current transaction, without asking for taxes. */
  const runWithin = ({ id, kind }: BilledSubject, until: number, hold: Hold) =>
    kind === "subscription" ? moveOn(id, until, hold) : finalize(id, hold, undefined)

  /** Whether `runWithin` can do what is due on a subject of a kind. */
  const runsWithin = (kind: BilledSubject["kind"]): boolean => kind === "subscription" || !isAsked(tax)

  return { run, runWithin, runsWithin }
})
