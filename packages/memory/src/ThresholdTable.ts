/**
 * Usage thresholds in memory, and what they remember of their firings.
 */
import { type Customer, Page, StorageError, Tenant, Threshold, UsagePeriod } from "@billwright/core"
import { DateTime, Exit, Option } from "effect"
import { ExactSum } from "./ExactSum.ts"
import { IdOrder, pageOf } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"
import type { StoredRecord, UsageMeter } from "./UsageMeter.ts"

/** A threshold with its firings. */
export interface ThresholdRow {
  readonly id: Threshold.ThresholdId
  /** Never changed, only replaced. */
  threshold: Threshold.Threshold
  /** The keys of the periods it fired for, and when. */
  readonly firings: Map<string, DateTime.Utc>
}

interface TenantThresholds {
  readonly tenant: Tenant.Tenant
  readonly byId: Map<string, ThresholdRow>
  readonly all: IdOrder<ThresholdRow>
  readonly byCustomer: Map<string, IdOrder<ThresholdRow>>
}

/** Thresholds by tenant, customer and meter. All of it is synchronous. */
export class ThresholdTable {
  readonly #journal: Journal
  readonly #tenants = new Map<string, TenantThresholds>()
  readonly #byMeter = new WeakMap<UsageMeter, IdOrder<ThresholdRow>>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** False when the meter has as many as it may have. */
  insert(
    tenant: Tenant.Tenant,
    meter: UsageMeter,
    threshold: Threshold.Threshold,
  ): Exit.Exit<boolean, StorageError> {
    const thresholds = this.#of(tenant)
    if (thresholds.byId.has(threshold.id)) {
      const cause = new Error(`the threshold id ${threshold.id} is taken`)
      return Exit.fail(new StorageError({ operation: "UsageStore.insertThreshold", retryable: false, cause }))
    }
    if ((this.#byMeter.get(meter)?.size ?? 0) >= Threshold.MAX_THRESHOLDS_PER_METER)
      return Exit.succeed(false)
    const row: ThresholdRow = { id: threshold.id, threshold: { ...threshold }, firings: new Map() }
    this.#add(thresholds, meter, row)
    this.#journal.wrote(() => this.#remove(thresholds, meter, row))
    return Exit.succeed(true)
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<Threshold.Threshold> {
    const row = this.#of(tenant).byId.get(id)
    return row === undefined ? Option.none() : Option.some({ ...row.threshold })
  }

  /** `meterOf` finds the meter that the threshold was inserted with. */
  delete(
    tenant: Tenant.Tenant,
    id: string,
    meterOf: (threshold: Threshold.Threshold) => UsageMeter,
  ): boolean {
    const thresholds = this.#of(tenant)
    const row = thresholds.byId.get(id)
    if (row === undefined) return false
    const meter = meterOf(row.threshold)
    this.#remove(thresholds, meter, row)
    this.#journal.wrote(() => this.#add(thresholds, meter, row))
    return true
  }

  list(
    tenant: Tenant.Tenant,
    filter: { readonly customerId: Customer.CustomerId | undefined },
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<Threshold.Threshold>, Page.CursorNotFound> {
    const thresholds = this.#of(tenant)
    if (query.cursor !== undefined && !thresholds.byId.has(query.cursor.id)) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const order =
      filter.customerId === undefined ? thresholds.all : thresholds.byCustomer.get(filter.customerId)
    return Exit.succeed(
      pageOf(order === undefined ? [] : [order], query, ({ threshold }) => ({ ...threshold })),
    )
  }

  has(meter: UsageMeter): boolean {
    return this.#byMeter.has(meter)
  }

  /** Fires what records that have just been added to a meter cross: each threshold once for a period. */
  fire(meter: UsageMeter, records: ReadonlyArray<StoredRecord>): Array<Threshold.ThresholdCrossing> {
    const rows = this.#byMeter.get(meter)
    const crossings: Array<Threshold.ThresholdCrossing> = []
    if (rows === undefined) return crossings
    const at = latestOf(records)
    const days = daysOf(records)
    const periods = {
      day: periodsOf("day", days),
      month: periodsOf("month", days),
      lifetime: periodsOf("lifetime", days),
    }
    for (const row of rows.values()) {
      const { period, quantity } = row.threshold
      for (const [key, instants] of periods[period]) {
        const sum = new ExactSum()
        meter.addPeriod(instants, sum)
        const total = sum.quantity
        if (!Threshold.crosses({ quantity, total, hasFired: row.firings.has(key) })) continue
        this.#remember(row, key, at)
        crossings.push({ threshold: { ...row.threshold }, periodKey: key, total })
      }
    }
    return crossings
  }

  /** Every threshold of every tenant. */
  *rows(): Generator<{ readonly tenant: Tenant.Tenant; readonly row: ThresholdRow }> {
    for (const { byId, tenant } of this.#tenants.values())
      for (const row of byId.values()) yield { tenant, row }
  }

  #remember(row: ThresholdRow, key: string, at: DateTime.Utc): void {
    const before = row.threshold
    row.firings.set(key, at)
    row.threshold = { ...before, lastFiredAt: at }
    this.#journal.wrote(() => {
      row.firings.delete(key)
      row.threshold = before
    })
  }

  #add(thresholds: TenantThresholds, meter: UsageMeter, row: ThresholdRow): void {
    thresholds.byId.set(row.id, row)
    thresholds.all.insert(row)
    const ofCustomer = thresholds.byCustomer.get(meter.customerId) ?? new IdOrder<ThresholdRow>()
    thresholds.byCustomer.set(meter.customerId, ofCustomer)
    ofCustomer.insert(row)
    const ofMeter = this.#byMeter.get(meter) ?? new IdOrder<ThresholdRow>()
    this.#byMeter.set(meter, ofMeter)
    ofMeter.insert(row)
  }

  #remove(thresholds: TenantThresholds, meter: UsageMeter, row: ThresholdRow): void {
    thresholds.byId.delete(row.id)
    thresholds.all.remove(row)
    thresholds.byCustomer.get(meter.customerId)?.remove(row)
    const ofMeter = this.#byMeter.get(meter)
    ofMeter?.remove(row)
    if (ofMeter?.size === 0) this.#byMeter.delete(meter)
  }

  #of(tenant: Tenant.Tenant): TenantThresholds {
    const key = Tenant.tenantKey(tenant)
    let thresholds = this.#tenants.get(key)
    if (thresholds === undefined) {
      thresholds = {
        tenant: Object.freeze({ ...tenant }),
        byId: new Map(),
        all: new IdOrder(),
        byCustomer: new Map(),
      }
      this.#tenants.set(key, thresholds)
    }
    return thresholds
  }
}

/** When the last of some records arrived. */
const latestOf = (records: ReadonlyArray<StoredRecord>): DateTime.Utc =>
  records
    .map(({ createdAt }) => createdAt)
    .reduce((a, b) => (a.epochMilliseconds < b.epochMilliseconds ? b : a))

/** The start of each UTC day that has some of the records, oldest first. */
const daysOf = (records: ReadonlyArray<StoredRecord>): ReadonlyArray<DateTime.Utc> => {
  const days = new Set(records.map(({ timestamp }) => UsagePeriod.utcDay(timestamp)))
  return [...days].sort((a, b) => a - b).map((day) => DateTime.makeUnsafe(day * UsagePeriod.UTC_DAY_MILLIS))
}

/** The periods of thresholds that some days lie in, by their keys. */
const periodsOf = (
  period: Threshold.ThresholdPeriod,
  days: ReadonlyArray<DateTime.Utc>,
): ReadonlyMap<string, UsagePeriod.Period> =>
  new Map(days.map((day) => [Threshold.periodKey(period, day), Threshold.periodOf(period, day)]))
