/**
 * Finds what the subscriptions of a customer include of features, and how much of it was used.
 */
import {
  type CountedTime,
  countedTime,
  entitledAt,
  Exact,
  type Feature,
  type FeatureSource,
  isPastGrace,
  type MeteredFeature,
  type PlanTerms,
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

/** The value of a meter in whole units, rounded up, and what it was read of. */
interface MeterValue {
  readonly used: bigint
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

/** The feature of a plan. A feature may be called `constructor`, which every object inherits. */
const featureOf = ({ features = {} }: PlanTerms, key: string): Feature | undefined =>
  Object.hasOwn(features, key) ? features[key] : undefined

export class FeatureSources {
  readonly #subscriptions: SubscriptionStore["Service"]
  readonly #invoices: InvoiceStore["Service"]
  readonly #terms: VersionTerms
  readonly #meters: MeterQueries.MeterQueries

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
        return entitled === undefined ? [] : [{ subscriptionId: id, ...entitled }]
      })
      const termsOf = yield* this.#terms.ofVersions(given.map(({ plan }) => plan))
      const pastDue = yield* this.#pastDue(given.filter(({ plan }) => hasGrace(termsOf(plan))))
      return given.map(({ period, plan, subscriptionId }): Entitling => {
        const terms = termsOf(plan)
        const isOver = isPastGrace(terms, pastDue.get(subscriptionId) ?? null, now)
        return { subscriptionId, terms, time: countedTime(period, plan, terms), isPastGrace: isOver }
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
    { subscriptionId, time }: Entitling,
    key: string,
    feature: Feature,
    read: Map<string, MeterValue>,
  ): Read<ReadonlyArray<Source>> {
    const source = { subscriptionId, time, feature }
    if (feature.type !== "metered") return Effect.succeed([{ ...source, used: 0n, metered: null }])
    const name = `${feature.meter} ${time.start} ${time.end}`
    return Effect.gen({ self: this }, function* () {
      const value = read.get(name) ?? (yield* this.#value(customerId, key, feature.meter, time))
      read.set(name, value)
      return [{ ...source, used: value.used, metered: { feature, rollup: value.rollup } }]
    })
  }

  #value(customerId: CustomerId, key: string, meter: string, { end, start }: CountedTime): Read<MeterValue> {
    const asked = { customerId, boundaries: [start, end], mostGroups: 1, tooManyGroups: "" }
    return this.#meters.values(meter, {}, asked).pipe(
      Effect.map(({ rollup, whole }) => {
        const quantity = whole[0]?.quantity ?? 0n
        const value = Exact.ofFraction(quantity, MeterQueries.denominatorOf(rollup, { start, end }))
        return { rollup, used: Exact.ceiling(value) }
      }),
      Effect.catchTag("InvalidInput", ({ problem }) => {
        const said = `${JSON.stringify(key)} can't be answered: its meter ${JSON.stringify(meter)} ${problem}`
        return Effect.fail(new InvalidInput({ field: "feature", problem: said }))
      }),
    )
  }
}
