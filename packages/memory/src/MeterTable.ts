/**
 * The roll-ups of meters in memory: which ones are served, built and removed.
 */
import {
  type Customer,
  type Meter,
  Rollup,
  type RollupAnswer,
  type RollupQuery,
  Tenant,
  type UnfinishedMeter,
} from "@billwright/core"
import { Option } from "effect"
import type { CollectionTable } from "./CollectionTable.ts"
import type { Journal } from "./Journal.ts"
import { MeterCells } from "./MeterCells.ts"
import { read } from "./MeterReader.ts"
import type { StoredRecord, UsageMeter } from "./UsageMeter.ts"

/** The roll-ups of one tenant. */
export class TenantRollups {
  readonly #journal: Journal
  /** Kept cells by meter, then by generation. */
  readonly kept = new Map<string, Map<number, MeterCells>>()
  /** Meters with work to do. */
  readonly unfinished = new Set<Meter.MeterId>()
  /** The roll-ups that writes keep up to date, by product and unit. */
  readonly #served = new Map<string, ReadonlyArray<MeterCells>>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** The roll-ups of a product and unit, in the order in which they refuse records. */
  servedBy(productId: string, unit: string): ReadonlyArray<MeterCells> {
    return this.#served.size === 0 ? NONE : (this.#served.get(pairOf(productId, unit)) ?? NONE)
  }

  /** Cells of a roll-up; made when there are none yet. */
  cellsOf(rollup: Rollup.Rollup): MeterCells {
    const generations = this.kept.get(rollup.meterId) ?? new Map<number, MeterCells>()
    this.kept.set(rollup.meterId, generations)
    const known = generations.get(rollup.generation)
    if (known !== undefined) return known
    const cells = new MeterCells(this.#journal, rollup)
    generations.set(rollup.generation, cells)
    // When the change of a meter is undone, the next one has the same generation, and may have another definition.
    this.#journal.wrote(() => generations.delete(rollup.generation))
    return cells
  }

  /** Follows a change of a meter. */
  follow(before: Meter.Meter | undefined, after: Meter.Meter | undefined): void {
    const meter = after ?? before
    if (meter === undefined) return
    const others = this.servedBy(meter.productId, meter.unit).filter(
      ({ rollup }) => rollup.meterId !== meter.id,
    )
    const own = after === undefined ? [] : Rollup.served(after).map((rollup) => this.cellsOf(rollup))
    const served = [...others, ...own].sort(inOrder)
    const pair = pairOf(meter.productId, meter.unit)
    if (served.length === 0) this.#served.delete(pair)
    else this.#served.set(pair, served)
    if (after === undefined) this.kept.delete(meter.id)
    if (after !== undefined && Rollup.isUnfinished(after)) this.unfinished.add(after.id)
    else this.unfinished.delete(meter.id)
  }

  /** Removes cells of a meter's generations that are not kept. */
  sweep(meterId: string, kept: ReadonlyArray<number>, most: number): boolean {
    const generations = this.kept.get(meterId) ?? new Map<number, MeterCells>()
    let room = most
    for (const [generation, cells] of generations) {
      if (kept.includes(generation)) continue
      room -= cells.sweep(room)
      if (room === 0) return false
      generations.delete(generation)
      this.#journal.wrote(() => generations.set(generation, cells))
    }
    return true
  }
}

const NONE: ReadonlyArray<MeterCells> = []

const pairOf = (productId: string, unit: string): string => `${productId}\0${unit}`

const inOrder = ({ rollup: a }: MeterCells, { rollup: b }: MeterCells): number =>
  a.meterKey === b.meterKey ? a.generation - b.generation : a.meterKey < b.meterKey ? -1 : 1

/** The roll-ups of all tenants. Its methods are synchronous. */
export class MeterTable {
  readonly #journal: Journal
  readonly #meters: CollectionTable<Meter.Meter>
  readonly #tenants = new Map<string, { readonly tenant: Tenant.Tenant; readonly rollups: TenantRollups }>()

  constructor(journal: Journal, meters: CollectionTable<Meter.Meter>) {
    this.#journal = journal
    this.#meters = meters
    meters.observe((tenant, before, after) => this.of(tenant).follow(before, after))
  }

  of(tenant: Tenant.Tenant): TenantRollups {
    const key = Tenant.tenantKey(tenant)
    let found = this.#tenants.get(key)
    if (found === undefined) {
      found = { tenant: Object.freeze({ ...tenant }), rollups: new TenantRollups(this.#journal) }
      this.#tenants.set(key, found)
    }
    return found.rollups
  }

  /** The cells that answer a query, if its generation still does. */
  answering(tenant: Tenant.Tenant, { generation, meterId }: RollupQuery): Option.Option<MeterCells> {
    const meter = this.#meters.peek(tenant, meterId)
    const rollup = meter && Rollup.answering(meter)
    return rollup?.generation === generation && Rollup.needsCells(rollup)
      ? Option.some(this.of(tenant).cellsOf(rollup))
      : Option.none()
  }

  /** The cells of the roll-ups that answer. */
  *allAnswering(tenant: Tenant.Tenant): Generator<MeterCells> {
    for (const [meterId, generations] of this.of(tenant).kept) {
      const meter = this.#meters.peek(tenant, meterId)
      const rollup = meter && Rollup.answering(meter)
      const cells = rollup && generations.get(rollup.generation)
      if (cells !== undefined) yield cells
    }
  }

  unfinished(after: Tenant.Tenant | undefined, limit: number): ReadonlyArray<UnfinishedMeter> {
    const start = after === undefined ? "" : Tenant.tenantKey(after)
    return [...this.#tenants]
      .filter(([key, { rollups }]) => key > start && rollups.unfinished.size > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([, { rollups, tenant }]) => ({
        tenant: { ...tenant },
        meterId: [...rollups.unfinished].sort()[0]!,
      }))
  }

  /** Every kept roll-up of every tenant. */
  *rollups(): Generator<{ readonly tenant: Tenant.Tenant; readonly cells: MeterCells }> {
    for (const { rollups, tenant } of this.#tenants.values()) {
      for (const generations of rollups.kept.values()) {
        for (const cells of generations.values()) yield { tenant, cells }
      }
    }
  }
}

/** The answer to a query of one customer's usage. */
export const answerOf = (
  cells: Option.Option<MeterCells>,
  query: RollupQuery,
  meterOf: (customerId: Customer.CustomerId, rollup: Rollup.Rollup) => UsageMeter | undefined,
): RollupAnswer => {
  if (Option.isNone(cells)) return { _tag: "Gone" }
  const meter = meterOf(query.customerId, cells.value.rollup)
  if (meter === undefined) return { _tag: "Totals", totals: [], whole: [] }
  return read(cells.value, meter, query)
}

/** Adds a new record to the roll-ups. */
export const addTo = (rollups: ReadonlyArray<MeterCells>, record: StoredRecord): void => {
  for (const cells of rollups) cells.add(record)
}
