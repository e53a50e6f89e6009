/**
 * The values of endpoints' headers are sealed, as secrets are. Those that are there become `plain.<value>`, which is how a value
 * without encryption is written. `rotate-encryption` encrypts them.
 *
 * This file is frozen: a test compares a digest of its statements.
 */
import type { SchemaName } from "../SchemaName.ts"
import type { Migration } from "./Migration.ts"

export const migration0052: Migration = {
  id: 52,
  name: "sealed_headers",
  // A process of an older release would send sealed values as they are.
  minReader: 52,
  statements: (schema: SchemaName) => [
    `update ${schema}.webhook_endpoints w set headers = (
  select jsonb_object_agg(h.name, 'plain.' || h.value) from jsonb_each_text(w.headers) as h (name, value)
) where w.headers <> '{}'`,
    `comment on column ${schema}.webhook_endpoints.headers is
  'The values are encrypted, by the name of the header. A deleted endpoint has none.'`,
  ],
}
