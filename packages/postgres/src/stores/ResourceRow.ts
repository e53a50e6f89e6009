/**
 * Resources as rows: a column for each field, named in snake case. The kind of the field's values decides its type.
 */
import { type Field, Id, Resource } from "@billwright/core"
import type { DateTime } from "effect"
import { Statement } from "effect/sql"
import { millisColumn } from "../Millis.ts"
import { bigint, instant, json, type Row, text } from "../Row.ts"

/** How the fields of a kind are selected, read and written. */
interface Column {
  readonly select: (column: string) => string
  readonly read: (row: Row, column: string, prefix: string) => unknown
  /** Turns a value into the text of a parameter. */
  readonly write: (value: never) => string
  readonly cast: string
}

const asText = (column: string): string => `${column}::text as ${column}`

const COLUMNS: Readonly<Record<Field.FieldKind, Column>> = {
  text: { select: asText, read: text, write: (value: string) => value, cast: "?::text" },
  id: {
    select: asText,
    read: (row, column, prefix) => Id.fromUuid(prefix, text(row, column)),
    write: (value: string) => Id.toUuid(value),
    cast: "?::uuid",
  },
  integer: { select: asText, read: bigint, write: (value: bigint) => String(value), cast: "?::numeric" },
  instant: {
    select: millisColumn,
    read: instant,
    write: (value: DateTime.Utc) => String(value.epochMilliseconds),
    cast: "to_timestamp(?::float8 / 1000)",
  },
  json: {
    select: asText,
    read: json,
    write: (value: object) => JSON.stringify(value),
    cast: "?::text::jsonb",
  },
}

const columnName = (name: string): string =>
  name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

/** Values and rows of a resource. */
export interface Rows<A> {
  /** The columns that `fromRow` reads, for the select list. */
  readonly columns: Statement.Fragment
  /** The same columns for rows with `is_shown`. In the rows that are not shown, JSON is `null`. */
  readonly shownColumns: Statement.Fragment
  /** How many bytes of JSON a row has; `undefined` if the resource has no fields of JSON. */
  readonly jsonSize: string | undefined
  readonly fromRow: (row: Row) => A
  /** The names of all columns except those of the key, and their values in the same order. */
  readonly names: ReadonlyArray<string>
  readonly valuesOf: (value: A) => ReadonlyArray<Statement.Fragment>
  /** The names of the columns that become null when the value is removed. */
  readonly emptied: ReadonlyArray<string>
  /** The column of a field, and a value for it. */
  readonly parameter: (
    field: string,
    value: unknown,
  ) => {
    readonly column: string
    readonly value: Statement.Fragment
    /** The value as text, and the cast of such a text, which takes the place of `?`. */
    readonly text: string | null
    readonly cast: string
  }
}

const parameter = ({ cast, write }: Column, value: unknown): Statement.Fragment => {
  const [before = "", after = ""] = cast.split("?")
  return Statement.fragment([
    Statement.literal(before),
    Statement.parameter(value === null ? null : write(value as never)),
    Statement.literal(after),
  ])
}

/** The column for the text that is searched. */
const SEARCH_TEXT = "search_text"

export const make = <A extends object>(resource: Resource.Definition): Rows<A> => {
  const { fields, id, prefix, searched, times } = resource
  const all: Field.Fields = {
    id: { schema: id, kind: "id", isNullable: false, description: "", prefix },
    ...fields,
    ...times,
  }
  const columns = Object.entries(all).map(([name, field]) => ({
    name,
    field,
    column: columnName(name),
    of: COLUMNS[field.kind],
  }))
  const written = columns.filter(({ name }) => name !== "id")
  const search = searched === undefined ? [] : [SEARCH_TEXT]
  const byName = new Map(columns.map((column) => [column.name, column]))
  const select = (selected: ReadonlyArray<string>) =>
    Statement.fragment([Statement.literal(selected.join(", "))])
  const json = Resource.jsonFields(resource).map(
    (name) => `coalesce(octet_length(t.${columnName(name)}::text), 0)`,
  )
  return {
    columns: select(columns.map(({ column, of }) => of.select(column))),
    shownColumns: select(
      columns.map(({ column, field, of }) =>
        field.kind === "json"
          ? `case when t.is_shown then t.${column}::text else 'null' end as ${column}`
          : of.select(column),
      ),
    ),
    jsonSize: json.length === 0 ? undefined : json.join(" + "),
    fromRow: (row) =>
      Object.fromEntries(
        columns.map(({ column, field, name, of }) => [
          name,
          field.isNullable && (row[column] === null || row[column] === undefined)
            ? null
            : of.read(row, column, field.prefix ?? prefix),
        ]),
      ) as A,
    names: [...written.map(({ column }) => column), ...search],
    valuesOf: (value) => [
      ...written.map(({ name, of }) => parameter(of, value[name as keyof A])),
      ...search.map(() => parameter(COLUMNS.text, Resource.searchText(resource, value))),
    ],
    emptied: [...Object.keys(fields).map(columnName), ...search],
    parameter: (name, value) => {
      const found = byName.get(name)
      if (found === undefined) throw new TypeError(`the resource has no field ${name}`)
      return {
        column: found.column,
        value: parameter(found.of, value),
        text: value === null ? null : found.of.write(value as never),
        cast: found.of.cast,
      }
    },
  }
}
