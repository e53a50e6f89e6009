/**
 * Array literals of Postgres: `{1,2,NULL}`.
 *
 * A store sends an array as one text parameter. Every driver sends text the same way, and it costs little.
 */

/** For values that never need quotes (numbers, booleans and UUIDs), and for elements. */
export const plain = (values: ReadonlyArray<string | number | boolean | null>): string => {
  let literal = "{"
  for (let i = 0; i < values.length; i++) {
    if (i > 0) literal += ","
    literal += values[i] ?? "NULL"
  }
  return `${literal}}`
}

/** A text as an element, in quotes. */
export const element = (value: string): string => `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`

/** For text. Every element is quoted. */
export const quoted = (values: ReadonlyArray<string | null>): string => {
  let literal = "{"
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (i > 0) literal += ","
    literal += value === null || value === undefined ? "NULL" : element(value)
  }
  return `${literal}}`
}
