/**
 * The order of drafts: an invoice states what those before it have left. So they are computed and issued in their order.
 */
import type { InvoiceCause, StoredInvoice } from "../invoices/Invoice.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"

const compareCauses = (
  { effect: a, subscriptionId: of }: InvoiceCause,
  { effect: b, subscriptionId: other }: InvoiceCause,
): number => (of === other ? a.period.number - b.period.number || a.segment - b.segment : of < other ? -1 : 1)

/** At one instant, what fell due by itself comes before what commands made. Only the former is of several subscriptions. */
export const compareDrafts = ({ causes: a }: StoredInvoice, { causes: b }: StoredInvoice): number => {
  const [first, second] = [a[0], b[0]]
  if (first === undefined || second === undefined) return 0
  return (
    first.effect.at - second.effect.at ||
    Number(b.length > 1) - Number(a.length > 1) ||
    compareCauses(first, second)
  )
}

/** Drafts in the order of what they bill. That of their ids is another one when clocks differ. */
export const inOrder = (drafts: ReadonlyArray<StoredInvoice>): ReadonlyArray<StoredInvoice> =>
  drafts.length < 2 ? drafts : drafts.toSorted(compareDrafts)

export const subscriptionsOf = ({ causes }: Pick<StoredInvoice, "causes">): ReadonlyArray<SubscriptionId> =>
  causes.map(({ subscriptionId }) => subscriptionId)

/** Those of some drafts, which are in order, up to one of them. */
export const draftsUntil = (drafts: ReadonlyArray<StoredInvoice>, id: string): ReadonlyArray<StoredInvoice> =>
  drafts.slice(0, drafts.findIndex((draft) => draft.id === id) + 1)

/**
 * Those of some drafts that come before an invoice of these subscriptions: theirs, and with one of several subscriptions
 * also those before it of the others. All are in order.
 */
export const draftsBefore = (
  drafts: ReadonlyArray<StoredInvoice>,
  ids: ReadonlyArray<SubscriptionId>,
): ReadonlyArray<StoredInvoice> => {
  const reached = new Set(ids)
  return drafts
    .toReversed()
    .filter((draft) => {
      const own = subscriptionsOf(draft)
      if (!own.some((id) => reached.has(id))) return false
      for (const id of own) reached.add(id)
      return true
    })
    .toReversed()
}
