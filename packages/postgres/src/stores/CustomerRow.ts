/**
 * Customers as rows.
 */
import { Customer, Id, type Metadata } from "@billwright/core"
import { Statement } from "effect/sql"
import { millisColumn } from "../Millis.ts"
import { instant, json, type Row, text } from "../Row.ts"

/** The columns that `fromRow` reads. */
export const columns = Statement.fragment([
  Statement.literal(
    `id::text, name, email, metadata::text as metadata,
  ${millisColumn("created_at")},
  ${millisColumn("updated_at")}`,
  ),
])

export const fromRow = (row: Row): Customer.Customer => ({
  id: Id.fromUuid(Customer.CUSTOMER_ID_PREFIX, text(row, "id")) as Customer.CustomerId,
  name: text(row, "name"),
  email: text(row, "email"),
  metadata: json(row, "metadata") as Metadata.Metadata,
  createdAt: instant(row, "created_at"),
  updatedAt: instant(row, "updated_at"),
})
