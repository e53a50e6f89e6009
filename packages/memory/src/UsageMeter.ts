/**
 * The records of one meter (a customer's use of a product in a unit) and their totals by day.
 */
import { type Customer, type Dimensions, UsagePeriod, type UsageRecord } from "@billwright/core"
import { DateTime } from "effect"
import { ExactSum } from "./ExactSum.ts"
import { IdOrder } from "./IdOrder.ts"

const HOUR_MILLIS = 3_600_000
const HOURS_OF_DAY = 24
/** A day with more records than this has sums by the hour, so that a part of it is summed without reading all records. */
const MAX_UNDIVIDED_RECORDS = 64

/**
 * A record as it is stored. To save memory, the meter holds the fields that its records share, and the timestamp is a
 * plain number. Voiding a record changes this object.
 */
export class StoredRecord {
  readonly id: UsageRecord.UsageRecordId
  readonly meter: UsageMeter
  readonly quantity: number
  readonly dimensions: Dimensions.Dimensions
  /** Epoch milliseconds. */
  readonly timestamp: number
  readonly idempotencyKey: string | null
  readonly createdAt: DateTime.Utc
  voidedAt: DateTime.Utc | null

  constructor(meter: UsageMeter, record: UsageRecord.UsageRecord) {
    this.id = record.id
    this.meter = meter
    this.quantity = record.quantity
    this.dimensions = record.dimensions
    this.timestamp = record.timestamp.epochMilliseconds
    this.idempotencyKey = record.idempotencyKey
    this.createdAt = record.createdAt
    this.voidedAt = record.voidedAt
  }

  get isVoided(): boolean {
    return this.voidedAt !== null
  }

  /** A copy of the record to give out. Callers that have its timestamp as a `DateTime` pass it, to save making one. */
  toRecord(timestamp: DateTime.Utc = DateTime.makeUnsafe(this.timestamp)): UsageRecord.UsageRecord {
    return {
      id: this.id,
      customerId: this.meter.customerId,
      productId: this.meter.productId,
      quantity: this.quantity,
      unit: this.meter.unit,
      dimensions: this.dimensions,
      timestamp,
      idempotencyKey: this.idempotencyKey,
      voidedAt: this.voidedAt,
      createdAt: this.createdAt,
    }
  }
}

/** An hour of a day: its records, and the sum of the records that are not voided. */
class Hour {
  readonly sum = new ExactSum()
  readonly records: Array<StoredRecord> = []
}

/** A UTC day: its sum, and its records in one list or in a list for each hour. */
class Day {
  /** Days since 1970-01-01. */
  readonly number: number
  readonly sum = new ExactSum()
  /** Voided records included. */
  recordCount = 0
  #records: Array<StoredRecord> = []
  #hours: ReadonlyArray<Hour> | undefined = undefined

  constructor(number: number) {
    this.number = number
  }

  add(record: StoredRecord): void {
    this.recordCount++
    if (record.voidedAt === null) this.sum.add(record.quantity)
    if (this.#hours !== undefined) addToHour(this.#hourOf(this.#hours, record), record)
    else {
      this.#records.push(record)
      if (this.recordCount > MAX_UNDIVIDED_RECORDS) this.#divide()
    }
  }

  remove(record: StoredRecord): void {
    this.recordCount--
    const hour = this.#hours && this.#hourOf(this.#hours, record)
    const records = hour?.records ?? this.#records
    // Undo removes the record that was added last, so the search ends at once.
    records.splice(records.lastIndexOf(record), 1)
    if (record.voidedAt === null) this.count(record, "subtract")
  }

  /** All records, voided ones included. */
  *records(): Generator<StoredRecord> {
    yield* this.#records
    for (const { records } of this.#hours ?? []) yield* records
  }

  /** Adds the quantity of a record to the sums of the day, or subtracts it. */
  count(record: StoredRecord, change: "add" | "subtract"): void {
    this.sum[change](record.quantity)
    if (this.#hours !== undefined) this.#hourOf(this.#hours, record).sum[change](record.quantity)
  }

  /** Adds the usage in `[start, end)` to `into`. */
  addRange(start: number, end: number, into: ExactSum): void {
    if (this.#hours === undefined) {
      addRecords(this.#records, start, end, into)
      return
    }
    const midnight = this.number * UsagePeriod.UTC_DAY_MILLIS
    for (const [index, { records, sum }] of this.#hours.entries()) {
      const hour = midnight + index * HOUR_MILLIS
      if (start <= hour && hour + HOUR_MILLIS <= end) into.addAll(sum)
      else if (hour < end && start < hour + HOUR_MILLIS) addRecords(records, start, end, into)
    }
  }

  #hourOf(hours: ReadonlyArray<Hour>, record: StoredRecord): Hour {
    const sinceMidnight = record.timestamp - this.number * UsagePeriod.UTC_DAY_MILLIS
    return hours[Math.floor(sinceMidnight / HOUR_MILLIS)]!
  }

  #divide(): void {
    const hours = Array.from({ length: HOURS_OF_DAY }, () => new Hour())
    for (const record of this.#records) addToHour(this.#hourOf(hours, record), record)
    this.#hours = hours
    this.#records = []
  }
}

const addToHour = ({ records, sum }: Hour, record: StoredRecord): void => {
  records.push(record)
  if (record.voidedAt === null) sum.add(record.quantity)
}

const addRecords = (
  records: ReadonlyArray<StoredRecord>,
  start: number,
  end: number,
  into: ExactSum,
): void => {
  for (const { quantity, timestamp, voidedAt } of records) {
    if (voidedAt === null && start <= timestamp && timestamp < end) into.add(quantity)
  }
}

/** One meter of one customer. The sum of a period reads its days, and the hours and records of parts of days. */
export class UsageMeter {
  readonly customerId: Customer.CustomerId
  readonly productId: string
  readonly unit: string
  /** Voided records included. */
  readonly records = new IdOrder<StoredRecord>()
  /** The sum of all records that are not voided. */
  readonly lifetime = new ExactSum()
  readonly #days = new Map<number, Day>()
  /** The day that was written last. Most records are of the same day as the one before. */
  #lastDay: Day | undefined = undefined

  constructor(customerId: Customer.CustomerId, productId: string, unit: string) {
    this.customerId = customerId
    this.productId = productId
    this.unit = unit
  }

  add(record: StoredRecord): void {
    this.records.insert(record)
    if (record.voidedAt === null) this.lifetime.add(record.quantity)
    this.#dayOf(record).add(record)
  }

  /** Undoes `add`. */
  remove(record: StoredRecord): void {
    this.records.remove(record)
    if (record.voidedAt === null) this.lifetime.subtract(record.quantity)
    const day = this.#dayOf(record)
    day.remove(record)
    if (day.recordCount === 0) {
      this.#days.delete(day.number)
      this.#lastDay = undefined
    }
  }

  void(record: StoredRecord, at: DateTime.Utc): void {
    record.voidedAt = at
    this.lifetime.subtract(record.quantity)
    this.#dayOf(record).count(record, "subtract")
  }

  /** Undoes `void`. */
  restore(record: StoredRecord): void {
    record.voidedAt = null
    this.lifetime.add(record.quantity)
    this.#dayOf(record).count(record, "add")
  }

  /** Adds the usage of a period to `into`. */
  addPeriod(period: UsagePeriod.Period, into: ExactSum): void {
    if (period.start === undefined && period.end === undefined) {
      into.addAll(this.lifetime)
      return
    }
    const { days, edges } = UsagePeriod.split(period)
    if (days !== undefined) this.#addDays(days.from ?? -Infinity, days.to ?? Infinity, into)
    for (const edge of edges) {
      this.#days.get(UsagePeriod.utcDay(edge.start))?.addRange(edge.start, edge.end, into)
    }
  }

  /** Whether there is usage on the UTC days from `from` up to the day before `to`. */
  hasUsage(from: number, to: number): boolean {
    const isCounted = (day: Day | undefined) => day !== undefined && day.sum.count > 0
    if (to - from > this.#days.size)
      return this.#days.values().some((day) => from <= day.number && day.number < to && isCounted(day))
    for (let day = from; day < to; day++) if (isCounted(this.#days.get(day))) return true
    return false
  }

  /** The records of a UTC day, voided ones included. */
  recordsOf(day: number): Iterable<StoredRecord> {
    return this.#days.get(day)?.records() ?? []
  }

  /** The roll-ups by UTC day, in the order of their creation. */
  *days(): Generator<{ readonly day: number; readonly sum: ExactSum }> {
    for (const [day, { sum }] of this.#days) yield { day, sum }
  }

  #addDays(from: number, to: number, into: ExactSum): void {
    if (to - from <= this.#days.size) {
      for (let day = from; day < to; day++) {
        const found = this.#days.get(day)
        if (found !== undefined) into.addAll(found.sum)
      }
    } else {
      for (const [day, { sum }] of this.#days) if (from <= day && day < to) into.addAll(sum)
    }
  }

  #dayOf(record: StoredRecord): Day {
    const number = UsagePeriod.utcDay(record.timestamp)
    if (this.#lastDay?.number === number) return this.#lastDay
    let day = this.#days.get(number)
    if (day === undefined) {
      day = new Day(number)
      this.#days.set(number, day)
    }
    this.#lastDay = day
    return day
  }
}
