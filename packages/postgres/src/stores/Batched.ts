/**
 * Statements for many values at once: what they are asked for, and which rows belong to which value.
 */
import { Id } from "@billwright/core"
import { Option } from "effect"
import { Statement } from "effect/sql"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import { integer, type Row } from "../Row.ts"

/** Ids as an array of UUIDs. */
export const uuids = (ids: ReadonlyArray<string>): string => ArrayLiteral.plain(ids.map(Id.toUuid))

/**
 * The condition that a column is one of some ids. The planner takes an array for ten values. While it has no statistics it
 * then rather reads all rows of the tenant, so a single id is compared by itself.
 */
export const isOneOf = (column: string, ids: ReadonlyArray<string>): Statement.Fragment => {
  const [first] = ids
  return first === undefined || ids.length > 1
    ? Statement.fragment([
        Statement.literal(`${column} = any (`),
        Statement.parameter(uuids(ids)),
        Statement.literal("::text::uuid[])"),
      ])
    : Statement.fragment([
        Statement.literal(`${column} = `),
        Statement.parameter(Id.toUuid(first)),
        Statement.literal("::uuid"),
      ])
}

/** Lists of up to so many values are frequent. For each length there is a text of the statement. */
const FEW_VALUES = 3

/**
 * The end of a `select` of rows from lists of `count` values, which says that there are no more. Otherwise the planner expects ten of
 * them in a plan to keep. With few, a new plan for each call then seems to cost less, but making it takes longer than the
 * work itself. Not for invoices, lines and the like: a plan that was kept while their table was small reads all of it, until
 * Postgres analyzes the table (docs/decisions/0052).
 */
export const atMost = (count: number): Statement.Fragment =>
  Statement.fragment([Statement.literal(count <= FEW_VALUES ? ` limit ${count}` : "")])

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
