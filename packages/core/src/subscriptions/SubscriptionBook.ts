/**
 * Carries out what the machine of subscriptions decided: stores the subscription and its periods, publishes its events
 * and makes its invoices, in the current transaction.
 */
import { nextDue, type Period, type Stepped } from "@billwright/engine"
import { DateTime, Effect } from "effect"
import type { Outbox } from "../events/Outbox.ts"
import type { Redrafted } from "../invoices/InvoiceBook.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { StoredSubscription } from "./Subscription.ts"
import type { Making, SubscriptionBilling } from "./SubscriptionBilling.ts"
import { dataOf, subscriptionEvents } from "./SubscriptionEvents.ts"
import type { SubscriptionStore } from "./SubscriptionStore.ts"

type Written<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/** A subscription after a step. */
export interface Updated {
  readonly stored: StoredSubscription
  /** The draft that the step made, if the subscription has no other. */
  readonly draft: Redrafted | undefined
}

export class SubscriptionBook {
  readonly #store: SubscriptionStore["Service"]
  readonly #outbox: Outbox["Service"]
  readonly #billing: SubscriptionBilling

  constructor(store: SubscriptionStore["Service"], outbox: Outbox["Service"], billing: SubscriptionBilling) {
    this.#store = store
    this.#outbox = outbox
    this.#billing = billing
  }

  /** Stores a new subscription. One that began in the past gets one invoice for all of its periods. */
  create(
    fields: Omit<StoredSubscription, "state" | "dueAt" | "failure">,
    stepped: Stepped,
  ): Written<StoredSubscription> {
    const stored: StoredSubscription = { ...fields, ...dueOf(stepped), state: stepped.subscription }
    const last = stepped.effects.findLast(({ kind }) => kind === "invoice")
    const effects = stepped.effects.filter((effect) => effect.kind !== "invoice" || effect === last)
    return Effect.gen({ self: this }, function* () {
      yield* this.#store.insert(stored)
      yield* this.#apply(stored, { ...stepped, effects }, { from: 0 })
      return stored
    })
  }

  /**
   * Stores a subscription that the current transaction holds after a step of the machine. A draft of it that
   * is due by `issueBy` is not stored if the subscription has no other: the caller finalizes it.
   */
  update(before: StoredSubscription, stepped: Stepped, issueBy?: number): Written<Updated> {
    return Effect.gen({ self: this }, function* () {
      const updatedAt = stepped.effects.length === 0 ? before.updatedAt : yield* DateTime.now
      const stored: StoredSubscription = {
        ...before,
        ...dueOf(stepped),
        state: stepped.subscription,
        updatedAt,
      }
      yield* this.#store.save(stored)
      const hasEnded = stored.state.phase === "ended" && before.state.phase !== "ended"
      if (hasEnded) yield* this.#billing.unbindItems(stored)
      return { stored, draft: yield* this.#apply(stored, stepped, { issueBy }) }
    })
  }

  #apply(stored: StoredSubscription, { effects }: Stepped, making: Making): Written<Redrafted | undefined> {
    return Effect.gen({ self: this }, function* () {
      const { customerId, id } = stored
      const periods = new Map<number, Period>()
      for (const effect of effects)
        if (effect.kind !== "event") periods.set(effect.period.number, effect.period)
      if (periods.size > 0) yield* this.#store.savePeriods(id, [...periods.values()])
      const last = effects.findLast(({ kind }) => kind === "invoice")
      let draft: Redrafted | undefined
      for (const effect of effects) {
        if (effect.kind === "event") {
          yield* this.#outbox.publish(subscriptionEvents[effect.type], dataOf(stored, effect), { customerId })
        } else if (effect.kind === "invoice") {
          const how = effect === last ? making : { ...making, issueBy: undefined }
          draft = yield* this.#billing.invoice(stored, effect, how)
        }
      }
      return draft
    })
  }
}

/** What is due next, for the first time. */
const dueOf = ({ subscription }: Stepped): Pick<StoredSubscription, "dueAt" | "failure"> => ({
  dueAt: nextDue(subscription)?.at ?? null,
  failure: null,
})
