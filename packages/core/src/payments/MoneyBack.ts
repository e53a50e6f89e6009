/**
 * What went back of the money of an invoice: its refunds and disputes.
 */
import { Effect } from "effect"
import type { InvoiceId } from "../invoices/Invoice.ts"
import { type Collection, type CollectionFilter, Collections } from "../shared/Collections.ts"
import type { PageQuery } from "../shared/Page.ts"
import { type Dispute, disputes } from "./Dispute.ts"
import { type Refund, refunds } from "./Refund.ts"

/** Most refunds or disputes that are read at once. */
const RETURNED_OF_PAGE = 100

/** All of the values of an invoice. */
const allOf = Effect.fnUntraced(function* <A extends { readonly id: string }>(
  collection: Pick<Collection<A & { readonly invoiceId: InvoiceId }>, "list">,
  invoiceId: InvoiceId,
) {
  const found: Array<A> = []
  let cursor: PageQuery["cursor"]
  for (;;) {
    const filter = { invoiceId } as CollectionFilter<A & { readonly invoiceId: InvoiceId }>
    const page = yield* collection
      .list(filter, { limit: RETURNED_OF_PAGE, cursor })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))
    found.push(...page.data)
    const last = page.data.at(-1)
    if (!page.hasMore || last === undefined) return found
    cursor = { direction: "older", id: last.id }
  }
})

/** Gives the function that reads all refunds and disputes of an invoice. */
export const makeMoneyBack = Effect.gen(function* () {
  const collections = yield* Collections
  return Effect.fnUntraced(function* (invoiceId: InvoiceId) {
    const refunded = yield* allOf<Refund>(collections.of(refunds), invoiceId)
    const disputed = yield* allOf<Dispute>(collections.of(disputes), invoiceId)
    return { refunded, disputed }
  })
})
