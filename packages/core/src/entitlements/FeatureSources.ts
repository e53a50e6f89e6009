/**
 * Finds what the subscriptions of a customer include of features, and how much of it was used.
 */
import {
  type CountedTime,
  countedPeriods,
  countedTime,
  type Entitled,
  entitledAt,
  Exact,
  type Feature,
  featureOf,
  type FeatureSource,
  isPastGrace,
  MAX_ROLLOVER_PERIODS,
  type MeteredFeature,
  type Period,
  type PlanTerms,
  type PlanVersionRef,
  rolledOver,
  type TermsOf,
} from "@billwright/engine"
import { Clock, Effect } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { InvoiceStore } from "../invoices/InvoiceStore.ts"
import type { SubscriptionId } from "../invoices/SubscriptionId.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { SubscriptionStore } from "../subscriptions/SubscriptionStore.ts"
import type { VersionTerms } from "../subscriptions/VersionTerms.ts"
import * as MeterQueries from "../usage/MeterQueries.ts"
import type { Rollup } from "../usage/Rollup.ts"
import { MAX_ENTITLING_SUBSCRIPTIONS } from "./Entitlement.ts"

/** What a subscription gives its customer now. */
export interface Entitling {
  readonly subscriptionId: SubscriptionId
  readonly terms: PlanTerms
  readonly time: CountedTime
  /** A payment is late, and the plan's grace is over: it gives no features. */
  readonly isPastGrace: boolean
  readonly life: Life
}

/** The periods of a subscription. */
interface Life extends Entitled {
  readonly timezone: string
  /** Those whose numbers are less are stored, and don't change any more. */
  readonly before: number
}

/** What a subscription includes of a feature. */
export interface Source extends FeatureSource {
  readonly subscriptionId: SubscriptionId
  readonly time: CountedTime
  /** `null` unless the feature is metered. */
  readonly metered: Metered | null
}

/** A metered feature with its meter. */
export interface Metered {
  readonly feature: MeteredFeature
  readonly rollup: Rollup
}

/** What was used by a meter in whole units, rounded up, in the time that is counted now and in earlier ones. */
interface MeterValue {
  readonly used: bigint
  readonly earlier: ReadonlyArray<bigint>
  readonly rollup: Rollup
}

type Read<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/** Whether features of a plan may end because a payment is late. */
const hasGrace = ({ policy }: PlanTerms): boolean => policy?.past_due_grace_days !== undefined

/** Why a customer has nothing of a feature that no subscription gives. */
export const whyNothing = (
  all: ReadonlyArray<Entitling>,
  feature: string,
): "not_included" | "past_due" | "no_subscription" => {
  if (all.length === 0) return "no_subscription"
  return all.some(({ terms }) => featureOf(terms, feature) !== undefined) ? "past_due" : "not_included"
}

/** The instants at which times begin and end, each once. */
const boundariesOf = (times: ReadonlyArray<CountedTime>): ReadonlyArray<number> =>
  [...new Set(times.flatMap(({ end, start }) => [start, end]))].toSorted((a, b) => a - b)

const isSamePlan = (a: PlanVersionRef, b: PlanVersionRef): boolean =>
  a.key === b.key && a.version === b.version

export class FeatureSources {
  readonly #subscriptions: SubscriptionStore["Service"]
  readonly #invoices: InvoiceStore["Service"]
  readonly #terms: VersionTerms
  readonly #meters: MeterQueries.MeterQueries
  readonly #earlier = new Map<SubscriptionId, ReadonlyArray<Period>>()

  constructor(
    subscriptions: SubscriptionStore["Service"],
    invoices: InvoiceStore["Service"],
    terms: VersionTerms,
    meters: MeterQueries.MeterQueries,
  ) {
    this.#invoices = invoices
    this.#subscriptions = subscriptions
    this.#terms = terms
    this.#meters = meters
  }

  /** What the subscriptions of a customer give now. The oldest subscription comes first. */
  entitling(customerId: CustomerId): Read<ReadonlyArray<Entitling>> {
    const page = { limit: MAX_ENTITLING_SUBSCRIPTIONS, cursor: undefined }
    return Effect.gen({ self: this }, function* () {
      const now = yield* Clock.currentTimeMillis
      const { data } = yield* this.#subscriptions
        .list({ customerId, isLive: true }, page)
        .pipe(Effect.catchTag("CursorNotFound", Effect.die))
      const given = data.toReversed().flatMap(({ id, state }) => {
        const entitled = entitledAt(state, now)
        if (entitled === undefined) return []
        const before = state.period?.number ?? state.opened
        const life: Life = { ...entitled, timezone: state.periods.timezone, before }
        return [{ subscriptionId: id, plan: entitled.plan, life }]
      })
      const termsOf = yield* this.#terms.ofVersions(given.map(({ plan }) => plan))
      const pastDue = yield* this.#pastDue(given.filter(({ plan }) => hasGrace(termsOf(plan))))
      return given.map(({ life, plan, subscriptionId }): Entitling => {
        const terms = termsOf(plan)
        const isOver = isPastGrace(terms, pastDue.get(subscriptionId) ?? null, now)
        const time = countedTime(life.period, plan, terms)
        return { subscriptionId, terms, time, isPastGrace: isOver, life }
      })
    })
  }

  /** Since when payments of subscriptions are late. */
  #pastDue(
    all: ReadonlyArray<{ readonly subscriptionId: SubscriptionId }>,
  ): Read<ReadonlyMap<SubscriptionId, number | null>> {
    const ids = all.map(({ subscriptionId }) => subscriptionId)
    if (ids.length === 0) return Effect.succeed(new Map())
    return Effect.map(
      this.#invoices.pastDueSince(ids),
      (instants) => new Map(ids.map((id, index) => [id, instants[index] ?? null])),
    )
  }

  /** What each subscription includes of a feature. Those without it are left out. */
  of(
    customerId: CustomerId,
    all: ReadonlyArray<Entitling>,
    feature: string,
    read = new Map<string, MeterValue>(),
  ): Read<ReadonlyArray<Source>> {
    return Effect.map(
      Effect.forEach(all, (one) => {
        const found = one.isPastGrace ? undefined : featureOf(one.terms, feature)
        return found === undefined ? Effect.succeed([]) : this.#source(customerId, one, feature, found, read)
      }),
      (sources) => sources.flat(),
    )
  }

  /** The same for each feature that a subscription has, in the order of their keys. Each meter is read once for a period. */
  ofAll(
    customerId: CustomerId,
    all: ReadonlyArray<Entitling>,
  ): Read<ReadonlyArray<{ readonly feature: string; readonly sources: ReadonlyArray<Source> }>> {
    const keys = new Set(all.flatMap(({ terms: { features = {} } }) => Object.keys(features)))
    const read = new Map<string, MeterValue>()
    return Effect.forEach([...keys].toSorted(), (feature) =>
      Effect.map(this.of(customerId, all, feature, read), (sources) => ({ feature, sources })),
    )
  }

  #source(
    customerId: CustomerId,
    entitling: Entitling,
    key: string,
    feature: Feature,
    read: Map<string, MeterValue>,
  ): Read<ReadonlyArray<Source>> {
    const { life, subscriptionId, time } = entitling
    const source = { subscriptionId, time, feature }
    if (feature.type !== "metered") {
      return Effect.succeed([{ ...source, used: 0n, rolledOver: 0n, metered: null }])
    }
    return Effect.gen({ self: this }, function* () {
      // Without a rollover, nothing more is read than the usage of the period.
      const counted = feature.rollover === undefined ? [] : yield* this.#counted(entitling, key, feature)
      const name = [feature.meter, ...[...counted, time].flatMap(({ end, start }) => [start, end])].join(" ")
      const value = read.get(name) ?? (yield* this.#value(customerId, key, feature.meter, time, counted))
      read.set(name, value)
      const { earlier, rollup, used } = value
      const over = rolledOver(counted, earlier, life.period)
      return [{ ...source, used, rolledOver: over, metered: { feature, rollup } }]
    })
  }

  /** The earlier times that say what rolled over. */
  #counted({ life, subscriptionId, terms }: Entitling, key: string, feature: MeteredFeature) {
    const { closed, period: open, plan, timezone } = life
    return Effect.gen({ self: this }, function* () {
      const stored = this.#earlier.get(subscriptionId) ?? (yield* this.#stored(subscriptionId, life))
      this.#earlier.set(subscriptionId, stored)
      const earlier = [...stored, ...closed]
      const termsOf = yield* this.#termsOf([...earlier, open], plan, terms)
      return countedPeriods({ key, feature, earlier, open, timezone }, termsOf)
    })
  }

  #stored(id: SubscriptionId, { before, closed }: Life) {
    const limit = Math.max(0, MAX_ROLLOVER_PERIODS - closed.length)
    return limit === 0 || before === 0
      ? Effect.succeed([])
      : this.#subscriptions.periodsBefore(id, before, limit)
  }

  /** The terms of the plan versions of periods. Those of one of them are known. */
  #termsOf(
    periods: ReadonlyArray<Period>,
    known: PlanVersionRef,
    terms: PlanTerms,
  ): Effect.Effect<TermsOf, StorageError, CurrentTenant> {
    const versions = periods.flatMap(({ segments }) => segments.flatMap(({ plan }) => plan ?? []))
    const others = versions.filter((plan) => !isSamePlan(plan, known))
    return Effect.map(
      this.#terms.ofVersions(others),
      (termsOf): TermsOf =>
        (plan) =>
          isSamePlan(plan, known) ? terms : termsOf(plan),
    )
  }

  /** What was used in a time and in earlier ones. It is read at once, so that it is of one state of the storage. */
  #value(
    customerId: CustomerId,
    key: string,
    meter: string,
    time: CountedTime,
    counted: ReadonlyArray<CountedTime>,
  ): Read<MeterValue> {
    const boundaries = boundariesOf([...counted, time])
    const asked = { customerId, boundaries, mostGroups: 1, tooManyGroups: "" }
    return this.#meters.values(meter, {}, asked).pipe(
      Effect.map(({ rollup, whole }) => {
        const quantities = new Map(whole.map(({ quantity, window }) => [boundaries[window], quantity]))
        const usedIn = ({ end, start }: CountedTime): bigint => {
          if (end <= start) return 0n
          const quantity = quantities.get(start) ?? 0n
          return Exact.ceiling(Exact.ofFraction(quantity, MeterQueries.denominatorOf(rollup, { start, end })))
        }
        return { rollup, used: usedIn(time), earlier: counted.map(usedIn) }
      }),
      Effect.catchTag("InvalidInput", ({ problem }) => {
        const said = `${JSON.stringify(key)} can't be answered: its meter ${JSON.stringify(meter)} ${problem}`
        return Effect.fail(new InvalidInput({ field: "feature", problem: said }))
      }),
    )
  }
}
