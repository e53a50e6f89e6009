/**
 * `publish_event` refuses instants that don't exist: databases of before have one that takes them.
 */
import type { Migration } from "./Migration.ts"
import { isImpossibleInstant, publishEventFunction } from "./PublishEventFunction.ts"

export const migration0010: Migration = {
  id: 10,
  name: "instants_that_exist",
  minReader: 2,
  statements: (schema) => [isImpossibleInstant(schema), publishEventFunction(schema)],
}
