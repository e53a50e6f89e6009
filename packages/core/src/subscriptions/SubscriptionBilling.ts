/**
 * Bills subscriptions: makes their drafts, and computes the lines of a draft again until it is finalized.
 *
 * Lines state the difference between what a period costs by now and what other invoices billed of it. So usage that was
 * recorded or voided after its period was billed is on the next invoice.
 */
import {
  type BillingEffect,
  type Documented,
  type LineInput,
  linesOf,
  type Period,
  type PeriodLine,
  usageQueries,
} from "@billwright/engine"
import { DateTime, Effect } from "effect"
import { INVOICE_ID_PREFIX, InvoiceId, type StoredInvoice } from "../invoices/Invoice.ts"
import type { Deductions, InvoiceBook, Redrafted } from "../invoices/InvoiceBook.ts"
import type { BilledLine, InvoiceStore } from "../invoices/InvoiceStore.ts"
import type { TaxAnswer } from "../invoices/Taxes.ts"
import type { IdGenerator } from "../shared/Id.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { ChargeUsage } from "./ChargeUsage.ts"
import type { CouponBook } from "./CouponBook.ts"
import type { StoredSubscription } from "./Subscription.ts"
import type { SubscriptionStore } from "./SubscriptionStore.ts"
import type { VersionTerms } from "./VersionTerms.ts"

/** How many periods before the newest one are rated again for each invoice. Usage of older periods is not billed any more. */
const REVIEWED_PERIODS = 13
/** How long a draft with usage waits for late records, in hours, if its plan does not say. */
const DEFAULT_GRACE_HOURS = 1
const HOUR_MILLIS = 3_600_000

/** What billing works with. */
export interface BillingParts {
  readonly subscriptions: SubscriptionStore["Service"]
  readonly invoices: InvoiceStore["Service"]
  readonly terms: VersionTerms
  readonly ids: IdGenerator["Service"]
  readonly usage: ChargeUsage
  readonly book: InvoiceBook
  readonly coupons: CouponBook
}

type Billed<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/** The id of a line, unique in its invoice. It stays the same when the lines of a draft are computed again. */
const idOf = (period: number, { charge, creditOf, group, segment }: PeriodLine): string => {
  const parts = [period, segment, charge ?? "minimum", ...(group === null ? [] : [group])]
  return creditOf === null ? parts.join(".") : [...parts, creditOf.invoiceId, creditOf.lineId].join(".")
}

/** What the lines of documents say, for the lines after them, by the number of the period. */
const documentedOf = (billed: ReadonlyArray<BilledLine>): ReadonlyMap<number, ReadonlyArray<Documented>> => {
  const byPeriod = new Map<number, Array<Documented>>()
  for (const { forgiven, invoiceId, line, status } of billed) {
    const { amount, charge, creditOf, discount, id, kind, origin, quantity } = line
    if (origin === null || kind === "item") continue
    const { gross, group, period, segment } = origin
    // Not that of the line: with inclusive taxes, the amounts of lines contain their tax.
    const net = amount - discount
    const of = { invoiceId, lineId: id, kind, segment, charge, group, quantity }
    const found = byPeriod.get(period) ?? []
    byPeriod.set(period, found)
    // Nothing was paid of a void invoice, so nothing of it is given back.
    found.push({ ...of, gross, net, creditOf, forgiven: status === "void" ? net : forgiven })
  }
  return byPeriod
}

/** What is billed, and which draft the lines are for. */
interface Bill {
  readonly subscription: StoredSubscription
  readonly cause: BillingEffect
  /** The first period that is rated. */
  readonly from: number
  /** The draft that is computed again, and those after it: what they bill is not billed yet. Empty for a new one. */
  readonly open: ReadonlySet<InvoiceId>
}

/** How an invoice of a subscription is made. */
export interface Making {
  /** The first period that may not have been billed at all. Default: that of the cause. */
  readonly from?: number
  /** The instant by which it may be issued at once, in epoch milliseconds. `undefined`: it waits for its turn. */
  readonly issueBy?: number | undefined
}

interface Computed {
  readonly lines: ReadonlyArray<LineInput>
  /** How long a draft of these lines waits for late usage. */
  readonly graceHours: number
  /** The period that ended, or else the one that began. */
  readonly span: Pick<Period, "start" | "end">
}

/** When an invoice was due to be made. That of a start in the past was not before the subscription was there. */
const dueInstantOf = ({ cause, subscription }: Bill): number =>
  Math.max(cause.at, subscription.createdAt.epochMilliseconds)

/** Drafts in the order of what they bill. That of their ids is another one when clocks differ. */
export const inOrder = (drafts: ReadonlyArray<StoredInvoice>): ReadonlyArray<StoredInvoice> =>
  drafts.toSorted(({ cause: a }, { cause: b }) =>
    a === null || b === null ? 0 : a.period.number - b.period.number || a.segment - b.segment,
  )

export class SubscriptionBilling {
  readonly #parts: BillingParts

  constructor(parts: BillingParts) {
    this.#parts = parts
  }

  /**
   * Makes the draft of an `invoice` effect of a subscription that the current transaction holds, if there is something to
   * bill. The drafts before it are computed again first, and are finalized before it. Gives it if there are none. Then it is
   * not stored if it is due by `issueBy`, see `InvoiceBook.draft`.
   */
  invoice(
    subscription: StoredSubscription,
    cause: BillingEffect,
    { from = cause.period.number, issueBy }: Making = {},
  ): Billed<Redrafted | undefined> {
    const { book, ids, invoices } = this.#parts
    return Effect.gen({ self: this }, function* () {
      const { customerId, id, state } = subscription
      let dueAt = 0
      const drafts = inOrder(yield* invoices.lockDrafts(id))
      for (const [index, draft] of drafts.entries()) {
        const again = yield* this.redraft(subscription, draft, drafts.slice(index + 1))
        yield* book.save(again.draft)
        dueAt = Math.max(dueAt, again.draft.dueAt ?? 0)
      }
      const first = Math.max(0, Math.min(from, cause.period.number - REVIEWED_PERIODS))
      const bill: Bill = { subscription, cause, from: first, open: new Set() }
      const { graceHours, lines, span } = yield* this.#partsOf(bill)
      const now = yield* DateTime.now
      const made = yield* book.draft(
        {
          id: InvoiceId.make(yield* ids.next(INVOICE_ID_PREFIX)),
          customerId,
          subscriptionId: id,
          cause,
          dueAt: Math.max(dueAt, cause.at + graceHours * HOUR_MILLIS),
          createdAt: now,
          updatedAt: now,
        },
        { currency: state.currency, periodStart: span.start, periodEnd: span.end },
        lines,
        {
          ...(yield* this.#deductions(bill)),
          itemsUntil: dueInstantOf(bill),
          issueBy: drafts.length === 0 ? issueBy : undefined,
        },
      )
      return drafts.length === 0 ? made : undefined
    })
  }

  /**
   * Items of a subscription that ends are its customer's from now on. Call it before its last invoice is made, which takes
   * them first.
   */
  unbindItems({ customerId, id, state: { currency } }: StoredSubscription): Billed<void> {
    const { book, invoices } = this.#parts
    return Effect.flatMap(invoices.lockDrafts(id), (drafts) =>
      book.unbindItems({ customerId, subscriptionId: id, currency }, drafts),
    )
  }

  /** A draft of the subscription with its lines computed again. `later` are the drafts after it. */
  redraft(
    subscription: StoredSubscription,
    draft: StoredInvoice,
    later: ReadonlyArray<StoredInvoice>,
    answer?: TaxAnswer,
  ): Billed<Redrafted> {
    const { cause, id, state } = draft
    if (cause === null) return this.#parts.book.redraft(draft, [], answer)
    const numbers = state.lines.map(({ origin }) => origin?.period ?? cause.period.number)
    const oldest = Math.min(cause.period.number, ...numbers)
    const from = Math.max(0, Math.min(oldest, cause.period.number - REVIEWED_PERIODS))
    const open = new Set([id, ...later.map((one) => one.id)])
    const bill: Bill = { subscription, cause, from, open }
    return Effect.gen({ self: this }, function* () {
      const { lines } = yield* this.#partsOf(bill)
      const deductions = yield* this.#deductions(bill)
      return yield* this.#parts.book.redraft(draft, lines, answer, deductions)
    })
  }

  /** What lowers the invoice of a bill. */
  #deductions(bill: Bill): Billed<Deductions> {
    const { cause, open, subscription } = bill
    const { coupons, invoices } = this.#parts
    const target = { open, at: dueInstantOf(bill), period: cause.period.number }
    return Effect.map(coupons.couponsFor(subscription, target, invoices), (found) => ({ coupons: found }))
  }

  #partsOf(bill: Bill): Billed<Computed> {
    const { invoices, subscriptions, terms, usage } = this.#parts
    return Effect.gen({ self: this }, function* () {
      const { cause, from, open, subscription } = bill
      const { customerId, id, state } = subscription
      const { timezone } = state.periods
      const { number } = cause.period
      const earlier = yield* subscriptions.periodsBefore(id, number, number - from)
      const periods = [...earlier, cause.period]
      const termsOf = yield* terms.of(periods)
      const billed = (yield* invoices.billedLines(id, from)).filter(({ invoiceId }) => !open.has(invoiceId))
      const asked = periods.map((period) => ({
        period,
        queries: usageQueries(period, timezone, termsOf, cause.at),
      }))
      const totals = yield* usage.totals(customerId, asked)
      const documented = documentedOf(billed)
      const lines: Array<LineInput> = []
      let graceHours = 0
      for (const [index, period] of periods.entries()) {
        const found = linesOf({
          period,
          timezone,
          currency: state.currency,
          termsOf,
          until: cause.at,
          totals: totals[index]!,
          documented: documented.get(period.number) ?? [],
        })
        for (const line of found) {
          lines.push(toLine(id, period.number, line, billed))
          if (line.kind === "usage") {
            graceHours = Math.max(graceHours, termsOf(line.plan).policy?.grace_hours ?? DEFAULT_GRACE_HOURS)
          }
        }
      }
      const ended = earlier.at(-1)
      const span = ended?.segments.at(-1)?.end === cause.at ? ended : cause.period
      return { lines, graceHours, span }
    })
  }
}

const toLine = (
  subscriptionId: StoredSubscription["id"],
  period: number,
  line: PeriodLine,
  billed: ReadonlyArray<BilledLine>,
): LineInput => {
  const { creditOf, gross, group, plan, segment, ...fields } = line
  const credited = billed.find(
    (one) => one.invoiceId === creditOf?.invoiceId && one.line.id === creditOf.lineId,
  )
  return {
    ...fields,
    id: idOf(period, line),
    origin: { subscriptionId, plan, period, segment, group, gross },
    receipt: null,
    taxCode: null,
    fixedTax: credited?.line.tax ?? null,
    creditOf,
  }
}
