/**
 * Invoices and their lines as rows. In the JSON of a row, amounts of money are texts.
 */
import { type BilledLine, type CouponUse, Id, type Invoice } from "@billwright/core"
import { Statement } from "effect/sql"
import { millisColumn } from "../Millis.ts"
import { bigint, instant, integer, integerOrNull, json, type Row, text, textOrNull } from "../Row.ts"
import type { Tables } from "../Tables.ts"
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

/** An invoice to write, with the JSON text of each of its lines. */
export interface Written {
  readonly stored: Stored
  readonly lines: ReadonlyArray<string>
}

export const toWritten = (stored: Stored): Written => ({
  stored,
  lines: stored.state.lines.map(amountsWritten),
})

/** The bytes of lines as a JSON array, with a comma or bracket after each. */
const bytesOf = (lines: ReadonlyArray<string>): number =>
  lines.reduce((bytes, line) => bytes + encoder.encode(line).length + 1, 2)

/** Invoices to write, without their lines, as the rows `g` of a `from`. */
export const givenInvoices = (all: ReadonlyArray<Written>): Statement.Fragment => {
  const rows = all.map(
    ({
      lines,
      stored: {
        causes,
        createdAt,
        customerId,
        dueAt,
        id,
        pastDueSince,
        state,
        subscriptionId,
        taxedBy,
        updatedAt,
        voidedAt,
        writtenOffAt,
      },
    }) => {
      const [first] = subscriptionId === null ? [] : causes
      return {
        id: Id.toUuid(id),
        customer_id: Id.toUuid(customerId),
        subscription_id: subscriptionId === null ? null : Id.toUuid(subscriptionId),
        cause: first?.effect ?? null,
        state: { ...state, lines: undefined },
        taxed_by: taxedBy,
        lines_bytes: bytesOf(lines),
        created_at: createdAt.epochMilliseconds,
        updated_at: updatedAt.epochMilliseconds,
        due_at: dueAt,
        past_due_since: pastDueSince,
        voided_at: voidedAt,
        written_off_at: writtenOffAt,
      }
    },
  )
  return Statement.fragment([
    Statement.literal("jsonb_to_recordset("),
    Statement.parameter(amountsWritten(rows)),
    Statement.literal(`::text::jsonb) as g (id uuid, customer_id uuid, subscription_id uuid, cause jsonb, state jsonb,
  taxed_by jsonb, lines_bytes integer, created_at float8, updated_at float8, due_at bigint, past_due_since float8,
  voided_at float8, written_off_at float8)`),
  ])
}

/** The lines of invoices to write, as the rows `g` of a `from`. */
export const givenLines = (all: ReadonlyArray<Written>): Statement.Fragment => {
  const rows = all.flatMap(({ lines, stored: { customerId, id, state } }) => {
    const ofInvoice = `"id":"${Id.toUuid(id)}","customer_id":"${Id.toUuid(customerId)}"`
    return lines.map((line, position) => {
      const origin = state.lines[position]!.origin
      const subscription = origin === null ? "null" : `"${Id.toUuid(origin.subscriptionId)}"`
      return `{${ofInvoice},"position":${position},"subscription_id":${subscription},"line":${line}}`
    })
  })
  return Statement.fragment([
    Statement.literal("jsonb_to_recordset("),
    Statement.parameter(`[${rows.join(",")}]`),
    Statement.literal(
      "::text::jsonb) as g (id uuid, customer_id uuid, position integer, subscription_id uuid, line jsonb)",
    ),
  ])
}

/** The causes of invoices of several subscriptions, as the rows `g` of a `from`. `undefined` if there are none. */
export const givenCauses = (all: ReadonlyArray<Stored>): Statement.Fragment | undefined => {
  const rows = all.flatMap(({ causes, customerId, id, subscriptionId }) =>
    subscriptionId === null
      ? causes.map((one) => ({
          customer_id: Id.toUuid(customerId),
          subscription_id: Id.toUuid(one.subscriptionId),
          invoice_id: Id.toUuid(id),
          cause: one.effect,
        }))
      : [],
  )
  return rows.length === 0
    ? undefined
    : Statement.fragment([
        Statement.literal("jsonb_to_recordset("),
        Statement.parameter(JSON.stringify(rows)),
        Statement.literal(
          "::text::jsonb) as g (customer_id uuid, subscription_id uuid, invoice_id uuid, cause jsonb)",
        ),
      ])
}

/** The columns of an invoice `t`, its lines, and the causes of one of several subscriptions. */
export const invoiceColumns = ({
  billing_invoice_causes: causes,
  billing_invoice_lines: lines,
}: Tables): Statement.Fragment =>
  Statement.fragment([
    Statement.literal(`t.id::text, t.customer_id::text, t.subscription_id::text, t.cause::text as cause,
  t.state::text as state, t.taxed_by::text as taxed_by, ${millisColumn("t.past_due_since")}, ${millisColumn("t.voided_at")}, ${millisColumn("t.written_off_at")}, ${millisColumn("t.created_at")}, ${millisColumn("t.updated_at")}, (
    select json_agg(l.line order by l.position)::text from `),
    ...lines.segments,
    Statement.literal(` l
    where l.account_id = t.account_id and l.mode = t.mode and l.customer_id = t.customer_id and l.invoice_id = t.id
  ) as lines, case when t.subscription_id is null then (
    select json_agg(json_build_object('id', c.subscription_id, 'cause', c.cause) order by c.subscription_id)::text from `),
    ...causes.segments,
    Statement.literal(` c
    where c.account_id = t.account_id and c.mode = t.mode and c.customer_id = t.customer_id and c.invoice_id = t.id
  ) end as shared`),
  ])

type Line = Stored["state"]["lines"][number]
type Origin = NonNullable<Line["origin"]>
type Burnt = NonNullable<Origin["burns"]>

type StoredOrigin = Readonly<Record<"gross", string>> &
  Omit<Origin, "burns" | "gross"> & {
    readonly burns?: Readonly<Record<"amount" | "gross", string>> & Omit<Burnt, "amount" | "gross">
  }

const toOrigin = ({ burns, gross, ...origin }: StoredOrigin): Origin => ({
  ...origin,
  gross: BigInt(gross),
  ...(burns !== undefined && {
    burns: { ...burns, amount: BigInt(burns.amount), gross: BigInt(burns.gross) },
  }),
})

/** A line as its row has it, without its explanation. */
type StoredBilledLine = Readonly<Record<"amount" | "discount" | "net", string>> & {
  readonly origin: StoredOrigin | null
} & Omit<BilledLine["line"], "amount" | "discount" | "net" | "origin">

type StoredLine = StoredBilledLine & Pick<Line, "receipt" | "steps">

const toLine = <A extends StoredBilledLine>(line: A) => ({
  ...line,
  amount: BigInt(line.amount),
  discount: BigInt(line.discount),
  net: BigInt(line.net),
  origin: line.origin === null ? null : toOrigin(line.origin),
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

const causesOf = (row: Row): Stored["causes"] => {
  type Effect = Stored["causes"][number]["effect"]
  if (row["cause"] !== null) {
    const subscriptionId = subscriptionIdOf(row, "subscription_id")
    return [{ subscriptionId, effect: json(row, "cause") as Effect }]
  }
  if (row["shared"] === null) return []
  const shared = json(row, "shared") as ReadonlyArray<{ readonly id: string; readonly cause: Effect }>
  return shared.map((one) => ({ subscriptionId: subscriptionIdOf(one, "id"), effect: one.cause }))
}

export const invoiceFromRow = (row: Row): Stored => {
  const lines = json(row, "lines") as ReadonlyArray<StoredLine>
  return {
    id: invoiceIdOf(row, "id"),
    customerId: customerIdOf(row),
    subscriptionId:
      textOrNull(row, "subscription_id") === null ? null : subscriptionIdOf(row, "subscription_id"),
    causes: causesOf(row),
    taxedBy: row["taxed_by"] === null ? UNTAXED : (json(row, "taxed_by") as Stored["taxedBy"]),
    state: { ...(amountsRead(row, "state") as Omit<Stored["state"], "lines">), lines: lines.map(toLine) },
    pastDueSince: integerOrNull(row, "past_due_since"),
    voidedAt: integerOrNull(row, "voided_at"),
    writtenOffAt: integerOrNull(row, "written_off_at"),
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
