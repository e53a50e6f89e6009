/**
 * JSON texts that say the same.
 */

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

// The context is younger than TypeScript's declaration (ECMAScript 2026). It holds the digits of a number, which
// a double would round.
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Whether two JSON texts are equal as values: the order of fields and the spelling of numbers say nothing. */
export const isSameJson = (a: string, b: string): boolean => a === b || canonical(a) === canonical(b)

/** One text for all texts of a value. It is built from the leaves on: what a node holds is canonical already. */
const canonical = (text: string): unknown =>
  parse(text, (_key, value, { source }) => {
    if (typeof value === "number") return decimal(source ?? String(value))
    if (typeof value !== "object" || value === null) return JSON.stringify(value)
    if (Array.isArray(value)) return `[${value.join()}]`
    const fields = Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1))
    return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${String(field)}`).join()}}`
  })

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** A number as an integer without zeros at either end, and its power of ten. */
const decimal = (source: string): string => {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER.exec(source) ?? []
  const digits = (whole + fraction).replace(/^0+/, "")
  const integer = digits.slice(0, endOf(digits))
  if (integer === "") return "0"
  return `${sign}${integer}e${Number(exponent) - fraction.length + digits.length - integer.length}`
}

/** Where the zeros begin that digits end with. Each is looked at once: `/0+$/` begins anew at each zero of all. */
const endOf = (digits: string): number => {
  let end = digits.length
  while (end > 0 && digits[end - 1] === "0") end--
  return end
}
