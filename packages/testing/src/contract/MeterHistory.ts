/**
 * Records and changes of meters over a few days, for the tests of meters.
 */
import {
  type Aggregation,
  type Customer,
  type Meter,
  type Page,
  Rollup,
  StorageError,
  UsageStore,
} from "@billwright/core"
import { DateTime, Effect } from "effect"
import * as fc from "fast-check"
import { type Cut, cut, cutFor, recordDimensions, rollupDefinition } from "../generators/MeterGenerators.ts"
import { type ReferenceQuery, valuesOf } from "../model/ReferenceMeter.ts"
import * as Sample from "../Sample.ts"
import { type ContractServices, same } from "./ContractTest.ts"
import * as MeterProbe from "./MeterProbe.ts"
import { append, listed, newCustomer } from "./UsageProbe.ts"

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
/** Midnight before the records of the tests. */
export const START = Sample.instant("2026-03-09T00:00:00.000Z").epochMilliseconds

export const at = (millis: number): DateTime.Utc => DateTime.makeUnsafe(START + millis)

/** Few instants, so that some are equal and some are at the borders of days. */
const moment = fc.oneof(
  fc.constantFrom(0, DAY - 1, DAY, DAY + 1, 2 * DAY, 3 * DAY - 1),
  fc.integer({ min: 0, max: 3 * DAY - 1 }),
)
interface Written {
  readonly moment: number
  readonly dimensions: Readonly<Record<string, string>>
  readonly quantity: number
  readonly key: string | null
}

/** A record. */
export const written: fc.Arbitrary<Written> = fc.record({
  moment,
  dimensions: recordDimensions,
  // Many are 0, which ends a level.
  quantity: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(0), fc.constant(Number.MAX_SAFE_INTEGER)),
  key: fc.option(fc.constantFrom("a", "b", "\uffee", "😀"), { nil: null }),
})

interface Query {
  readonly cuts: ReadonlyArray<number>
  readonly isOpen: boolean
  readonly cut: Cut
}

const query: fc.Arbitrary<Query> = fc.record({
  cuts: fc.uniqueArray(fc.integer({ min: -DAY, max: 4 * DAY }), { minLength: 2, maxLength: 5 }),
  isOpen: fc.boolean(),
  cut,
})

/** A query that the meter can answer. */
const queryOf = (of: Rollup.Definition, { cut: chosen, cuts, isOpen }: Query) => {
  const instants = cuts.toSorted((a, b) => a - b).map((each) => START + each)
  const open = [undefined, ...instants.slice(1, -1), undefined]
  return {
    boundaries: isOpen && of.aggregation !== "time_weighted" ? open : instants,
    ...cutFor(of, chosen),
  }
}

/** How a caller handles a temporary failure. */
export const again = {
  while: (error: unknown) => error instanceof StorageError && error.retryable,
  times: 50,
}

/** The input of an append of the product. */
export const batchOf = (productId: string, batch: ReadonlyArray<Written>) =>
  batch.map(({ dimensions, key, moment: when, quantity }) => ({
    productId,
    quantity,
    dimensions,
    timestamp: at(when),
    idempotencyKey: key,
  }))

export type Action =
  | { readonly do: "write"; readonly batch: ReadonlyArray<Written> }
  | { readonly do: "void"; readonly nth: number }
  | { readonly do: "redefine"; readonly to: Rollup.Definition }
  | { readonly do: "step" }
  | { readonly do: "work" }
  | { readonly do: "ask"; readonly query: Query }

const does = <Name extends Action["do"]>(name: Name) => fc.constant(name)

/** Anything that happens to a meter. */
export const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: does("write"), batch: fc.array(written, { minLength: 1, maxLength: 6 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: does("void"), nth: fc.nat({ max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: does("redefine"), to: rollupDefinition }) },
  { weight: 2, arbitrary: fc.record({ do: does("step") }) },
  { weight: 2, arbitrary: fc.record({ do: does("work") }) },
  { weight: 3, arbitrary: fc.record({ do: does("ask"), query }) },
)

/** A definition with this aggregation. */
export const definitionOf = (
  aggregation: Aggregation.Aggregation,
  { dimensions }: Rollup.Definition,
): Rollup.Definition => {
  const declared = dimensions.length > 0 ? dimensions : ["model"]
  return aggregation === "unique_count"
    ? { aggregation, dimensions: declared, counted: declared[0]! }
    : { aggregation, dimensions: declared, counted: null }
}

type Done = Effect.fn.Return<void, Page.CursorNotFound | StorageError, ContractServices>

/** Compares the values of a meter with those of all records. */
export const check = Effect.fnUntraced(function* (
  meter: Meter.Meter,
  customerId: Customer.CustomerId,
  asked: ReferenceQuery,
): Done {
  const kept = (yield* listed(customerId)).filter(({ voidedAt }) => voidedAt === null)
  const answer = yield* MeterProbe.ask(customerId, meter, asked)
  same(MeterProbe.totalsOf(answer), MeterProbe.inOrder(valuesOf(meter, kept, asked)))
  same(MeterProbe.wholeOf(answer), MeterProbe.inOrder(valuesOf(meter, kept, { ...asked, groupBy: [] })))
})

/** The whole time of the records, cut within a day, by all dimensions. */
export const everything = ({ dimensions }: Rollup.Definition) => ({
  boundaries: [START, START + DAY + HOUR, START + 3 * DAY],
  where: [],
  groupBy: dimensions,
})

/** Lets actions happen to a new meter, and compares its values whenever it is asked, and at the end. */
export const history = Effect.fnUntraced(function* (
  first: Rollup.Definition,
  actions: ReadonlyArray<Action>,
): Done {
  const store = yield* UsageStore
  const customerId = yield* newCustomer
  // A product of its own, so that other meters have no records of it.
  const productId = customerId
  const { id } = yield* MeterProbe.readyMeter(first, { productId })
  for (const each of actions) {
    switch (each.do) {
      case "write":
        yield* append(customerId, batchOf(productId, each.batch))
        break
      case "void": {
        const known = yield* listed(customerId)
        const record = known[each.nth % Math.max(1, known.length)]
        if (record !== undefined) yield* store.void(record.id, Sample.CREATED_AT)
        break
      }
      case "redefine":
        yield* MeterProbe.redefine(id, each.to)
        break
      case "step":
        yield* MeterProbe.step(id, { days: 1, cells: 2 })
        break
      case "work":
        yield* MeterProbe.work(id)
        break
      case "ask": {
        const meter = yield* MeterProbe.current(id)
        if (Rollup.needsCells(meter)) yield* check(meter, customerId, queryOf(meter, each.query))
      }
    }
  }
  const meter = yield* MeterProbe.work(id)
  yield* check(meter, customerId, everything(meter))
})
