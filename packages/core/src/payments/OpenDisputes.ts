/**
 * Whether payments of an invoice are disputed. Then nothing of it is attempted by itself.
 */
import { Effect } from "effect"
import type { StoredInvoice } from "../invoices/Invoice.ts"
import type { Collections } from "../shared/Collections.ts"
import { disputes } from "./Dispute.ts"

/** Gives the function that asks whether an invoice of the current tenant has an open dispute. */
export const openDisputesIn = (collections: Collections["Service"]) => {
  const store = collections.of(disputes)
  return Effect.fnUntraced(function* ({ id: invoiceId }: StoredInvoice) {
    const page = { limit: 1, cursor: undefined }
    const { data } = yield* Effect.orDie(store.list({ invoiceId, status: "open" }, page))
    return data.length > 0
  })
}
