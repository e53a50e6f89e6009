/**
 * The use cases of metering: record usage, void records, read totals.
 */
import { Context, DateTime, Effect, Layer, Metric, Option, Schema } from "effect"
import { CustomerNotFound, customers } from "../customers/Customer.ts"
import { CustomerTime } from "../customers/CustomerTime.ts"
import * as ById from "../shared/ById.ts"
import { Collections } from "../shared/Collections.ts"
import { IdGenerator } from "../shared/Id.ts"
import { decoder, fieldPath, InvalidInput } from "../shared/InvalidInput.ts"
import { traced } from "../shared/Operation.ts"
import { nameCursor, type Page, toQuery } from "../shared/Page.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import { Transactor } from "../shared/Transactor.ts"
import * as Dimensions from "./Dimensions.ts"
import { meters } from "./Meter.ts"
import * as MeteredUsage from "./MeteredUsage.ts"
import * as MeterQueries from "./MeterQueries.ts"
import * as Rollup from "./Rollup.ts"
import * as UsageIngest from "./UsageIngest.ts"
import * as UsagePeriod from "./UsagePeriod.ts"
import {
  ListUsageRecords,
  MAX_FUTURE_MILLIS,
  MIN_TIMESTAMP_MILLIS,
  type NewUsageRecord,
  type Recorded,
  RecordUsage,
  RecordUsageBatch,
  USAGE_RECORD_ID_PREFIX,
  UsageKeyConflict,
  type UsageRecord,
  UsageRecordId,
  UsageRecordNotFound,
} from "./UsageRecord.ts"
import { type AppendOutcome, type UsageDiscrepancy, UsageStore, type UsageTotal } from "./UsageStore.ts"
import {
  MAX_SERIES_POINTS,
  SeriesUsage,
  SummarizeUsage,
  type UsagePoint,
  type UsageSummary,
} from "./UsageSummary.ts"

export interface UsageOptions {
  /**
   * How far in the past the timestamp of a new record may be, in milliseconds. A repeat of an idempotency key gives the first
   * record, however old it is. Default: no limit.
   */
  readonly maxPastMillis?: number
  readonly ingest?: UsageIngest.UsageIngestOptions
}

type RecordError = InvalidInput | CustomerNotFound | UsageKeyConflict | StorageError

/**
 * Records usage and reads exact totals.
 *
 * - A summary equals the sum of the records in its period that are not voided, at any time and of any size.
 * - An idempotency key counts once for its customer and never expires: the same content again gives the first record,
 *   and other content fails with `UsageKeyConflict`.
 * - When a record was accepted, it is durable, and every later summary contains it.
 * - Quantities of different units are never added.
 *
 * Inside `Transactor.atomically` (or the host's own transaction) records are committed and rolled back with it. Outside,
 * single records that arrive together share a transaction (see `UsageIngest`).
 */
export class Usage extends Context.Service<
  Usage,
  {
    readonly record: (input: RecordUsage) => Effect.Effect<Recorded, RecordError, CurrentTenant>

    /**
     * Records 1 to 1,000 records, all or none. Gives the results in the same order. Two records with the same key count
     * once; when their content differs, the batch fails with `InvalidInput`.
     */
    readonly recordBatch: (
      input: RecordUsageBatch,
    ) => Effect.Effect<ReadonlyArray<Recorded>, RecordError, CurrentTenant>

    readonly getRecord: (
      id: string,
    ) => Effect.Effect<UsageRecord, UsageRecordNotFound | StorageError, CurrentTenant>

    /** A customer's records, newest first. The customer may be erased. */
    readonly listRecords: (
      query: ListUsageRecords,
    ) => Effect.Effect<Page<UsageRecord>, InvalidInput | CustomerNotFound | StorageError, CurrentTenant>

    /**
     * Takes a record out of all totals. The record stays and gets `voidedAt`. Voiding it again changes nothing. Its
     * idempotency key can't be used again. A threshold that it fired stays fired.
     */
    readonly voidRecord: (
      id: string,
    ) => Effect.Effect<UsageRecord, UsageRecordNotFound | StorageError, CurrentTenant>

    /**
     * The value of a period: the sum, or that of a meter. Without a meter, it fails with `InvalidInput` on `unit` when the
     * period has usage in several units.
     */
    readonly summary: (
      query: SummarizeUsage,
    ) => Effect.Effect<UsageSummary, InvalidInput | CustomerNotFound | StorageError, CurrentTenant>

    /**
     * The values of consecutive windows, in time order. Windows without usage are included. A series that is grouped by
     * dimensions has the groups that occur in any of its windows, so it is empty without usage.
     */
    readonly series: (
      query: SeriesUsage,
    ) => Effect.Effect<
      ReadonlyArray<UsagePoint>,
      InvalidInput | CustomerNotFound | StorageError,
      CurrentTenant
    >

    /**
     * The roll-ups that differ from their records. There is one only after a bug or when the database is damaged. Reads
     * all records.
     */
    readonly audit: Effect.Effect<ReadonlyArray<UsageDiscrepancy>, StorageError, CurrentTenant>
  }
>()("@billwright/core/usage/Usage") {
  static readonly layerWith = (options: UsageOptions) =>
    Layer.effect(
      Usage,
      Effect.suspend(() => make(options)),
    )

  static readonly layer = Usage.layerWith({})
}

/** Groups a series without a meter by product and unit. */
const BY_PRODUCT = "product_id"

const decodeRecord = decoder(RecordUsage)
const decodeBatch = decoder(RecordUsageBatch)
const decodeList = decoder(ListUsageRecords)
const decodeSummary = decoder(SummarizeUsage)
const decodeSeries = decoder(SeriesUsage)
const isUsageRecordId = Schema.is(UsageRecordId)
const { knownId, orNotFound } = ById.make(isUsageRecordId, (id) => new UsageRecordNotFound({ id }))

const make = Effect.fnUntraced(function* (options: UsageOptions) {
  const store = yield* UsageStore
  const collections = yield* Collections
  const owners = collections.of(customers)
  const time = new CustomerTime(collections)
  const queries = MeterQueries.make(store, collections.of(meters))
  const metered = MeteredUsage.make(queries)
  const transactor = yield* Transactor
  const ids = yield* IdGenerator

  /** Without a transaction around it: an append is atomic, and a transaction would add two round trips to each. */
  const append = (records: ReadonlyArray<NewUsageRecord>) =>
    Effect.map(store.append(records), ({ outcomes }) => outcomes)

  const ingest = yield* UsageIngest.make(append, options.ingest ?? {})

  const wrongTimestamp = ({ timestamp }: RecordUsage, now: DateTime.Utc): TimestampProblem | undefined =>
    timestamp && timestampProblem(timestamp, now, options.maxPastMillis)

  /** Adds ids and instants to records, and checks the rules that need the clock. */
  const prepare = (
    inputs: ReadonlyArray<RecordUsage>,
    fieldOf: FieldOf,
  ): Effect.Effect<Prepared, InvalidInput | StorageError, CurrentTenant> =>
    Effect.clockWith((clock) => {
      const now = DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())
      const records = inputs.map((input) =>
        newRecord(ids.at(USAGE_RECORD_ID_PREFIX, now.epochMilliseconds), input, now),
      )
      const isRight = inputs.every((input) => wrongTimestamp(input, now) === undefined)
      if (isRight) return Effect.succeed({ records, tooOld: NONE_TOO_OLD })
      return Effect.map(checkTimestamps(inputs, now, fieldOf), (tooOld) => ({ records, tooOld }))
    })

  /** Refuses wrong timestamps, except those that are too old and may be of a repeat: it gives these. */
  const checkTimestamps = Effect.fnUntraced(function* (
    inputs: ReadonlyArray<RecordUsage>,
    now: DateTime.Utc,
    fieldOf: FieldOf,
  ) {
    const tooOld = new Map<number, InvalidInput>()
    for (const [index, input] of inputs.entries()) {
      const isWrong = wrongTimestamp(input, now)
      const found = isWrong && (yield* problemOf(input.customerId, input.timestamp!, isWrong))
      if (!found) continue
      const refusal = new InvalidInput({ field: fieldOf(index, "timestamp"), problem: found.problem })
      if (!found.isTooOld || input.idempotencyKey === undefined) return yield* refusal
      tooOld.set(index, refusal)
    }
    return tooOld
  })

  /** A timestamp that is wrong in real time may be right by the customer's test clock. */
  const problemOf = Effect.fnUntraced(function* (
    customerId: RecordUsage["customerId"],
    timestamp: DateTime.Utc,
    problem: TimestampProblem,
  ) {
    const itsNow = yield* time.of(customerId)
    return Option.isNone(itsNow) ? problem : timestampProblem(timestamp, itsNow.value, options.maxPastMillis)
  })

  /** Appends all records or none: a refused one fails the transaction. */
  const appendTogether = (prepared: Prepared, fieldOf: FieldOf) =>
    transactor.atomically(
      Effect.flatMap(append(prepared.records), (outcomes) => accepted(outcomes, prepared, fieldOf)),
    )

  /** Appends a record that is not too old, together with others that arrive meanwhile. */
  const appendSingle = Effect.fnUntraced(function* (prepared: Prepared, fieldOf: FieldOf) {
    const { records } = prepared
    const isJoining = yield* transactor.inTransaction
    const outcomes = isJoining ? yield* append(records) : [yield* ingest.submit(records[0]!)]
    return yield* accepted(outcomes, prepared, fieldOf)
  })

  const record = traced(
    "Usage.record",
    Effect.fnUntraced(function* (input: RecordUsage) {
      const fieldOf = (_: number, field: string) => field
      const prepared = yield* prepare([yield* decodeRecord(input)], fieldOf)
      const results = yield* prepared.tooOld.size > 0
        ? appendTogether(prepared, fieldOf)
        : appendSingle(prepared, fieldOf)
      yield* measure(results)
      return results[0]!
    }),
  )

  const recordBatch = traced(
    "Usage.recordBatch",
    Effect.fnUntraced(function* (input: RecordUsageBatch) {
      const fieldOf = (index: number, field: string) => `records[${index}].${field}`
      const prepared = yield* prepare((yield* decodeBatch(input)).records, fieldOf)
      const results = yield* appendTogether(prepared, fieldOf)
      yield* measure(results)
      return results
    }),
  )

  const getRecord = Effect.fn("Usage.getRecord")(function* (id: string) {
    return yield* orNotFound(yield* store.find(yield* knownId(id)), id)
  })

  const voidRecord = Effect.fn("Usage.voidRecord")(function* (id: string) {
    const now = yield* DateTime.now
    return yield* orNotFound(yield* store.void(yield* knownId(id), now), id)
  })

  /** Fails for unknown customers. Usage of erased customers can be read. */
  const requireCustomer = Effect.fnUntraced(function* (id: RecordUsage["customerId"]) {
    if ((yield* owners.status(id)) === "unknown")
      return yield* new CustomerNotFound({ id, field: "customerId" })
  })

  const listRecords = Effect.fn("Usage.listRecords")(function* (input: ListUsageRecords) {
    const query = yield* decodeList(input)
    const page = yield* toQuery(query)
    yield* requireCustomer(query.customerId)
    const { customerId, meter, productId, unit } = query
    yield* meter === undefined ? MeterQueries.refuseWithoutMeter(query) : Effect.void
    const wanted = meter === undefined ? { productId, unit, where: [] } : yield* queries.filter(meter, query)
    return yield* store.list({ customerId, ...wanted }, page).pipe(nameCursor(query))
  })

  /** The unit of an empty total: the one asked for, or the only unit that the customer has ever used. */
  const unitOfNothing = Effect.fnUntraced(function* (query: SummarizeUsage | SeriesUsage) {
    if (query.unit !== undefined) return query.unit
    const units = yield* store.units(query.customerId, 2)
    return units.length === 1 ? units[0]! : null
  })

  const summary = traced(
    "Usage.summary",
    Effect.fnUntraced(function* (input: SummarizeUsage) {
      const query = yield* decodeSummary(input)
      const period = yield* UsagePeriod.resolve(query)
      yield* requireCustomer(query.customerId)
      if (query.meter !== undefined) return yield* metered.summary(query.meter, query, period)
      yield* MeterQueries.refuseWithoutMeter(query)
      const totals = yield* store.totals({
        customerId: query.customerId,
        productId: query.productId,
        unit: query.unit,
        boundaries: [period.start, period.end],
        by: "unit",
      })
      if (totals.length > 1) return yield* mixedUnits(query)
      const total = totals[0]
      const result: UsageSummary = {
        customerId: query.customerId,
        meter: null,
        productId: query.productId ?? null,
        totalQuantity: total?.quantity ?? 0n,
        denominator: 1n,
        unit: total === undefined ? yield* unitOfNothing(query) : total.unit,
        recordCount: total?.recordCount ?? 0,
        ...UsagePeriod.described(query, period),
      }
      return result
    }),
  )

  /** Refuses a series by meter that has too many points. It counts the meters with usage on the UTC days of the series. */
  const checkPoints = Effect.fnUntraced(function* (query: SeriesUsage, boundaries: ReadonlyArray<number>) {
    const most = Math.floor(MAX_SERIES_POINTS / (boundaries.length - 1))
    const { customerId, productId, unit } = query
    const from = UsagePeriod.utcDay(boundaries[0]!)
    const to = UsagePeriod.utcDay(boundaries.at(-1)! - 1) + 1
    if ((yield* store.countMeters({ customerId, productId, unit, from, to, most })) <= most) return
    return yield* new InvalidInput({
      field: "groupBy",
      problem: `gives more than ${MAX_SERIES_POINTS} points: ask for one product, fewer days or wider windows`,
    })
  })

  const series = Effect.fn("Usage.series")(function* (input: SeriesUsage) {
    const query = yield* decodeSeries(input)
    const boundaries = yield* UsagePeriod.windows(query, query.window)
    yield* requireCustomer(query.customerId)
    if (query.meter !== undefined) return yield* metered.series(query.meter, query, boundaries)
    yield* MeterQueries.refuseWithoutMeter(query, BY_PRODUCT)
    // A date that the time zone has skipped has no windows.
    if (query.groupBy !== undefined && boundaries.length > 1) yield* checkPoints(query, boundaries)
    const totals = yield* store.totals({
      customerId: query.customerId,
      productId: query.productId,
      unit: query.unit,
      boundaries,
      by: query.groupBy === undefined ? "unit" : "meter",
    })
    const meters = metersOf(totals)
    if (query.groupBy === undefined && meters.length > 1) return yield* mixedUnits(query)
    const nothing = {
      productId: query.productId,
      unit: meters.length === 0 ? yield* unitOfNothing(query) : null,
    }
    return pointsOf(boundaries, totals, meters.length === 0 ? [nothing] : meters, query.productId ?? null)
  })

  const audit = Effect.withSpan(store.audit, "Usage.audit")

  return Usage.of({ record, recordBatch, getRecord, listRecords, voidRecord, summary, series, audit })
})

const recordsOf = (outcome: string) =>
  Metric.counter("billwright_usage_records", {
    description:
      "Usage records that were accepted, by outcome; those of a transaction that is rolled back later, too.",
    incremental: true,
    attributes: { outcome },
  })
const recorded = recordsOf("recorded")
const duplicates = recordsOf("duplicate")

const measure = (results: ReadonlyArray<Recorded>): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) => {
    for (const { _tag } of results) (_tag === "Recorded" ? recorded : duplicates).updateUnsafe(1, context)
    return Effect.void
  })

const newRecord = (id: string, input: RecordUsage, now: DateTime.Utc): NewUsageRecord => ({
  id: UsageRecordId.make(id, { disableChecks: true }),
  customerId: input.customerId,
  productId: input.productId,
  quantity: input.quantity + 0, // −0 becomes 0
  unit: input.unit,
  dimensions: Dimensions.orNone(input.dimensions),
  timestamp: input.timestamp ?? now,
  hasOwnTimestamp: input.timestamp !== undefined,
  idempotencyKey: input.idempotencyKey ?? null,
  voidedAt: null,
  createdAt: now,
})

interface TimestampProblem {
  readonly problem: string
  /** Whether it is only too long ago. It was not when the record was new, so a repeat is no mistake. */
  readonly isTooOld: boolean
}

const timestampProblem = (
  timestamp: DateTime.Utc,
  now: DateTime.Utc,
  maxPastMillis: number | undefined,
): TimestampProblem | undefined => {
  const ahead = timestamp.epochMilliseconds - now.epochMilliseconds
  if (ahead > MAX_FUTURE_MILLIS)
    return { problem: "must not be more than 5 minutes in the future", isTooOld: false }
  if (timestamp.epochMilliseconds < MIN_TIMESTAMP_MILLIS)
    return { problem: "must not be before the year 0001", isTooOld: false }
  if (maxPastMillis !== undefined && -ahead > maxPastMillis)
    return { problem: `must not be more than ${maxPastMillis} ms in the past`, isTooOld: true }
  return undefined
}

/** The name of a field of a record. */
type FieldOf = (index: number, field: string) => string

interface Prepared {
  readonly records: ReadonlyArray<NewUsageRecord>
  /**
   * The refusals of records that are too old and have a key, by index. Only the append tells whether they are repeats, so
   * they are appended, and undone when they turn out to be new.
   */
  readonly tooOld: ReadonlyMap<number, InvalidInput>
}

const NONE_TOO_OLD: Prepared["tooOld"] = new Map()

/** The results of an append, or the error of the first record that was refused. */
const accepted = (
  outcomes: ReadonlyArray<AppendOutcome>,
  { records, tooOld }: Prepared,
  fieldOf: FieldOf,
): Effect.Effect<ReadonlyArray<Recorded>, CustomerNotFound | InvalidInput | UsageKeyConflict> => {
  const results: Array<Recorded> = []
  for (const [index, outcome] of outcomes.entries()) {
    switch (outcome._tag) {
      case "CustomerNotFound":
        return Effect.fail(
          new CustomerNotFound({ id: records[index]!.customerId, field: fieldOf(index, "customerId") }),
        )
      case "KeyConflict":
        return Effect.fail(keyConflict(fieldOf(index, "idempotencyKey"), outcome.recordId, records))
      case "TooManyCombinations": {
        const field = fieldOf(index, fieldPath(["dimensions", outcome.dimension]))
        const problem = Rollup.tooManyCombinations(outcome.meterKey, outcome.day)
        return Effect.fail(new InvalidInput({ field, problem }))
      }
      default: {
        const refusal = outcome._tag === "Recorded" ? tooOld.get(index) : undefined
        if (refusal !== undefined) return Effect.fail(refusal)
        results.push(outcome)
      }
    }
  }
  return Effect.succeed(results)
}

/** Two records of one batch may have the same key. They are not stored then, so the error can't name a record's id. */
const keyConflict = (
  field: string,
  recordId: UsageRecordId,
  records: ReadonlyArray<NewUsageRecord>,
): InvalidInput | UsageKeyConflict => {
  const first = records.findIndex(({ id }) => id === recordId)
  return first === -1
    ? new UsageKeyConflict({ field, recordId })
    : new InvalidInput({ field, problem: `is also the key of records[${first}], which has other content` })
}

const mixedUnits = (query: SummarizeUsage | SeriesUsage) =>
  new InvalidInput({
    field: "unit",
    problem:
      query.productId === undefined
        ? "is required (or a product id): the period has usage in several units, which can't be added"
        : "is required: the period has usage of the product in several units, which can't be added",
  })

type Meter = { readonly productId: string | undefined; readonly unit: string | null }

const metersOf = (totals: ReadonlyArray<UsageTotal>): ReadonlyArray<Meter> => {
  const meters = new Map<string, Meter>()
  for (const { productId, unit } of totals) meters.set(meterKey({ productId, unit }), { productId, unit })
  return [...meters.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, meter]) => meter)
}

const meterKey = (meter: Meter): string => `${meter.productId ?? ""}\0${meter.unit ?? ""}`

const pointsOf = (
  boundaries: ReadonlyArray<number>,
  totals: ReadonlyArray<UsageTotal>,
  meters: ReadonlyArray<Meter>,
  askedProduct: string | null,
): ReadonlyArray<UsagePoint> => {
  const totalOf = new Map(totals.map((total) => [`${total.window}\0${meterKey(total)}`, total]))
  const points: Array<UsagePoint> = []
  for (let window = 0; window < boundaries.length - 1; window++) {
    const start = DateTime.makeUnsafe(boundaries[window]!)
    const end = DateTime.makeUnsafe(boundaries[window + 1]!)
    for (const meter of meters) {
      const total = totalOf.get(`${window}\0${meterKey(meter)}`)
      points.push({
        start,
        end,
        productId: meter.productId ?? askedProduct,
        unit: meter.unit,
        quantity: total?.quantity ?? 0n,
        denominator: 1n,
        recordCount: total?.recordCount ?? 0,
      })
    }
  }
  return points
}
