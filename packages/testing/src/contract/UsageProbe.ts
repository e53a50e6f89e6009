/**
 * Short ways to write and read usage, for the tests of `UsageStore`.
 */
import {
  type AppendOutcome,
  Collections,
  type CurrentTenant,
  type Customer,
  CustomerStore,
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

/** A stored customer's id. */
export const newCustomer = Effect.gen(function* () {
  const customer = yield* Sample.customer()
  yield* (yield* CustomerStore).insert(customer)
  return customer.id
})

/** A record as it is stored: without what only an append needs. */
export const stored = (record: UsageRecord.NewUsageRecord): UsageRecord.UsageRecord =>
  Struct.omit(record, ["hasOwnTimestamp"])

/** Appends records of a customer, and gives them as they should be stored. */
export const append = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  fields: ReadonlyArray<Partial<UsageRecord.NewUsageRecord>>,
) {
  const records = yield* Effect.forEach(fields, (field) => Sample.record(customerId, field))
  yield* (yield* UsageStore).append(records)
  return records.map(stored)
})

/** Appends one record and gives what became of it. */
export const appendOne = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  fields: Partial<UsageRecord.NewUsageRecord>,
) {
  const record = yield* Sample.record(customerId, fields)
  const { outcomes } = yield* (yield* UsageStore).append([record])
  const [outcome] = outcomes
  if (outcome === undefined || outcomes.length !== 1) throw new Error("one outcome a record")
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

/** Names a total among others of the same query. */
export const totalKey = ({ productId, unit, window }: UsageTotal): string =>
  JSON.stringify([window, productId, unit])

/** A customer's records, newest first: as many as a page holds. */
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

/** Where usage thresholds are kept. */
export const thresholds = Effect.map(Collections, (collections) => collections.of(Threshold.thresholds))

/** Stores a threshold of a customer: of 10 calls of the product `api` in a month, unless `fields` say otherwise. */
export const insertThreshold = Effect.fnUntraced(function* (
  customerId: Customer.CustomerId,
  fields: Partial<Threshold.Threshold> = {},
) {
  const threshold = yield* Sample.of(Threshold.thresholds, customerId, { quantity: 10n, ...fields })
  yield* (yield* thresholds).insert(threshold)
  return threshold
})
