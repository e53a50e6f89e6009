/**
 * Carries out what the machine of subscriptions decided: stores subscriptions and their periods, grants the credits of
 * their plans, publishes their events and makes their invoices, in the current transaction.
 */
import { nextDue, type Period, type Stepped, togetherOf } from "@billwright/engine"
import { DateTime, Effect } from "effect"
import type { Outbox } from "../events/Outbox.ts"
import type { InvoiceCause } from "../invoices/Invoice.ts"
import type { Redrafted } from "../invoices/InvoiceBook.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { PlanGrants } from "./PlanGrants.ts"
import type { SpendMarks } from "./SpendMarks.ts"
import type { StoredSubscription } from "./Subscription.ts"
import { type Held, heldOf, type Making, type SubscriptionBilling } from "./SubscriptionBilling.ts"
import { dataOf, subscriptionEvents } from "./SubscriptionEvents.ts"
import type { SubscriptionStore } from "./SubscriptionStore.ts"

type Written<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/** A subscription that the current transaction holds, and its step. */
export interface Step {
  readonly before: StoredSubscription
  /** `null`: there was nothing to do, so that it is not written. */
  readonly stepped: Stepped | null
}

/** Subscriptions after their steps. */
export interface Updated {
  /** All that are billed together, in their order. */
  readonly stored: ReadonlyArray<StoredSubscription>
  /** The draft that the steps made last, if there is none before it. */
  readonly draft: Redrafted | undefined
}

export class SubscriptionBook {
  readonly #store: SubscriptionStore["Service"]
  readonly #outbox: Outbox["Service"]
  readonly #billing: SubscriptionBilling
  readonly #grants: PlanGrants | undefined
  readonly #markWatched: SpendMarks["Service"]["mark"] | undefined

  /** Without `grants`, plans grant no credits. Without `markWatched`, nobody has spend alerts. */
  constructor(
    store: SubscriptionStore["Service"],
    outbox: Outbox["Service"],
    billing: SubscriptionBilling,
    grants: PlanGrants | undefined,
    markWatched: SpendMarks["Service"]["mark"] | undefined,
  ) {
    this.#store = store
    this.#outbox = outbox
    this.#billing = billing
    this.#grants = grants
    this.#markWatched = markWatched
  }

  /**
   * Stores a new subscription. One that began in the past gets one invoice for all of its periods. It is of no other
   * subscription, also in an invoice group.
   */
  create(
    fields: Omit<StoredSubscription, "state" | "dueAt" | "failure">,
    stepped: Stepped,
  ): Written<StoredSubscription> {
    const stored: StoredSubscription = { ...fields, ...dueOf(stepped), state: stepped.subscription }
    const last = stepped.effects.findLast(({ kind }) => kind === "invoice")
    const effects = stepped.effects.filter((effect) => effect.kind !== "invoice" || effect === last)
    return Effect.gen({ self: this }, function* () {
      yield* this.#store.insert(stored)
      yield* this.#savePeriods(stored, stepped)
      yield* this.#give(stored, stepped)
      yield* this.#watch(stored, stepped)
      yield* this.#apply([stored], [{ effects }], { from: 0 })
      return stored
    })
  }

  /**
   * Stores subscriptions that are billed together, which the current transaction holds, after steps of the machine. The
   * last draft is not stored if it is due by `issueBy` and there is none before it: the caller finalizes it.
   */
  update(steps: ReadonlyArray<Step>, issueBy?: number): Written<Updated> {
    return Effect.gen({ self: this }, function* () {
      const all: Array<StoredSubscription> = []
      for (const step of steps) all.push(yield* this.#save(step))
      const stepped = steps.map((step) => step.stepped ?? NOTHING)
      const ending = all.filter(
        ({ state }, index) => state.phase === "ended" && steps[index]!.before.state.phase !== "ended",
      )
      return { stored: all, draft: yield* this.#apply(all, stepped, { issueBy }, ending) }
    })
  }

  #save({ before, stepped }: Step): Written<StoredSubscription> {
    if (stepped === null) return Effect.succeed(before)
    const { effects, subscription: state } = stepped
    return Effect.gen({ self: this }, function* () {
      const updatedAt = effects.length === 0 ? before.updatedAt : yield* DateTime.now
      const stored: StoredSubscription = { ...before, ...dueOf(stepped), state, updatedAt }
      yield* this.#store.save(stored)
      yield* this.#savePeriods(stored, stepped)
      yield* this.#give(stored, stepped)
      yield* this.#watch(stored, stepped)
      return stored
    })
  }

  /** Has the spend alerts of the customer checked when a period opens or closes. */
  #watch({ customerId }: StoredSubscription, { effects }: Stepped): Written<void> {
    return effects.some(changesPeriod) ? (this.#markWatched?.(customerId) ?? Effect.void) : Effect.void
  }

  #savePeriods({ id }: StoredSubscription, { effects }: Stepped): Written<void> {
    const periods = new Map<number, Period>()
    for (const effect of effects)
      if (effect.kind !== "event") periods.set(effect.period.number, effect.period)
    return periods.size === 0 ? Effect.void : this.#store.savePeriods(id, [...periods.values()])
  }

  #give(stored: StoredSubscription, stepped: Stepped): Written<void> {
    return this.#grants?.give(stored, stepped) ?? Effect.void
  }

  #apply(
    all: ReadonlyArray<StoredSubscription>,
    stepped: ReadonlyArray<Pick<Stepped, "effects">>,
    making: Making,
    ending: ReadonlyArray<StoredSubscription> = [],
  ): Written<Redrafted | undefined> {
    const held: Held = heldOf(all)
    const left = new Set(ending)
    return Effect.gen({ self: this }, function* () {
      let draft: Redrafted | undefined
      const effects = togetherOf(stepped)
      const last = effects.findLast(({ kind }) => kind === "invoice")
      for (const shared of effects) {
        const { at } = shared.kind === "event" ? shared.effect : shared.causes[0].effect
        // Not earlier: what others invoice before it ends does not have its items.
        for (const subscription of left) {
          if ((subscription.state.endedAt ?? 0) > at) continue
          left.delete(subscription)
          yield* this.#billing.unbindItems(subscription)
        }
        if (shared.kind === "event") {
          const { effect, member } = shared
          const stored = all[member]!
          const { customerId } = stored
          yield* this.#outbox.publish(subscriptionEvents[effect.type], dataOf(stored, effect), { customerId })
          continue
        }
        const causeOf = ({ effect, member }: (typeof shared.causes)[number]): InvoiceCause => ({
          subscriptionId: all[member]!.id,
          effect,
        })
        const [first, ...others] = shared.causes
        const how = shared === last ? making : { ...making, issueBy: undefined }
        draft = yield* this.#billing.invoice(held, [causeOf(first), ...others.map(causeOf)], how)
      }
      return draft
    })
  }
}

/**
 * Whether a period opens or closes. Spend alerts have to be checked then: usage of the period may have been there before
 * it opened, and a block ends with its period.
 */
const changesPeriod = ({ kind }: Stepped["effects"][number]): boolean =>
  kind === "open_period" || kind === "close_period"

const NOTHING: Pick<Stepped, "effects"> = { effects: [] }

/** What is due next, for the first time. */
const dueOf = ({ subscription }: Stepped): Pick<StoredSubscription, "dueAt" | "failure"> => ({
  dueAt: nextDue(subscription)?.at ?? null,
  failure: null,
})
