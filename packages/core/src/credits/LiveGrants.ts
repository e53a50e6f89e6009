/**
 * The grants of an account that still matter at an instant, whether or not anything has written what the clock did until then.
 */
import { settleCredits } from "@billwright/engine"
import type { StoredGrant } from "./Credit.ts"
import type { StoredLedger } from "./CreditStore.ts"

/** The grants that are pending at an instant, or have something available or held. */
export const liveGrants = (ledger: StoredLedger, now: number): ReadonlyArray<StoredGrant> => {
  const changed = new Map(settleCredits(ledger, now).grants.map((grant) => [grant.id, grant]))
  return ledger.grants
    .map((grant) => ({ ...grant, ...changed.get(grant.id), id: grant.id }))
    .filter(({ available, held, status }) => status === "pending" || available > 0n || held > 0n)
}
