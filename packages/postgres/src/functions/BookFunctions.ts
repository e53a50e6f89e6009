/**
 * Figures of the books that are asked for an instant.
 */
import { define } from "./SqlFunction.ts"

export const deferredRevenue = define(
  "deferred_revenue",
  (schema) => `(p_as_of timestamptz) returns table (
  account_id text, mode text, customer_id uuid, currency text, amount numeric
) language sql stable as $$
  select j.account_id, j.mode, j.customer_id, j.currency, -sum(j.amount)
  from ${schema}.journal_schedule j
  where j.account = 'contract_liability' and j.day <= (p_as_of at time zone 'UTC')::date
  group by j.account_id, j.mode, j.customer_id, j.currency
  having sum(j.amount) <> 0
$$`,
  {
    comment:
      "What customers had with you at the end of the UTC day of an instant: what was billed and not served yet, and credits.",
  },
)
