/**
 * The name of the Postgres schema that holds all tables and functions of Billwright.
 */
import { Schema } from "effect"

/** The schema when the host names none. */
export const DEFAULT_SCHEMA = "billwright"

/**
 * A name without quotes: a lower-case letter or `_`, then up to 62 lower-case letters, digits or `_`. It becomes part
 * of SQL text, so no other character is allowed.
 */
export const SchemaName = Schema.String.check(
  Schema.isPattern(/^[a-z_][a-z0-9_]{0,62}$/, {
    message: "must be a lower-case letter or _, followed by at most 62 lower-case letters, digits or _",
  }),
  Schema.makeFilter((name: string) => !name.startsWith("pg_"), {
    message: "must not start with pg_: such names are reserved for Postgres",
  }),
).pipe(Schema.brand("SchemaName"))
export type SchemaName = typeof SchemaName.Type

/** Checks a name. Throws if it is invalid, because that is a mistake in the program. */
export const make = (name: string = DEFAULT_SCHEMA): SchemaName => SchemaName.make(name)
