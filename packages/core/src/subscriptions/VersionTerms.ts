/**
 * The terms of plan versions, for billing and entitlements.
 *
 * Equal terms are one object here, whenever they are read. The engine prepares a charge once for each object, so it
 * prepares the charges of a version once for all subscriptions. Terms are found by their hash, so what is kept is never
 * out of date.
 */
import type { Period, PlanTerms, PlanVersionRef, TermsOf } from "@billwright/engine"
import { Effect, Option } from "effect"
import type { PlanStore } from "../catalog/PlanStore.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"

/** Most terms that are kept. When there are more, those kept the longest go. */
const MAX_KEPT = 1_000

export class VersionTerms {
  readonly #plans: PlanStore["Service"]
  readonly #kept = new Map<string, PlanTerms>()

  constructor(plans: PlanStore["Service"]) {
    this.#plans = plans
  }

  /** The terms of the plan versions of periods. */
  of(periods: ReadonlyArray<Period>): Effect.Effect<TermsOf, StorageError, CurrentTenant> {
    return this.ofVersions(periods.flatMap(({ segments }) => segments.flatMap(({ plan }) => plan ?? [])))
  }

  /** The terms of plan versions. */
  ofVersions(versions: ReadonlyArray<PlanVersionRef>): Effect.Effect<TermsOf, StorageError, CurrentTenant> {
    const terms = new Map<string, Map<number, PlanTerms>>()
    const found = ({ key, version }: PlanVersionRef) => terms.get(key)?.get(version)
    return Effect.gen({ self: this }, function* () {
      for (const plan of versions) {
        if (found(plan) !== undefined) continue
        const stored = yield* this.#plans.findVersion(plan.key, plan.version)
        if (Option.isNone(stored)) continue
        const ofPlan = terms.get(plan.key) ?? new Map<number, PlanTerms>()
        terms.set(plan.key, ofPlan.set(plan.version, this.#keep(stored.value.hash, stored.value.terms)))
      }
      return (ref) => {
        const known = found(ref)
        if (known === undefined) throw new TypeError(`the plan ${ref.key} has no version ${ref.version}`)
        return known
      }
    })
  }

  #keep(hash: string, terms: PlanTerms): PlanTerms {
    const known = this.#kept.get(hash)
    if (known !== undefined) return known
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined && this.#kept.size >= MAX_KEPT) this.#kept.delete(oldest)
    this.#kept.set(hash, terms)
    return terms
  }
}
