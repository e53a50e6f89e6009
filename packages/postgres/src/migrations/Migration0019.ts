/**
 * The sums of an invoice are checked once for each transaction, and faster.
 *
 * This file is frozen: a test compares a digest of its statements.
 *
 * Each change of an invoice queues a check for the commit. That of the last change sees the same rows as
 * those before it, so these do nothing. Discounts are compared line by line only if there are some.
 */
import type { SchemaName } from "../SchemaName.ts"
import { billingRules } from "./BillingRules.ts"
import type { Migration } from "./Migration.ts"

const replaced = (text: string, before: string, after: string): string => {
  if (!text.includes(before)) throw new TypeError(`the function has no ${before}`)
  return text.replace(before, () => after)
}

const sums = (schema: SchemaName): ReadonlyArray<string> =>
  billingRules(schema).flatMap((statement) => {
    if (!statement.includes(`function ${schema}.check_invoice_sums() returns`)) return []
    const changes: ReadonlyArray<readonly [string, string]> = [
      ["create function", "create or replace function"],
      [
        "if not found then return null; end if;",
        `if not found or v_invoice.state <> new.state or v_invoice.lines_written <> new.lines_written then return null; end if;`,
      ],
      ["as net\n  into v_lines", "as net, coalesce(sum(l.discount), 0) as discount\n  into v_lines"],
      [
        "  with parts as (",
        `  v_has_wrong_discount := v_lines.discount <> 0;
  if v_invoice.state -> 'discounts' is distinct from '[]' then
  with parts as (`,
      ],
      ["into v_has_wrong_discount;", "into v_has_wrong_discount;\n  end if;"],
    ]
    return [changes.reduce((text, [before, after]) => replaced(text, before, after), statement)]
  })

export const migration0019: Migration = {
  id: 19,
  name: "sums_checked_once",
  minReader: 1,
  statements: sums,
}
