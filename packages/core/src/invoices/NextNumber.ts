/**
 * The next number of a series of documents.
 */
import { type NumberSeries, takeNumbers } from "@billwright/engine"
import { DateTime, Effect, Option } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import * as WallClock from "../shared/WallClock.ts"
import type { InvoiceStore, SeriesName } from "./InvoiceStore.ts"

/** How a series writes its numbers. */
export type NumberStyle = Pick<NumberSeries, "format" | "timezone">

/** A number that the current transaction takes. `save` stores that it is taken. */
export interface NextNumber {
  readonly number: string
  readonly issuedAt: number
  readonly save: Effect.Effect<void, StorageError, CurrentTenant>
}

/**
 * Takes the next number of a series, which is held until the transaction ends: call it after everything else that the
 * transaction locks.
 *
 * On a test clock the document is issued when that clock says, and still takes the number that is next for everybody.
 */
export const nextNumber = (
  store: InvoiceStore["Service"],
  name: SeriesName,
  style: NumberStyle,
): Effect.Effect<NextNumber, StorageError, CurrentTenant> =>
  Effect.gen(function* () {
    const known = yield* store.lockSeries(name)
    const { epochMilliseconds: now } = yield* DateTime.now
    const none = { year: null, lastIssuedAt: null, last: 0 }
    const before: NumberSeries = { ...none, ...Option.getOrUndefined(known), ...style }
    const { issuedAt, numbers, series } = takeNumbers(before, 1, yield* WallClock.millis)
    return {
      number: numbers[0]!.number,
      issuedAt: (yield* WallClock.isReal) ? issuedAt : now,
      save: store.saveSeries(name, series),
    }
  })
