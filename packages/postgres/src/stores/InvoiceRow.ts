/**
 * Invoices and their lines as rows. In the JSON of a row, amounts of money are texts.
 */
import { type BilledLine, type CouponUse, ExactJson, Id, type Invoice } from "@billwright/core"
import { Statement } from "effect/sql"
import { millisColumn } from "../Millis.ts"
import { bigint, instant, integer, json, type Row, text, textOrNull } from "../Row.ts"
import { customerIdOf, dueFromRow, invoiceIdOf, subscriptionIdOf } from "./DueRow.ts"

type Stored = Invoice.StoredInvoice

/** The fields that are amounts, at any depth of an invoice or a credit note without its lines. */
const AMOUNTS: ReadonlySet<string> = new Set([
  "subtotal",
  "tax",
  "total",
  "credited",
  "amountDue",
  "amountPaid",
  "amountCredited",
  "amountWaived",
  "amount",
  "base",
  "taken",
  "taxable",
  "net",
  "waived",
  "refund",
  "toBalance",
])

const bigintAsText = (_name: string, value: unknown): unknown =>
  typeof value === "bigint" ? value.toString() : value

/** A value as JSON whose amounts are texts. */
export const amountsWritten = (value: unknown): string => JSON.stringify(value, bigintAsText)

const amountsAsBigint = (name: string, value: unknown): unknown =>
  AMOUNTS.has(name) && typeof value === "string" ? BigInt(value) : value

const encoder = new TextEncoder()

/** Invoices to write, as the rows `g` of a `from`. */
export const givenInvoices = (all: ReadonlyArray<Stored>): Statement.Fragment => {
  const rows = all.map(
    ({ cause, createdAt, customerId, dueAt, id, state, subscriptionId, taxedBy, updatedAt }) => {
      const { lines, ...header } = state
      return {
        id: Id.toUuid(id),
        customer_id: Id.toUuid(customerId),
        subscription_id: subscriptionId === null ? null : Id.toUuid(subscriptionId),
        cause,
        state: header,
        taxed_by: taxedBy,
        lines,
        subscriptions: lines.map(({ origin }) => (origin === null ? null : Id.toUuid(origin.subscriptionId))),
        lines_bytes: encoder.encode(ExactJson.stringify(lines)).length,
        created_at: createdAt.epochMilliseconds,
        updated_at: updatedAt.epochMilliseconds,
        due_at: dueAt,
      }
    },
  )
  return Statement.fragment([
    Statement.literal("jsonb_to_recordset("),
    Statement.parameter(amountsWritten(rows)),
    Statement.literal(`::text::jsonb) as g (id uuid, customer_id uuid, subscription_id uuid, cause jsonb, state jsonb,
  taxed_by jsonb, lines jsonb, subscriptions jsonb, lines_bytes integer, created_at float8, updated_at float8, due_at bigint)`),
  ])
}

/** The columns of an invoice `t`, and its lines. */
export const invoiceColumns = (lines: Statement.Fragment): Statement.Fragment =>
  Statement.fragment([
    Statement.literal(`t.id::text, t.customer_id::text, t.subscription_id::text, t.cause::text as cause,
  t.state::text as state, t.taxed_by::text as taxed_by, ${millisColumn("t.created_at")}, ${millisColumn("t.updated_at")}, (
    select json_agg(l.line order by l.position)::text from `),
    ...lines.segments,
    Statement.literal(` l
    where l.account_id = t.account_id and l.mode = t.mode and l.customer_id = t.customer_id and l.invoice_id = t.id
  ) as lines`),
  ])

type Line = Stored["state"]["lines"][number]
type Origin = NonNullable<Line["origin"]>

/** A line as its row has it, without its explanation. */
type StoredBilledLine = Readonly<Record<"amount" | "discount" | "net", string>> & {
  readonly origin: (Readonly<Record<"gross", string>> & Omit<Origin, "gross">) | null
} & Omit<BilledLine["line"], "amount" | "discount" | "net" | "origin">

type StoredLine = StoredBilledLine & Pick<Line, "receipt" | "steps">

const toLine = <A extends StoredBilledLine>(line: A) => ({
  ...line,
  amount: BigInt(line.amount),
  discount: BigInt(line.discount),
  net: BigInt(line.net),
  origin: line.origin === null ? null : { ...line.origin, gross: BigInt(line.origin.gross) },
})

/** A document without its lines. Amounts are found by their names. */
export const amountsRead = (row: Row, column: string): unknown => {
  const value = row[column]
  // Some drivers parse JSON, and can't be told otherwise in a query.
  return JSON.parse(typeof value === "string" ? value : JSON.stringify(value), amountsAsBigint)
}

/** Of an invoice that an earlier release stored: it taxed nothing. */
const UNTAXED: Stored["taxedBy"] = {
  customer: { country: null, taxId: null, taxStatus: "taxable" },
  asked: null,
  quote: null,
}

export const invoiceFromRow = (row: Row): Stored => {
  const lines = json(row, "lines") as ReadonlyArray<StoredLine>
  return {
    id: invoiceIdOf(row, "id"),
    customerId: customerIdOf(row),
    subscriptionId:
      textOrNull(row, "subscription_id") === null ? null : subscriptionIdOf(row, "subscription_id"),
    cause: row["cause"] === null ? null : (json(row, "cause") as Stored["cause"]),
    taxedBy: row["taxed_by"] === null ? UNTAXED : (json(row, "taxed_by") as Stored["taxedBy"]),
    state: { ...(amountsRead(row, "state") as Omit<Stored["state"], "lines">), lines: lines.map(toLine) },
    ...dueFromRow(row),
    createdAt: instant(row, "created_at"),
    updatedAt: instant(row, "updated_at"),
  }
}

export const billedLineFromRow = (row: Row): BilledLine => ({
  invoiceId: invoiceIdOf(row, "invoice_id"),
  status: text(row, "status") as BilledLine["status"],
  forgiven: bigint(row, "forgiven"),
  line: toLine(json(row, "line") as StoredBilledLine),
})

export const couponUseFromRow = (row: Row): CouponUse => ({
  invoiceId: invoiceIdOf(row, "invoice_id"),
  status: text(row, "status") as CouponUse["status"],
  period: integer(row, "period"),
  redemptionId: text(row, "redemption_id"),
  amount: bigint(row, "amount"),
})
