import type { Invoice } from "../api/Types.ts"
import { StateBadge } from "../ui/StateBadge.tsx"
import { COLLECTIONS, STATUSES } from "./InvoiceStates.ts"

/** The state of an invoice. One that is late says so. */
export const InvoiceBadge = ({
  invoice,
}: {
  readonly invoice: Pick<Invoice, "status" | "past_due_since">
}) => {
  const [tone, word] = STATUSES[invoice.status]
  if (invoice.status === "open" && invoice.past_due_since !== null)
    return <StateBadge tone="bad" word="Past due" />
  return <StateBadge tone={tone} word={word} />
}

/** How the payment of an invoice fares, if its status doesn't say it. */
export const CollectionBadge = ({ collection }: Pick<Invoice, "collection">) => {
  const named = COLLECTIONS[collection]
  return named === undefined ? null : <StateBadge tone={named[0]} word={named[1]} />
}
