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

type Read<A> = Effect.Effect<A, InvalidInput | StorageError, CurrentTenant>
type Span = UsageQuery["after"]

/** The values of a span, by the value of the charge's dimension. */
type Totals = ReadonlyMap<string | null, Total>

const NOTHING: Total = { quantity: 0n }

export class ChargeUsage {
  readonly #meters: MeterQueries.MeterQueries

  constructor(usage: UsageStore["Service"], collection: CollectionOf<typeof meters>) {
    this.#meters = MeterQueries.make(usage, collection)
  }

  /** The answers to queries of the usage of a customer in a period. */
  totals(
    customerId: CustomerId,
    period: Pick<Period, "start" | "end">,
    queries: ReadonlyArray<UsageQuery>,
  ): Read<ReadonlyArray<UsageTotal>> {
    const length = BigInt(period.end - period.start)
    return Effect.map(
      Effect.forEach(queries, (query) =>
        Effect.gen({ self: this }, function* () {
          const { charge, segment } = query
          const after = yield* this.#totalsOf(customerId, charge, query.after, length)
          const before =
            query.before === null
              ? undefined
              : yield* this.#totalsOf(customerId, charge, query.before, length)
          return Array.from(after, ([group, total]): UsageTotal => {
            const answer = { segment, charge: charge.key, group, after: total }
            return before === undefined ? answer : { ...answer, before: before.get(group) ?? NOTHING }
          })
        }),
      ),
      (answers) => answers.flat(),
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
        return this.#totalsOf(customerId, charge, { start: 0, end: 1 }, 1n).pipe(
          Effect.catchTag("InvalidInput", ({ field, problem }) => {
            const rule = `${name}, whose ${field} ${problem}: ${JSON.stringify(charge.meter)}`
            return Effect.fail(new InvalidInput({ field: "plan", problem: rule }))
          }),
        )
      },
      { discard: true },
    )
  }

  #totalsOf(
    customerId: CustomerId,
    { by, meter = "", where }: Charge,
    { end, start }: Span,
    length: bigint,
  ): Read<Totals> {
    const asked = {
      customerId,
      boundaries: [start, end],
      mostGroups: MAX_LINES_BY,
      tooManyGroups: TOO_MANY_LINES,
    }
    return Effect.map(this.#meters.values(meter, { where, groupBy: by }, asked), (values) => {
      // An average over time is divided by the length of the full period, so that parts of a period can be added.
      const totalOf = (quantity: bigint): Total =>
        values.rollup.aggregation === "time_weighted"
          ? { quantity: { numerator: quantity, denominator: length } }
          : { quantity }
      return by === undefined
        ? new Map([[null, totalOf(values.whole[0]?.quantity ?? 0n)]])
        : new Map(values.totals.map(({ group, quantity }) => [group[0] ?? null, totalOf(quantity)]))
    })
  }
}
