/**
 * What claims, settles and cancels finds its rows by the index that is meant for it: databases of before have functions
 * that went through another one from end to end, when their plans were made while the queue was empty. And large batches
 * of usage are inserted without a look for conflicts first.
 */
import type { SchemaName } from "../SchemaName.ts"
import { claimDeliveries } from "./ClaimFunction.ts"
import { cancelDeliveries, settleDeliveries } from "./DeliveryFunctions.ts"
import type { Migration } from "./Migration.ts"
import { appendUsage } from "./Migration0002.ts"

/**
 * By an index that has the rows in the order that is asked for. Postgres before 18 says of a sort that can't be avoided
 * that it costs more than anything, beside which it sees no difference between plans: there it is left alone.
 */
export const withoutSorts = (schema: SchemaName): string => `do $$
declare
  v_function regprocedure;
begin
  if current_setting('server_version_num')::integer < 180000 then return; end if;
  for v_function in
    select p.oid::regprocedure from pg_proc p
    where p.pronamespace = '${schema}'::regnamespace
      and p.proname in ('claim_deliveries', 'settle_deliveries', 'cancel_deliveries')
  loop
    execute format('alter function %s set enable_sort = off', v_function);
    execute format('alter function %s set enable_incremental_sort = off', v_function);
  end loop;
end
$$`

export const migration0008: Migration = {
  id: 8,
  name: "functions_anew",
  minReader: 2,
  statements: (schema) => [
    claimDeliveries(schema),
    settleDeliveries(schema),
    cancelDeliveries(schema),
    appendUsage(schema),
    withoutSorts(schema),
  ],
}
