/**
 * Computes the drafts of subscriptions for readers, with the usage that is recorded by now.
 */
import { Effect, Layer, Option } from "effect"
import { Drafts } from "../invoices/Drafts.ts"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import { inOrder } from "./SubscriptionBilling.ts"
import { bookOf } from "./Subscriptions.ts"

/** Most drafts of a subscription. It has one, unless its grace is longer than its periods. */
const MAX_DRAFTS = 100

export const layer = Layer.effect(
  Drafts,
  Effect.gen(function* () {
    const makeBook = yield* bookOf
    const today = Effect.fnUntraced(function* (stored: StoredInvoice) {
      const { state, subscriptionId } = stored
      if (state.status !== "draft") return stored
      const { billing, invoiceBook, invoices, store } = yield* makeBook
      const found = subscriptionId === null ? Option.none() : yield* store.find(subscriptionId)
      if (subscriptionId === null || Option.isNone(found)) {
        const { draft } = yield* invoiceBook.redraft(stored, [])
        return asStored(draft, stored)
      }
      const { data } = yield* invoices
        .list({ subscriptionId, status: "draft" }, { limit: MAX_DRAFTS, cursor: undefined })
        .pipe(Effect.catchTag("CursorNotFound", Effect.die))
      const drafts = inOrder(data.toReversed())
      const later = drafts.slice(drafts.findIndex(({ id }) => id === stored.id) + 1)
      const { draft } = yield* billing.redraft(found.value, stored, later)
      return asStored(draft, stored)
    })
    return { today }
  }),
)

/** It is read and not changed, so its sequence stays. */
const asStored = (draft: StoredInvoice, { state: { sequence } }: StoredInvoice): StoredInvoice => ({
  ...draft,
  state: { ...draft.state, sequence },
})
