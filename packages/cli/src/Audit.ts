/**
 * `billwright audit`: checks that roll-ups equal their records, what invoices state of usage, and balances of credits.
 */
import {
  Billing,
  CurrentTenant,
  Invoice,
  ReceiptAudit,
  type ReceiptDiscrepancy,
  type Tenant,
  Usage,
  type UsageDiscrepancy,
} from "@billwright/core"
import { Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { auditBooks } from "./AuditBooks.ts"
import { auditCredits } from "./AuditCredits.ts"
import { AuditFailed } from "./AuditFailed.ts"
import * as Progress from "./Progress.ts"
import * as Store from "./Store.ts"
import { account, json, mode } from "./TenantFlags.ts"

interface Finding {
  readonly mode: Tenant.Mode
  readonly discrepancies: ReadonlyArray<UsageDiscrepancy>
}

const auditMode = (accountId: Tenant.AccountId, mode: Tenant.Mode) =>
  Effect.flatMap(Usage, (usage) => usage.audit).pipe(
    Effect.provideService(CurrentTenant, { accountId, mode }),
    Effect.map((discrepancies): Finding => ({ mode, discrepancies })),
  )

const describe = ({ discrepancies, mode }: Finding): ReadonlyArray<string> =>
  discrepancies.length === 0
    ? [`${mode}: every roll-up equals its records.`]
    : discrepancies.map(
        (found) =>
          `${mode}: ${found.customerId} ${found.productId} (${found.unit}) on ${found.day}: ` +
          `records ${found.recordsQuantity} in ${found.recordsCount}, roll-up ${found.rollupQuantity} in ${found.rollupCount}`,
      )

const toJson = (findings: ReadonlyArray<Finding>): string =>
  JSON.stringify(findings, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value), 2)

const auditUsage = Command.make(
  "usage",
  { ...Store.databaseFlags, account, json },
  Effect.fn(function* (options) {
    const services = Billing.layer.pipe(Layer.provide(Store.layerBeside(options)))
    const findings = yield* Effect.forEach(["live", "test"] as const, (mode) =>
      auditMode(options.account, mode),
    ).pipe(Effect.provide(services))
    yield* Console.log(options.json ? toJson(findings) : findings.flatMap(describe).join("\n"))
    const count = findings.reduce((sum, { discrepancies }) => sum + discrepancies.length, 0)
    if (count > 0) return yield* new AuditFailed({ message: `${count} roll-ups differ from their records` })
  }),
).pipe(Command.withDescription("Compare every usage roll-up with its records"))

/** The audit of invoices ends when it has found so many differences. */
const MAX_DISCREPANCIES = 1_000

const after = Flag.String("after").pipe(
  Flag.withDescription(
    "Go on after this invoice: the last one that an audit says it has read. Default: begin with the newest.",
  ),
  Flag.withSchema(Invoice.InvoiceId),
  Flag.optional,
)

interface Audited {
  readonly invoices: number
  readonly receipts: number
  readonly unchecked: number
  readonly late: number
  readonly discrepancies: ReadonlyArray<ReceiptDiscrepancy>
  readonly last: Invoice.InvoiceId | null
  readonly hasMore: boolean
}

const countOf = (count: number): string => count.toLocaleString("en-US")

const readSoFar = ({ discrepancies, invoices, last, late, receipts, unchecked }: Audited): string =>
  `read ${countOf(invoices)} invoices, the last one is ${last ?? "none"}; compared ${countOf(receipts)} receipts: ` +
  `${countOf(late)} differ by usage that came or was voided later, and ${countOf(discrepancies.length)} by nothing known; ` +
  `${countOf(unchecked)} could not be compared`

const auditReceipts = Effect.fnUntraced(function* (from: Option.Option<Invoice.InvoiceId>) {
  const { page } = yield* ReceiptAudit
  const progress = Progress.make(readSoFar)
  let all: Audited = {
    invoices: 0,
    receipts: 0,
    unchecked: 0,
    late: 0,
    discrepancies: [],
    last: Option.getOrNull(from),
    hasMore: true,
  }
  while (all.hasMore && all.discrepancies.length < MAX_DISCREPANCIES) {
    const next = yield* page(all.last === null ? {} : { startingAfter: all.last })
    all = {
      invoices: all.invoices + next.invoices,
      receipts: all.receipts + next.receipts,
      unchecked: all.unchecked + next.unchecked,
      late: all.late + next.late,
      discrepancies: [...all.discrepancies, ...next.discrepancies],
      last: next.last ?? all.last,
      hasMore: next.hasMore,
    }
    yield* progress(all)
  }
  return all
})

const describeReceipt = ({ invoiceId, lineId, problem, receipt, records }: ReceiptDiscrepancy): string =>
  `${invoiceId}: the receipt of the line ${lineId} ${problem}: it says ${receipt.total} in ${receipt.recordCount} ` +
  `of the meter ${receipt.meter}, records ${records.total} in ${records.recordCount}`

const receiptsToJson = ({ hasMore, invoices, last, late, unchecked, ...found }: Audited): string =>
  JSON.stringify(
    {
      invoices,
      receipts: found.receipts,
      unchecked,
      late,
      discrepancies: found.discrepancies.map(({ invoiceId, lineId, problem, receipt, records }) => ({
        invoice_id: invoiceId,
        line_id: lineId,
        problem,
        meter: receipt.meter,
        receipt_total: receipt.total,
        receipt_count: receipt.recordCount,
        records_total: records.total,
        records_count: records.recordCount,
      })),
      last,
      has_more: hasMore,
    },
    undefined,
    2,
  )

const auditInvoices = Command.make(
  "invoices",
  { ...Store.databaseFlags, account, mode, after, json },
  Effect.fn(function* (options) {
    const services = Billing.layer.pipe(Layer.provide(Store.layerBeside(options)))
    const found = yield* auditReceipts(options.after).pipe(
      Effect.provideService(CurrentTenant, { accountId: options.account, mode: options.mode }),
      Effect.provide(services),
    )
    const text = [...found.discrepancies.map(describeReceipt), `${readSoFar(found)}.`].join("\n")
    yield* Console.log(options.json ? receiptsToJson(found) : text)
    const { length } = found.discrepancies
    if (length === 0) return
    const more = found.hasMore ? `. There may be more: go on with --after ${found.last ?? ""}` : ""
    yield* new AuditFailed({ message: `${length} receipts differ from the records${more}` })
  }),
).pipe(Command.withDescription("Compare what invoices state of usage with the records"))

export const audit = Command.make("audit").pipe(
  Command.withDescription("Check that stored data is consistent"),
  Command.withSubcommands([auditUsage, auditInvoices, auditBooks, auditCredits]),
)
