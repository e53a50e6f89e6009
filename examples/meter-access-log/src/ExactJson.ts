/**
 * JSON with exact integers. Totals may exceed 2^53, where `JSON.parse` alone would round them.
 */

// The text of a number in the document. Node has it since 21, but TypeScript's library doesn't have it yet.
interface SourceText {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}
const json = JSON as unknown as SourceText

/** Reads a document. The named fields are `bigint`s. */
export const parseExactly = (text: string, integers: ReadonlySet<string>): unknown =>
  json.parse(text, (key, value, { source }) =>
    integers.has(key) && typeof value === "number" && source !== undefined ? BigInt(source) : value,
  )

/** Writes a document. `bigint`s are written as numbers. */
export const stringifyExactly = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, item: unknown) => (typeof item === "bigint" ? json.rawJSON(String(item)) : item),
    2,
  )
