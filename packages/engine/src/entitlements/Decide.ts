/**
 * Whether a customer may use a feature, when one or several subscriptions include it.
 *
 * Each subscription is looked at by itself, and the most generous one decides. Limits are not added: usage is that of the
 * customer, and counts in the periods of all of its subscriptions.
 */
import type { Feature, PlanTerms } from "../catalog/Plan.ts"
import * as Exact from "../money/Exact.ts"

/** What one subscription includes of a feature. */
export interface FeatureSource {
  readonly feature: Feature
  /** Of a metered feature: the value of its meter in the time that counts, in whole units, rounded up. Otherwise 0. */
  readonly used: bigint
  /** Of a metered feature: how many whole units rolled over from earlier periods. Otherwise 0. */
  readonly rolledOver: bigint
}

/** The feature of a plan. A feature may be called `constructor`, which every object inherits. */
export const featureOf = ({ features = {} }: PlanTerms, key: string): Feature | undefined =>
  Object.hasOwn(features, key) ? features[key] : undefined

/**
 * `included`: the plan includes it. `overage`: it is beyond a soft limit. `limit_reached`: it is beyond a hard limit.
 * `not_included`: no plan of the customer has the feature.
 */
export type EntitlementReason = "included" | "overage" | "limit_reached" | "not_included"

/** The answer. */
export interface EntitlementDecision {
  readonly reason: EntitlementReason
  /** The place of the source that decides. `null` for `not_included`. */
  readonly source: number | null
  /** The value of a `config` feature. Otherwise `null`. */
  readonly value: string | null
}

/**
 * What may be used of a metered feature in a period before it is beyond the limit: what is included, in whole units, because
 * part of a unit can't be used, and what rolled over.
 */
export const limitOf = (feature: Feature, rolledOver: bigint): bigint | null =>
  feature.type === "metered" ? Exact.floor(Exact.ofDecimal(feature.included)) + rolledOver : null

/** Whether the reason is one to let the customer go on. */
export const isAllowed = (reason: EntitlementReason): boolean => reason === "included" || reason === "overage"

interface Metered {
  readonly source: number
  readonly reason: EntitlementReason
  readonly left: bigint
}

const meteredOf = (
  { feature, rolledOver, used }: FeatureSource,
  source: number,
  quantity: bigint,
): Metered => {
  const left = (limitOf(feature, rolledOver) ?? 0n) - used
  const beyond = feature.type === "metered" && feature.limit === "soft" ? "overage" : "limit_reached"
  return { source, reason: quantity <= left ? "included" : beyond, left }
}

const GENEROUS: ReadonlyArray<EntitlementReason> = ["included", "overage", "limit_reached"]

/** The most generous: what allows it without overage, then what allows it, then what leaves most. */
const mostGenerous = (all: ReadonlyArray<Metered>): Metered | undefined =>
  all.toSorted(
    (a, b) =>
      GENEROUS.indexOf(a.reason) - GENEROUS.indexOf(b.reason) ||
      (a.left === b.left ? a.source - b.source : a.left > b.left ? -1 : 1),
  )[0]

const numberOf = (value: string): Exact.Exact | undefined =>
  Exact.DECIMAL_PATTERN.test(value) ? Exact.ofDecimal(value) : undefined

/** The place of the greatest value, if all are numbers. Otherwise the first. */
const configOf = (values: ReadonlyArray<string>): number => {
  let best = 0
  for (const [source, value] of values.entries()) {
    const [number, most] = [numberOf(value), numberOf(values[best] ?? "")]
    if (number === undefined || most === undefined) return 0
    if (Exact.compare(number, most) > 0) best = source
  }
  return best
}

/**
 * Decides whether `quantity` more of a feature may be used. Sources are in the order of their subscriptions, the oldest
 * first. Where they have features of different types, those of the type of the first one count.
 */
export const decideEntitlement = (
  sources: ReadonlyArray<FeatureSource>,
  quantity: bigint,
): EntitlementDecision => {
  const type = sources[0]?.feature.type
  if (type === undefined) return { reason: "not_included", source: null, value: null }
  const alike = sources.flatMap((source, place) => (source.feature.type === type ? [{ source, place }] : []))
  if (type === "metered") {
    const best = mostGenerous(alike.map(({ place, source }) => meteredOf(source, place, quantity)))
    return { reason: best?.reason ?? "not_included", source: best?.source ?? null, value: null }
  }
  const values = alike.map(({ source: { feature } }) => (feature.type === "config" ? feature.value : ""))
  const best = type === "config" ? configOf(values) : 0
  const value = type === "config" ? (values[best] ?? null) : null
  return { reason: "included", source: alike[best]?.place ?? 0, value }
}
