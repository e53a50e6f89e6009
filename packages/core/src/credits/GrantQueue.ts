/**
 * What looks at paid credits when they begin or end. Billing runs provide it.
 */
import { Context, Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { CreditGrantId, StoredGrant } from "./Credit.ts"

/** Without it, what happens to credits by the clock is written with the next change of their account. */
export class GrantQueue extends Context.Reference<{
  /** Has a grant looked at, from an instant on (epoch milliseconds). `null`: no more. */
  readonly lookAt: (id: CreditGrantId, at: number | null) => Effect.Effect<void, StorageError, CurrentTenant>
}>("@billwright/core/credits/GrantQueue", {
  defaultValue: () => ({ lookAt: () => Effect.void }),
}) {}

/** How long to wait for holds on credits that have ended, in milliseconds. What they give back ends at once. */
const HELD_MILLIS = 3_600_000

/**
 * When paid credits are to be looked at next, because something may happen to them by the clock: an instant in epoch
 * milliseconds, or `null`. The books need it soon: credits that end are income then. Other kinds are in no books.
 */
export const nextLookAt = (
  grant: Pick<StoredGrant, "effectiveAt" | "expiresAt" | "held" | "kind" | "status">,
  now: number,
): number | null => {
  const { effectiveAt, expiresAt, held, kind, status } = grant
  if (kind !== "paid") return null
  if (status === "pending") return effectiveAt
  if (status === "active") return expiresAt
  return held > 0n ? now + HELD_MILLIS : null
}
