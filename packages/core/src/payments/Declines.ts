/**
 * The declines of a customer's payment methods, over all of its invoices.
 */
import type { Decline } from "@billwright/engine"
import { Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { StoredPayment } from "./Payment.ts"
import type { PaymentStore } from "./PaymentStore.ts"

/** How many of a customer's last payments are looked at for declines. Networks allow 15 declines of a method in 30 days. */
const DECLINES_OF_PAYMENTS = 100

/**
 * The declines of the customer's methods for other invoices. An attempt whose answer is not there yet counts as one: so
 * there are not too many when several are made at the same time.
 */
export const declinesElsewhere = Effect.fnUntraced(function* (
  payments: PaymentStore["Service"],
  { customerId, invoiceId }: StoredPayment,
): Effect.fn.Return<ReadonlyArray<Decline>, StorageError, CurrentTenant> {
  const page = { limit: DECLINES_OF_PAYMENTS, cursor: undefined }
  const { data } = yield* payments
    .list({ customerId }, page)
    .pipe(Effect.catchTag("CursorNotFound", Effect.die))
  const found = new Map<string, Decline>()
  for (const { collection, invoiceId: other } of data) {
    if (collection === null || other === invoiceId) continue
    const { attempt, declines } = collection
    // A payment that takes the place of another one of its invoice has copies of its declines.
    for (const decline of declines) found.set(`${other} ${decline.at} ${decline.method ?? ""}`, decline)
    if (attempt?.status === "sent" && attempt.sentAt !== null) {
      found.set(attempt.id, { method: attempt.method, at: attempt.sentAt })
    }
  }
  return [...found.values()]
})
