/**
 * What a change of plans means in money: the real past usage of all customers, rated as it was and by the new terms.
 */
import {
  linesOf,
  type Period,
  type PlanDefinition,
  type PlanTerms,
  RatingError,
  type TermsOf,
  termsOf as termsOfPlan,
  usageQueries,
  type UsageTotal,
} from "@billwright/engine"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { changeOf, type PushPlans } from "../catalog/Plan.ts"
import { PlanStore } from "../catalog/PlanStore.ts"
import * as PushedPlans from "../catalog/PushedPlans.ts"
import type { CustomerId } from "../customers/Customer.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import * as Batch from "../shared/Batch.ts"
import { type CollectionOf, Collections } from "../shared/Collections.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import type { Page, PageQuery } from "../shared/Page.ts"
import { consistently } from "../shared/SnapshotReads.ts"
import { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { type Meter, meters } from "../usage/Meter.ts"
import { UsageStore } from "../usage/UsageStore.ts"
import { ChargeUsage, type PeriodUsage } from "./ChargeUsage.ts"
import type { StoredSubscription } from "./Subscription.ts"
import { SubscriptionStore } from "./SubscriptionStore.ts"
import { VersionTerms } from "./VersionTerms.ts"

/** Months that are rated when the caller gives none, and the most. */
const DEFAULT_COST_MONTHS = 3
export const MAX_COST_MONTHS = 36
/** How many of the largest rises are given, and how many of the subscriptions that could not be rated. */
const MAX_LISTED_RISES = 10
/** Most subscriptions of one read. They are rated side by side. */
const PAGE = 100
/** Most periods of a subscription: three years of days. */
const MAX_PERIODS = 1_100
/** Most customers that are compared. Each is kept until the end. */
const MAX_COMPARED_CUSTOMERS = 1_000_000

const monthsMessage = { message: `must be an integer from 1 to ${MAX_COST_MONTHS}` }
const decode = decoder(
  Schema.Struct({
    months: Schema.optionalKey(
      Schema.Int.annotate(monthsMessage).check(
        Schema.isBetween({ minimum: 1, maximum: MAX_COST_MONTHS }, monthsMessage),
      ),
    ),
  }),
)

/** The input of `PlanCosts.compare`. */
export interface ComparePlans extends PushPlans {
  /** The periods that ended in so many months before now are rated: 1 to 36. Default: 3. */
  readonly months?: number
}

/** How far a comparison is. */
export interface CostProgress {
  readonly subscriptions: number
  readonly customers: number
}

/** What a customer paid for plans that change, and would pay. Amounts are integers of the minor unit. */
export interface CustomerCost {
  readonly customerId: CustomerId
  readonly before: bigint
  readonly after: bigint
}

/** What the change means in a currency. */
export interface CurrencyCosts {
  readonly currency: string
  readonly before: bigint
  readonly after: bigint
  /** How many customers are rated, and of how many the cost stays, rises and falls. */
  readonly customers: number
  readonly unchanged: number
  readonly rises: number
  readonly falls: number
  /** The largest rises, the largest first: at most `MAX_LISTED_RISES`. */
  readonly largestRises: ReadonlyArray<CustomerCost>
}

/** A subscription that can't be rated by the new terms. */
export interface UnratedSubscription {
  readonly subscriptionId: SubscriptionId
  readonly customerId: CustomerId
  readonly problem: string
}

export interface PlanComparison {
  /** Periods that ended after `from`, and not after `to`, are rated. */
  readonly from: DateTime.Utc
  readonly to: DateTime.Utc
  /** The keys of the plans whose terms change. Only their subscriptions are rated. */
  readonly plans: ReadonlyArray<string>
  /** `false`: there are more than `MAX_COMPARED_CUSTOMERS` customers, and the others are not rated. */
  readonly isComplete: boolean
  readonly subscriptions: number
  readonly periods: number
  /** By currency, in their order. */
  readonly currencies: ReadonlyArray<CurrencyCosts>
  /** How many subscriptions could not be rated by the new terms. They are in no sum. */
  readonly unrated: number
  /** The first of these: at most `MAX_LISTED_RISES`. */
  readonly problems: ReadonlyArray<UnratedSubscription>
}

/** Ratings have no parts that could fail alone: they write nothing. */
const NO_PARTS = new StorageError({
  operation: "PlanCosts.compare",
  retryable: false,
  cause: new TypeError("a rating has written something"),
})

type Read<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>
type Meters = CollectionOf<typeof meters>

/** The meters by their keys, each read once: a comparison reads as of one instant. */
const readOnce = (collection: Meters): Meters => {
  const kept = new Map<string, Page<Meter>>()
  return {
    ...collection,
    list: (filter, page) => {
      const key = JSON.stringify([filter, page])
      const known = kept.get(key)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(collection.list(filter, page), (found) => Effect.sync(() => kept.set(key, found)))
    },
  }
}

const endOf = ({ segments }: Period): number => segments.at(-1)!.end

const costOf = (
  { state: { currency, periods } }: StoredSubscription,
  period: Period,
  termsOf: TermsOf,
  totals: ReadonlyArray<UsageTotal>,
): bigint =>
  linesOf({
    period,
    timezone: periods.timezone,
    currency,
    termsOf,
    until: endOf(period),
    totals,
    documented: [],
  }).reduce((sum, { amount }) => sum + amount, 0n)

/** What customers paid and would pay, by currency. */
class Costs {
  readonly #currencies = new Map<string, Map<CustomerId, { before: bigint; after: bigint }>>()
  readonly customers = new Set<CustomerId>()

  add(customerId: CustomerId, currency: string, before: bigint, after: bigint): void {
    this.customers.add(customerId)
    const ofCurrency =
      this.#currencies.get(currency) ?? new Map<CustomerId, { before: bigint; after: bigint }>()
    this.#currencies.set(currency, ofCurrency)
    const known = ofCurrency.get(customerId) ?? { before: 0n, after: 0n }
    ofCurrency.set(customerId, { before: known.before + before, after: known.after + after })
  }

  get summary(): ReadonlyArray<CurrencyCosts> {
    return Array.from(this.#currencies, ([currency, all]) => {
      const costs = Array.from(all, ([customerId, cost]): CustomerCost => ({ customerId, ...cost }))
      const rises = costs.filter(({ after, before }) => after > before)
      return {
        currency,
        before: costs.reduce((sum, { before }) => sum + before, 0n),
        after: costs.reduce((sum, { after }) => sum + after, 0n),
        customers: costs.length,
        unchanged: costs.filter(({ after, before }) => after === before).length,
        rises: rises.length,
        falls: costs.filter(({ after, before }) => after < before).length,
        largestRises: rises.toSorted(largestFirst).slice(0, MAX_LISTED_RISES),
      }
    }).toSorted((a, b) => (a.currency < b.currency ? -1 : 1))
  }
}

const largestFirst = (a: CustomerCost, b: CustomerCost): number => {
  const difference = b.after - b.before - (a.after - a.before)
  if (difference !== 0n) return difference > 0n ? 1 : -1
  return a.customerId < b.customerId ? -1 : 1
}

interface Parts {
  readonly subscriptions: SubscriptionStore["Service"]
  readonly terms: VersionTerms
  readonly usage: ChargeUsage
}

/** The periods of a subscription that ended in a span. */
const periodsIn = ({ subscriptions }: Parts, { id, state }: StoredSubscription, from: number, to: number) => {
  const { closed, opened, period } = state
  const last = period ?? closed?.period ?? null
  if (last === null) return Effect.succeed([])
  return Effect.map(subscriptions.periodsBefore(id, Math.min(opened, last.number), MAX_PERIODS), (earlier) =>
    [...earlier, last].filter((one) => endOf(one) > from && endOf(one) <= to),
  )
}

/** What the periods of a subscription come to. */
interface Rated {
  readonly periods: number
  readonly before: bigint
  readonly after: bigint
}

/** Refuses new terms that price a quantity which a subscription does not have in one of its periods, as a change to them is. */
const checkQuantities = (
  periods: ReadonlyArray<Period>,
  changed: ReadonlyMap<string, PlanTerms>,
): Effect.Effect<void, InvalidInput> => {
  for (const { plan, quantities } of periods.flatMap(({ segments }) => segments)) {
    const terms = plan === null ? undefined : changed.get(plan.key)
    for (const { key, quantity } of terms?.charges ?? []) {
      if (quantity === undefined || Object.hasOwn(quantities, quantity)) continue
      const problem = `is required: the charge ${JSON.stringify(key)} uses it`
      return Effect.fail(new InvalidInput({ field: `quantities.${quantity}`, problem }))
    }
  }
  return Effect.void
}

/** What some periods of a subscription cost as they were, and by the new terms. */
const rateBoth = (
  { terms, usage }: Parts,
  subscription: StoredSubscription,
  periods: ReadonlyArray<Period>,
  changed: ReadonlyMap<string, PlanTerms>,
): Read<Pick<Rated, "before" | "after">> =>
  Effect.gen(function* () {
    yield* checkQuantities(periods, changed)
    const termsOf = yield* terms.of(periods)
    const newTermsOf: TermsOf = (ref) => changed.get(ref.key) ?? termsOf(ref)
    const queriesOf = (of: TermsOf) =>
      periods.map((period): PeriodUsage => ({
        period,
        queries: usageQueries(period, subscription.state.periods.timezone, of, endOf(period)),
      }))
    const asked = [...queriesOf(termsOf), ...queriesOf(newTermsOf)]
    const totals = yield* usage.totals(subscription.customerId, asked)
    return yield* Effect.try({
      try: () => {
        const sum = (of: TermsOf, from: number) =>
          periods.reduce(
            (all, period, index) => all + costOf(subscription, period, of, totals[from + index] ?? []),
            0n,
          )
        return { before: sum(termsOf, 0), after: sum(newTermsOf, periods.length) }
      },
      catch: (error) => {
        if (!(error instanceof RatingError)) throw error
        return new InvalidInput({ field: "plans", problem: error.message })
      },
    })
  })

/** Compares what plans cost by their stored and by new terms. */
export class PlanCosts extends Context.Service<
  PlanCosts,
  {
    /**
     * Rates the periods of all live subscriptions that ended in the last months, as they were and by the terms of the given
     * plans, with the real usage. It reads as of one instant and writes nothing. `progress` is called from time to time.
     *
     * Amounts are before coupons, credits and taxes. `InvalidInput` has all problems of the plans.
     */
    readonly compare: (
      input: ComparePlans,
      progress?: (soFar: CostProgress) => Effect.Effect<void>,
    ) => Effect.Effect<PlanComparison, InvalidInput | InvoicingUnsupported | StorageError, CurrentTenant>
  }
>()("@billwright/core/subscriptions/PlanCosts") {
  static readonly layer = Layer.effect(
    PlanCosts,
    Effect.gen(function* () {
      const plans = yield* PlanStore
      const collections = yield* Collections
      const usageStore = yield* UsageStore
      const transactor = yield* Transactor
      const subscriptionPort = yield* optionalPort(SubscriptionStore)

      /** The new terms of the plans whose terms change. */
      const changedTerms = (pushed: ReadonlyArray<PlanDefinition>) =>
        Effect.map(plans.findAll(pushed.map(({ key }) => key)), (stored) => {
          const changes = pushed.filter((plan) => {
            const { previousVersion, version } = changeOf(
              stored.find(({ key }) => key === plan.key),
              plan,
            )
            return previousVersion !== null && version !== previousVersion
          })
          return new Map(changes.map((plan) => [plan.key, termsOfPlan(plan)]))
        })

      const compareAll = Effect.fnUntraced(function* (
        pushed: ReadonlyArray<PlanDefinition>,
        months: number,
        progress: (soFar: CostProgress) => Effect.Effect<void>,
      ) {
        const to = yield* DateTime.now
        const from = DateTime.subtract(to, { months })
        const changed = yield* changedTerms(pushed)
        const parts: Parts = {
          subscriptions: yield* subscriptionPort,
          terms: new VersionTerms(plans),
          usage: new ChargeUsage(usageStore, readOnce(collections.of(meters))),
        }
        const costs = new Costs()
        const problems: Array<UnratedSubscription> = []
        const counts = { subscriptions: 0, periods: 0, unrated: 0 }
        let isComplete = true

        const rateOne = (subscription: StoredSubscription): Read<Rated | string> =>
          Effect.gen(function* () {
            const span = [from.epochMilliseconds, to.epochMilliseconds] as const
            const periods = yield* periodsIn(parts, subscription, ...span)
            return { periods: periods.length, ...(yield* rateBoth(parts, subscription, periods, changed)) }
          }).pipe(Effect.catchTag("InvalidInput", ({ message }) => Effect.succeed(message)))

        const note = ({ customerId, id, state }: StoredSubscription, rated: Rated | string): void => {
          counts.subscriptions++
          if (typeof rated === "string") {
            counts.unrated++
            if (problems.length >= MAX_LISTED_RISES) return
            problems.push({ subscriptionId: id, customerId, problem: rated })
            return
          }
          counts.periods += rated.periods
          costs.add(customerId, state.currency, rated.before, rated.after)
        }

        for (const plan of changed.keys()) {
          let cursor: PageQuery["cursor"]
          for (let hasMore = true; hasMore;) {
            const page = yield* parts.subscriptions
              .list({ plan, isLive: true }, { limit: PAGE, cursor })
              .pipe(Effect.catchTag("CursorNotFound", Effect.die))
            // Side by side, so that what they read in the same way is one statement.
            const rated = yield* Batch.run(page.data.map(rateOne), () => NO_PARTS)
            for (const [index, one] of page.data.entries()) note(one, rated[index]!)
            yield* progress({ subscriptions: counts.subscriptions, customers: costs.customers.size })
            const last = page.data.at(-1)
            isComplete = costs.customers.size < MAX_COMPARED_CUSTOMERS
            hasMore = page.hasMore && last !== undefined && isComplete
            if (last !== undefined) cursor = { direction: "older", id: last.id }
          }
        }
        const { summary: currencies } = costs
        return { from, to, plans: [...changed.keys()], isComplete, ...counts, currencies, problems }
      })

      return PlanCosts.of({
        compare: Effect.fn("PlanCosts.compare")(function* (
          { months, ...input }: ComparePlans,
          progress = () => Effect.void,
        ) {
          const { months: asked = DEFAULT_COST_MONTHS } = yield* decode(
            months === undefined ? {} : { months },
          )
          const pushed = yield* PushedPlans.check(input)
          return yield* consistently(compareAll(pushed, asked, progress)).pipe(
            Effect.provideService(Transactor, transactor),
          )
        }),
      })
    }),
  )
}
