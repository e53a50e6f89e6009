/**
 * Computes the drafts of subscriptions, with the usage that is recorded by now: for readers, and for those who issue them.
 */
import { Effect, Layer, Option } from "effect"
import { CustomerTime } from "../customers/CustomerTime.ts"
import type { Purpose } from "../invoices/Crediting.ts"
import { Drafts } from "../invoices/Drafts.ts"
import type { InvoiceId, StoredInvoice } from "../invoices/Invoice.ts"
import { type SubscriptionId, SubscriptionNotFound } from "../invoices/SubscriptionId.ts"
import { ActionUnavailable } from "../shared/ActionUnavailable.ts"
import { Collections } from "../shared/Collections.ts"
import { Transactor } from "../shared/Transactor.ts"
import { draftsBefore, draftsUntil, inOrder, subscriptionsOf } from "./DraftOrder.ts"
import type { StoredSubscription } from "./Subscription.ts"
import { heldOf } from "./SubscriptionBilling.ts"
import { upcomingOf } from "./SubscriptionPreview.ts"
import { bookOf } from "./Subscriptions.ts"

/** Most drafts of a subscription. It has one, unless its grace is longer than its periods. */
const MAX_DRAFTS = 100

export const layer = Layer.effect(
  Drafts,
  Effect.gen(function* () {
    const makeBook = yield* bookOf
    const transactor = yield* Transactor
    const time = new CustomerTime(yield* Collections)

    const today = Effect.fnUntraced(function* (stored: StoredInvoice) {
      if (stored.state.status !== "draft") return stored
      const { billing, invoices, store } = yield* makeBook
      const subscriptions: Array<StoredSubscription> = []
      const drafts = new Map<string, StoredInvoice>()
      for (const subscriptionId of subscriptionsOf(stored)) {
        const found = yield* store.find(subscriptionId)
        if (Option.isSome(found)) subscriptions.push(found.value)
        const { data } = yield* invoices
          .list({ subscriptionId, status: "draft" }, { limit: MAX_DRAFTS, cursor: undefined })
          .pipe(Effect.catchTag("CursorNotFound", Effect.die))
        for (const draft of data) drafts.set(draft.id, draft)
      }
      const all = inOrder([...drafts.values()])
      const { draft } = yield* billing.redraft(heldOf(subscriptions), stored, all, { purpose: "read" })
      return asStored(draft, stored)
    })

    const hold = Effect.fnUntraced(function* (id: InvoiceId, purpose: Purpose) {
      const { billing, invoiceBook, invoices, store } = yield* makeBook
      const found = yield* invoices.find(id)
      if (Option.isNone(found)) return Option.none()
      const own = subscriptionsOf(found.value)
      const group = own[0] === undefined ? [] : yield* store.lockGroup(own[0])
      const held = yield* invoices.lock(id)
      if (Option.isNone(held)) return Option.none()
      const { status } = held.value.state
      if (status !== "draft") return yield* unavailable(id, `the invoice is ${status}`)
      if (group.length === 0) return Option.some(yield* invoiceBook.redraft(held.value, [], { purpose }))
      const drafts = inOrder(yield* invoices.lockDrafts(group.map((one) => one.id)))
      const [first] = draftsBefore(draftsUntil(drafts, id), own)
      if (first !== undefined && first.id !== id) {
        return yield* unavailable(id, `the draft ${first.id} before it has to be issued first`)
      }
      return Option.some(yield* billing.toIssue(heldOf(group), held.value, drafts, { purpose }))
    })

    const upcoming = Effect.fnUntraced(function* (id: SubscriptionId) {
      const parts = yield* makeBook
      const found = yield* parts.store.find(id)
      if (Option.isNone(found)) return yield* new SubscriptionNotFound({ id })
      return yield* upcomingOf({ ...parts, time, transactor }, found.value)
    })

    return { today, hold, upcoming }
  }),
)

const unavailable = (id: InvoiceId, problem: string) =>
  Effect.fail(
    new ActionUnavailable({ object: "invoice", id, problem: `finalize is not possible: ${problem}` }),
  )

/** It is read and not changed, so its sequence stays. */
const asStored = (draft: StoredInvoice, { state: { sequence } }: StoredInvoice): StoredInvoice => ({
  ...draft,
  state: { ...draft.state, sequence },
})
