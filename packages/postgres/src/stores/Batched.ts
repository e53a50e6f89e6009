/**
 * Statements for many values at once: what they are asked for, and which rows belong to which value.
 */
import { Id } from "@billwright/core"
import { Option } from "effect"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { integer, type Row } from "../Row.ts"

/** Ids as an array of UUIDs. */
export const uuids = (ids: ReadonlyArray<string>): string => ArrayLiteral.plain(ids.map(Id.toUuid))

/** The values with some ids, in the order of the ids. */
export const inOrderOf = <A extends { readonly id: string }>(
  ids: ReadonlyArray<string>,
  values: ReadonlyArray<A>,
): ReadonlyArray<Option.Option<A>> => {
  const found = new Map(values.map((value) => [value.id, value]))
  return ids.map((id) => Option.fromUndefinedOr(found.get(id)))
}

/** Splits rows by `n`, which counts from 1 what was asked for. */
export const byPlace =
  <A>(count: number, read: (row: Row) => A) =>
  (rows: ReadonlyArray<Row>): ReadonlyArray<ReadonlyArray<A>> => {
    const answers = Array.from({ length: count }, (): Array<A> => [])
    for (const row of rows) answers[integer(row, "n") - 1]!.push(read(row))
    return answers
  }
