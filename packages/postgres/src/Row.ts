/**
 * Reading rows.
 *
 * Every column is selected as text (`::text`), because drivers parse numbers, instants and JSON differently, and
 * hosts configure that. An unreadable row throws, and the store turns that into a `StorageError`.
 */
import { StorageError } from "@billwright/core"
import { DateTime, Effect } from "effect"

export type Row = Readonly<Record<string, unknown>>

const broken = (row: Row, column: string): never => {
  throw new TypeError(`the column ${column} cannot be read: it is a ${typeof row[column]}`)
}

export const text = (row: Row, column: string): string => {
  const value = row[column]
  if (typeof value === "string") return value
  return typeof value === "number" || typeof value === "bigint" ? String(value) : broken(row, column)
}

export const textOrNull = (row: Row, column: string): string | null =>
  row[column] === null || row[column] === undefined ? null : text(row, column)

export const bigint = (row: Row, column: string): bigint => BigInt(text(row, column))

export const integer = (row: Row, column: string): number => {
  const value = Number(text(row, column))
  return Number.isSafeInteger(value) ? value : broken(row, column)
}

export const integerOrNull = (row: Row, column: string): number | null =>
  row[column] === null || row[column] === undefined ? null : integer(row, column)

/** An instant that was selected by `millis`. */
export const instant = (row: Row, column: string): DateTime.Utc => DateTime.makeUnsafe(integer(row, column))

export const instantOrNull = (row: Row, column: string): DateTime.Utc | null =>
  row[column] === null || row[column] === undefined ? null : instant(row, column)

/** An array of booleans, which was selected as text. */
export const booleans = (row: Row, column: string): ReadonlyArray<boolean> =>
  text(row, column)
    .slice(1, -1)
    .split(",")
    .map((value) => value === "t")

export const json = (row: Row, column: string): unknown => {
  const value = row[column]
  // Some drivers parse JSON, and can't be told otherwise in a query.
  return typeof value === "string" ? JSON.parse(value) : value
}

/** How many large rows are decoded before other fibers of the process have a turn. */
const LARGE_ROWS = 8

/** Decodes large rows, some at a time, so that a long page doesn't hold up everything else in the process. */
export const decodingLarge = <A>(operation: string, decode: (row: Row) => A) => {
  const some = decoding(operation, (rows: ReadonlyArray<Row>) => rows.map(decode))
  return Effect.fnUntraced(function* (
    rows: ReadonlyArray<Row>,
  ): Effect.fn.Return<ReadonlyArray<A>, StorageError> {
    const all: Array<A> = []
    for (let from = 0; from < rows.length; from += LARGE_ROWS) {
      if (from > 0) yield* Effect.yieldNow
      all.push(...(yield* some(rows.slice(from, from + LARGE_ROWS))))
    }
    return all
  })
}

/** Decodes rows. Turns an unreadable row into a `StorageError` that names the operation. */
export const decoding = <A, B>(
  operation: string,
  decode: (value: A) => B,
): ((value: A) => Effect.Effect<B, StorageError>) => {
  return (value) =>
    Effect.try({
      try: () => decode(value),
      // A parser's message quotes what it could not parse, and that must not reach a log.
      catch: (cause) =>
        new StorageError({
          operation,
          retryable: false,
          cause: cause instanceof SyntaxError ? new SyntaxError("a column holds no JSON") : cause,
        }),
    })
}
