/**
 * The cells of one roll-up of a meter: a state for each customer, UTC day and combination of dimensions.
 */
import { Aggregation, type Customer, Rollup, RollupValues, UsagePeriod } from "@billwright/core"
import type { Journal } from "./Journal.ts"
import type { StoredRecord, UsageMeter } from "./UsageMeter.ts"

/** By the key of the combination. A cell is never changed, only replaced. */
export type Cells = Map<string, RollupValues.Cell>

/** The cells of a roll-up. Its methods are synchronous. */
export class MeterCells {
  readonly rollup: Rollup.Rollup
  readonly #journal: Journal
  readonly #customers = new Map<Customer.CustomerId, Map<number, Cells>>()
  /** The days that were there when building began, and how many of them have been built. */
  #days: ReadonlyArray<{ readonly meter: UsageMeter; readonly day: number }> | undefined = undefined
  #built = 0

  constructor(journal: Journal, rollup: Rollup.Rollup) {
    this.#journal = journal
    this.rollup = rollup
  }

  /** The cells of a customer by day. */
  daysOf(customerId: Customer.CustomerId): ReadonlyMap<number, Cells> {
    return this.#customers.get(customerId) ?? new Map()
  }

  /** Every cell. */
  *rows(): Generator<RollupValues.Cell & { readonly customerId: Customer.CustomerId; readonly day: string }> {
    for (const [customerId, days] of this.#customers) {
      for (const [day, cells] of days) {
        for (const { combination, state } of cells.values()) {
          yield { customerId, day: UsagePeriod.formatDay(day), combination, state }
        }
      }
    }
  }

  /** Why a record can't be added: its combination would be one too many. */
  refusal({
    dimensions,
    meter,
    timestamp,
  }: StoredRecord): { readonly day: string; readonly dimension: string } | undefined {
    const day = UsagePeriod.utcDay(timestamp)
    const cells = this.daysOf(meter.customerId).get(day)
    if (cells === undefined || cells.size < Rollup.MAX_COMBINATIONS) return undefined
    if (cells.has(RollupValues.keyOf(Rollup.combinationOf(this.rollup, dimensions)))) return undefined
    return { day: UsagePeriod.formatDay(day), dimension: this.#widest(cells) }
  }

  /** Adds a record that its meter already has. */
  add(record: StoredRecord): void {
    this.#change(record, Aggregation.ruleOf(this.rollup.aggregation).add)
  }

  /** Takes out a record that was voided. */
  remove(record: StoredRecord): void {
    this.#change(record, Aggregation.ruleOf(this.rollup.aggregation).remove)
  }

  /** Builds the cells of the next days. `meters` are all customers' meters of the product and unit. */
  build(meters: Iterable<UsageMeter>, most: number): Rollup.Progress {
    const days = this.#days ?? Array.from(meters).flatMap((meter) => daysOf(meter))
    const [daysBefore, builtBefore] = [this.#days, this.#built]
    this.#journal.wrote(() => {
      this.#days = daysBefore
      this.#built = builtBefore
    })
    this.#days = days
    const batch = days.slice(this.#built, this.#built + most)
    for (const { day, meter } of batch) {
      const cells = new Map(RollupValues.cellsOf(this.rollup, meter.recordsOf(day)))
      if (cells.size > Rollup.MAX_COMBINATIONS) {
        return {
          _tag: "TooManyCombinations",
          customerId: meter.customerId,
          day: UsagePeriod.formatDay(day),
          dimension: this.#widest(cells),
        }
      }
      this.#replace(meter.customerId, day, cells)
    }
    this.#built += batch.length
    const total = days.length
    return this.#built === total ? { _tag: "Built", total } : { _tag: "Building", done: this.#built, total }
  }

  /** Removes cells, up to `most`. Gives how many it removed. */
  sweep(most: number): number {
    let removed = 0
    for (const [customerId, days] of this.#customers) {
      for (const [day, cells] of days) {
        for (const [key, cell] of cells) {
          if (removed === most) return removed
          this.#set(customerId, day, key, undefined, cell)
          removed++
        }
      }
    }
    return removed
  }

  #widest(cells: Cells): string {
    return Rollup.widest(
      this.rollup.dimensions,
      cells.values().map(({ combination }) => combination),
    )
  }

  #change(
    record: StoredRecord,
    change: (state: Aggregation.State, entry: StoredRecord) => Aggregation.State | undefined,
  ): void {
    const { customerId } = record.meter
    const day = UsagePeriod.utcDay(record.timestamp)
    const combination = Rollup.combinationOf(this.rollup, record.dimensions)
    const key = RollupValues.keyOf(combination)
    const before = this.daysOf(customerId).get(day)?.get(key)
    const state = change(before?.state ?? Aggregation.zero, record) ?? this.#readAgain(record, key)
    this.#set(customerId, day, key, { combination, state }, before)
  }

  /** The state of a record's day and combination, from the records. */
  #readAgain(record: StoredRecord, key: string): Aggregation.State {
    const records = record.meter.recordsOf(UsagePeriod.utcDay(record.timestamp))
    return RollupValues.cellsOf(this.rollup, records).get(key)?.state ?? Aggregation.zero
  }

  #replace(customerId: Customer.CustomerId, day: number, cells: Cells): void {
    const before = this.daysOf(customerId).get(day)
    this.#setDay(customerId, day, cells)
    this.#journal.wrote(() => this.#setDay(customerId, day, before ?? new Map()))
  }

  #setDay(customerId: Customer.CustomerId, day: number, cells: Cells): void {
    const days = this.#customers.get(customerId) ?? new Map<number, Cells>()
    if (cells.size > 0) days.set(day, cells)
    else days.delete(day)
    if (days.size > 0) this.#customers.set(customerId, days)
    else this.#customers.delete(customerId)
  }

  /** Sets or removes a cell, and records how to undo it. */
  #set(
    customerId: Customer.CustomerId,
    day: number,
    key: string,
    cell: RollupValues.Cell | undefined,
    before: RollupValues.Cell | undefined,
  ): void {
    const put = (value: RollupValues.Cell | undefined): void => {
      const cells: Cells = this.#customers.get(customerId)?.get(day) ?? new Map()
      if (value === undefined) cells.delete(key)
      else cells.set(key, value)
      this.#setDay(customerId, day, cells)
    }
    put(cell)
    this.#journal.wrote(() => put(before))
  }
}

const daysOf = (meter: UsageMeter): ReadonlyArray<{ readonly meter: UsageMeter; readonly day: number }> =>
  Array.from(meter.days(), ({ day }) => ({ meter, day }))
