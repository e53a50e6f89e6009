/**
 * Credit notes of invoices.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * The tables are internal. Hosts read the view `credit_notes`, whose columns stay. As with invoices, a row has its value
 * as JSON, and generated columns for what is searched, summed and checked. Triggers refuse what no code may do: see
 * `CreditNoteRules.ts`.
 */
import type { SchemaName } from "../SchemaName.ts"
import { creditNoteRules } from "./CreditNoteRules.ts"
import type { Migration } from "./Migration.ts"

const accountAndMode = `account_id text collate "C" not null check (account_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  mode text collate "C" not null check (mode in ('live', 'test'))`

const amount = (name: string, field: string, rest = ""): string =>
  `${name} numeric(38, 0) generated always as ((state ->> '${field}')::numeric) stored not null${rest}`

const word = (name: string, field: string): string =>
  `${name} text collate "C" generated always as (state ->> '${field}') stored not null`

const tables = (schema: SchemaName): ReadonlyArray<string> => [
  `create table ${schema}.billing_credit_notes (
  ${accountAndMode},
  customer_id uuid not null,
  id uuid not null,
  invoice_id uuid not null,
  state jsonb not null check (jsonb_typeof(state) = 'object' and not state ? 'lines'),
  line_count integer not null check (line_count >= 1),
  lines_bytes integer not null check (lines_bytes >= 2),
  created_at timestamptz(3) not null check (isfinite(created_at)),
  ${word("number", "number")},
  ${word("currency", "currency")},
  ${word("reason", "reason")},
  ${amount("net", "net")},
  ${amount("tax", "tax")},
  ${amount("total", "total", " check (total > 0)")},
  ${amount("waived", "waived", " check (waived >= 0)")},
  ${amount("refund", "refund", " check (refund >= 0)")},
  ${amount("to_balance", "toBalance", " check (to_balance >= 0)")},
  issued_at timestamptz(3) generated always as (to_timestamp((state ->> 'issuedAt')::float8 / 1000)) stored not null,
  primary key (account_id, mode, customer_id, id),
  constraint billing_credit_notes_invoice foreign key (account_id, mode, customer_id, invoice_id)
    references ${schema}.billing_invoices
)`,
  `comment on column ${schema}.billing_credit_notes.lines_bytes is 'The bytes of the lines as JSON, for the size of a page.'`,
  `create unique index billing_credit_notes_number on ${schema}.billing_credit_notes (account_id, mode, number)`,
  `create index billing_credit_notes_of_invoice
  on ${schema}.billing_credit_notes (account_id, mode, customer_id, invoice_id, id)`,
  `create index billing_credit_notes_id on ${schema}.billing_credit_notes (account_id, mode, id)`,
  `create table ${schema}.billing_credit_note_lines (
  ${accountAndMode},
  customer_id uuid not null,
  credit_note_id uuid not null,
  invoice_id uuid not null,
  position integer not null check (position >= 0),
  line_id text collate "C" not null,
  amount numeric(38, 0) not null check (amount <> 0),
  line jsonb not null check (jsonb_typeof(line) = 'object'),
  primary key (account_id, mode, customer_id, credit_note_id, line_id),
  constraint billing_credit_note_lines_note foreign key (account_id, mode, customer_id, credit_note_id)
    references ${schema}.billing_credit_notes,
  constraint billing_credit_note_lines_stated check (
    line_id = line ->> 'lineId' and amount = (line ->> 'amount')::numeric
  )
)`,
  `create index billing_credit_note_lines_of_invoice
  on ${schema}.billing_credit_note_lines (account_id, mode, customer_id, invoice_id, line_id)`,
  `create index billing_invoice_lines_credit
  on ${schema}.billing_invoice_lines (account_id, mode, (line -> 'creditOf' ->> 'invoiceId'))
  where line -> 'creditOf' ->> 'invoiceId' is not null`,
]

const views = (schema: SchemaName): ReadonlyArray<string> => [
  `create view ${schema}.credit_notes as
select n.account_id, n.mode, n.customer_id, n.id, n.invoice_id, n.number, n.reason, n.currency, n.net, n.tax, n.total,
  n.waived, n.refund, n.to_balance, n.issued_at, n.created_at
from ${schema}.billing_credit_notes n`,
  `comment on view ${schema}.credit_notes is 'For hosts to read and join: its columns stay. Amounts are in the minor unit.'`,
]

export const migration0007: Migration = {
  id: 7,
  name: "credit_notes",
  minReader: 1,
  statements: (schema: SchemaName) => [...tables(schema), ...creditNoteRules(schema), ...views(schema)],
}
