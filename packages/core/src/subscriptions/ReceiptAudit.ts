/**
 * Compares the receipts of invoice lines with the usage records, for operators.
 */
import { type Line, linesOf, type Period, type Receipt, usageQueries } from "@billwright/engine"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { PlanStore } from "../catalog/PlanStore.ts"
import { customers } from "../customers/Customer.ts"
import { InvoiceId, type StoredInvoice } from "../invoices/Invoice.ts"
import type { InvoicingUnsupported } from "../invoices/InvoicingUnsupported.ts"
import { SubscriptionId } from "../invoices/SubscriptionId.ts"
import { Collections } from "../shared/Collections.ts"
import { decoder, type InvalidInput } from "../shared/InvalidInput.ts"
import { nameCursor, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { meters } from "../usage/Meter.ts"
import type { UsageRecord } from "../usage/UsageRecord.ts"
import { UsageStore } from "../usage/UsageStore.ts"
import type { StoredSubscription } from "./Subscription.ts"
import { bookOf } from "./Subscriptions.ts"
import { VersionTerms } from "./VersionTerms.ts"

/** Most invoices of one page. */
const MAX_INVOICES = 20
/** Most records that are read to explain a difference, and most of one page of them. */
const MAX_RECORDS = 10_000
const RECORDS_OF_PAGE = 500
/**
 * How long before a line was made a record may say that it was written, and not have counted: the transaction that wrote it
 * was still open.
 */
const LONGEST_TRANSACTION_MILLIS = 3_600_000

/** The input of `ReceiptAudit.page`. */
export const AuditReceipts = Schema.Struct({
  /** The last invoice of the page before. Default: begins with the newest invoice. */
  startingAfter: Schema.optionalKey(InvoiceId),
})
export interface AuditReceipts extends Schema.Schema.Type<typeof AuditReceipts> {}

const decodeAudit = decoder(AuditReceipts)

/** What usage comes to: an exact text (a decimal or a fraction), and the number of its records. */
type Usage = Pick<Receipt, "recordCount" | "total">

/** A line whose receipt is not what the records say, although none of them came or was voided since. */
export interface ReceiptDiscrepancy {
  readonly invoiceId: InvoiceId
  readonly lineId: string
  readonly receipt: Receipt
  readonly records: Usage
  readonly problem: string
}

export interface ReceiptAuditPage {
  /** How many invoices were read, with drafts, which are not checked. */
  readonly invoices: number
  /** How many receipts were compared. */
  readonly receipts: number
  /** How many more can't be compared: their customer is erased, or their meter is archived or being built. */
  readonly unchecked: number
  /** How many of those that were compared differ because usage came or was voided since. The next invoice bills that, if it changes an amount. */
  readonly late: number
  readonly discrepancies: ReadonlyArray<ReceiptDiscrepancy>
  /** The last invoice that was read: the next page starts after it. `null`: there is none. */
  readonly last: InvoiceId | null
  readonly hasMore: boolean
}

type ReceiptLine = Line & { readonly receipt: Receipt; readonly origin: NonNullable<Line["origin"]> }

const hasReceipt = (line: Line): line is ReceiptLine => line.receipt !== null && line.origin !== null

const sameFilters = (a: Receipt["where"], b: Receipt["where"]): boolean => {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => JSON.stringify(a[name]) === JSON.stringify(b[name]))
  )
}

/** What of a receipt is not what it would be now. `undefined`: nothing. */
const differenceOf = (then: Receipt, now: Receipt | undefined): string | undefined => {
  if (now === undefined) return then.recordCount === 0 ? undefined : "has no records"
  if (then.meter !== now.meter) return "is of another meter"
  if (!sameFilters(then.where, now.where)) return "has other filters"
  if (then.periodStart !== now.periodStart || then.periodEnd !== now.periodEnd) return "is of another span"
  if (then.recordCount !== now.recordCount) return "has another number of records"
  return then.total === now.total ? undefined : "has another total"
}

const NOTHING: Usage = { total: "0", recordCount: 0 }

/** What may have changed among the records of a line since it was made. */
interface Changes {
  /** How many records that count may have come since. */
  added: number
  /** How many that counted may have been voided since. */
  voided: number
}

const noteRecord = (changes: Changes, { createdAt, voidedAt }: UsageRecord, madeAt: number): void => {
  const unsure = madeAt - LONGEST_TRANSACTION_MILLIS
  const written = createdAt.epochMilliseconds
  if (voidedAt === null) {
    if (written >= unsure) changes.added++
  } else if (voidedAt.epochMilliseconds >= unsure && written <= madeAt) changes.voided++
}

/** Whether changes explain that there are so many records more, or fewer, or others. */
const explains = ({ added, voided }: Changes, more: number): boolean => {
  if (more === 0) return added > 0 && voided > 0
  return more > 0 ? added >= more : voided >= -more
}

/**
 * Compares receipts with what meters say now. It only reads, takes no locks, and needs no more than a page of invoices at
 * once. `Usage.audit` compares what meters say with the records.
 */
export class ReceiptAudit extends Context.Service<
  ReceiptAudit,
  {
    /**
     * Checks the receipts of at most 20 invoices, newest first, each with the period that it bills, rated again. A receipt that
     * differs is `late` if records of its span came or were voided since its line was made, and otherwise a discrepancy:
     * that happens only after a bug, or when the database is damaged. To find this out it reads at most 10,000 records
     * of the customer for each. Receipts of customers with a test clock that differ count as late: their records are not
     * written by that clock.
     */
    readonly page: (
      input?: AuditReceipts,
    ) => Effect.Effect<ReceiptAuditPage, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>
  }
>()("@billwright/core/subscriptions/ReceiptAudit") {
  static readonly layer = Layer.effect(
    ReceiptAudit,
    Effect.gen(function* () {
      const makeBook = yield* bookOf
      const collections = yield* Collections
      const usageStore = yield* UsageStore
      const terms = new VersionTerms(yield* PlanStore)

      const periodOf = Effect.fnUntraced(function* (
        { id, state }: StoredSubscription,
        number: number,
      ): Effect.fn.Return<Period | undefined, InvoicingUnsupported | StorageError, CurrentTenant> {
        const { store } = yield* makeBook
        const [found] = yield* store.periodsBefore(id, number + 1, 1)
        const known = [found, state.period, state.closed?.period]
        return known.find((period) => period?.number === number) ?? undefined
      })

      /** The receipts that the lines of a period would have now, by segment, charge and group. `undefined`: they are not known. */
      const receiptsNow = Effect.fnUntraced(function* (subscription: StoredSubscription, number: number) {
        const { customerId, state } = subscription
        const { usage } = yield* makeBook
        const period = yield* periodOf(subscription, number)
        if (period === undefined) return undefined
        const { timezone } = state.periods
        const termsOf = yield* terms.of([period])
        const until = period.segments.at(-1)!.end
        const queries = usageQueries(period, timezone, termsOf, until)
        const read = usage.totals(customerId, [{ period, queries }])
        const all = yield* Effect.catchTag(read, "InvalidInput", () => Effect.succeed(undefined))
        if (all === undefined) return undefined
        const [totals = []] = all
        const { currency } = state
        const lines = linesOf({ period, timezone, currency, termsOf, until, totals, documented: [] })
        const receipts = new Map(
          lines.flatMap(({ charge, group, receipt, segment }) =>
            receipt === null ? [] : [[keyOf({ segment, group }, charge), receipt] as const],
          ),
        )
        const split = queries.flatMap(({ charge }) => (charge.by === undefined ? [] : [charge.key]))
        return { receipts, split: new Set<string | null>(split) }
      })

      /** What may have changed of the records of a receipt since its line was made. */
      const changesOf = Effect.fnUntraced(function* (
        { customerId }: StoredSubscription,
        { receipt }: ReceiptLine,
        madeAt: number,
      ) {
        const { data } = yield* collections
          .of(meters)
          .list({ key: receipt.meter }, { limit: 1, cursor: undefined })
          .pipe(Effect.catchTag("CursorNotFound", Effect.die))
        const changes: Changes = { added: 0, voided: 0 }
        const [meter] = data
        if (meter === undefined) return { ...changes, isExact: false }
        const { aggregation, productId, unit } = meter
        // The level before a span is carried over.
        const isCarried = aggregation === "time_weighted"
        const filter = { customerId, productId, unit, where: Object.entries(receipt.where) }
        let cursor: { readonly direction: "older"; readonly id: UsageRecord["id"] } | undefined
        for (let read = 0; read < MAX_RECORDS; read += RECORDS_OF_PAGE) {
          const page = yield* usageStore
            .list(filter, { limit: RECORDS_OF_PAGE, cursor })
            .pipe(Effect.catchTag("CursorNotFound", Effect.die))
          for (const record of page.data) {
            const at = record.timestamp.epochMilliseconds
            if ((isCarried || at >= receipt.periodStart) && at < receipt.periodEnd)
              noteRecord(changes, record, madeAt)
          }
          const last = page.data.at(-1)
          if (!page.hasMore || last === undefined) return { ...changes, isExact: !isCarried }
          cursor = { direction: "older", id: last.id }
        }
        return { ...changes, isExact: false }
      })

      /** Whether late usage explains why a receipt differs. `isRest`: it is of the records that lack a dimension. `now`: how many records there are. */
      const isExplained = Effect.fnUntraced(function* (
        subscription: StoredSubscription,
        line: ReceiptLine,
        invoice: StoredInvoice,
        isRest: boolean,
        now: number,
      ) {
        const owner = yield* collections.of(customers).find(subscription.customerId)
        if (Option.isSome(owner) && owner.value.testClockId !== null) return true
        const madeAt = invoice.state.issuedAt ?? invoice.createdAt.epochMilliseconds
        const { isExact, ...changes } = yield* changesOf(subscription, line, madeAt)
        const isChanged = changes.added + changes.voided > 0
        return isExact && !isRest ? explains(changes, now - line.receipt.recordCount) : isChanged
      })

      const checkInvoice = Effect.fnUntraced(function* (invoice: StoredInvoice) {
        const { store } = yield* makeBook
        const found = { receipts: 0, unchecked: 0, late: 0, discrepancies: [] as Array<ReceiptDiscrepancy> }
        if (invoice.state.status === "draft") return found
        const bills = Map.groupBy(
          invoice.state.lines.filter(hasReceipt),
          ({ origin: { period, subscriptionId } }) => `${subscriptionId} ${period}`,
        )
        for (const lines of bills.values()) {
          const { period: number, subscriptionId } = lines[0]!.origin
          const subscription = Option.getOrUndefined(yield* store.find(SubscriptionId.make(subscriptionId)))
          const now = subscription === undefined ? undefined : yield* receiptsNow(subscription, number)
          if (subscription === undefined || now === undefined) {
            found.unchecked += lines.length
            continue
          }
          for (const line of lines) {
            found.receipts++
            const receipt = now.receipts.get(keyOf(line.origin, line.charge))
            const problem = differenceOf(line.receipt, receipt)
            if (problem === undefined) continue
            const isRest = line.origin.group === null && now.split.has(line.charge)
            const { recordCount, total } = receipt ?? NOTHING
            if (yield* isExplained(subscription, line, invoice, isRest, recordCount)) found.late++
            else {
              const records = { total, recordCount }
              const { id: lineId } = line
              found.discrepancies.push({
                invoiceId: invoice.id,
                lineId,
                receipt: line.receipt,
                records,
                problem,
              })
            }
          }
        }
        return found
      })

      const page = Effect.fn("ReceiptAudit.page")(function* (input: AuditReceipts = {}) {
        const { invoices } = yield* makeBook
        const request = { ...(yield* decodeAudit(input)), limit: MAX_INVOICES }
        const { data, hasMore } = yield* invoices.list({}, yield* toQuery(request)).pipe(nameCursor(request))
        const found = yield* Effect.forEach(data, checkInvoice)
        return {
          invoices: data.length,
          receipts: found.reduce((sum, { receipts }) => sum + receipts, 0),
          unchecked: found.reduce((sum, { unchecked }) => sum + unchecked, 0),
          late: found.reduce((sum, { late }) => sum + late, 0),
          discrepancies: found.flatMap(({ discrepancies }) => discrepancies),
          last: data.at(-1)?.id ?? null,
          hasMore,
        } satisfies ReceiptAuditPage
      })

      return ReceiptAudit.of({ page })
    }),
  )
}

const keyOf = (
  { group, segment }: { readonly group: string | null; readonly segment: number },
  charge: string | null,
): string => JSON.stringify([segment, charge, group])
