/**
 * JSON whose integers stay exact: totals may exceed 2^53, where `JSON.parse` alone gives a neighbour.
 */

// Not in TypeScript's library yet, but in Node since 21: the text of a number as it stands in the document.
interface SourceText {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}
const json = JSON as unknown as SourceText

/** Reads a document; the fields named are `bigint`s. */
export const parseExactly = (text: string, integers: ReadonlySet<string>): unknown =>
  json.parse(text, (key, value, { source }) =>
    integers.has(key) && typeof value === "number" && source !== undefined ? BigInt(source) : value,
  )

/** Writes a document; `bigint`s are numbers. */
export const stringifyExactly = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, item: unknown) => (typeof item === "bigint" ? json.rawJSON(String(item)) : item),
    2,
  )
