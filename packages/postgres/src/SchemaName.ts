/**
 * The name of the Postgres schema that holds everything of ours.
 */
import { Schema } from "effect"

/** The schema when the host doesn't say. */
export const DEFAULT_SCHEMA = "billwright"

/**
 * A name that needs no quoting and cannot hold any: a lower-case letter or `_`, then up to 62 lower-case
 * letters, digits or `_`. It becomes part of SQL text, so nothing else is let through.
 */
export const SchemaName = Schema.String.check(
  Schema.isPattern(/^[a-z_][a-z0-9_]{0,62}$/, {
    message: "must be a lower-case letter or _, followed by at most 62 lower-case letters, digits or _",
  }),
  Schema.makeFilter((name: string) => !name.startsWith("pg_"), {
    message: "must not start with pg_: Postgres keeps such names for itself",
  }),
).pipe(Schema.brand("SchemaName"))
export type SchemaName = typeof SchemaName.Type

/** Checks a name, and throws when it is none: a wrong name is a mistake of the program. */
export const make = (name: string = DEFAULT_SCHEMA): SchemaName => SchemaName.make(name)
