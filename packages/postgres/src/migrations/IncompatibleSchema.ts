/**
 * A schema that this release can't work with.
 */
import { Schema } from "effect"
import { DEFAULT_SCHEMA } from "../SchemaName.ts"

/**
 * The schema in the database is not one that this release can work with: it is missing or too old (migrate it),
 * or it was migrated by a newer release in a way that breaks this one (upgrade this one), or it is somebody else's.
 */
export class IncompatibleSchema extends Schema.TaggedError<IncompatibleSchema>()("IncompatibleSchema", {
  schema: Schema.String,
  /** Migrations that the database has. 0: none. */
  found: Schema.Int,
  /** Migrations that this release knows. */
  known: Schema.Int,
  /** Migrations that a release must know to work with the database. */
  minReader: Schema.Int,
  /** Functions that an older release wrote, and that are different in this one. */
  outdated: Schema.Array(Schema.String),
  /** Tables of somebody else's that are in it, a few, where none are Billwright's. */
  foreign: Schema.Array(Schema.String),
}) {
  override get message(): string {
    const { foreign, found, known, minReader, schema } = this
    if (foreign.length > 0) {
      return `the schema "${schema}" holds tables of somebody else's (${foreign.join(", ")}), and Billwright puts its own nowhere beside others: name a schema for it alone, such as "${DEFAULT_SCHEMA}"`
    }
    if (minReader > known) {
      return `the schema "${schema}" was migrated by a newer release of Billwright (${found}), which needs releases that know migration ${minReader}; this one knows ${known}. Upgrade this process`
    }
    const run = `npx @billwright/cli migrate --store postgres --schema ${schema}`
    return `the schema "${schema}" ${problemOf(this)}. Run \`${run}\` (or with \`--store embedded\`)`
  }
}

const problemOf = ({ found, known, outdated }: IncompatibleSchema): string => {
  if (found === 0) return "has no tables of Billwright yet"
  if (found < known) return `has migration ${found}, and this release needs ${known}`
  return `has functions of an older release (${outdated.join(", ")})`
}
