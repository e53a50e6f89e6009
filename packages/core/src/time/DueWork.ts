/**
 * What is done on a subject that is due. The caller decides whether and when.
 */
import { isRejected } from "@billwright/engine"
import { Effect, Option } from "effect"
import type { InvoiceId } from "../invoices/Invoice.ts"
import { InvoiceSettings } from "../invoices/InvoiceSettings.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import { answering, isAsked, type TaxAnswer } from "../invoices/Taxes.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { draftsBefore, draftsUntil, inOrder, subscriptionsOf } from "../subscriptions/DraftOrder.ts"
import { heldOf } from "../subscriptions/SubscriptionBilling.ts"
import type { Updated } from "../subscriptions/SubscriptionBook.ts"
import { dueSteps, nextDueAfter, nextDueOf } from "../subscriptions/SubscriptionGroups.ts"
import { bookOf } from "../subscriptions/Subscriptions.ts"
import * as CustomerTurns from "./CustomerTurns.ts"
import type { CustomerDue, Subject } from "./DueStore.ts"

/**
 * Most due instants of a subscription that one transaction works through. After a failure it is one: so many may have been
 * more than a transaction of the storage may take.
 */
const MAX_STEPS = 12

/** What is billed. */
type BilledSubject = Extract<Subject, { readonly kind: "subscription" | "invoice" }>

export const isBilled = (subject: Subject): subject is BilledSubject =>
  subject.kind === "subscription" || subject.kind === "invoice"

type Asked<A> = Effect.Effect<A, StorageError, CurrentTenant>

/** What was done. */
export interface Done {
  readonly subscriptions?: number
  readonly invoices?: number
  /** Nothing was done, because this of the same customer has to be done first. See `CustomerTurns`. */
  readonly before?: CustomerDue
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

/** The hold of somebody who has no claim. What is done once is not done again: the work reads all once it is locked. */
export const unclaimed = (attempts: number): Hold => ({
  attempts,
  holds: Effect.succeed(true),
  giveBack: Effect.void,
})

/** Gives the work on subjects. */
export const make = Effect.gen(function* () {
  const makeBook = yield* bookOf
  const { tax } = yield* InvoiceSettings
  const turns = yield* CustomerTurns.make

  /** Whether a draft of some subscriptions is to be issued at an instant or before it, and has not failed. */
  const hasDueDraft = Effect.fnUntraced(function* (ids: ReadonlyArray<SubscriptionId>, at: number) {
    const { invoices } = yield* makeBook
    const drafts = yield* invoices.lockDrafts(ids)
    return drafts.some(({ dueAt, failure }) => failure === null && dueAt !== null && dueAt <= at)
  })

  /**
   * Moves a subscription on, together with those that share invoices with it, up to a bound: through `MAX_STEPS` due
   * instants of one, or fewer of several. It stops before an instant by which a draft is to be issued, as on time: the next
   * invoice has what that one leaves of credits. So it does before an instant at which something else of a customer with
   * items is due. If the last step makes a draft that waits for nothing, the draft is
   * finalized at once. After a failure it is not: then it has a turn of its own.
   */
  const moveOn = Effect.fnUntraced(function* (id: SubscriptionId, until: number, hold: Hold) {
    const { book, invoiceBook, store } = yield* makeBook
    const group = yield* store.lockGroup(id)
    if (group.length === 0 || !(yield* hold.holds)) return NOTHING
    const turn = yield* turns.ofGroup(group, until)
    if (turn.before !== undefined) return { before: turn.before }
    const ids = group.map((one) => one.id)
    let { draft, stored }: Updated = { stored: group, draft: undefined }
    const moved = new Set<SubscriptionId>()
    const most = hold.attempts === 0 ? MAX_STEPS : 1
    for (let steps = 0; steps < most; steps += group.length) {
      const next = nextDueOf(stored)
      if (next === null || next > until) break
      if (steps > 0 && (next >= turn.next || (yield* hasDueDraft(ids, next)))) break
      const all = dueSteps(stored, until, 1)
      if (isRejected(all)) return yield* Effect.die(new TypeError(all.problems[0].problem))
      for (const { before, stepped } of all) if (stepped !== null) moved.add(before.id)
      const issueBy = Math.min(until, nextDueAfter(all) ?? until, turn.next - 1)
      ;({ draft, stored } = yield* book.update(all, hold.attempts === 0 ? issueBy : undefined))
      if (draft !== undefined && !draft.isStored) break
    }
    const subscriptions = moved.size
    // Others of its group were due before it. Saving it would have ended the claim.
    if (subscriptions > 0 && !moved.has(id)) yield* hold.giveBack
    if (draft === undefined || draft.isStored) return { subscriptions }
    yield* invoiceBook.finalize(draft)
    return { subscriptions, invoices: 1 }
  })

  /** Takes note that the due date of an issued invoice is over. */
  const noteDueDate = Effect.fnUntraced(function* (id: InvoiceId, until: number, { holds }: Hold) {
    const { invoiceBook, invoices } = yield* makeBook
    const held = Option.getOrUndefined(yield* invoices.lock(id))
    if (held === undefined || !(yield* holds)) return NOTHING
    const { dueAt, state } = held
    if (state.status !== "draft" && dueAt !== null && dueAt <= until) yield* invoiceBook.noteDueDate(held)
    return NOTHING
  })

  /**
   * Does what is due of an invoice: a draft is finalized, and of an issued one the due date is over.
   *
   * Finalizes a draft. Its subscriptions and those that share invoices with them are held first, as by commands, so that
   * nobody bills the same usage meanwhile. If there is a draft before it, it finalizes that one, and the other is due as
   * before: an invoice states what those before it have left.
   */
  const finalize = Effect.fnUntraced(function* (
    id: InvoiceId,
    until: number,
    hold: Hold,
    answer: TaxAnswer | undefined,
  ) {
    const { billing, invoiceBook, invoices, store } = yield* makeBook
    const found = yield* invoices.find(id)
    if (Option.isNone(found)) return NOTHING
    if (found.value.state.status !== "draft") return yield* noteDueDate(id, until, hold)
    const { giveBack, holds } = hold
    const own = subscriptionsOf(found.value)
    const group = own[0] === undefined ? [] : yield* store.lockGroup(own[0])
    if (group.length === 0) {
      const draft = yield* invoices.lock(id)
      if (Option.isNone(draft) || !(yield* holds)) return NOTHING
      const { before } = yield* turns.ofDraft(draft.value, group, until)
      if (before !== undefined) return { before }
      yield* invoiceBook.finalize(yield* invoiceBook.redraft(draft.value, [], { answer, purpose: "issue" }))
      return { invoices: 1 }
    }
    const drafts = inOrder(yield* invoices.lockDrafts(group.map((one) => one.id)))
    const [first] = draftsBefore(draftsUntil(drafts, id), own)
    if (first === undefined || !(yield* holds)) return NOTHING
    const { before } = yield* turns.ofDraft(first, group, until)
    if (before !== undefined) return { before }
    yield* invoiceBook.finalize(
      yield* billing.toIssue(heldOf(group), first, drafts, { answer, purpose: "issue" }),
    )
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
      : answering(tax, (answer) => atomically(finalize(id, until, hold, answer)))

  /** Does it within the current transaction, without asking for taxes. */
  const runWithin = ({ id, kind }: BilledSubject, until: number, hold: Hold) =>
    kind === "subscription" ? moveOn(id, until, hold) : finalize(id, until, hold, undefined)

  /** Whether `runWithin` can do what is due on a subject of a kind. */
  const runsWithin = (kind: BilledSubject["kind"]): boolean => kind === "subscription" || !isAsked(tax)

  return { run, runWithin, runsWithin }
})
