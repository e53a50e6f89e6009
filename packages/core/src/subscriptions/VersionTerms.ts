/**
 * The terms of plan versions, for billing.
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

const keyOf = ({ key, version }: PlanVersionRef): string => `${key}@${version}`

export class VersionTerms {
  readonly #plans: PlanStore["Service"]
  readonly #kept = new Map<string, PlanTerms>()

  constructor(plans: PlanStore["Service"]) {
    this.#plans = plans
  }

  /** The terms of the plan versions of periods. */
  of(periods: ReadonlyArray<Period>): Effect.Effect<TermsOf, StorageError, CurrentTenant> {
    const refs = new Map<string, PlanVersionRef>()
    for (const { segments } of periods)
      for (const { plan } of segments) if (plan !== null) refs.set(keyOf(plan), plan)
    return Effect.gen({ self: this }, function* () {
      const terms = new Map<string, PlanTerms>()
      for (const [key, ref] of refs) {
        const found = yield* this.#plans.findVersion(ref.key, ref.version)
        if (Option.isSome(found)) terms.set(key, this.#keep(found.value.hash, found.value.terms))
      }
      return (ref) => {
        const found = terms.get(keyOf(ref))
        if (found === undefined) throw new TypeError(`the plan ${ref.key} has no version ${ref.version}`)
        return found
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
