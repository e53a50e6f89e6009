/**
 * JSON text that is the same for equal values (RFC 8785): fields are sorted, and there is no white space.
 */

/** Compares by UTF-16 code units, as RFC 8785 does. */
const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

/**
 * The canonical JSON of a value that consists of plain objects, arrays, strings, numbers, booleans and `null`. Fields
 * that are `undefined` are left out. Throws a `RangeError` for a number that JSON has no text for.
 */
export const canonicalJson = (value: unknown): string => {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new RangeError(`JSON has no text for ${value}`)
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(byName)
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(",")}}`
}
