/**
 * Cells of meters as rows.
 */
import { type Aggregation, Id, type RollupValues, UsageRecord } from "@billwright/core"
import type { SqlClient, Statement } from "effect/sql"
import { millisText } from "../Millis.ts"
import { bigint, integer, json, type Row, text, textOrNull } from "../Row.ts"

/** The columns of a state that `stateFromRow` reads, with an optional prefix for their names. */
export const stateColumns = (sql: SqlClient.SqlClient, alias: string, prefix = ""): Statement.Fragment =>
  sql.literal(
    [
      ["record_count", `${alias}.record_count::text`],
      ["quantity", `${alias}.quantity::text`],
      ["first_at", millisText(`${alias}.first_at`)],
      ["last_at", millisText(`${alias}.last_at`)],
      ["last_key", `${alias}.last_key`],
      ["last_id", `${alias}.last_id::text`],
      ["last_quantity", `${alias}.last_quantity::text`],
    ]
      .map(([name, expression]) => `${expression} as ${prefix}${name}`)
      .join(", "),
  )

export const stateFromRow = (row: Row, prefix = ""): Aggregation.State => {
  const column = (name: string): string => `${prefix}${name}`
  const isNull = (name: string): boolean => textOrNull(row, column(name)) === null
  return {
    recordCount: isNull("record_count") ? 0 : integer(row, column("record_count")),
    quantity: isNull("quantity") ? 0n : bigint(row, column("quantity")),
    first: isNull("first_at") ? null : integer(row, column("first_at")),
    last: isNull("last_at")
      ? null
      : {
          timestamp: integer(row, column("last_at")),
          quantity: integer(row, column("last_quantity")),
          idempotencyKey: textOrNull(row, column("last_key")),
          id: Id.fromUuid(UsageRecord.USAGE_RECORD_ID_PREFIX, text(row, column("last_id"))),
        },
  }
}

export const cellFromRow = (row: Row): RollupValues.Cell => ({
  combination: json(row, "combination") as ReadonlyArray<string | null>,
  state: stateFromRow(row),
})
