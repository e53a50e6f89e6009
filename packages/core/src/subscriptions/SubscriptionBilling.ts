/**
 * Bills subscriptions: makes their drafts, and computes the lines of a draft again until it is finalized.
 *
 * Lines state the difference between what a period costs by now and what other invoices billed of it. So usage that was
 * recorded or voided after its period was billed is on the next invoice.
 */
import {
  type BillingEffect,
  type CouponInput,
  type CreditUnits,
  type DecimalsOf,
  decimalsIn,
  type Documented,
  type LineInput,
  linesOf,
  type Period,
  type PeriodInput,
  type PeriodLine,
  usageQueries,
} from "@billwright/engine"
import { DateTime, Effect } from "effect"
import { decimalsOption } from "../catalog/CreditSettings.ts"
import type { Outbox } from "../events/Outbox.ts"
import { INVOICE_ID_PREFIX, type InvoiceCause, InvoiceId, type StoredInvoice } from "../invoices/Invoice.ts"
import type { Deductions, InvoiceBook, Redrafted, Redrafting } from "../invoices/InvoiceBook.ts"
import type { BilledLine, InvoiceStore } from "../invoices/InvoiceStore.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import type { IdGenerator } from "../shared/Id.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { ChargeUsage } from "./ChargeUsage.ts"
import type { CouponBook } from "./CouponBook.ts"
import { draftsBefore, inOrder, subscriptionsOf } from "./DraftOrder.ts"
import { graceOf, graceOfLine } from "./GraceHours.ts"
import type { StoredSubscription } from "./Subscription.ts"
import type { SubscriptionStore } from "./SubscriptionStore.ts"
import { type Unbilled, unbilledData, usageUnbilled } from "./UnbilledEvent.ts"
import type { VersionTerms } from "./VersionTerms.ts"

/**
 * How many periods before the newest one are rated again for each invoice. The one before them is compared for the last
 * time: an event says what of it is not billed.
 */
const REVIEWED_PERIODS = 13
const HOUR_MILLIS = 3_600_000

/** What billing works with. */
export interface BillingParts {
  readonly subscriptions: SubscriptionStore["Service"]
  readonly invoices: InvoiceStore["Service"]
  readonly terms: VersionTerms
  readonly ids: IdGenerator["Service"]
  readonly outbox: Outbox["Service"]
  readonly usage: ChargeUsage
  /** The units that charges burn. */
  readonly units: CreditUnits
  readonly book: InvoiceBook
  readonly coupons: CouponBook
}

type Billed<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/**
 * The id of a line, unique in its invoice. It stays the same when the lines of a draft are computed again. Keys have no `~`
 * and no `.`, and a `~` of a group, which is a text of the host's, is doubled. So no two lines have the same id.
 */
const idOf = (period: number, { burns, charge, creditOf, group, segment }: PeriodLine): string => {
  const back = creditOf ?? burns?.of ?? null
  const of = charge === null ? `${period}.${segment}~minimum` : `${period}.${segment}.${charge}`
  const id = group === null ? of : `${of}.${group.replaceAll("~", "~~")}`
  return back === null ? id : `${id}~${back.invoiceId}.${back.lineId}`
}

/** What the lines of documents say, for the lines after them, by the number of the period. */
const documentedOf = (billed: ReadonlyArray<BilledLine>): ReadonlyMap<number, ReadonlyArray<Documented>> => {
  const byPeriod = new Map<number, Array<Documented>>()
  for (const { forgiven, invoiceId, line, status } of billed) {
    const { amount, charge, creditOf, discount, id, kind, origin, quantity } = line
    if (origin === null || kind === "item") continue
    // Nothing was given back by a void invoice, so what is not owed of an earlier line is still to be given back.
    if (status === "void" && creditOf !== null) continue
    const { burns = null, gross, group, period, segment } = origin
    // Not that of the line: with inclusive taxes, the amounts of lines contain their tax.
    const net = amount - discount
    const of = { invoiceId, lineId: id, kind, segment, charge, group, quantity }
    const found = byPeriod.get(period) ?? []
    byPeriod.set(period, found)
    // Nothing was paid of a void invoice, so nothing of it is given back.
    found.push(
      burns === null
        ? { ...of, gross, net, creditOf, forgiven: status === "void" ? net : forgiven }
        : {
            ...of,
            gross: burns.gross,
            net: burns.amount,
            creditOf: burns.of,
            forgiven: status === "void" ? burns.amount : 0n,
          },
    )
  }
  return byPeriod
}

/**
 * Invoices of other decimals say that somebody changed those of a unit while it was in use. Then nobody knows what its balances
 * count, so nothing is billed.
 */
const checkDecimals = (
  billed: ReadonlyArray<BilledLine>,
  decimalsOf: DecimalsOf,
): Effect.Effect<void, InvalidInput> => {
  for (const { invoiceId, line } of billed) {
    const { decimals = 0, unit } = line.origin?.burns ?? {}
    if (unit === undefined || decimalsOf(unit) === decimals) continue
    const problem = `is ${decimalsOf(unit)}, but was ${decimals} when ${invoiceId} burnt ${unit}: the decimals of a unit that is in use can't change`
    return Effect.fail(new InvalidInput({ field: decimalsOption(unit), problem }))
  }
  return Effect.void
}

/** Subscriptions that are billed together, as far as they are needed, by their ids. */
export type Held = ReadonlyMap<SubscriptionId, StoredSubscription>

/** The subscriptions by their ids. */
export const heldOf = (subscriptions: ReadonlyArray<StoredSubscription>): Held =>
  new Map(subscriptions.map((subscription) => [subscription.id, subscription]))

/** What is billed of a subscription, and which draft the lines are for. */
interface Bill {
  readonly subscription: StoredSubscription
  readonly cause: BillingEffect
  /** The first period that is rated. */
  readonly from: number
  /** The draft that is computed again, and those after it: what they bill is not billed yet. Empty for a new one. */
  readonly open: ReadonlySet<InvoiceId>
  /** The period before the first one, if it is looked at for the last time: it is compared, and not billed any more. */
  readonly leaving?: number | undefined
}

/** How an invoice of a subscription is made. */
export interface Making {
  /** The first period that may not have been billed at all. Default: that of the cause. */
  readonly from?: number
  /** The instant by which it may be issued at once, in epoch milliseconds. `undefined`: it waits for its turn. */
  readonly issueBy?: number | undefined
  /** Whether it has items that wait, too. Default: true. */
  readonly takesItems?: boolean
}

interface Computed {
  readonly lines: ReadonlyArray<LineInput>
  /** What is not billed any more of the periods that are looked at for the last time. */
  readonly unbilled: ReadonlyArray<Unbilled>
  /** How long a draft of these lines waits for late usage. */
  readonly graceHours: number
  /** The period that ended, or else the one that began. */
  readonly span: Pick<Period, "start" | "end">
}

/** When an invoice was due to be made. That of a start in the past was not before the subscription was there. */
const dueInstantOf = ({ cause, subscription }: Pick<Bill, "cause" | "subscription">): number =>
  Math.max(cause.at, subscription.createdAt.epochMilliseconds)

const subscriptionOf = (held: Held, id: SubscriptionId): StoredSubscription => {
  const found = held.get(id)
  if (found !== undefined) return found
  throw new TypeError(`the subscription ${id} is not held`)
}

/** The bill of a subscription that a draft has, computed again. `drafts` are in order. */
const billAgain = (
  held: Held,
  { effect: cause, subscriptionId }: InvoiceCause,
  draft: StoredInvoice,
  drafts: ReadonlyArray<StoredInvoice>,
): Bill => {
  const own = draft.state.lines.filter(({ origin }) => origin?.subscriptionId === subscriptionId)
  const numbers = own.map(({ origin }) => origin?.period ?? cause.period.number)
  const oldest = Math.min(cause.period.number, ...numbers)
  const later = drafts.slice(drafts.findIndex(({ id }) => id === draft.id) + 1)
  return {
    subscription: subscriptionOf(held, subscriptionId),
    cause,
    from: Math.max(0, Math.min(oldest, cause.period.number - REVIEWED_PERIODS)),
    open: new Set([draft.id, ...later.map(({ id }) => id)]),
  }
}

export class SubscriptionBilling {
  readonly #parts: BillingParts

  constructor(parts: BillingParts) {
    this.#parts = parts
  }

  /**
   * Makes the draft of `invoice` effects, of one subscription or of several at one instant, if there is something to bill.
   * The current transaction holds these and all that are billed together with them. The drafts before it are computed again
   * first, and are finalized before it. Gives it if there are none. Then it is not stored if it is due by `issueBy`, see
   * `InvoiceBook.draft`.
   */
  invoice(
    held: Held,
    causes: readonly [InvoiceCause, ...ReadonlyArray<InvoiceCause>],
    { from = Number.POSITIVE_INFINITY, issueBy, takesItems = true }: Making = {},
  ): Billed<Redrafted | undefined> {
    const { book, ids, invoices, outbox } = this.#parts
    return Effect.gen({ self: this }, function* () {
      let dueAt = 0
      const drafts = inOrder(yield* invoices.lockDrafts([...held.keys()]))
      const before = draftsBefore(drafts, subscriptionsOf({ causes }))
      for (const draft of before) {
        const again = yield* this.redraft(held, draft, drafts, { purpose: "read" })
        yield* book.save(again.draft)
        dueAt = Math.max(dueAt, again.draft.dueAt ?? 0)
      }
      const bills = causes.map(({ effect: cause, subscriptionId }): Bill => {
        const reviewed = Math.max(0, cause.period.number - REVIEWED_PERIODS)
        const isWithin = reviewed <= from && reviewed > 0 && cause.segment === 0
        return {
          subscription: subscriptionOf(held, subscriptionId),
          cause,
          from: Math.max(0, Math.min(from, reviewed)),
          open: new Set(),
          leaving: isWithin ? reviewed - 1 : undefined,
        }
      })
      const { graceHours, lines, span, unbilled } = yield* this.#partsOfAll(bills)
      for (const one of unbilled) {
        yield* outbox.publish(usageUnbilled, unbilledData(one), { customerId: one.subscription.customerId })
      }
      const now = yield* DateTime.now
      const { customerId, state } = bills[0]!.subscription
      const made = yield* book.draft(
        {
          id: InvoiceId.make(yield* ids.next(INVOICE_ID_PREFIX)),
          customerId,
          subscriptionId: causes.length === 1 ? causes[0].subscriptionId : null,
          causes,
          dueAt: Math.max(dueAt, causes[0].effect.at + graceHours * HOUR_MILLIS),
          createdAt: now,
          updatedAt: now,
        },
        { currency: state.currency, periodStart: span.start, periodEnd: span.end },
        lines,
        {
          ...(yield* this.#deductions(bills)),
          itemsUntil: takesItems ? Math.max(...bills.map(dueInstantOf)) : null,
          issueBy: before.length === 0 ? issueBy : undefined,
        },
      )
      return before.length === 0 ? made : undefined
    })
  }

  /**
   * Items of a subscription that ends are its customer's from now on. Call it before its last invoice is made, which takes
   * them first.
   */
  unbindItems({ customerId, id, state: { currency } }: StoredSubscription): Billed<void> {
    const { book, invoices } = this.#parts
    return Effect.flatMap(invoices.lockDrafts([id]), (drafts) =>
      book.unbindItems({ customerId, subscriptionId: id, currency }, drafts),
    )
  }

  /** A draft with its lines computed again. `drafts` are all of its subscriptions, in order. */
  redraft(
    held: Held,
    draft: StoredInvoice,
    drafts: ReadonlyArray<StoredInvoice>,
    how: Redrafting,
  ): Billed<Redrafted> {
    return Effect.gen({ self: this }, function* () {
      const bills = draft.causes.map((cause) => billAgain(held, cause, draft, drafts))
      if (bills.length === 0) return yield* this.#parts.book.redraft(draft, [], how)
      const { lines } = yield* this.#partsOfAll(bills)
      const deductions = yield* this.#deductions(bills)
      return yield* this.#parts.book.redraft(draft, lines, { ...how, deductions })
    })
  }

  /** A draft as it is issued: with what invoices before it left of credits by then, and its lines computed again. */
  toIssue(
    held: Held,
    draft: StoredInvoice,
    drafts: ReadonlyArray<StoredInvoice>,
    how: Redrafting,
  ): Billed<Redrafted> {
    const instants = draft.causes.map(({ effect: cause, subscriptionId }) =>
      dueInstantOf({ cause, subscription: subscriptionOf(held, subscriptionId) }),
    )
    const rests =
      instants.length === 0 ? Effect.void : this.#parts.book.takeRests(draft, Math.max(...instants))
    return Effect.andThen(rests, this.redraft(held, draft, drafts, how))
  }

  /** What lowers the invoice of some bills. With several, the coupons of each subscription lower its own lines only. */
  #deductions(bills: ReadonlyArray<Bill>): Billed<Deductions> {
    const { coupons, invoices } = this.#parts
    return Effect.gen(function* () {
      const all: Array<CouponInput> = []
      for (const bill of bills) {
        const { cause, open, subscription } = bill
        const target = { open, at: dueInstantOf(bill), period: cause.period.number }
        const found = yield* coupons.couponsFor(subscription, target, invoices)
        const own = { subscriptionId: subscription.id }
        all.push(...(bills.length === 1 ? found : found.map((coupon) => ({ ...coupon, ...own }))))
      }
      return { coupons: all }
    })
  }

  /** The lines of all bills, those of one subscription after those of another. */
  #partsOfAll(bills: ReadonlyArray<Bill>): Billed<Computed> {
    const [only] = bills
    if (only !== undefined && bills.length === 1) return this.#partsOf(only)
    return Effect.map(
      Effect.forEach(bills, (bill) => this.#partsOf(bill)),
      (all) => ({
        lines: all.flatMap(({ lines }, index) => {
          const { id } = bills[index]!.subscription
          return lines.map((line) => ({ ...line, id: `${id}.${line.id}` }))
        }),
        unbilled: all.flatMap((one) => one.unbilled),
        graceHours: Math.max(...all.map(({ graceHours }) => graceHours)),
        span: {
          start: Math.min(...all.map(({ span }) => span.start)),
          end: Math.max(...all.map(({ span }) => span.end)),
        },
      }),
    )
  }

  /**
   * The period of a cause. An invoice of the usage so far is made within its period, which may change or end before the invoice
   * is issued: what is used after the end is not usage of the subscription. So it bills the period as it is by now.
   */
  #periodOf(
    { id, state: { closed, period } }: StoredSubscription,
    { period: asMade, soFar }: BillingEffect,
  ): Billed<Period> {
    if (soFar !== true) return Effect.succeed(asMade)
    const { number } = asMade
    const known = [period, closed?.period].find((one) => one?.number === number) ?? undefined
    if (known !== undefined) return Effect.succeed(known)
    const stored = this.#parts.subscriptions.periodsBefore(id, number + 1, 1)
    return Effect.map(stored, ([one = asMade]) => one)
  }

  #partsOf(bill: Bill): Billed<Computed> {
    const { invoices, subscriptions, terms, units, usage } = this.#parts
    const decimalsOf = decimalsIn(units)
    return Effect.gen({ self: this }, function* () {
      const { cause, leaving, open, subscription } = bill
      const from = leaving ?? bill.from
      const { customerId, id, state } = subscription
      const { timezone } = state.periods
      const { number } = cause.period
      const earlier = yield* subscriptions.periodsBefore(id, number, number - from)
      const current = yield* this.#periodOf(subscription, cause)
      const periods = [...earlier, current]
      const termsOf = yield* terms.of(periods)
      const billed = (yield* invoices.billedLines(id, from)).filter(({ invoiceId }) => !open.has(invoiceId))
      yield* checkDecimals(billed, decimalsOf)
      const asked = periods.map((period) => ({
        period,
        queries: usageQueries(period, timezone, termsOf, cause.soFar === true ? period.end : cause.at),
      }))
      const totals = yield* usage.totals(customerId, asked)
      const documented = documentedOf(billed)
      const lines: Array<LineInput> = []
      const unbilled: Array<Unbilled> = []
      const inputs = periods.map((period, index): PeriodInput => ({
        period,
        timezone,
        currency: state.currency,
        termsOf,
        decimalsOf,
        until: cause.at,
        soFar: cause.soFar === true,
        totals: totals[index]!,
        documented: documented.get(period.number) ?? [],
      }))
      const ofPeriods = asked.map((one, index) =>
        one.period.number === leaving ? 0 : graceOf(one, inputs[index]!.documented, cause, termsOf),
      )
      const ofLines: Array<number> = []
      for (const input of inputs) {
        const { period } = input
        const found = linesOf(input)
        if (period.number === leaving) {
          const amount = found.reduce((sum, line) => sum + line.amount, 0n)
          if (amount !== 0n) unbilled.push({ subscription, period, amount })
          continue
        }
        lines.push(...found.map((line) => toLine(id, period.number, line, billed)))
        if (cause.soFar !== true) ofLines.push(...found.map((line) => graceOfLine(line, termsOf)))
      }
      // Nothing new is due, but usage may still come late: there has to be an invoice that waits for it.
      for (const input of lines.length === 0 ? inputs.filter((_, index) => ofPeriods[index]! > 0) : []) {
        const restated = linesOf({ ...input, isRestated: true })
        lines.push(...restated.map((line) => toLine(id, input.period.number, line, billed)))
      }
      const ended = earlier.at(-1)
      const span = ended?.segments.at(-1)?.end === cause.at ? ended : current
      return { lines, unbilled, graceHours: Math.max(...ofPeriods, ...ofLines), span }
    })
  }
}

const toLine = (
  subscriptionId: StoredSubscription["id"],
  period: number,
  line: PeriodLine,
  billed: ReadonlyArray<BilledLine>,
): LineInput => {
  const { burns, creditOf, gross, group, plan, segment, ...fields } = line
  const credited = billed.find(
    (one) => one.invoiceId === creditOf?.invoiceId && one.line.id === creditOf.lineId,
  )
  return {
    ...fields,
    id: idOf(period, line),
    origin: { subscriptionId, plan, period, segment, group, gross, ...(burns === null ? {} : { burns }) },
    taxCode: null,
    fixedTax: credited?.line.tax ?? null,
    creditOf,
  }
}
