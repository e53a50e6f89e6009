/**
 * Arrays as Postgres writes them: `{1,2,NULL}`.
 *
 * One text parameter for an array is what every driver sends the same way, and it costs little.
 */

/** Of values that never need quotes: numbers, booleans, UUIDs. */
export const plain = (values: ReadonlyArray<string | number | boolean | null>): string => {
  let literal = "{"
  for (let i = 0; i < values.length; i++) {
    if (i > 0) literal += ","
    literal += values[i] ?? "NULL"
  }
  return `${literal}}`
}

const SPECIAL = /["\\]/
const SPECIALS = /["\\]/g

/** Of text, always quoted. */
export const quoted = (values: ReadonlyArray<string | null>): string => {
  let literal = "{"
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (i > 0) literal += ","
    if (value === null || value === undefined) literal += "NULL"
    else literal += `"${SPECIAL.test(value) ? value.replace(SPECIALS, "\\$&") : value}"`
  }
  return `${literal}}`
}
