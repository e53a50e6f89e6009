/**
 * The use cases of coupons. `Redemptions` redeems them.
 */
import { type Problem, problemsOfCoupon } from "@billwright/engine"
import { Context, DateTime, Effect, Layer } from "effect"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, InvalidInput, ofProblems } from "../shared/InvalidInput.ts"
import { filterOf, nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import {
  type Coupon,
  COUPON_ID_PREFIX,
  CouponId,
  type CouponNotFound,
  coupons,
  CreateCoupon,
  ListCoupons,
  termsOf,
} from "./Coupon.ts"

const decodeCreate = decoder(CreateCoupon)
const decodeList = decoder(ListCoupons)
const { knownId, orNotFound } = ById.of(coupons)

/** Creates, reads, lists and archives the coupons of the current tenant. */
export class Coupons extends Context.Service<
  Coupons,
  {
    /** Creates a coupon. `InvalidInput` has all problems of its terms; on `code` if another coupon has or had it. */
    readonly create: (
      input: CreateCoupon,
    ) => Effect.Effect<Coupon, InvalidInput | StorageError, CurrentTenant>

    readonly get: (id: string) => Effect.Effect<Coupon, CouponNotFound | StorageError, CurrentTenant>

    /** Ends a coupon: nobody can redeem it any more. Those who redeemed it keep it. */
    readonly archive: (id: string) => Effect.Effect<void, CouponNotFound | StorageError, CurrentTenant>

    /** Newest first. */
    readonly list: (
      query?: ListCoupons,
    ) => Effect.Effect<Page<Coupon>, InvalidInput | StorageError, CurrentTenant>
  }
>()("@billwright/core/invoices/Coupons") {
  static readonly layer = Layer.effect(
    Coupons,
    Effect.gen(function* () {
      const store = (yield* Collections).of(coupons)
      const ids = yield* IdGenerator

      const create = Effect.fn("Coupons.create")(function* (input: CreateCoupon) {
        const fields = yield* decodeCreate(input)
        const coupon: Coupon = {
          id: CouponId.make(yield* ids.next(COUPON_ID_PREFIX)),
          percent: null,
          amount: null,
          periods: null,
          plans: null,
          charges: null,
          carry: false,
          maxRedemptions: null,
          maxRedemptionsPerCustomer: null,
          redeemFrom: null,
          redeemBefore: null,
          ...fields,
          timesRedeemed: 0,
          archivedAt: null,
          createdAt: yield* DateTime.now,
        }
        yield* checkTerms(coupon)
        if (yield* store.insert(coupon)) return coupon
        const problem = "is the code of another coupon, which may be archived"
        return yield* new InvalidInput({ field: "code", problem })
      })

      const get = Effect.fn("Coupons.get")(function* (id: string) {
        return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
      })

      const archive = Effect.fn("Coupons.archive")(function* (id: string) {
        const now = yield* DateTime.now
        const archived = yield* store.modify(yield* knownId(id), (coupon) =>
          Effect.succeed({ ...coupon, archivedAt: coupon.archivedAt ?? now }),
        )
        yield* orNotFound(archived, id)
      })

      const list = Effect.fn("Coupons.list")(function* (query: ListCoupons = {}) {
        const request = yield* decodeList(query)
        return yield* store.list(filterOf(request), yield* toQuery(request)).pipe(nameCursor(request))
      })

      return Coupons.of({ create, get, list, archive })
    }),
  )
}

/** The paths of the engine's problems, in names of the input. */
const fieldOf = ({ path, problem }: Problem) => ({ field: path.replace(/^scope\./, ""), problem })

const checkTerms = (coupon: Coupon) => {
  const [first, ...others] = problemsOfCoupon(termsOf(coupon))
  return first === undefined ? Effect.void : Effect.fail(ofProblems([fieldOf(first), ...others.map(fieldOf)]))
}
