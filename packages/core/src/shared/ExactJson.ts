/**
 * JSON whose integers keep every digit: a total of usage may be beyond 2^53, which a double rounds.
 *
 * It needs `JSON.rawJSON` and the source text that revivers get (ECMAScript 2026: Node 22, Chrome 114, Safari 18.4,
 * Firefox 135). `billwright/client` and the dashboard import no package, so that each has a module of its own. The
 * test `scripts/exact-json.test.ts` holds the three to one behaviour.
 */

/** What `JSON.stringify` writes as it is. */
export interface RawJson {
  readonly rawJSON: string
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

// Younger than TypeScript's declarations.
const { parse: parseWith, rawJSON } = JSON as object as {
  readonly parse: (text: string, reviver: Reviver) => unknown
  readonly rawJSON: (text: string) => RawJson
}

const INTEGER = /^-?\d+$/
/** Fewest digits of an integer that a double may not hold: 2^53 has 16. Most texts have none, and need no reviver. */
const LONG_NUMBER = /\d{16}/

const reviverOf =
  (toInteger: (digits: string) => unknown): Reviver =>
  (_key, value, { source = "" }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && INTEGER.test(source)
      ? toInteger(source)
      : value

const asBigInt = reviverOf(BigInt)
const asRawJson = reviverOf(rawJSON)

/** Reads JSON. Integers beyond 2^53 − 1 become `bigint`. Throws a `SyntaxError` when the text is no JSON. */
export const parse = (text: string): unknown =>
  LONG_NUMBER.test(text) ? parseWith(text, asBigInt) : JSON.parse(text)

/** Reads JSON as a value that `JSON.stringify` writes with the same digits again. */
export const parseRaw = (text: string): unknown =>
  LONG_NUMBER.test(text) ? parseWith(text, asRawJson) : JSON.parse(text)

/** An integer as a value that `JSON.stringify` writes with all its digits. */
export const integer = (value: bigint): number | RawJson => {
  const asNumber = Number(value)
  return Number.isSafeInteger(asNumber) ? asNumber : rawJSON(String(value))
}

const write = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? integer(value) : value)

/** Writes JSON, `bigint` as integers. */
export const stringify = (value: unknown): string => JSON.stringify(value, write)
