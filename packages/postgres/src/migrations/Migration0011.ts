/**
 * Tenants take turns in claims: `claim_deliveries` is told how many each may have, and finds what is due of a tenant by
 * an index that begins with it. The function of before is gone, so releases that call it can't work with this schema.
 */
import { claimDeliveries } from "./ClaimFunction.ts"
import type { Migration } from "./Migration.ts"
import { withoutSorts } from "./Migration0008.ts"

export const migration0011: Migration = {
  id: 11,
  name: "claims_by_tenant",
  minReader: 11,
  statements: (schema) => [
    `drop function if exists ${schema}.claim_deliveries(bigint, bigint, uuid, integer, integer, uuid[], integer[], uuid, boolean)`,
    `create index webhook_pending_tenant_due on ${schema}.webhook_pending (account_id, mode, due_at nulls first, id)`,
    claimDeliveries(schema),
    withoutSorts(schema),
  ],
}
