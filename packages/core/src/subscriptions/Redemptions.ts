/**
 * The use cases of redemptions.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { type CouponNotFound, coupons } from "../invoices/Coupon.ts"
import { type InvoicingUnsupported, optionalPort } from "../invoices/InvoicingUnsupported.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import { CouponBook } from "./CouponBook.ts"
import {
  CreateRedemption,
  ListRedemptions,
  type Redemption,
  type RedemptionNotFound,
  redemptions,
} from "./Redemption.ts"
import { SubscriptionNotFound } from "./Subscription.ts"
import { SubscriptionStore } from "./SubscriptionStore.ts"

const decodeCreate = decoder(CreateRedemption)
const decodeList = decoder(ListRedemptions)
const { knownId, orNotFound } = ById.of(redemptions)

/** Redeems coupons for subscriptions of the current tenant, reads and lists that, and ends it. */
export class Redemptions extends Context.Service<
  Redemptions,
  {
    /**
     * Redeems a coupon for a subscription that has not ended. `InvalidInput` on `coupon` has all reasons why it can't be
     * redeemed. Limits are never exceeded, also when many redeem it at once.
     */
    readonly create: (
      input: CreateRedemption,
    ) => Effect.Effect<
      Redemption,
      CouponNotFound | InvalidInput | InvoicingUnsupported | SubscriptionNotFound | StorageError,
      CurrentTenant
    >

    readonly get: (id: string) => Effect.Effect<Redemption, RedemptionNotFound | StorageError, CurrentTenant>

    /** Takes the coupon off the subscription: it lowers no invoice that is made from now on. */
    readonly end: (id: string) => Effect.Effect<void, RedemptionNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListRedemptions,
    ) => Effect.Effect<Page<Redemption>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/subscriptions/Redemptions") {
  static readonly layer = Layer.effect(
    Redemptions,
    Effect.gen(function* () {
      const collections = yield* Collections
      const store = collections.of(redemptions)
      const subscriptionPort = yield* optionalPort(SubscriptionStore)
      const transactor = yield* Transactor
      const time = new CustomerTime(collections)
      const book = new CouponBook(collections.of(coupons), store, yield* IdGenerator)

      const create = Effect.fn("Redemptions.create")(function* (input: CreateRedemption) {
        const subscriptions = yield* subscriptionPort
        const { coupon, subscriptionId } = yield* decodeCreate(input)
        return yield* transactor.atomically(
          Effect.gen(function* () {
            const missing = () => new SubscriptionNotFound({ id: subscriptionId, field: "subscriptionId" })
            const found = yield* Effect.mapError(
              Effect.fromOption(yield* subscriptions.lock(subscriptionId)),
              missing,
            )
            if (found.state.phase === "ended") {
              return yield* new InvalidInput({
                field: "subscriptionId",
                problem: "is that of a subscription that has ended: it has no more invoices",
              })
            }
            const now = yield* time.within(found.customerId, DateTime.now)
            return yield* book.redeem(found, coupon, now)
          }),
        )
      })

      const get = Effect.fn("Redemptions.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const end = Effect.fn("Redemptions.end")(function* (id: string) {
        const ended = yield* store.modify(yield* knownId(id), (redemption) =>
          time.within(
            redemption.customerId,
            Effect.map(DateTime.now, (now) => ({ ...redemption, endedAt: redemption.endedAt ?? now })),
          ),
        )
        yield* orNotFound(ended, id)
      })

      const list = Effect.fn("Redemptions.list")(function* (query: ListRedemptions = {}) {
        const request = yield* decodeList(query)
        return yield* store.list(filterOf(request), yield* toQuery(request)).pipe(nameCursor(request))
      })

      return Redemptions.of({ create, get, list, end })
    }),
  )
}
