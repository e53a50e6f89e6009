/**
 * Redeems coupons, and says what they may take off an invoice.
 *
 * What a coupon has taken off so far is read from the invoices of its subscription, as what was billed is. So an invoice
 * that is computed again uses a coupon once, however often that happens.
 */
import {
  afterUse,
  allowanceOf,
  type CouponInput,
  type Problem,
  problemsOfRedemption,
  type Redemption as EngineRedemption,
} from "@billwright/engine"
import { type DateTime, Effect, Option, Schema } from "effect"
import { type Coupon, CouponId, CouponNotFound, type coupons, termsOf } from "../invoices/Coupon.ts"
import type { InvoiceId } from "../invoices/Invoice.ts"
import type { CouponUse, InvoiceStore } from "../invoices/InvoiceStore.ts"
import type { CollectionOf } from "../shared/Collections.ts"
import type { IdGenerator } from "../shared/Id.ts"
import { type InvalidInput, ofProblems } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import {
  MAX_COUPONS_OF_SUBSCRIPTION,
  redeemedTerms,
  type Redemption,
  REDEMPTION_ID_PREFIX,
  RedemptionId,
  type redemptions,
} from "./Redemption.ts"
import type { StoredSubscription } from "./Subscription.ts"

/** Most redemptions that are read of a subscription: those that have ended, too. */
const MAX_REDEMPTIONS_READ = 1_000
const isCouponId = Schema.is(CouponId)

type Subscriber = Pick<StoredSubscription, "customerId" | "id"> & {
  readonly state: Pick<StoredSubscription["state"], "currency">
}

/** The invoice that coupons are for. */
interface Target {
  /** The draft that is computed again, and those after it. Empty for a new one. */
  readonly open: ReadonlySet<InvoiceId>
  /** When it was due to be made, in epoch milliseconds: not when somebody made it. */
  readonly at: number
  /** The period of its cause. */
  readonly period: number
}

/** Reads and writes the coupons of subscriptions, in the current transaction. */
export class CouponBook {
  readonly #coupons: CollectionOf<typeof coupons>
  readonly #redemptions: CollectionOf<typeof redemptions>
  readonly #ids: IdGenerator["Service"]

  constructor(
    coupons_: CollectionOf<typeof coupons>,
    redemptions_: CollectionOf<typeof redemptions>,
    ids: IdGenerator["Service"],
  ) {
    this.#coupons = coupons_
    this.#redemptions = redemptions_
    this.#ids = ids
  }

  /**
   * Redeems a coupon, named by its code or id, for a subscription that the current transaction holds or makes. It holds
   * the coupon, so that no limit is exceeded by others at the same time.
   */
  redeem(
    subscriber: Subscriber,
    coupon: string,
    createdAt: DateTime.Utc,
  ): Effect.Effect<Redemption, CouponNotFound | InvalidInput | StorageError, CurrentTenant> {
    return Effect.gen({ self: this }, function* () {
      const { customerId, id: subscriptionId, state } = subscriber
      const couponId = yield* this.#find(coupon)
      const redeemed = yield* this.#coupons.modify(couponId, (found) =>
        Effect.as(this.#check(found, subscriber, createdAt), {
          ...found,
          timesRedeemed: found.timesRedeemed + 1,
        }),
      )
      if (Option.isNone(redeemed)) return yield* notFound(coupon)
      const redemption: Redemption = {
        id: RedemptionId.make(yield* this.#ids.next(REDEMPTION_ID_PREFIX)),
        coupon: redeemed.value.code,
        couponId,
        customerId,
        subscriptionId,
        currency: state.currency,
        terms: redeemedTerms(termsOf(redeemed.value)),
        endedAt: null,
        createdAt,
      }
      yield* this.#redemptions.insert(redemption)
      return redemption
    })
  }

  /** What the coupons of a subscription may take off one of its invoices. */
  couponsFor(
    { id }: StoredSubscription,
    target: Target,
    invoices: InvoiceStore["Service"],
  ): Effect.Effect<ReadonlyArray<CouponInput>, StorageError, CurrentTenant> {
    return Effect.gen({ self: this }, function* () {
      const all = (yield* this.#ofSubscription(id)).filter((one) => appliesTo(one, target))
      if (all.length === 0) return []
      const remembering = all.filter(hasMemory)
      const from = remembering.every(forgetsPeriods) ? target.period : 0
      const uses =
        remembering.length === 0
          ? []
          : (yield* invoices.couponUses(id, from)).filter(({ invoiceId }) => !target.open.has(invoiceId))
      return all.flatMap((redemption): ReadonlyArray<CouponInput> => {
        const before = stateOf(
          redemption,
          uses.filter((use) => use.redemptionId === redemption.id),
        )
        const allowance = allowanceOf(before, String(target.period))
        if (allowance === undefined) return []
        const { name, scope } = redemption.terms
        return [{ id: redemption.id, name, allowance, ...(scope === undefined ? {} : { scope }) }]
      })
    })
  }

  /** The coupons of a subscription, oldest first, those that have ended, too. */
  #ofSubscription(subscriptionId: Redemption["subscriptionId"]) {
    return this.#redemptions
      .list({ subscriptionId }, { limit: MAX_REDEMPTIONS_READ, cursor: undefined })
      .pipe(
        Effect.catchTag("CursorNotFound", Effect.die),
        Effect.map(({ data }) => data.toReversed()),
      )
  }

  #find(coupon: string): Effect.Effect<CouponId, CouponNotFound | StorageError, CurrentTenant> {
    if (isCouponId(coupon)) return Effect.succeed(coupon)
    return this.#coupons.list({ code: coupon }, { limit: 1, cursor: undefined }).pipe(
      Effect.catchTag("CursorNotFound", Effect.die),
      Effect.flatMap(({ data: [found] }) =>
        found === undefined ? notFound(coupon) : Effect.succeed(found.id),
      ),
    )
  }

  /** Refuses a coupon that can't be redeemed, with all reasons. */
  #check(coupon: Coupon, { customerId, id, state }: Subscriber, at: DateTime.Utc) {
    return Effect.gen({ self: this }, function* () {
      const problems: Array<Problem> = []
      const refuse = (problem: string) => problems.push({ path: "coupon", problem })
      const ours = yield* this.#ofSubscription(id)
      const live = ours.filter(({ endedAt }) => endedAt === null)
      if (coupon.archivedAt !== null) refuse("is archived")
      if (live.some(({ couponId }) => couponId === coupon.id)) refuse("is on the subscription already")
      if (live.length >= MAX_COUPONS_OF_SUBSCRIPTION || ours.length >= MAX_REDEMPTIONS_READ) {
        refuse(`is one too many: a subscription has at most ${MAX_COUPONS_OF_SUBSCRIPTION}`)
      }
      const terms = termsOf(coupon)
      const most = terms.maxRedemptionsPerCustomer ?? 100
      const { data } = yield* this.#redemptions
        .list({ couponId: coupon.id, customerId }, { limit: most, cursor: undefined })
        .pipe(Effect.catchTag("CursorNotFound", Effect.die))
      problems.push(
        ...problemsOfRedemption(
          { ...terms, maxRedemptionsPerCustomer: most },
          {
            at: at.epochMilliseconds,
            currency: state.currency,
            redemptions: coupon.timesRedeemed,
            redemptionsOfCustomer: data.length,
          },
        ),
      )
      const [first, ...others] = problems.map(({ path, problem }) => ({ field: path, problem }))
      if (first !== undefined) return yield* ofProblems([first, ...others])
    })
  }
}

const notFound = (coupon: string) => Effect.fail(new CouponNotFound({ id: coupon, field: "coupon" }))

/** Whether a coupon was on the subscription when the invoice was due to be made. */
const appliesTo = ({ createdAt, endedAt }: Redemption, { at }: Target): boolean =>
  createdAt.epochMilliseconds <= at && (endedAt === null || endedAt.epochMilliseconds > at)

/** Whether what a coupon may take off depends on what it took off before. */
const hasMemory = ({ terms }: Redemption): boolean =>
  terms.duration !== "forever" || terms.percent === undefined

/** Whether what a coupon may take off depends on nothing that it took off in earlier periods. */
const forgetsPeriods = ({ terms }: Redemption): boolean =>
  terms.duration === "forever" && terms.carry !== true

/** A redemption after what it took off. More than it allows, which an invoice of then allowed, counts as all of it. */
const stateOf = (
  { couponId, currency, id, terms }: Redemption,
  uses: ReadonlyArray<CouponUse>,
): EngineRedemption => {
  const coupon = { ...terms, key: couponId }
  const unused: EngineRedemption = { id, coupon, currency, periods: 0, period: null, left: 0n }
  return uses.reduce((state, { amount, period }) => {
    const allowance = allowanceOf(state, String(period))
    if (allowance === undefined) return state
    const most = allowance.type === "fixed" && allowance.amount < amount ? allowance.amount : amount
    return afterUse(state, String(period), most)
  }, unused)
}
