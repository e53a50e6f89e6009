/**
 * Gives customers the credits that the plans of their subscriptions grant: at the start of each period, and moved when the
 * plan changes, the subscription is paused or ends. On a storage without credits, plans grant none.
 *
 * A subscription has one grant of a unit in a period. What is written is the difference between what it has to be by now and
 * what is stored. So doing it twice does it once.
 */
import {
  adjustPlanGrants,
  type BillingEffect,
  type DecimalsOf,
  decimalsIn,
  type GrantTarget,
  PAST_KINDS,
  type PlanGrant,
  planGrantsOf,
  type Stepped,
} from "@billwright/engine"
import { Clock, Effect, Option } from "effect"
import { CreditSettings } from "../catalog/CreditSettings.ts"
import {
  type AccountKey,
  CreditGrantId,
  DEFAULT_PRIORITY,
  GRANT_ID_PREFIX,
  type GrantSource,
  type StoredEntry,
  type StoredGrant,
} from "../credits/Credit.ts"
import { type CreditBook, makeCreditBook } from "../credits/CreditBook.ts"
import type { CreditStore, StoredLedger } from "../credits/CreditStore.ts"
import { entriesOf } from "../credits/Entries.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { StoredSubscription } from "./Subscription.ts"
import type { VersionTerms } from "./VersionTerms.ts"

type Written<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>

/** What a plan grants in one unit, and the effect that asks for it. */
interface Wanted extends PlanGrant {
  readonly effect: BillingEffect
}

/** What is granted of each unit. Currencies come last, as they are locked last when an invoice is issued. */
const byUnit = (all: ReadonlyArray<Wanted>): ReadonlyArray<readonly [string, ReadonlyArray<Wanted>]> =>
  [...Map.groupBy(all, ({ unit }) => unit)].toSorted(([a], [b]) => (a < b ? 1 : -1))

export class PlanGrants {
  readonly #store: CreditStore["Service"]
  readonly #book: CreditBook
  readonly #terms: VersionTerms
  readonly #decimalsOf: DecimalsOf

  constructor(store: CreditStore["Service"], book: CreditBook, terms: VersionTerms, decimalsOf: DecimalsOf) {
    this.#store = store
    this.#book = book
    this.#terms = terms
    this.#decimalsOf = decimalsOf
  }

  /** Writes what the steps of a subscription grant. The current transaction holds it, and is in the time of its customer. */
  give(subscription: StoredSubscription, { effects }: Pick<Stepped, "effects">): Written<void> {
    const asked = effects.flatMap((effect) => (effect.kind === "grant" ? [effect] : []))
    if (asked.length === 0) return Effect.void
    return Effect.gen({ self: this }, function* () {
      const termsOf = yield* this.#terms.of(asked.map(({ period }) => period))
      const { periods } = subscription.state
      const wanted = asked.flatMap((effect) =>
        planGrantsOf(effect.period, periods, termsOf, this.#decimalsOf).map((one) => ({ ...one, effect })),
      )
      for (const [unit, own] of byUnit(wanted)) yield* this.#adjust(subscription, unit, own)
    })
  }

  #adjust(
    { customerId, id }: StoredSubscription,
    unit: string,
    wanted: ReadonlyArray<Wanted>,
  ): Written<void> {
    const key: AccountKey = { customerId, unit }
    return Effect.gen({ self: this }, function* () {
      const now = yield* Clock.currentTimeMillis
      const ledger = yield* this.#store.lock(key, now, "open")
      const grants = new Map<number, StoredGrant>()
      const targets: Array<GrantTarget> = []
      for (const one of wanted) {
        const { amount, effect, expiresAt: end, rollover, steps } = one
        const { number: period } = effect.period
        const source: GrantSource = { type: "subscription", id, period }
        const known = grants.get(period) ?? (yield* this.#find(key, ledger, source))
        if (known === undefined && amount === 0n) continue
        const grant = known ?? (yield* this.#make(key, source, one, now))
        const isOver = end <= now || grant.status === "voided"
        const past = isOver && known !== undefined ? yield* this.#pastOf(grant) : []
        targets.push({ grant, amount, rollover, at: effect.at, end, past })
        grants.set(period, { ...grant, amount, steps })
      }
      const own = [...grants.values()]
      const others = ledger.grants.filter((grant) => !own.some((one) => one.id === grant.id))
      const change = adjustPlanGrants(ledger, targets, now)
      const explained = change.grants.map((grant) => {
        const steps = own.find((one) => one.id === grant.id)?.steps
        return steps === undefined ? grant : { ...grant, steps }
      })
      const stored = { ...ledger, grants: [...others, ...own] }
      yield* write(this.#book, key, stored, { ...change, grants: explained })
    })
  }

  #find(
    key: AccountKey,
    { grants }: StoredLedger,
    source: GrantSource,
  ): Effect.Effect<StoredGrant | undefined, StorageError, CurrentTenant> {
    const live = grants.find((grant) => isSame(grant.source, source))
    if (live !== undefined) return Effect.succeed(live)
    return Effect.map(this.#store.grantOfSource(key, source), Option.getOrUndefined)
  }

  #make(
    key: AccountKey,
    source: GrantSource,
    { amount, effect, expiresAt, rollover, steps }: Wanted,
    now: number,
  ): Effect.Effect<StoredGrant> {
    return Effect.map(this.#book.ids.next(GRANT_ID_PREFIX), (id) => ({
      ...key,
      id: CreditGrantId.make(id),
      kind: "plan",
      amount,
      priority: DEFAULT_PRIORITY,
      effectiveAt: effect.at,
      expiresAt,
      rollover,
      createdAt: now,
      status: "pending",
      available: 0n,
      held: 0n,
      source,
      steps,
      scope: null,
      idempotencyKey: null,
    }))
  }

  /** What has become of a grant that is over, oldest first. */
  #pastOf({
    customerId,
    id,
    unit,
  }: StoredGrant): Effect.Effect<ReadonlyArray<StoredEntry>, StorageError, CurrentTenant> {
    const entries = Effect.forEach(PAST_KINDS, (kind) =>
      entriesOf(this.#store, { customerId, unit }, { grantId: id, kind }),
    )
    return Effect.map(entries, (all) => all.flat().toSorted((a, b) => a.sequence - b.sequence))
  }
}

const isSame = (a: GrantSource | null, b: GrantSource): boolean =>
  a !== null && a.type === b.type && a.id === b.id && a.period === b.period

/** The storage has credits. */
const write = (book: CreditBook, ...change: Parameters<CreditBook["write"]>) =>
  Effect.catchTag(book.write(...change), "InvoicingUnsupported", Effect.die)

/** Gives what grants the credits of plans. `undefined` on a storage without credits. */
export const makePlanGrants = Effect.fnUntraced(function* (terms: VersionTerms) {
  const book = yield* makeCreditBook
  const store = yield* Effect.option(book.port)
  const decimalsOf = decimalsIn(yield* CreditSettings)
  return Option.isSome(store) ? new PlanGrants(store.value, book, terms, decimalsOf) : undefined
})
