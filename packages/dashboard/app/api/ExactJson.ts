/**
 * JSON with exact integers. `JSON.parse` rounds integers beyond 2^53, and a total of usage may be larger.
 */

interface ReviverContext {
  /** The text of the number. Browsers from before 2025 may not have it. */
  readonly source?: string
}

/** Only a text with this many digits in a row can have an integer beyond 2^53. */
const MAY_BE_LARGE = /\d{16}/

const keepInteger = (_key: string, value: unknown, context?: ReviverContext): unknown => {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value
}

/** Parses a text. Integers beyond 2^53 become `bigint`, all other numbers `number`. */
export const parse = (text: string): unknown =>
  MAY_BE_LARGE.test(text)
    ? (JSON.parse as (text: string, reviver: typeof keepInteger) => unknown)(text, keepInteger)
    : JSON.parse(text)

const entries = (value: object, write: (item: unknown) => string, colon: string): ReadonlyArray<string> =>
  Array.isArray(value)
    ? value.map(write)
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}${colon}${write(item)}`)

const writeAt = (value: unknown, step: string, indent: string): string => {
  if (typeof value === "bigint") return String(value)
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"]
  const inner = indent + step
  const items = entries(value, (item) => writeAt(item, step, inner), step === "" ? ":" : ": ")
  if (items.length === 0) return open + close
  if (step === "") return open + items.join(",") + close
  return `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`
}

/** Writes a value of `parse`, on one line or indented by two spaces. */
export const stringify = (value: unknown, layout: "line" | "indented" = "line"): string =>
  writeAt(value, layout === "line" ? "" : "  ", "")
