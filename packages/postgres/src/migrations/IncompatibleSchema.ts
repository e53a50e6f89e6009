/**
 * The error for a schema that this release can't work with.
 */
import { Schema } from "effect"
import { DEFAULT_SCHEMA } from "../SchemaName.ts"

/**
 * This release can't work with the schema in the database. It is missing or too old (run the migrations), a newer
 * release has migrated it in a way that breaks this one (upgrade this process), a pre-release made it (drop it), or it
 * contains other tables.
 */
export class IncompatibleSchema extends Schema.TaggedError<IncompatibleSchema>()("IncompatibleSchema", {
  schema: Schema.String,
  /** How many migrations the database has. 0: none. */
  found: Schema.Int,
  /** How many migrations this release knows. */
  known: Schema.Int,
  /** How many migrations a release must know to work with the database. */
  minReader: Schema.Int,
  /** The functions that an older release wrote and that differ in this one. */
  outdated: Schema.Array(Schema.String),
  /** Whether a pre-release made it, whose migrations were replaced before the first release. */
  isOfPreRelease: Schema.Boolean,
  /** A few of the other tables in the schema, if it has none of Billwright's. */
  foreign: Schema.Array(Schema.String),
}) {
  override get message(): string {
    const { foreign, found, isOfPreRelease, known, minReader, schema } = this
    if (foreign.length > 0) {
      return `the schema "${schema}" has tables that are not Billwright's (${foreign.join(", ")}). Billwright needs a schema of its own: name another one, such as "${DEFAULT_SCHEMA}"`
    }
    if (isOfPreRelease) {
      return `the schema "${schema}" was made by a pre-release of Billwright, whose migrations were replaced before the first release, so it can't be migrated. Use a schema of another name, or drop it if you don't need its data: drop schema "${schema}" cascade`
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
