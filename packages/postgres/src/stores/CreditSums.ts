/**
 * Accounts of credits beside what they consist of, for the audit.
 */
import {
  type AccountSums,
  Credit,
  type CreditStore,
  CurrentTenant,
  Id,
  MAX_AUDITED_GRANTS,
} from "@billwright/core"
import { Effect } from "effect"
import type { DatabaseService } from "../Database.ts"
import { bigint, decoding, integer, json, type Row, text } from "../Row.ts"
import { customerIdOf } from "./DueRow.ts"

const OPERATION = "CreditStore.audit"

/** One statement, so one snapshot: credits may be used at the same time. It may take minutes, and has no deadline. */
export const make = ({ tables: t, unbounded }: DatabaseService): CreditStore["Service"]["audit"] =>
  Effect.fnUntraced(function* (after, limit) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* unbounded(
      OPERATION,
      (sql) =>
        sql<Row>`select a.customer_id::text, a.unit, a.available::text, a.scoped::text, a.held::text, a.debt::text, a.open_holds::text,
  a.sequence::text, e.available::text as entries_available, e.scoped::text as entries_scoped, e.held::text as entries_held, e.debt::text as entries_debt,
  e.count::text as entries_count, e.last::text as entries_last, h.count::text as holds_count,
  h.amount::text as holds_amount, g.unlike
from (
  select * from ${t.billing_credit_accounts} where account_id = ${accountId} and mode = ${mode}
    and ${after === undefined ? sql`true` : sql`(customer_id, unit) > (${Id.toUuid(after.customerId)}::uuid, ${after.unit})`}
  order by customer_id, unit limit ${sql.literal(String(limit))}
) as a, lateral (
  select count(*) as count, coalesce(max(e.sequence), 0) as last, coalesce(sum(e.available), 0) as available,
    coalesce(sum(e.scoped), 0) as scoped, coalesce(sum(e.held), 0) as held, coalesce(sum(e.debt), 0) as debt
  from ${t.billing_credit_entries} e where e.account_id = a.account_id and e.mode = a.mode
    and e.customer_id = a.customer_id and e.unit = a.unit
) as e, lateral (
  select count(*) as count, coalesce(sum(h.amount), 0) as amount
  from ${t.billing_credit_holds} h where h.account_id = a.account_id and h.mode = a.mode
    and h.customer_id = a.customer_id and h.unit = a.unit and h.status = 'open'
) as h, lateral (
  select coalesce(jsonb_agg(jsonb_build_object('id', u.id, 'available', u.available::text, 'held', u.held::text,
    'entries_available', u.entries_available::text, 'entries_held', u.entries_held::text) order by u.id), '[]')::text as unlike
  from (
    select g.id, g.available, g.held, coalesce(s.available, 0) as entries_available, coalesce(s.held, 0) as entries_held
    from ${t.billing_credit_grants} g left join (
      select e.grant_id, sum(e.available + e.scoped) as available, sum(e.held) as held
      from ${t.billing_credit_entries} e where e.account_id = a.account_id and e.mode = a.mode
        and e.customer_id = a.customer_id and e.unit = a.unit and e.grant_id is not null group by e.grant_id
    ) as s on s.grant_id = g.id
    where g.account_id = a.account_id and g.mode = a.mode and g.customer_id = a.customer_id and g.unit = a.unit
      and (g.available, g.held) <> (coalesce(s.available, 0), coalesce(s.held, 0))
    order by g.id limit ${sql.literal(String(MAX_AUDITED_GRANTS))}
  ) as u
) as g
order by a.customer_id, a.unit`,
    )
    return yield* decoding(OPERATION, (all: ReadonlyArray<Row>) => all.map(fromRow))(rows)
  })

const grantFromRow = (row: Row): AccountSums["grants"][number] => ({
  id: Id.fromUuid(Credit.GRANT_ID_PREFIX, text(row, "id")) as Credit.CreditGrantId,
  stated: { available: bigint(row, "available"), held: bigint(row, "held") },
  entries: { available: bigint(row, "entries_available"), held: bigint(row, "entries_held") },
})

const fromRow = (row: Row): AccountSums => ({
  key: { customerId: customerIdOf(row), unit: text(row, "unit") },
  account: {
    available: bigint(row, "available"),
    scoped: bigint(row, "scoped"),
    held: bigint(row, "held"),
    debt: bigint(row, "debt"),
    openHolds: integer(row, "open_holds"),
    sequence: integer(row, "sequence"),
  },
  entries: {
    available: bigint(row, "entries_available"),
    scoped: bigint(row, "entries_scoped"),
    held: bigint(row, "entries_held"),
    debt: bigint(row, "entries_debt"),
    count: integer(row, "entries_count"),
    last: integer(row, "entries_last"),
  },
  openHolds: { count: integer(row, "holds_count"), amount: bigint(row, "holds_amount") },
  grants: (json(row, "unlike") as ReadonlyArray<Row>).map(grantFromRow),
})
