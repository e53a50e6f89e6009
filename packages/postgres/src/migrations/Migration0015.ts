/**
 * Credit notes have all of their lines, and fit what was paid.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * - A note is refused at commit without its lines. Their sum is checked when they are added.
 * - When what was paid of an invoice falls, its notes are checked again: they may refund more than is left.
 * - In test mode, where credit notes are issued when a test clock says, numbers still have no gaps, but nothing is said
 *   about the instants. In live mode the rules stay.
 */
import type { SchemaName } from "../SchemaName.ts"
import { creditNoteRules } from "./CreditNoteRules.ts"
import type { Migration } from "./Migration.ts"

const lines = (schema: SchemaName): ReadonlyArray<string> => [
  `create function ${schema}.check_credit_note_has_lines() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  if new.line_count <> (
    select count(*) from ${schema}.billing_credit_note_lines c
    where c.account_id = new.account_id and c.mode = new.mode and c.customer_id = new.customer_id
      and c.credit_note_id = new.id
  ) then
    raise exception 'a credit note is without its lines'
      using errcode = 'check_violation', table = 'billing_credit_notes', constraint = 'billing_credit_notes_have_lines';
  end if;
  return null;
end
$$`,
  `create constraint trigger billing_credit_notes_have_lines after insert on ${schema}.billing_credit_notes
deferrable initially deferred for each row execute function ${schema}.check_credit_note_has_lines()`,
]

const paid = (schema: SchemaName): ReadonlyArray<string> => [
  `create constraint trigger billing_invoices_credit_notes_paid after update on ${schema}.billing_invoices
deferrable initially deferred for each row when (new.amount_paid < old.amount_paid)
execute function ${schema}.check_credit_notes()`,
]

/** The functions of the rules about instants, which leave test mode out. */
const numbers = (schema: SchemaName): ReadonlyArray<string> =>
  creditNoteRules(schema).flatMap((statement) => {
    const isCount = statement.includes(`function ${schema}.count_credit_note() returns`)
    const isSeries = statement.includes(`function ${schema}.check_credit_note_series() returns`)
    if (!isCount && !isSeries) return []
    return statement
      .replace("create function", "create or replace function")
      .replace(
        "issued_until = new.issued_at",
        "issued_until = case new.mode when 'live' then new.issued_at else s.issued_until end",
      )
      .replace(
        "coalesce(s.issued_until, '-infinity') <= new.issued_at",
        "(new.mode = 'test' or coalesce(s.issued_until, '-infinity') <= new.issued_at)",
      )
      .replace(
        "when extract(epoch from n.issued_at)",
        "when v_mode = 'live' and extract(epoch from n.issued_at)",
      )
  })

export const migration0015: Migration = {
  id: 15,
  name: "credit_notes_whole",
  minReader: 1,
  statements: (schema: SchemaName) => [...lines(schema), ...paid(schema), ...numbers(schema)],
}
