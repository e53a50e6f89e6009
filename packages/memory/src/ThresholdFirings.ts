/**
 * The firings of usage thresholds, in memory.
 */
import { Tenant, Threshold, UsagePeriod } from "@billwright/core"
import { DateTime } from "effect"
import type { CollectionTable } from "./CollectionTable.ts"
import { ExactSum } from "./ExactSum.ts"
import type { Journal } from "./Journal.ts"
import type { StoredRecord, UsageMeter } from "./UsageMeter.ts"

/** A firing of one threshold in one of its periods. */
interface FiringRow {
  readonly tenant: Tenant.Tenant
  readonly thresholdId: Threshold.ThresholdId
  readonly periodKey: string
  readonly firedAt: DateTime.Utc
}

/** A threshold that watches a meter. Its value is read from the table when it is checked. */
interface Watch {
  readonly tenant: Tenant.Tenant
  readonly id: Threshold.ThresholdId
  /** When it fired, by the key of the period. */
  readonly firings: Map<string, DateTime.Utc>
}

/** Watches by meter. Its methods are synchronous. */
export class ThresholdFirings {
  readonly #journal: Journal
  readonly #table: CollectionTable<Threshold.Threshold>
  readonly #byMeter = new WeakMap<UsageMeter, Map<string, Watch>>()
  readonly #watches = new Set<Watch>()
  /** Watches that the open transaction ended. Undoing this brings them back with their firings. */
  readonly #ended = new Map<string, Watch>()

  /** `meterOf` finds the meter of a threshold, and makes one when there is none. */
  constructor(
    journal: Journal,
    table: CollectionTable<Threshold.Threshold>,
    meterOf: (tenant: Tenant.Tenant, threshold: Threshold.Threshold) => UsageMeter,
  ) {
    this.#journal = journal
    this.#table = table
    table.observe((tenant, before, after) => {
      if (before === undefined && after !== undefined) this.#watch(tenant, meterOf(tenant, after), after.id)
      if (before !== undefined && after === undefined) this.#unwatch(meterOf(tenant, before), before.id)
    })
  }

  has(meter: UsageMeter): boolean {
    return this.#byMeter.has(meter)
  }

  /** Fires the thresholds that new records of a meter have reached, each once for a period. */
  fire(meter: UsageMeter, records: ReadonlyArray<StoredRecord>): Array<Threshold.ThresholdCrossing> {
    const watches = this.#byMeter.get(meter)
    const crossings: Array<Threshold.ThresholdCrossing> = []
    if (watches === undefined) return crossings
    const at = latestOf(records)
    const days = daysOf(records)
    const periods = {
      day: periodsOf("day", days),
      month: periodsOf("month", days),
      lifetime: periodsOf("lifetime", days),
    }
    for (const watch of watches.values()) {
      const { period, quantity } = this.#table.peek(watch.tenant, watch.id)!
      for (const [key, instants] of periods[period]) {
        const sum = new ExactSum()
        meter.addPeriod(instants, sum)
        const total = sum.quantity
        if (!Threshold.crosses({ quantity, total, hasFired: watch.firings.has(key) })) continue
        crossings.push({ threshold: this.#remember(watch, key, at), periodKey: key, total })
      }
    }
    return crossings
  }

  /** Every firing of every tenant. */
  *rows(): Generator<FiringRow> {
    for (const { firings, id, tenant } of this.#watches)
      for (const [periodKey, firedAt] of firings) yield { tenant, thresholdId: id, periodKey, firedAt }
  }

  /** Gives the threshold as it is then. */
  #remember(watch: Watch, key: string, at: DateTime.Utc): Threshold.Threshold {
    watch.firings.set(key, at)
    this.#journal.wrote(() => watch.firings.delete(key))
    const fired = { ...this.#table.peek(watch.tenant, watch.id)!, lastFiredAt: at }
    this.#table.replace(watch.tenant, fired)
    return fired
  }

  #watch(tenant: Tenant.Tenant, meter: UsageMeter, id: Threshold.ThresholdId): void {
    const watch = this.#ended.get(keyOf(tenant, id)) ?? { tenant, id, firings: new Map() }
    this.#watches.add(watch)
    const watches = this.#byMeter.get(meter) ?? new Map<string, Watch>()
    this.#byMeter.set(meter, watches)
    watches.set(id, watch)
  }

  #unwatch(meter: UsageMeter, id: Threshold.ThresholdId): void {
    const watches = this.#byMeter.get(meter)
    const watch = watches?.get(id)
    if (watches === undefined || watch === undefined) return
    this.#watches.delete(watch)
    this.#ended.set(keyOf(watch.tenant, id), watch)
    this.#journal.whenEnded(() => this.#ended.clear())
    watches.delete(id)
    if (watches.size === 0) this.#byMeter.delete(meter)
  }
}

const keyOf = (tenant: Tenant.Tenant, id: string): string => `${Tenant.tenantKey(tenant)}/${id}`

/** The latest `createdAt` of some records. */
const latestOf = (records: ReadonlyArray<StoredRecord>): DateTime.Utc =>
  records
    .map(({ createdAt }) => createdAt)
    .reduce((a, b) => (a.epochMilliseconds < b.epochMilliseconds ? b : a))

/** The start of each UTC day that contains one of the records, oldest first. */
const daysOf = (records: ReadonlyArray<StoredRecord>): ReadonlyArray<DateTime.Utc> => {
  const days = new Set(records.map(({ timestamp }) => UsagePeriod.utcDay(timestamp)))
  return [...days].sort((a, b) => a - b).map((day) => DateTime.makeUnsafe(day * UsagePeriod.UTC_DAY_MILLIS))
}

/** The periods of thresholds that contain some days, by their keys. */
const periodsOf = (
  period: Threshold.ThresholdPeriod,
  days: ReadonlyArray<DateTime.Utc>,
): ReadonlyMap<string, UsagePeriod.Period> =>
  new Map(days.map((day) => [Threshold.periodKey(period, day), Threshold.periodOf(period, day)]))
