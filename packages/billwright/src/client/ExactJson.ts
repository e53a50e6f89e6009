/**
 * JSON with exact integers. An integer beyond 2^53 − 1 is a `bigint`, both when reading and when writing.
 *
 * It needs `JSON.rawJSON` and the reviver's `context.source` (ECMAScript 2026: Node 22, Chrome 114, Safari 18.4,
 * Firefox 135). On other runtimes, large integers are read as doubles, and writing one throws.
 */

const INTEGER = /^-?\d+$/
/** An integer with fewer digits than these always fits into a double. */
const LONG_NUMBER = /\d{16}/

const { rawJSON } = JSON as unknown as { readonly rawJSON?: (text: string) => unknown }

const revive = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && INTEGER.test(context?.source ?? "")
    ? BigInt(context!.source!)
    : value

/** Throws a `SyntaxError` when the text is not JSON. */
export const parse = (text: string): unknown =>
  LONG_NUMBER.test(text)
    ? JSON.parse(text, revive as (key: string, value: unknown) => unknown)
    : JSON.parse(text)

const exact = (_key: string, value: unknown): unknown => {
  if (typeof value !== "bigint") return value
  const asNumber = Number(value)
  if (Number.isSafeInteger(asNumber)) return asNumber
  if (rawJSON === undefined)
    throw new TypeError(`this runtime can't write ${value} as JSON: it lacks JSON.rawJSON`)
  return rawJSON(String(value))
}

export const stringify = (value: unknown): string => JSON.stringify(value, exact)
