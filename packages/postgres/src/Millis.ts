/**
 * Instants between SQL and its callers: milliseconds since 1970, the same for every client, whatever it makes of
 * timestamps and int8.
 */
import type { DateTime } from "effect"

/** The SQL for the milliseconds of an instant. */
export const millis = (expression: string): string => `(extract(epoch from ${expression}) * 1000)::bigint`

/** The same as text, which no client rounds. */
export const millisText = (expression: string): string => `${millis(expression)}::text`

/** The SQL for the instant of milliseconds. */
export const instantOf = (expression: string): string => `to_timestamp(${expression} / 1000.0::float8)`

/** A column of an instant, selected as the milliseconds that `Row.instant` reads: `t.created_at` as `created_at`. */
export const millisColumn = (column: string): string =>
  `${millisText(column)} as ${column.slice(column.indexOf(".") + 1)}`

/** An instant as the parameter that `to_timestamp(…::float8 / 1000)` takes. */
export const millisOf = (at: DateTime.Utc | null): string | null =>
  at === null ? null : String(at.epochMilliseconds)
