/**
 * Helpers to write and read usage, for the tests of `UsageStore`.
 */
import {
  type AppendOutcome,
  Collections,
  type CurrentTenant,
  Customer,
  type Page,
  type StorageError,
  Threshold,
  type TotalsQuery,
  type UsageRecord,
  UsageStore,
  type UsageTotal,
} from "@billwright/core"
import { Effect, Struct } from "effect"
import * as Sample from "../Sample.ts"

/** Stores a customer, and returns its id. */
export const newCustomer = Effect.gen(function* () {
  const customer = yield* Sample.customer()
  yield* (yield* Collections).of(Customer.customers).insert(customer)
  return customer.id
})

/** A record in its stored form, without the fields that only an append needs. */
export const stored = (record: UsageRecord.NewUsageRecord): UsageRecord.UsageRecord =>
  Struct.omit(record, ["hasOwnTimestamp"])

/** Appends records of a customer, and returns them in their stored form. */
export const append = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  fields: ReadonlyArray<Partial<UsageRecord.NewUsageRecord>>,
) {
  const records = yield* Effect.forEach(fields, (field) => Sample.record(customerId, field))
  yield* (yield* UsageStore).append(records)
  return records.map(stored)
})

/** Appends one record and returns its outcome. */
export const appendOne = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  fields: Partial<UsageRecord.NewUsageRecord>,
) {
  const record = yield* Sample.record(customerId, fields)
  const { outcomes } = yield* (yield* UsageStore).append([record])
  const [outcome] = outcomes
  if (outcome === undefined || outcomes.length !== 1)
    throw new Error("an append must return one outcome for each record")
  return { outcome, record: stored(record) }
})

/** All totals of a customer, unless the query says otherwise. */
export const totals = (customerId: Customer.CustomerId, query: Partial<TotalsQuery> = {}) =>
  Effect.flatMap(UsageStore, (store) =>
    store.totals({
      customerId,
      productId: undefined,
      unit: undefined,
      boundaries: [undefined, undefined],
      by: "meter",
      ...query,
    }),
  )

/** Identifies a total among others of the same query. */
export const totalKey = ({ productId, unit, window }: UsageTotal): string =>
  JSON.stringify([window, productId, unit])

/** A customer's records, newest first, up to one page. */
export const listed = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
): Effect.fn.Return<
  ReadonlyArray<UsageRecord.UsageRecord>,
  Page.CursorNotFound | StorageError,
  CurrentTenant | UsageStore
> {
  const store = yield* UsageStore
  const filter = { customerId, productId: undefined, unit: undefined }
  return (yield* store.list(filter, { limit: 100, cursor: undefined })).data
})

export const tagsOf = (outcomes: ReadonlyArray<AppendOutcome>): ReadonlyArray<string> =>
  outcomes.map(({ _tag }) => _tag)

/** The collection of usage thresholds. */
export const thresholds = Effect.map(Collections, (collections) => collections.of(Threshold.thresholds))

/** Stores a threshold of a customer. By default: 10 calls of the product `api` in a month. */
export const insertThreshold = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  fields: Partial<Threshold.Threshold> = {},
) {
  const threshold = yield* Sample.of(Threshold.thresholds, customerId, { quantity: 10n, ...fields })
  yield* (yield* thresholds).insert(threshold)
  return threshold
})
