/**
 * Helpers to store meters and to read their values, for the tests of `UsageStore`.
 */
import {
  Collections,
  type Customer,
  Meter,
  type RollupAnswer,
  type RollupQuery,
  type RollupTotal,
  Rollup,
  RollupWork,
  UsageStore,
} from "@billwright/core"
import { Effect, Option } from "effect"
import * as Sample from "../Sample.ts"

/** The collection of meters. */
export const collection = Effect.map(Collections, (collections) => collections.of(Meter.meters))

export const definition = (fields: Partial<Rollup.Definition> = {}): Rollup.Definition => ({
  aggregation: "sum",
  dimensions: [],
  counted: null,
  ...fields,
})

/** Stores a meter of calls of the product `api`. It is still being built, if it needs cells. */
export const insertMeter = Effect.fnUntraced(function* (
  of: Rollup.Definition,
  fields: Partial<Meter.Meter> = {},
) {
  const meter = Rollup.begun(
    yield* Sample.of(Meter.meters, undefined, { productId: "api", unit: "call", ...of, ...fields }),
  )
  yield* (yield* collection).insert(meter)
  return meter
})

export const current = (id: Meter.MeterId) =>
  Effect.flatMap(collection, (meters) => Effect.map(meters.find(id), Option.getOrThrow))

/** Changes the definition of a meter. The next roll-up is still being built. */
export const redefine = (id: Meter.MeterId, to: Rollup.Definition) =>
  Effect.flatMap(collection, (meters) =>
    meters.modify(id, (meter) => Effect.succeed(Rollup.redefined(meter, to))),
  )

/** One batch of work on a meter, of few days. */
export const step = Effect.fnUntraced(function* (id: Meter.MeterId, batch: RollupWork.Batch) {
  return Option.getOrThrow(yield* RollupWork.make(yield* UsageStore, yield* collection, batch)(id))
})

const SMALL: RollupWork.Batch = { days: 2, cells: 50 }

/** All work on a meter, in small batches. */
export const work = Effect.fnUntraced(function* (id: Meter.MeterId, batch = SMALL) {
  let meter = yield* current(id)
  while (Rollup.isUnfinished(meter)) meter = yield* step(id, batch)
  return meter
})

/** A meter that can be queried. */
export const readyMeter = Effect.fnUntraced(function* (
  of: Rollup.Definition,
  fields: Partial<Meter.Meter> = {},
) {
  const { id } = yield* insertMeter(of, fields)
  return yield* work(id)
})

/** All values of a roll-up, unless the query says otherwise. */
export const askFor = (
  customerId: Customer.CustomerId,
  query: Partial<RollupQuery> & Pick<RollupQuery, "meterId" | "generation">,
) =>
  Effect.flatMap(UsageStore, (store) =>
    store.rollup({
      customerId,
      boundaries: [undefined, undefined],
      where: [],
      groupBy: [],
      most: 1000,
      ...query,
    }),
  )

/** The same of a meter's generation. */
export const ask = (
  customerId: Customer.CustomerId,
  { generation, id: meterId }: Meter.Meter,
  query: Partial<RollupQuery> = {},
) => askFor(customerId, { ...query, meterId, generation })

/** The values of an answer in an order of their own. */
export const inOrder = (totals: ReadonlyArray<RollupTotal>): ReadonlyArray<RollupTotal> =>
  totals.toSorted((a, b) => a.window - b.window || Rollup.compareCombinations(a.group, b.group))

export const totalsOf = (answer: RollupAnswer): ReadonlyArray<RollupTotal> => {
  if (answer._tag !== "Totals") throw new Error(`the answer is ${answer._tag}`)
  return inOrder(answer.totals)
}

export const wholeOf = (answer: RollupAnswer): ReadonlyArray<RollupTotal> => {
  if (answer._tag !== "Totals") throw new Error(`the answer is ${answer._tag}`)
  return inOrder(answer.whole)
}
