/**
 * Functions look for names without a schema in that of Postgres alone: databases of before have some that look in the
 * path of whoever calls them.
 */
import type { Migration } from "./Migration.ts"
import { fixPaths } from "./SearchPath.ts"

export const migration0012: Migration = {
  id: 12,
  name: "fixed_search_path",
  minReader: 11,
  statements: (schema) => [fixPaths(schema)],
}
