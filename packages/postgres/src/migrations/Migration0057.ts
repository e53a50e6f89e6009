/**
 * `claim_deliveries` takes the instant from which on it looks for due deliveries. Older processes don't give it.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0057: Migration = {
  id: 57,
  name: "claims_from_an_instant",
  minReader: 56,
  statements: (schema: SchemaName) => [
    `drop function if exists ${schema}.claim_deliveries(bigint, bigint, uuid, integer, integer, uuid[], integer[], text[],
  text[], integer[], uuid, text, text, boolean)`,
  ],
}
