/**
 * Usage in memory: records, roll-ups and firings of thresholds of all tenants.
 */
import {
  type CountedIn,
  type AppendOutcome,
  type AppendResult,
  type Customer,
  type Meter,
  type MetersQuery,
  Page,
  Rollup,
  type RollupAnswer,
  type RollupQuery,
  StorageError,
  Tenant,
  type Threshold,
  ThresholdEvent,
  type TotalsQuery,
  type UsageDiscrepancy,
  UsageRecord,
  type UsageTotal,
} from "@billwright/core"
import { DateTime, Exit, Option } from "effect"
import type { CollectionRow, CollectionTable } from "./CollectionTable.ts"
import { ExactSum } from "./ExactSum.ts"
import { IdOrder, pageOf } from "./IdOrder.ts"
import type { Journal } from "./Journal.ts"
import type { MeterCells } from "./MeterCells.ts"
import { addTo, answerOf, MeterTable } from "./MeterTable.ts"
import type { Outbox } from "./Outbox.ts"
import type { SpendMarkTable } from "./SpendMarkTable.ts"
import { ThresholdFirings } from "./ThresholdFirings.ts"
import { cellDiscrepanciesOf, discrepanciesOf } from "./UsageAudit.ts"
import { StoredRecord, UsageMeter } from "./UsageMeter.ts"

/** The usage of one customer. */
interface CustomerUsage {
  readonly customerId: Customer.CustomerId
  row: CollectionRow<Customer.Customer> | undefined
  readonly records: IdOrder<StoredRecord>
  readonly byKey: Map<string, StoredRecord>
  /** The meters by product, then by unit. */
  readonly meters: Map<string, Map<string, UsageMeter>>
  /** The meter that was written last. Most customers have few meters. */
  lastMeter: UsageMeter | undefined
}

interface TenantUsage {
  readonly tenant: Tenant.Tenant
  readonly records: IdOrder<StoredRecord>
  readonly customers: Map<string, CustomerUsage>
}

type MeterFilter = { readonly productId: string | undefined; readonly unit: string | undefined }

const CUSTOMER_NOT_FOUND: AppendOutcome = Object.freeze({ _tag: "CustomerNotFound" })

/** Records by id, by idempotency key and in the order of ids, and totals by meter. Its methods are synchronous. */
export class UsageTable {
  readonly firings: ThresholdFirings
  readonly meterRollups: MeterTable
  readonly #journal: Journal
  readonly #customers: CollectionTable<Customer.Customer>
  readonly #outbox: Outbox
  readonly #marks: SpendMarkTable
  readonly #tenants = new Map<string, TenantUsage>()

  constructor(
    journal: Journal,
    customers: CollectionTable<Customer.Customer>,
    thresholds: CollectionTable<Threshold.Threshold>,
    meters: CollectionTable<Meter.Meter>,
    outbox: Outbox,
    marks: SpendMarkTable,
  ) {
    this.#journal = journal
    this.#customers = customers
    this.#outbox = outbox
    this.#marks = marks
    this.meterRollups = new MeterTable(journal, meters)
    this.firings = new ThresholdFirings(journal, thresholds, (tenant, threshold) =>
      this.#meterOf(tenant, threshold),
    )
  }

  append(
    tenant: Tenant.Tenant,
    records: ReadonlyArray<UsageRecord.NewUsageRecord>,
  ): Exit.Exit<AppendResult, StorageError> {
    const usage = this.#of(tenant)
    const rollups = this.meterRollups.of(tenant)
    const added: Array<StoredRecord> = []
    // One undo for all records, because a closure for each would cost more than storing the record.
    this.#journal.wrote(() => {
      for (const stored of added.reverse()) remove(usage, stored)
    })
    const outcomes: Array<AppendOutcome> = []
    for (const record of records) {
      const customer = this.#activeCustomer(usage, record.customerId)
      const served = rollups.servedBy(record.productId, record.unit)
      const outcome =
        customer === undefined ? CUSTOMER_NOT_FOUND : appendOne(usage, customer, record, served, added)
      if (outcome === undefined) {
        const cause = new Error(`the record id ${record.id} is taken`)
        return Exit.fail(new StorageError({ operation: "UsageStore.append", retryable: false, cause }))
      }
      outcomes.push(outcome)
    }
    if (added.length > 0) this.#marks.markWatched(tenant, customersOf(added))
    const crossings = this.#fire(added)
    const told = this.#tell(usage.tenant, crossings, added)
    return Exit.map(told, () => ({ outcomes, crossings }))
  }

  find(tenant: Tenant.Tenant, id: string): Option.Option<UsageRecord.UsageRecord> {
    const stored = this.#of(tenant).records.find(id)
    return stored === undefined ? Option.none() : Option.some(stored.toRecord())
  }

  void(tenant: Tenant.Tenant, id: string, at: DateTime.Utc): Option.Option<UsageRecord.UsageRecord> {
    const stored = this.#of(tenant).records.find(id)
    if (stored === undefined) return Option.none()
    if (stored.voidedAt === null) {
      stored.meter.void(stored, at)
      this.#journal.wrote(() => stored.meter.restore(stored))
      const { productId, unit } = stored.meter
      for (const cells of this.meterRollups.of(tenant).servedBy(productId, unit)) cells.remove(stored)
    }
    return Option.some(stored.toRecord())
  }

  list(
    tenant: Tenant.Tenant,
    filter: MeterFilter & {
      readonly customerId: Customer.CustomerId
      readonly where?: Rollup.Where
      readonly counted?: CountedIn
    },
    query: Page.PageQuery,
  ): Exit.Exit<Page.Page<UsageRecord.UsageRecord>, Page.CursorNotFound> {
    const usage = this.#of(tenant)
    if (query.cursor !== undefined && usage.records.find(query.cursor.id) === undefined) {
      return Exit.fail(new Page.CursorNotFound({ id: query.cursor.id }))
    }
    const customer = usage.customers.get(filter.customerId)
    if (customer === undefined) return Exit.succeed({ data: [], hasMore: false })
    const isFiltered = filter.productId !== undefined || filter.unit !== undefined
    const orders = isFiltered
      ? Array.from(metersOf(customer, filter), ({ records }) => records)
      : [customer.records]
    const { counted, where = [] } = filter
    return Exit.succeed(
      pageOf(
        orders,
        query,
        (stored) => stored.toRecord(),
        (stored) =>
          Rollup.matches(where, stored.dimensions) && (counted === undefined || countsIn(counted, stored)),
      ),
    )
  }

  totals(tenant: Tenant.Tenant, query: TotalsQuery): ReadonlyArray<UsageTotal> {
    const customer = this.#of(tenant).customers.get(query.customerId)
    if (customer === undefined) return []
    const groups = groupsOf([...metersOf(customer, query)], query.by)
    const totals: Array<UsageTotal> = []
    for (let window = 0; window < query.boundaries.length - 1; window++) {
      const period = { start: query.boundaries[window], end: query.boundaries[window + 1] }
      for (const { meters, productId, unit } of groups) {
        const sum = new ExactSum()
        for (const meter of meters) meter.addPeriod(period, sum)
        if (sum.count > 0) {
          totals.push({ window, productId, unit, quantity: sum.quantity, recordCount: sum.count })
        }
      }
    }
    return totals
  }

  countMeters(tenant: Tenant.Tenant, query: MetersQuery): number {
    const customer = this.#of(tenant).customers.get(query.customerId)
    let count = 0
    if (customer === undefined) return count
    for (const meter of metersOf(customer, query)) {
      if (meter.hasUsage(query.from, query.to)) count++
      if (count > query.most) break
    }
    return count
  }

  units(tenant: Tenant.Tenant, customerId: Customer.CustomerId, limit: number): ReadonlyArray<string> {
    const customer = this.#of(tenant).customers.get(customerId)
    const units = new Set<string>()
    if (customer === undefined) return []
    for (const { records, unit } of metersOf(customer, { productId: undefined, unit: undefined })) {
      if (units.size >= limit) break
      if (records.size > 0) units.add(unit)
    }
    return [...units]
  }

  audit(tenant: Tenant.Tenant): ReadonlyArray<UsageDiscrepancy> {
    const discrepancies: Array<UsageDiscrepancy> = []
    for (const customer of this.#of(tenant).customers.values()) {
      for (const meter of metersOf(customer, { productId: undefined, unit: undefined })) {
        discrepancies.push(...discrepanciesOf(meter))
      }
    }
    for (const cells of this.meterRollups.allAnswering(tenant)) {
      for (const meter of this.#metersOf(tenant, cells.rollup)) {
        discrepancies.push(...cellDiscrepanciesOf(cells, meter))
      }
    }
    return discrepancies
  }

  rollup(tenant: Tenant.Tenant, query: RollupQuery): RollupAnswer {
    return answerOf(this.meterRollups.answering(tenant, query), query, (customerId, { productId, unit }) =>
      this.#of(tenant).customers.get(customerId)?.meters.get(productId)?.get(unit),
    )
  }

  build(tenant: Tenant.Tenant, rollup: Rollup.Rollup, days: number): Rollup.Progress {
    return this.meterRollups.of(tenant).cellsOf(rollup).build(this.#metersOf(tenant, rollup), days)
  }

  /** The meters of all customers for a product and unit. */
  *#metersOf(tenant: Tenant.Tenant, { productId, unit }: Rollup.Rollup): Generator<UsageMeter> {
    for (const customer of this.#of(tenant).customers.values()) yield* metersOf(customer, { productId, unit })
  }

  /** The meter of a threshold. It is made when there is none yet. */
  #meterOf(tenant: Tenant.Tenant, { customerId, productId, unit }: Threshold.Threshold): UsageMeter {
    return meterOf(customerOf(this.#of(tenant), customerId), productId, unit)
  }

  /** Every record of every tenant. */
  *records(): Generator<{ readonly tenant: Tenant.Tenant; readonly record: UsageRecord.UsageRecord }> {
    for (const { records, tenant } of this.#tenants.values()) {
      for (const stored of records.values()) yield { tenant, record: stored.toRecord() }
    }
  }

  /** Every meter of every tenant. */
  *meters(): Generator<{ readonly tenant: Tenant.Tenant; readonly meter: UsageMeter }> {
    for (const { customers, tenant } of this.#tenants.values()) {
      for (const customer of customers.values()) {
        for (const meter of metersOf(customer, { productId: undefined, unit: undefined }))
          yield { tenant, meter }
      }
    }
  }

  /** The usage of a customer who is not erased. */
  #activeCustomer(usage: TenantUsage, customerId: Customer.CustomerId): CustomerUsage | undefined {
    const known = usage.customers.get(customerId)
    if (known?.row?.value !== undefined) return known
    const row = this.#customers.rowOf(usage.tenant, customerId)
    if (row?.value === undefined) return undefined
    const customer = customerOf(usage, customerId)
    customer.row = row
    return customer
  }

  #fire(added: ReadonlyArray<StoredRecord>): ReadonlyArray<Threshold.ThresholdCrossing> {
    const touched = new Map<UsageMeter, Array<StoredRecord>>()
    for (const stored of added) {
      if (!this.firings.has(stored.meter)) continue
      const records = touched.get(stored.meter)
      if (records === undefined) touched.set(stored.meter, [stored])
      else records.push(stored)
    }
    return [...touched].flatMap(([meter, records]) => this.firings.fire(meter, records))
  }

  /** Publishes the events of firings. */
  #tell(
    tenant: Tenant.Tenant,
    crossings: ReadonlyArray<Threshold.ThresholdCrossing>,
    added: ReadonlyArray<StoredRecord>,
  ): Exit.Exit<void, StorageError> {
    if (crossings.length === 0) return Exit.void
    const lastId = added.map(({ id }) => id).reduce((a, b) => (a < b ? b : a))
    const at = added.map(({ createdAt }) => createdAt).reduce(DateTime.max)
    return this.#outbox.announce(tenant, ThresholdEvent.make(crossings, lastId, at, tenant.mode))
  }

  #of(tenant: Tenant.Tenant): TenantUsage {
    const key = Tenant.tenantKey(tenant)
    let usage = this.#tenants.get(key)
    if (usage === undefined) {
      usage = { tenant: Object.freeze({ ...tenant }), records: new IdOrder(), customers: new Map() }
      this.#tenants.set(key, usage)
    }
    return usage
  }
}

function* customersOf(records: ReadonlyArray<StoredRecord>): Generator<Customer.CustomerId> {
  for (const { meter } of records) yield meter.customerId
}

const customerOf = (usage: TenantUsage, customerId: Customer.CustomerId): CustomerUsage => {
  let customer = usage.customers.get(customerId)
  if (customer === undefined) {
    customer = {
      customerId,
      row: undefined,
      records: new IdOrder(),
      byKey: new Map(),
      meters: new Map(),
      lastMeter: undefined,
    }
    usage.customers.set(customerId, customer)
  }
  return customer
}

const meterOf = (customer: CustomerUsage, productId: string, unit: string): UsageMeter => {
  const { lastMeter } = customer
  if (lastMeter?.productId === productId && lastMeter.unit === unit) return lastMeter
  let units = customer.meters.get(productId)
  if (units === undefined) {
    units = new Map()
    customer.meters.set(productId, units)
  }
  let meter = units.get(unit)
  if (meter === undefined) {
    meter = new UsageMeter(customer.customerId, productId, unit)
    units.set(unit, meter)
  }
  customer.lastMeter = meter
  return meter
}

function* metersOf(customer: CustomerUsage, { productId, unit }: MeterFilter): Generator<UsageMeter> {
  const products = productId === undefined ? customer.meters.values() : [customer.meters.get(productId)]
  for (const units of products) {
    if (unit === undefined) yield* units?.values() ?? []
    else if (units?.has(unit)) yield units.get(unit)!
  }
}

/** Stores a record, unless its key was used before. Gives `undefined` when its id was used before. */
const appendOne = (
  usage: TenantUsage,
  customer: CustomerUsage,
  record: UsageRecord.NewUsageRecord,
  rollups: ReadonlyArray<MeterCells>,
  added: Array<StoredRecord>,
): AppendOutcome | undefined => {
  const known = record.idempotencyKey === null ? undefined : customer.byKey.get(record.idempotencyKey)
  if (known !== undefined) {
    const first = known.toRecord()
    return UsageRecord.isSameContent(first, record)
      ? { _tag: "Duplicate", record: first }
      : { _tag: "KeyConflict", recordId: first.id }
  }
  const stored = new StoredRecord(meterOf(customer, record.productId, record.unit), record)
  const refusing = rollups.find((cells) => cells.refusal(stored) !== undefined)
  if (refusing !== undefined) {
    const { meterKey } = refusing.rollup
    return { _tag: "TooManyCombinations", meterKey, ...refusing.refusal(stored)! }
  }
  if (!usage.records.insert(stored)) return undefined
  customer.records.insert(stored)
  if (stored.idempotencyKey !== null) customer.byKey.set(stored.idempotencyKey, stored)
  stored.meter.add(stored)
  added.push(stored)
  addTo(rollups, stored)
  return { _tag: "Recorded", record: stored.toRecord(record.timestamp) }
}

/** Undoes `appendOne`. */
const remove = (usage: TenantUsage, stored: StoredRecord): void => {
  const customer = customerOf(usage, stored.meter.customerId)
  usage.records.remove(stored)
  customer.records.remove(stored)
  if (stored.idempotencyKey !== null) customer.byKey.delete(stored.idempotencyKey)
  stored.meter.remove(stored)
}

interface MeterGroup {
  readonly productId: string | undefined
  readonly unit: string
  readonly meters: Array<UsageMeter>
}

const groupsOf = (meters: ReadonlyArray<UsageMeter>, by: TotalsQuery["by"]): ReadonlyArray<MeterGroup> => {
  if (by === "meter")
    return meters.map((meter) => ({ productId: meter.productId, unit: meter.unit, meters: [meter] }))
  const groups = new Map<string, MeterGroup>()
  for (const meter of meters) {
    const group = groups.get(meter.unit)
    if (group === undefined)
      groups.set(meter.unit, { productId: undefined, unit: meter.unit, meters: [meter] })
    else group.meters.push(meter)
  }
  return [...groups.values()]
}

const countsIn = (
  { end, lacking, start }: CountedIn,
  { dimensions, isVoided, timestamp }: StoredRecord,
): boolean =>
  !isVoided &&
  timestamp >= start &&
  timestamp < end &&
  (lacking === undefined || !Object.hasOwn(dimensions, lacking))
