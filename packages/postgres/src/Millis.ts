/**
 * Instants as milliseconds since 1970, between SQL and the stores. Clients of Postgres differ in how they return
 * timestamps and int8, so every instant is passed this way.
 */
import type { DateTime } from "effect"

/** The SQL for an instant's milliseconds. */
export const millis = (expression: string): string => `(extract(epoch from ${expression}) * 1000)::bigint`

/** The same as text, which no client rounds. */
export const millisText = (expression: string): string => `${millis(expression)}::text`

/** The SQL for the instant at a number of milliseconds. */
export const instantOf = (expression: string): string => `to_timestamp(${expression} / 1000.0::float8)`

/** Selects the column of an instant as the milliseconds that `Row.instant` reads: `t.created_at` as `created_at`. */
export const millisColumn = (column: string): string =>
  `${millisText(column)} as ${column.slice(column.indexOf(".") + 1)}`

/** An instant as the parameter of `to_timestamp(…::float8 / 1000)`. */
export const millisOf = (at: DateTime.Utc | null): string | null =>
  at === null ? null : String(at.epochMilliseconds)
