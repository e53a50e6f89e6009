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

/**
 * When something next happens to paid credits by the clock, in epoch milliseconds. `null`: nothing will. The books need it at its
 * instant: credits that end are income then. Other kinds are in no books.
 */
export const nextInstantOf = ({ effectiveAt, expiresAt, kind, status }: StoredGrant): number | null => {
  if (kind !== "paid") return null
  if (status === "pending") return effectiveAt
  return status === "active" ? expiresAt : null
}
