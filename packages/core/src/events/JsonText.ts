/**
 * Compares JSON texts by their values.
 */

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

// TypeScript's declaration lacks the third parameter, which is new in ECMAScript 2026. It holds the digits of a number;
// a double would round them.
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Whether two JSON texts have equal values. The order of fields and the spelling of numbers don't matter. */
export const isSameJson = (a: string, b: string): boolean => a === b || canonical(a) === canonical(b)

/** The same text for all JSON texts of a value. `parse` visits leaves first, so the children of a node are canonical. */
const canonical = (text: string): unknown =>
  parse(text, (_key, value, { source }) => {
    if (typeof value === "number") return decimal(source ?? String(value))
    if (typeof value !== "object" || value === null) return JSON.stringify(value)
    if (Array.isArray(value)) return `[${value.join()}]`
    const fields = Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1))
    return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${String(field)}`).join()}}`
  })

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** A number as its digits without zeros at either end, and a power of ten. */
const decimal = (source: string): string => {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER.exec(source) ?? []
  const digits = (whole + fraction).replace(/^0+/, "")
  const integer = digits.slice(0, endOf(digits))
  if (integer === "") return "0"
  return `${sign}${integer}e${Number(exponent) - fraction.length + digits.length - integer.length}`
}

/** Where the trailing zeros begin. A loop takes linear time, while `/0+$/` can take quadratic time. */
const endOf = (digits: string): number => {
  let end = digits.length
  while (end > 0 && digits[end - 1] === "0") end--
  return end
}
