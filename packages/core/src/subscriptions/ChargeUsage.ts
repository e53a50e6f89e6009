/**
 * The usage that charges bill: the values of their meters.
 */
import {
  type Charge,
  type Period,
  type PlanTerms,
  pricesEachRecord,
  type Total,
  type UsageQuery,
  type UsageTotal,
} from "@billwright/engine"
import { Effect } from "effect"
import type { CustomerId } from "../customers/Customer.ts"
import type { CollectionOf } from "../shared/Collections.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { CurrentTenant } from "../shared/Tenant.ts"
import type { meters } from "../usage/Meter.ts"
import * as MeterQueries from "../usage/MeterQueries.ts"
import type { UsageStore } from "../usage/UsageStore.ts"

/** Most values of a dimension that a charge has lines for, in one period. */
const MAX_LINES_BY = 1_000
const TOO_MANY_LINES = `has more than ${MAX_LINES_BY} values in the period, which would each be a line`
/** Most spans that are read at once. */
const MAX_SPANS = 50

type Read<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>
type Span = UsageQuery["after"]

/** A period, and the queries of its usage. */
export interface PeriodUsage {
  readonly period: Pick<Period, "start" | "end">
  readonly queries: ReadonlyArray<UsageQuery>
}

/** The values of a span by the value of the charge's dimension. */
interface SpanValues {
  /** Whether values are integrals over time, of which the average is billed. */
  readonly isIntegral: boolean
  readonly quantities: ReadonlyMap<string | null, bigint>
}

/** What is read of a meter, for all charges that bill the same of it: its values in spans. */
interface Reading {
  readonly charge: Charge
  readonly spans: Map<string, Span>
  readonly values: Map<string, SpanValues>
}

const NOTHING: Total = { quantity: 0n }

const keyOf = ({ end, start }: Span): string => `${start} ${end}`

/**
 * The boundaries of spans that follow each other, so that one query reads many of them. Spans that overlap, and empty
 * spans, are apart.
 */
const boundariesOf = (spans: Iterable<Span>): ReadonlyArray<ReadonlyArray<number>> => {
  const rows: Array<Array<number>> = []
  for (const { end, start } of [...spans].toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const row = rows.find((one) => one.at(-1) === start && one.length <= MAX_SPANS)
    if (row === undefined || start === end) rows.push([start, end])
    else row.push(end)
  }
  return rows
}

const totalsOf = ({ isIntegral, quantities }: SpanValues, length: bigint) =>
  new Map(
    Array.from(quantities, ([group, quantity]): [string | null, Total] => [
      group,
      // An average over time is divided by the length of the full period, so that parts of a period can be added.
      { quantity: isIntegral ? { numerator: quantity, denominator: length } : quantity },
    ]),
  )

export class ChargeUsage {
  readonly #meters: MeterQueries.MeterQueries

  constructor(usage: UsageStore["Service"], collection: CollectionOf<typeof meters>) {
    this.#meters = MeterQueries.make(usage, collection)
  }

  /** The answers to queries of the usage of a customer, period by period. */
  totals(
    customerId: CustomerId,
    periods: ReadonlyArray<PeriodUsage>,
  ): Read<ReadonlyArray<ReadonlyArray<UsageTotal>>> {
    const readings = new Map<string, Reading>()
    const byCharge = new Map<Charge, Reading>()
    const readingOf = (charge: Charge): Reading => {
      const known = byCharge.get(charge)
      if (known !== undefined) return known
      const key = JSON.stringify([charge.meter, charge.where, charge.by])
      const made = readings.get(key) ?? { charge, spans: new Map(), values: new Map() }
      readings.set(key, made)
      byCharge.set(charge, made)
      return made
    }
    for (const { queries } of periods) {
      for (const { after, before, charge } of queries) {
        const { spans } = readingOf(charge)
        for (const span of [after, before]) if (span !== null) spans.set(keyOf(span), span)
      }
    }
    const answer = ({ end, start }: PeriodUsage["period"], query: UsageQuery): ReadonlyArray<UsageTotal> => {
      const { after, before, charge, segment } = query
      const { values } = readingOf(charge)
      const length = BigInt(end - start)
      const earlier = before === null ? undefined : totalsOf(values.get(keyOf(before))!, length)
      return Array.from(totalsOf(values.get(keyOf(after))!, length), ([group, total]) => {
        const found = { segment, charge: charge.key, group, after: total }
        return earlier === undefined ? found : { ...found, before: earlier.get(group) ?? NOTHING }
      })
    }
    return Effect.map(
      Effect.forEach(readings.values(), (reading) => this.#read(customerId, reading), { discard: true }),
      () => periods.map(({ period, queries }) => queries.flatMap((query) => answer(period, query))),
    )
  }

  /** Refuses a plan that names a meter, or dimensions of a meter, that there are not. */
  check(customerId: CustomerId, { charges }: PlanTerms): Read<void> {
    const metered = charges.filter(({ meter }) => meter !== undefined)
    return Effect.forEach(
      metered,
      (charge) => {
        const name = `has the charge ${JSON.stringify(charge.key)}`
        if (pricesEachRecord(charge)) {
          const problem = `${name}, which prices each record: subscriptions can't bill such charges yet`
          return Effect.fail(new InvalidInput({ field: "plan", problem }))
        }
        const span = { start: 0, end: 1 }
        return this.#read(customerId, { charge, spans: new Map([["", span]]), values: new Map() }).pipe(
          Effect.catchTag("InvalidInput", ({ field, problem }) => {
            const meter = JSON.stringify(charge.meter)
            const rule = field === "meter" ? `meter ${meter} ${problem}` : `${field} ${problem}: ${meter}`
            return Effect.fail(new InvalidInput({ field: "plan", problem: `${name}, whose ${rule}` }))
          }),
        )
      },
      { discard: true },
    )
  }

  #read(customerId: CustomerId, { charge: { by, meter = "", where }, spans, values }: Reading): Read<void> {
    return Effect.forEach(
      boundariesOf(spans.values()),
      (boundaries) =>
        Effect.gen({ self: this }, function* () {
          const windows = boundaries.length - 1
          const mostGroups = MAX_LINES_BY * windows
          const asked = { customerId, boundaries, mostGroups, tooManyGroups: TOO_MANY_LINES }
          const { rollup, totals, whole } = yield* this.#meters.values(meter, { where, groupBy: by }, asked)
          const isIntegral = rollup.aggregation === "time_weighted"
          const found = boundaries.slice(1).map(() => new Map<string | null, bigint>())
          if (by === undefined) for (const quantities of found) quantities.set(null, 0n)
          for (const { group, quantity, window } of by === undefined ? whole : totals)
            found[window]!.set(group[0] ?? null, quantity)
          for (const [window, quantities] of found.entries()) {
            if (quantities.size > MAX_LINES_BY)
              return yield* new InvalidInput({ field: "groupBy", problem: TOO_MANY_LINES })
            const span = { start: boundaries[window]!, end: boundaries[window + 1]! }
            values.set(keyOf(span), { isIntegral, quantities })
          }
        }),
      { discard: true },
    )
  }
}
