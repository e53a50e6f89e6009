/**
 * Reads a snapshot of a customer through the ports of the storage, as of one instant. Writes nothing and holds nothing.
 */
import { DateTime, Effect, Option } from "effect"
import { PlanStore } from "../catalog/PlanStore.ts"
import { CreditStore } from "../credits/CreditStore.ts"
import { CustomerNotFound, type CustomerId, customers } from "../customers/Customer.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import { type Coupon, coupons } from "../invoices/Coupon.ts"
import { CreditNoteStore } from "../invoices/CreditNoteStore.ts"
import { InvoiceStore, type SeriesName } from "../invoices/InvoiceStore.ts"
import { optionalPort } from "../invoices/InvoicingUnsupported.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import * as Resources from "../Resources.ts"
import { type Collection, type CollectionFilter, Collections } from "../shared/Collections.ts"
import type { CursorNotFound, Page, PageQuery } from "../shared/Page.ts"
import type { Definition, Resource } from "../shared/Resource.ts"
import { consistently } from "../shared/SnapshotReads.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { CurrentTenant } from "../shared/Tenant.ts"
import { redemptions } from "../subscriptions/Redemption.ts"
import { SubscriptionStore } from "../subscriptions/SubscriptionStore.ts"
import { UsageStore } from "../usage/UsageStore.ts"
import {
  type CustomerSnapshot,
  MAX_SNAPSHOT_COUPONS,
  MAX_SNAPSHOT_VALUES,
  type SnapshotCredits,
  SnapshotTooLarge,
} from "./CustomerSnapshot.ts"

/** How many values are read at once. */
const PAGE = 500
/** Most units in which a customer has credits. */
const MAX_UNITS = 1_000
/** The resources of the tenant that a customer is billed by. */
const SHARED: ReadonlyArray<string> = ["Meter", "RateCard"]
/**
 * Those of a customer that are left out: nothing is computed from the stored prices of token usage, and there may be one for
 * each request.
 */
const LEFT_OUT: ReadonlyArray<string> = ["TokenUsage"]
const SERIES: ReadonlyArray<SeriesName> = ["invoice", "credit_note"]
/** After the numbers of all periods. Storages keep them as integers of 32 bits. */
const NO_PERIOD = 2_147_483_647
/** The end of time: all open holds lapse by then. */
const FOREVER = 8_640_000_000_000_000

type Read<A> = Effect.Effect<A, SnapshotTooLarge | StorageError, CurrentTenant>

/** All values of a list, oldest first. `of` names them in the error that there are too many. */
const allOf = <A extends { readonly id: string }>(
  of: string,
  list: (page: PageQuery) => Effect.Effect<Page<A>, CursorNotFound | StorageError, CurrentTenant>,
): Read<ReadonlyArray<A>> =>
  Effect.gen(function* () {
    const all: Array<A> = []
    let cursor: PageQuery["cursor"]
    for (;;) {
      const page = { limit: PAGE, cursor }
      const { data, hasMore } = yield* Effect.catchTag(list(page), "CursorNotFound", Effect.die)
      all.push(...data)
      if (all.length > MAX_SNAPSHOT_VALUES)
        return yield* new SnapshotTooLarge({ of, most: MAX_SNAPSHOT_VALUES })
      const last = data.at(-1)
      if (!hasMore || last === undefined) return all.reverse()
      cursor = { direction: "older", id: last.id }
    }
  })

type AnyCollection = Collection<{ readonly id: string }>

/** The values of the resources: those of the customer, and those that the customer is billed by. */
const readValues = (collections: Collections["Service"], customerId: CustomerId) =>
  Effect.gen(function* () {
    const values: Record<string, ReadonlyArray<{ readonly id: string }>> = {}
    for (const { definition } of Object.values(Resources.all)) {
      const { customer, title, type }: Definition = definition
      const isShared = SHARED.includes(type)
      if ((!isShared && customer === undefined) || LEFT_OUT.includes(type)) continue
      const collection = collections.of(definition as object as Resource) as object as AnyCollection
      const filter = (customer === undefined ? {} : { [customer]: customerId }) as CollectionFilter<{
        readonly id: string
      }>
      values[type] = yield* allOf(title.toLowerCase(), (page) => collection.list(filter, page))
    }
    return values
  })

/** The newest coupons, and those that the customer has redeemed. */
const readCoupons = (collections: Collections["Service"], customerId: CustomerId) =>
  Effect.gen(function* () {
    const store = collections.of(coupons)
    const newest = yield* store
      .list({}, { limit: MAX_SNAPSHOT_COUPONS, cursor: undefined })
      .pipe(Effect.catchTag("CursorNotFound", Effect.die))
    const found = new Map<string, Coupon>(newest.data.map((coupon) => [coupon.id, coupon]))
    const redeemed = yield* allOf("redemptions", (page) =>
      collections.of(redemptions).list({ customerId }, page),
    )
    for (const { couponId } of redeemed) {
      if (found.has(couponId)) continue
      const coupon = Option.getOrUndefined(yield* store.find(couponId))
      if (coupon !== undefined) found.set(couponId, coupon)
    }
    return [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  })

const readPlans = (store: PlanStore["Service"]) =>
  Effect.flatMap(
    allOf("plans", (page) => store.list(page)),
    Effect.forEach((plan) =>
      Effect.map(
        allOf("versions of plans", (page) => store.listVersions(plan.key, page)),
        (versions) => ({ plan, versions }),
      ),
    ),
  )

const readSubscriptions = (store: SubscriptionStore["Service"], customerId: CustomerId) =>
  Effect.flatMap(
    allOf("subscriptions", (page) => store.list({ customerId }, page)),
    Effect.forEach((value) =>
      Effect.map(store.periodsBefore(value.id, NO_PERIOD, MAX_SNAPSHOT_VALUES), (periods) => ({
        value,
        periods,
      })),
    ),
  )

const readSeries = (store: InvoiceStore["Service"]) =>
  Effect.map(
    Effect.forEach(SERIES, (name) => Effect.map(store.findSeries(name), (found) => [name, found] as const)),
    (all) =>
      Object.fromEntries(all.flatMap(([name, found]) => (Option.isNone(found) ? [] : [[name, found.value]]))),
  )

const readCredits = (store: CreditStore["Service"], customerId: CustomerId) =>
  Effect.gen(function* () {
    const units = yield* store.unitsOf(customerId, undefined, MAX_UNITS + 1)
    if (units.length > MAX_UNITS) {
      return yield* new SnapshotTooLarge({ of: "units of credits", most: MAX_UNITS })
    }
    return yield* Effect.forEach(units, (unit) =>
      Effect.gen(function* () {
        const { account, holds, levels } = yield* store.read({ customerId, unit }, FOREVER)
        const grants = yield* allOf("credit grants", (page) => store.listGrants({ customerId, unit }, page))
        const entries = yield* allOf("credit entries", (page) =>
          store.listEntries({ customerId, unit }, page),
        )
        return { unit, account, holds, levels, grants, entries } satisfies SnapshotCredits
      }),
    )
  })

/**
 * Reads a snapshot of a customer. Fails with `CustomerNotFound` for an unknown or erased customer, with `SnapshotTooLarge`
 * beyond `MAX_SNAPSHOT_VALUES`, and with `InvoicingUnsupported` on a storage without subscriptions.
 */
export const takeSnapshot = Effect.fn("Fork.takeSnapshot")(function* (customerId: CustomerId) {
  const collections = yield* Collections
  const plans = yield* PlanStore
  const usage = yield* UsageStore
  const subscriptions = yield* yield* optionalPort(SubscriptionStore)
  const invoices = yield* yield* optionalPort(InvoiceStore)
  const creditNotes = yield* yield* optionalPort(CreditNoteStore)
  const payments = yield* yield* optionalPort(PaymentStore)
  const credits = yield* yield* optionalPort(CreditStore)
  const read = Effect.gen(function* () {
    const customer = yield* collections.of(customers).find(customerId)
    if (Option.isNone(customer)) return yield* new CustomerNotFound({ id: customerId })
    const clock = yield* new CustomerTime(collections).of(customerId)
    const { epochMilliseconds: at } = Option.isSome(clock) ? clock.value : yield* DateTime.now
    const all = { productId: undefined, unit: undefined }
    return {
      tenant: yield* CurrentTenant,
      customerId,
      at,
      values: {
        Customer: [customer.value],
        ...(yield* readValues(collections, customerId)),
        Coupon: yield* readCoupons(collections, customerId),
      },
      plans: yield* readPlans(plans),
      subscriptions: yield* readSubscriptions(subscriptions, customerId),
      invoices: yield* allOf("invoices", (page) => invoices.list({ customerId }, page)),
      creditNotes: yield* allOf("credit notes", (page) => creditNotes.list({ customerId }, page)),
      payments: yield* allOf("payments", (page) => payments.list({ customerId }, page)),
      series: yield* readSeries(invoices),
      credits: yield* readCredits(credits, customerId),
      records: yield* allOf("usage records", (page) => usage.list({ customerId, ...all }, page)),
    } satisfies CustomerSnapshot
  })
  return yield* consistently(read)
})
