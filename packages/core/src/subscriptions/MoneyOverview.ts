/**
 * The overview of money: what comes each month, what was invoiced and collected, and what is outstanding.
 */
import { Exact, type PlanTerms, previewPlan } from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { PlanStore } from "../catalog/PlanStore.ts"
import type { InvoiceFigure, InvoiceSum } from "../invoices/InvoiceFigure.ts"
import { InvoiceStore } from "../invoices/InvoiceStore.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import { daysBefore, MONEY_DAYS, type MoneySum } from "../shared/MoneySum.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { type SameTerms, SubscriptionStore } from "./SubscriptionStore.ts"

/** Most different terms of active subscriptions that are priced: a plan, its version, a currency and quantities. */
export const MAX_PRICED_TERMS = 10_000
/** How many versions of plans are read at the same time. */
const VERSIONS_AT_ONCE = 8
/** The days of a year. A month is a twelfth of them. */
const YEAR_DAYS = 365n
const WEEK_DAYS = 7n
const YEAR_MONTHS = 12n

/** How many there are, and what they come to in the minor unit of the currency. */
export interface Figure {
  readonly count: number
  readonly amount: bigint
}

/** The money of one currency. */
export interface CurrencyMoney {
  /** The ISO 4217 code of the currency. */
  readonly currency: string
  /**
   * What active subscriptions cost a month, without usage and before discounts and taxes, rounded once. A year counts as a
   * twelfth a month, and a day as a 365th of a year.
   */
  readonly recurring: Figure
  /** The totals of invoices that were issued since `since` and not voided. */
  readonly invoiced: Figure
  /** The payments that succeeded since `since`. Refunds are not taken off. */
  readonly collected: Figure
  /** What is due of open invoices: the sum of the four below. */
  readonly outstanding: Figure
  readonly notDue: Figure
  /** Late by up to 30 days. */
  readonly lateThirty: Figure
  /** Late by more than 30 and up to 60 days. */
  readonly lateSixty: Figure
  /** Late by more than 60 days. */
  readonly lateMore: Figure
  /** What is due of open invoices whose payment was declined, and is tried again by itself. */
  readonly toRetry: Figure
}

/** The figures of an account and mode at an instant. */
export interface Money {
  readonly at: DateTime.Utc
  /** `MONEY_DAYS` before. What was invoiced and collected is after it. */
  readonly since: DateTime.Utc
  /** By the codes of the currencies. */
  readonly currencies: ReadonlyArray<CurrencyMoney>
  /** Whether `recurring` has all active subscriptions: there are at most `MAX_PRICED_TERMS` different terms. */
  readonly isComplete: boolean
}

type Failure = InvoicingUnsupported | StorageError

/** Reads what the money of the current tenant comes to. It writes nothing. */
export class MoneyOverview extends Context.Service<
  MoneyOverview,
  {
    /**
     * The figures of all currencies that have any. Each is computed from everything that is stored, however much that is.
     * Due dates and the last days are those of the real clock, also for customers of test clocks.
     */
    readonly overview: Effect.Effect<Money, Failure, CurrentTenant>
  }
>()("@billwright/core/subscriptions/MoneyOverview") {
  static readonly layer = Layer.effect(
    MoneyOverview,
    Effect.gen(function* () {
      const invoicePort = yield* optionalPort(InvoiceStore)
      const paymentPort = yield* optionalPort(PaymentStore)
      const subscriptionPort = yield* optionalPort(SubscriptionStore)
      const plans = yield* PlanStore

      /** What each of some terms costs a month. Each version of a plan is read once. */
      const priced = Effect.fnUntraced(function* (all: ReadonlyArray<SameTerms>) {
        const versions = Map.groupBy(all, ({ plan: { key, version } }) => JSON.stringify([key, version]))
        const read = yield* Effect.forEach(
          versions.values(),
          (same) =>
            Effect.gen(function* () {
              const { key, version } = same[0]!.plan
              const found = yield* plans.findVersion(key, version)
              if (Option.isNone(found)) return []
              const { terms } = found.value
              return same.map((one) => ({ ...one, monthly: monthlyOf(terms, one) }))
            }),
          { concurrency: VERSIONS_AT_ONCE },
        )
        return read.flat()
      })

      const recurring = Effect.fnUntraced(function* () {
        const found = yield* (yield* subscriptionPort).sameTerms(MAX_PRICED_TERMS + 1)
        const isComplete = found.length <= MAX_PRICED_TERMS
        const byCurrency = Map.groupBy(
          yield* priced(found.slice(0, MAX_PRICED_TERMS)),
          ({ currency }) => currency,
        )
        const sums = [...byCurrency].map(([currency, same]): MoneySum => {
          const each = same.map(({ count, monthly }) =>
            Exact.multiply(monthly, Exact.ofInteger(BigInt(count))),
          )
          return {
            currency,
            count: same.reduce((sum, { count }) => sum + count, 0),
            amount: Exact.roundTo(each.reduce(Exact.add, Exact.zero), 0),
          }
        })
        return { isComplete, sums }
      })

      const overview = Effect.gen(function* () {
        const [invoices, payments] = [yield* invoicePort, yield* paymentPort]
        const at = yield* DateTime.now
        const now = at.epochMilliseconds
        const figures = yield* invoices.sums(now)
        const collected = yield* payments.collected(now)
        const monthly = yield* recurring()
        const codes = new Set([...figures, ...collected, ...monthly.sums].map(({ currency }) => currency))
        return {
          at,
          since: DateTime.makeUnsafe(daysBefore(now, MONEY_DAYS)),
          currencies: [...codes]
            .toSorted()
            .map((currency) => moneyOf(currency, figures, collected, monthly.sums)),
          isComplete: monthly.isComplete,
        }
      }).pipe(Effect.withSpan("MoneyOverview.overview"))

      return MoneyOverview.of({ overview })
    }),
  )
}

const NONE: Figure = { count: 0, amount: 0n }

const figureIn = (sums: ReadonlyArray<MoneySum>, currency: string): Figure => {
  const found = sums.find((sum) => sum.currency === currency)
  return found === undefined ? NONE : { count: found.count, amount: found.amount }
}

const moneyOf = (
  currency: string,
  figures: ReadonlyArray<InvoiceSum>,
  collected: ReadonlyArray<MoneySum>,
  monthly: ReadonlyArray<MoneySum>,
): CurrencyMoney => {
  const ofInvoices = (name: InvoiceFigure) =>
    figureIn(
      figures.filter(({ figure }) => figure === name),
      currency,
    )
  return {
    currency,
    recurring: figureIn(monthly, currency),
    invoiced: ofInvoices("invoiced"),
    collected: figureIn(collected, currency),
    outstanding: ofInvoices("outstanding"),
    notDue: ofInvoices("not_due"),
    lateThirty: ofInvoices("late_thirty"),
    lateSixty: ofInvoices("late_sixty"),
    lateMore: ofInvoices("late_more"),
    toRetry: ofInvoices("to_retry"),
  }
}

/** How many months an interval has. */
const monthsOf = ({ count, unit }: PlanTerms["interval"]): readonly [months: bigint, of: bigint] => {
  const units = BigInt(count)
  if (unit === "month") return [units, 1n]
  if (unit === "year") return [units * YEAR_MONTHS, 1n]
  return [units * (unit === "week" ? WEEK_DAYS : 1n) * YEAR_MONTHS, YEAR_DAYS]
}

/** What terms of a plan cost a month with these quantities and without usage, in the minor unit: not rounded. */
const monthlyOf = (terms: PlanTerms, { currency, quantities }: SameTerms): Exact.Exact => {
  const byCharge = terms.charges.flatMap((charge) => {
    const quantity =
      charge.model === "flat" || charge.quantity === undefined ? undefined : quantities[charge.quantity]
    return quantity === undefined ? [] : [[charge.key, quantity] as const]
  })
  const { total } = previewPlan(terms, { currency, quantities: Object.fromEntries(byCharge) })
  const [months, of] = monthsOf(terms.interval)
  return Exact.ofFraction(total * of, months)
}
