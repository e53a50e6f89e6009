/**
 * Which spend alerts block a customer.
 */
import { DateTime, Effect } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { Collections } from "../shared/Collections.ts"
import { MAX_SPEND_ALERTS, type SpendAlert, spendAlerts } from "./SpendAlert.ts"

/** Reads the alerts of customers of the current tenant that block now, newest first. */
export const blockingIn = (collections: Collections["Service"]) => {
  const store = collections.of(spendAlerts)
  return Effect.fnUntraced(function* (customerId: CustomerId) {
    const { data } = yield* store
      .list({ customerId }, { limit: MAX_SPEND_ALERTS, cursor: undefined })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))
    const now = yield* DateTime.now
    return data.filter(
      ({ blockedUntil }: SpendAlert) => blockedUntil !== null && DateTime.isGreaterThan(blockedUntil, now),
    )
  })
}
