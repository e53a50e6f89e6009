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

/** What was read of a group in a span. */
interface Value {
  readonly quantity: bigint
  readonly recordCount: number
}

/** A span of a meter, and what was read of it. */
interface SpanValues extends Span {
  /** Whether values are integrals over time, of which the average is billed. */
  isIntegral: boolean
  /** By the value of the charge's dimension. */
  quantities: ReadonlyMap<string | null, Value>
}

/** What is read of a meter, for all charges that bill the same of it: its values in spans. */
interface Reading {
  readonly charge: Pick<Charge, "by" | "meter" | "where">
  readonly spans: Map<string, SpanValues>
}

/** A query, and where its answer will be. */
interface Asked {
  readonly query: UsageQuery
  readonly before: SpanValues | null
  readonly after: SpanValues
  /** The length of the full period. */
  readonly length: bigint
}

const unread = ({ end, start }: Span): SpanValues => ({
  start,
  end,
  isIntegral: false,
  quantities: new Map(),
})

/** The values of a span: those of an equal one, if it is read already. */
const spanIn = ({ spans }: Reading, span: Span): SpanValues => {
  const key = `${span.start} ${span.end}`
  const known = spans.get(key)
  if (known !== undefined) return known
  const made = unread(span)
  spans.set(key, made)
  return made
}

/** Spans that follow each other, so that one query reads many of them. Spans that overlap, and empty spans, are apart. */
const rowsOf = (spans: Iterable<SpanValues>): ReadonlyArray<ReadonlyArray<SpanValues>> => {
  const rows: Array<Array<SpanValues>> = []
  for (const span of [...spans].toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const row = rows.find((one) => one.at(-1)!.end === span.start && one.length < MAX_SPANS)
    if (row === undefined || span.start === span.end) rows.push([span])
    else row.push(span)
  }
  return rows
}

const NONE: Value = { quantity: 0n, recordCount: 0 }

/** The total of a group. An average over time is divided by the length of the full period, so that parts can be added. */
const totalOf = ({ isIntegral, quantities }: SpanValues, group: string | null, length: bigint): Total => {
  const { quantity, recordCount } = quantities.get(group) ?? NONE
  return {
    quantity: isIntegral && quantities.has(group) ? { numerator: quantity, denominator: length } : quantity,
    recordCount,
  }
}

const answersOf = ({ after, before, length, query }: Asked): ReadonlyArray<UsageTotal> => {
  const { charge, segment } = query
  return Array.from(after.quantities.keys(), (group) => {
    const found = { segment, charge: charge.key, group, after: totalOf(after, group, length) }
    return before === null ? found : { ...found, before: totalOf(before, group, length) }
  })
}

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
      const made = readings.get(key) ?? { charge, spans: new Map() }
      readings.set(key, made)
      byCharge.set(charge, made)
      return made
    }
    const asked = periods.map(({ period: { end, start }, queries }) =>
      queries.map((query): Asked => {
        const reading = readingOf(query.charge)
        const before = query.before === null ? null : spanIn(reading, query.before)
        return { query, before, after: spanIn(reading, query.after), length: BigInt(end - start) }
      }),
    )
    return Effect.map(
      Effect.forEach(readings.values(), (reading) => this.#read(customerId, reading), { discard: true }),
      () => asked.map((queries) => queries.flatMap(answersOf)),
    )
  }

  /** Refuses a plan that names a meter, or dimensions of a meter, that there are not. */
  check(customerId: CustomerId, { charges, features = {} }: PlanTerms): Read<void> {
    const metered = charges.filter(({ meter }) => meter !== undefined)
    return Effect.forEach(
      metered,
      (charge) => {
        const name = `has the charge ${JSON.stringify(charge.key)}`
        if (pricesEachRecord(charge)) {
          const problem = `${name}, which prices each record: subscriptions can't bill such charges yet`
          return Effect.fail(new InvalidInput({ field: "plan", problem }))
        }
        return this.#checkMeter(customerId, charge, name)
      },
      { discard: true },
    ).pipe(
      Effect.andThen(
        Effect.forEach(
          Object.entries(features),
          ([key, feature]) =>
            feature.type === "metered"
              ? this.#checkMeter(customerId, { meter: feature.meter }, `has features.${key}`)
              : Effect.void,
          { discard: true },
        ),
      ),
    )
  }

  /** Fails if a meter can't be read as a charge or a feature of a plan wants it. */
  #checkMeter(customerId: CustomerId, charge: Reading["charge"], name: string): Read<void> {
    const spans = new Map([["", unread({ start: 0, end: 1 })]])
    return this.#read(customerId, { charge, spans }).pipe(
      Effect.catchTag("InvalidInput", ({ field, problem }) => {
        const meter = JSON.stringify(charge.meter)
        const rule = field === "meter" ? `meter ${meter} ${problem}` : `${field} ${problem}: ${meter}`
        return Effect.fail(new InvalidInput({ field: "plan", problem: `${name}, whose ${rule}` }))
      }),
    )
  }

  #read(customerId: CustomerId, { charge: { by, meter = "", where }, spans }: Reading): Read<void> {
    return Effect.forEach(
      rowsOf(spans.values()),
      (row) =>
        Effect.gen({ self: this }, function* () {
          const boundaries = [row[0]!.start, ...row.map(({ end }) => end)]
          const mostGroups = MAX_LINES_BY * row.length
          const asked = { customerId, boundaries, mostGroups, tooManyGroups: TOO_MANY_LINES }
          const { rollup, totals, whole } = yield* this.#meters.values(meter, { where, groupBy: by }, asked)
          const found = row.map(() => new Map<string | null, Value>())
          if (by === undefined) for (const quantities of found) quantities.set(null, NONE)
          for (const { group, quantity, recordCount, window } of by === undefined ? whole : totals)
            found[window]!.set(group[0] ?? null, { quantity, recordCount })
          for (const [window, span] of row.entries()) {
            span.quantities = found[window]!
            span.isIntegral = rollup.aggregation === "time_weighted"
            if (span.quantities.size > MAX_LINES_BY)
              return yield* new InvalidInput({ field: "groupBy", problem: TOO_MANY_LINES })
          }
        }),
      { discard: true },
    )
  }
}
