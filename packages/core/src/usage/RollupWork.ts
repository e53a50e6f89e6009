/**
 * One batch of work on the roll-ups of a meter: building the next one, or removing those that are no longer used.
 */
import { Effect, type Option } from "effect"
import type { CollectionOf } from "../shared/Collections.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { Meter, MeterId, meters } from "./Meter.ts"
import * as Rollup from "./Rollup.ts"
import type { UsageStore } from "./UsageStore.ts"

/** How much one batch does. */
export interface Batch {
  /** The most days of customers that are built. */
  readonly days: number
  /** The most cells that are removed. */
  readonly cells: number
}

const DEFAULT_BATCH: Batch = { days: 100, cells: 10_000 }

/** Gives the meter after the batch. Its change and the cells are written together. */
export type Step = (id: MeterId) => Effect.Effect<Option.Option<Meter>, StorageError, CurrentTenant>

export const make = (
  store: UsageStore["Service"],
  collection: CollectionOf<typeof meters>,
  { cells, days } = DEFAULT_BATCH,
): Step => {
  const batch = (meter: Meter): Effect.Effect<Meter, StorageError, CurrentTenant> => {
    const next = Rollup.building(meter)
    if (next !== undefined) {
      return Effect.map(store.build(next, { days }), (progress) => Rollup.progressed(meter, progress))
    }
    if (!Rollup.isUnfinished(meter)) return Effect.succeed(meter)
    return Effect.map(store.sweep(meter.id, Rollup.kept(meter), { cells }), (isDone) =>
      isDone ? Rollup.swept(meter) : meter,
    )
  }
  return (id) => collection.modify(id, batch)
}
