/**
 * Sums of invoices by figure and currency, and which invoices make a figure.
 */
import {
  CurrentTenant,
  daysBefore,
  InvoiceFigure,
  type InvoiceStore,
  type InvoiceSum,
  LATE_DAYS,
  MONEY_DAYS,
} from "@billwright/core"
import { Effect } from "effect"
import { Statement } from "effect/sql"
import type { DatabaseService } from "../Database.ts"
import { bigint, decoding, integer, type Row, text } from "../Row.ts"

const OPERATION = "InvoiceStore.sums"

/** The instant some days before another one. */
const daysBeforeAt = (at: number, days: number): Statement.Fragment =>
  Statement.fragment([
    Statement.literal("to_timestamp("),
    Statement.parameter(String(daysBefore(at, days))),
    Statement.literal("::float8 / 1000)"),
  ])

/** Whether an invoice `t` makes a figure at an instant: restates `figuresOf`. The words on status are those of an index. */
export const isInFigure = (figure: InvoiceFigure, at: number): Statement.Fragment => {
  const now = daysBeforeAt(at, 0)
  const [thirty, sixty] = [daysBeforeAt(at, LATE_DAYS.thirty), daysBeforeAt(at, LATE_DAYS.sixty)]
  const all = (...parts: ReadonlyArray<string | Statement.Fragment>): Statement.Fragment =>
    Statement.fragment(
      parts.flatMap((part) => (typeof part === "string" ? [Statement.literal(part)] : part.segments)),
    )
  const open = "t.status = 'open'"
  const conditions: Readonly<Record<InvoiceFigure, Statement.Fragment>> = {
    invoiced: all(
      "t.issued_at > ",
      daysBeforeAt(at, MONEY_DAYS),
      " and t.issued_at <= ",
      now,
      " and t.status <> 'void'",
    ),
    outstanding: all(open),
    not_due: all(open, " and (t.payment_due_at is null or t.payment_due_at >= ", now, ")"),
    late_thirty: all(open, " and t.payment_due_at < ", now, " and t.payment_due_at >= ", thirty),
    late_sixty: all(open, " and t.payment_due_at < ", thirty, " and t.payment_due_at >= ", sixty),
    late_more: all(open, " and t.payment_due_at < ", sixty),
    to_retry: all(open, " and t.collection = 'retrying'"),
  }
  return conditions[figure]
}

const sumFromRow = (row: Row): InvoiceSum => ({
  figure: text(row, "figure") as InvoiceFigure,
  currency: text(row, "currency"),
  count: integer(row, "count"),
  amount: bigint(row, "amount"),
})

export const sums = ({ read, tables: t }: DatabaseService): InvoiceStore["Service"]["sums"] =>
  Effect.fnUntraced(function* (at) {
    const { accountId, mode } = yield* CurrentTenant
    const rows = yield* read(OPERATION, (sql) => {
      const tenant = sql`t.account_id = ${accountId} and t.mode = ${mode}`
      const [invoiced, ...figures] = InvoiceFigure.literals
      const [of, count] = [sql`t.currency, count(*)::text as count`, sql`group by t.currency`]
      const ofOpen = figures.map(
        (figure) => sql`union all select ${figure}::text, ${of}, sum(t.amount_due)::text from open t
where ${isInFigure(figure, at)} ${count}`,
      )
      return sql<Row>`with open as materialized (
  select t.status, t.currency, t.collection, t.payment_due_at, t.amount_due from ${t.billing_invoices} t
  where ${tenant} and ${isInFigure("outstanding", at)}
)
select ${invoiced}::text as figure, ${of}, sum(t.total)::text as amount from ${t.billing_invoices} t
where ${tenant} and ${isInFigure(invoiced, at)} ${count} ${sql.join(" ", false)(ofOpen)}`
    })
    return yield* decoding(OPERATION, (all: ReadonlyArray<Row>) => all.map(sumFromRow))(rows)
  })
