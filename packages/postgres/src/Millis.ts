/**
 * Instants between SQL and its callers: milliseconds since 1970, the same for every client, whatever it makes of
 * timestamps and int8.
 */

/** The SQL for the milliseconds of an instant. */
export const millis = (expression: string): string => `(extract(epoch from ${expression}) * 1000)::bigint`

/** The same as text, which no client rounds. */
export const millisText = (expression: string): string => `${millis(expression)}::text`

/** The SQL for the instant of milliseconds. */
export const instantOf = (expression: string): string => `to_timestamp(${expression} / 1000.0::float8)`
