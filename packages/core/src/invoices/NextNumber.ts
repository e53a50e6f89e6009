/**
 * The next number of a series of documents.
 */
import { type NumberSeries, takeNumbers } from "@billwright/engine"
import { DateTime, Effect, Option } from "effect"
import * as Batch from "../shared/Batch.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import * as WallClock from "../shared/WallClock.ts"
import type { InvoiceStore, SeriesName } from "./InvoiceStore.ts"

/** How a series writes its numbers. */
export type NumberStyle = Pick<NumberSeries, "format" | "timezone">

/** A number that the current transaction has taken. */
export interface NextNumber {
  readonly number: string
  readonly issuedAt: number
}

/**
 * Takes the next number of a series, which is held until the transaction ends: call it after everything else that the
 * transaction locks. The members of a batch take theirs at once, in their order.
 *
 * On a test clock the document is issued when that clock says, and still takes the number that is next for everybody.
 */
export const nextNumber = (
  store: InvoiceStore["Service"],
  name: SeriesName,
  style: NumberStyle,
): Effect.Effect<NextNumber, StorageError, CurrentTenant> =>
  Effect.gen(function* () {
    const { issuedAt, number } = yield* Batch.together(
      `nextNumber ${name} ${style.format} ${style.timezone}`,
      style,
      (styles) => take(store, name, style, styles.length),
    )
    const { epochMilliseconds: now } = yield* DateTime.now
    return { number, issuedAt: (yield* WallClock.isReal) ? issuedAt : now }
  })

const take = Effect.fnUntraced(function* (
  store: InvoiceStore["Service"],
  name: SeriesName,
  style: NumberStyle,
  count: number,
) {
  const known = yield* store.lockSeries(name)
  const none = { year: null, lastIssuedAt: null, last: 0 }
  const before: NumberSeries = { ...none, ...Option.getOrUndefined(known), ...style }
  const { issuedAt, numbers, series } = takeNumbers(before, count, yield* WallClock.millis)
  yield* store.saveSeries(name, series)
  return numbers.map(({ number }) => ({ number, issuedAt }))
})
