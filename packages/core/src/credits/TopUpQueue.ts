/**
 * What looks at automatic top-ups. Billing runs provide it.
 */
import { Context, Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { AutoTopUpId } from "./TopUp.ts"

/** Without it, automatic top-ups buy nothing. */
export class TopUpQueue extends Context.Reference<{
  /** Has an automatic top-up looked at, from an instant on (epoch milliseconds). 0: at once. `null`: no more. */
  readonly lookAt: (id: AutoTopUpId, at: number | null) => Effect.Effect<void, StorageError, CurrentTenant>
}>("@billwright/core/credits/TopUpQueue", {
  defaultValue: () => ({ lookAt: () => Effect.void }),
}) {}
