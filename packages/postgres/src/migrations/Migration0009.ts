/**
 * Results are written to rows that are found by their first key: databases of before have a function that compares with a
 * key from both sides, which reads half the index for each row before Postgres 18.
 */
import { settleDeliveries } from "./DeliveryFunctions.ts"
import type { Migration } from "./Migration.ts"
import { withoutSorts } from "./Migration0008.ts"

export const migration0009: Migration = {
  id: 9,
  name: "settling_by_first_key",
  minReader: 2,
  statements: (schema) => [settleDeliveries(schema), withoutSorts(schema)],
}
