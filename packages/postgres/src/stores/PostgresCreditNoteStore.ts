/**
 * `CreditNoteStore` on Postgres.
 */
import {
  CreditNote,
  type CreditNoteFilter,
  CreditNoteStore,
  CurrentTenant,
  ExactJson,
  Id,
  type Page,
  StorageError,
  Transactor,
} from "@billwright/core"
import { Effect, Layer, Option } from "effect"
import { Statement } from "effect/sql"
import { noteXid, XID } from "../CurrentTransaction.ts"
import { Database } from "../Database.ts"
import { millisColumn, millisOf } from "../Millis.ts"
import { clauses, cursorIn, pageOf, shownOf, withinBytes } from "../Paging.ts"
import { decoding, instant, json, type Row, text } from "../Row.ts"
import { customerIdOf, invoiceIdOf } from "./DueRow.ts"
import { amountsRead, amountsWritten } from "./InvoiceRow.ts"

type Stored = CreditNote.CreditNote
type Line = Stored["lines"][number]
type StoredLine = Omit<Line, "amount"> & { readonly amount: string }

const noteFromRow = (row: Row): Stored => {
  const lines = json(row, "lines") as ReadonlyArray<StoredLine>
  return {
    ...(amountsRead(row, "state") as Omit<Stored, "id" | "customerId" | "invoiceId" | "lines" | "createdAt">),
    id: Id.fromUuid(CreditNote.CREDIT_NOTE_ID_PREFIX, text(row, "id")) as Stored["id"],
    customerId: customerIdOf(row),
    invoiceId: invoiceIdOf(row, "invoice_id"),
    lines: lines.map((line) => ({ ...line, amount: BigInt(line.amount) })),
    createdAt: instant(row, "created_at"),
  }
}

const notesFromRows = (rows: ReadonlyArray<Row>): ReadonlyArray<Stored> => rows.map(noteFromRow)

const encoder = new TextEncoder()

const make = Effect.gen(function* () {
  const { read, tables: t, write } = yield* Database
  const transactor = yield* Transactor
  const columns = Statement.fragment([
    Statement.literal(`t.id::text, t.customer_id::text, t.invoice_id::text, t.state::text as state,
  ${millisColumn("t.created_at")}, (
    select json_agg(l.line order by l.position)::text from `),
    ...t.billing_credit_note_lines.segments,
    Statement.literal(` l
    where l.account_id = t.account_id and l.mode = t.mode and l.customer_id = t.customer_id and l.credit_note_id = t.id
  ) as lines`),
  ])

  const insert = Effect.fnUntraced(function* (note: Stored) {
    const operation = "CreditNoteStore.insert"
    const { accountId, mode } = yield* CurrentTenant
    const { createdAt, customerId, id, invoiceId, lines, ...state } = note
    const uuid = Id.toUuid(id)
    const bytes = encoder.encode(ExactJson.stringify(lines)).length
    const rows = yield* write(
      operation,
      (sql) =>
        sql<Row>`insert into ${t.billing_credit_notes}
  (account_id, mode, customer_id, id, invoice_id, state, line_count, lines_bytes, created_at)
select ${accountId}, ${mode}, ${Id.toUuid(customerId)}::uuid, ${uuid}::uuid, ${Id.toUuid(invoiceId)}::uuid,
  ${amountsWritten(state)}::text::jsonb, ${String(lines.length)}::integer, ${String(bytes)}::integer,
  to_timestamp(${millisOf(createdAt)}::float8 / 1000)
where not exists (
  select from ${t.billing_credit_notes} n where n.account_id = ${accountId} and n.mode = ${mode} and n.id = ${uuid}::uuid
)
returning ${XID}`,
    )
    if (rows[0] === undefined) {
      const cause = new Error(`the credit note id ${id} is taken`)
      return yield* new StorageError({ operation, retryable: false, cause })
    }
    yield* noteXid(rows[0]["xid"])
    yield* write(
      operation,
      (sql) =>
        sql<Row>`insert into ${t.billing_credit_note_lines}
  (account_id, mode, customer_id, credit_note_id, invoice_id, position, line_id, amount, line)
select ${accountId}, ${mode}, ${Id.toUuid(customerId)}::uuid, ${uuid}::uuid, ${Id.toUuid(invoiceId)}::uuid, l.n - 1,
  l.line ->> 'lineId', (l.line ->> 'amount')::numeric, l.line
from jsonb_array_elements(${amountsWritten(lines)}::text::jsonb) with ordinality as l (line, n)`,
    )
  })

  const find = Effect.fnUntraced(function* (id: CreditNote.CreditNoteId) {
    const operation = "CreditNoteStore.find"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${columns} from ${t.billing_credit_notes} t
where t.account_id = ${accountId} and t.mode = ${mode} and t.id = ${Id.toUuid(id)}::uuid`,
    )
    return Option.fromUndefinedOr((yield* decoding(operation, notesFromRows)(rows))[0])
  })

  const list = Effect.fnUntraced(function* (filter: CreditNoteFilter, page: Page.PageQuery) {
    const operation = "CreditNoteStore.list"
    const { accountId, mode } = yield* CurrentTenant
    const { customerId, invoiceId } = filter
    const cursor = yield* cursorIn(
      read,
      operation,
      t.billing_credit_notes,
      CreditNote.CREDIT_NOTE_ID_PREFIX,
      page,
    )
    const { limit, order, position } = clauses(page, cursor)
    const rows = yield* read(operation, (sql) => {
      const conditions = [
        ...(customerId === undefined ? [] : [sql`t.customer_id = ${Id.toUuid(customerId)}::uuid`]),
        ...(invoiceId === undefined ? [] : [sql`t.invoice_id = ${Id.toUuid(invoiceId)}::uuid`]),
        position,
      ]
      const found = withinBytes(
        sql`select t.* from ${t.billing_credit_notes} t
where t.account_id = ${accountId} and t.mode = ${mode} and ${sql.and(conditions)} order by ${order} limit ${limit}`,
        "t.lines_bytes",
        order,
      )
      return sql<Row>`select ${columns}, t.is_shown::text as is_shown from ${found} as t order by ${order}`
    })
    const shown = shownOf(rows)
    const notes = yield* decoding(operation, notesFromRows)(rows)
    return pageOf({ ...page, limit: Math.min(page.limit, shown.length) }, notes)
  })

  const ofInvoice = Effect.fnUntraced(function* (id: Stored["invoiceId"]) {
    const operation = "CreditNoteStore.ofInvoice"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select ${columns} from ${t.billing_credit_notes} t join ${t.billing_invoices} i
  on i.account_id = t.account_id and i.mode = t.mode and i.customer_id = t.customer_id and i.id = t.invoice_id
where i.account_id = ${accountId} and i.mode = ${mode} and i.id = ${Id.toUuid(id)}::uuid
order by t.id limit ${String(CreditNote.MAX_CREDIT_NOTES)}::integer`,
    )
    return yield* decoding(operation, notesFromRows)(rows)
  })

  return CreditNoteStore.of({
    insert: (note) => transactor.atomically(insert(note)),
    find,
    list,
    ofInvoice,
  })
})

export const layer: Layer.Layer<CreditNoteStore, never, Database | Transactor> = Layer.effect(
  CreditNoteStore,
  make,
)
