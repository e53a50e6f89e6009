/**
 * What was billed to subscriptions: lines, what coupons took off, and what credit lines gave back.
 */
import { Batch, CurrentTenant, type Invoice, type SubscriptionId } from "@billwright/core"
import { Effect } from "effect"
import * as ArrayLiteral from "../ArrayLiteral.ts"
import type { DatabaseService } from "../Database.ts"
import { bigint, decoding, type Row, text } from "../Row.ts"
import { byPlace, uuids } from "./Batched.ts"
import { billedLineFromRow, couponUseFromRow } from "./InvoiceRow.ts"

export const make = ({ read, tables: t }: DatabaseService) => {
  /** Invoices without discounts are in none of the index that it reads. */
  const allCouponUses = Effect.fnUntraced(function* (
    asked: ReadonlyArray<{ readonly id: SubscriptionId; readonly from: number }>,
  ) {
    const operation = "InvoiceStore.couponUses"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`with a as materialized (
  select * from unnest(${uuids(asked.map(({ id }) => id))}::text::uuid[],
    ${ArrayLiteral.plain(asked.map(({ from }) => from))}::text::integer[]) with ordinality as a (id, from_period, place)
), i as (
  select a.place, t.id, t.status, t.state, t.issued_at, t.cause_period as period
  from a cross join lateral (
    select t.* from ${t.billing_invoices} t
    where t.account_id = ${accountId} and t.mode = ${mode} and t.subscription_id = a.id and t.cause_period >= a.from_period
      and t.state -> 'discounts' <> '[]'::jsonb
    offset 0
  ) as t
  union all
  select a.place, t.id, t.status, t.state, t.issued_at, t.period
  from a cross join lateral (
    select t.*, c.period from ${t.billing_invoice_causes} c cross join lateral (
      select t.* from ${t.billing_invoices} t
      where t.account_id = c.account_id and t.mode = c.mode and t.customer_id = c.customer_id and t.id = c.invoice_id
      offset 0
    ) as t
    where c.account_id = ${accountId} and c.mode = ${mode} and c.subscription_id = a.id and c.period >= a.from_period
    offset 0
  ) as t
)
select i.place::text as n, i.id::text as invoice_id, i.status, i.period::text as period,
  d.discount ->> 'id' as redemption_id, d.discount ->> 'amount' as amount
from i cross join lateral jsonb_array_elements(i.state -> 'discounts') with ordinality as d (discount, n)
where d.discount ->> 'type' = 'coupon'
order by i.place, i.issued_at nulls last, i.id, d.n`,
    )
    return yield* decoding(operation, byPlace(asked.length, couponUseFromRow))(rows)
  })

  const creditsOf = Effect.fnUntraced(function* (id: Invoice.InvoiceId) {
    const operation = "InvoiceStore.creditsOf"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select l.line -> 'creditOf' ->> 'lineId' as line_id, (noted.amount - l.amount)::text as amount
from ${t.billing_invoice_lines} l cross join lateral (
  select i.status, i.amount_credited from ${t.billing_invoices} i
  where i.account_id = l.account_id and i.mode = l.mode and i.customer_id = l.customer_id and i.id = l.invoice_id
  offset 0
) as i cross join lateral (
  select case i.amount_credited when 0 then 0 else (
    select coalesce(sum(c.amount), 0) from ${t.billing_credit_note_lines} c
    where c.account_id = l.account_id and c.mode = l.mode and c.customer_id = l.customer_id and c.invoice_id = l.invoice_id
      and c.line_id = l.id
  ) end as amount
) as noted
where l.account_id = ${accountId} and l.mode = ${mode} and l.line -> 'creditOf' ->> 'invoiceId' = ${id}
  and i.status not in ('draft', 'void') and noted.amount <> l.amount
order by l.invoice_id, l.position`,
    )
    return yield* decoding(operation, (all: ReadonlyArray<Row>) =>
      all.map((row) => ({ lineId: text(row, "line_id"), amount: bigint(row, "amount") })),
    )(rows)
  })

  const allBilledLines = Effect.fnUntraced(function* (
    asked: ReadonlyArray<{ readonly id: SubscriptionId; readonly fromPeriod: number }>,
  ) {
    const operation = "InvoiceStore.billedLines"
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(
      operation,
      (sql) =>
        sql<Row>`select a.n::text as n, l.invoice_id::text, i.status, (l.line - '{steps, receipt}'::text[])::text as line,
  case i.amount_credited when 0 then 0 else (
    select coalesce(sum(c.amount), 0) from ${t.billing_credit_note_lines} c
    where c.account_id = l.account_id and c.mode = l.mode and c.customer_id = l.customer_id and c.invoice_id = l.invoice_id
      and c.line_id = l.id
  ) end::text as forgiven
from unnest(${uuids(asked.map(({ id }) => id))}::text::uuid[],
    ${ArrayLiteral.plain(asked.map(({ fromPeriod }) => fromPeriod))}::text::integer[]) with ordinality as a (id, first, n)
cross join lateral (
  select l.* from ${t.billing_invoice_lines} l
  where l.account_id = ${accountId} and l.mode = ${mode} and l.subscription_id = a.id and l.origin_period >= a.first
  offset 0
) as l
cross join lateral (
  select i.status, i.amount_credited from ${t.billing_invoices} i
  where i.account_id = l.account_id and i.mode = l.mode and i.customer_id = l.customer_id and i.id = l.invoice_id
  offset 0
) as i
order by a.n, l.invoice_id, l.position`,
    )
    return yield* decoding(operation, byPlace(asked.length, billedLineFromRow))(rows)
  })

  return {
    billedLines: (id: SubscriptionId, fromPeriod: number) =>
      Batch.together("InvoiceStore.billedLines", { id, fromPeriod }, allBilledLines),
    couponUses: (id: SubscriptionId, from: number) =>
      Batch.together("InvoiceStore.couponUses", { id, from }, allCouponUses),
    creditsOf,
  }
}
