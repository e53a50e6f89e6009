/**
 * Faults of meters that an adapter could have.
 */
import { Meter, UsageStore } from "@billwright/core"
import { Effect } from "effect"
import { change, changeCollection, type Fault } from "./BrokenStorage.ts"

export const meterFaults: ReadonlyArray<Fault> = [
  [
    "a meter with a taken key seems to be inserted",
    changeCollection(Meter.meters, ({ insert }) => ({ insert: (value) => Effect.as(insert(value), true) })),
    "both",
  ],
  [
    "a roll-up answers before all of its days are built",
    change(UsageStore, ({ build }) => ({
      build: (rollup, batch) =>
        Effect.map(build(rollup, batch), (progress) =>
          progress._tag === "Building" ? { _tag: "Built", total: progress.total } : progress,
        ),
    })),
    "contract",
  ],
  [
    "a query of an old generation is answered by the new one",
    change(UsageStore, ({ rollup }) => ({
      rollup: (query) =>
        Effect.gen(function* () {
          const answer = yield* rollup(query)
          if (answer._tag !== "Gone") return answer
          return yield* rollup({ ...query, generation: query.generation + 1 })
        }),
    })),
    "contract",
  ],
  [
    "the filter of a meter is ignored",
    change(UsageStore, ({ rollup }) => ({ rollup: (query) => rollup({ ...query, where: [] }) })),
    "both",
  ],
  [
    "a meter's groups are cut off silently",
    change(UsageStore, ({ rollup }) => ({
      rollup: (query) =>
        Effect.map(rollup({ ...query, most: 1_000_000 }), (answer) =>
          answer._tag === "Totals" ? { ...answer, totals: answer.totals.slice(0, query.most) } : answer,
        ),
    })),
    "contract",
  ],
  [
    "the whole of a grouped query is missing",
    change(UsageStore, ({ rollup }) => ({
      rollup: (query) =>
        Effect.map(rollup(query), (answer) =>
          answer._tag === "Totals" && query.groupBy.length > 0 ? { ...answer, whole: [] } : answer,
        ),
    })),
    "both",
  ],
  [
    "a record of too many combinations is stored all the same, where the meter does not see it",
    change(UsageStore, ({ append }) => ({
      append: (records) =>
        Effect.gen(function* () {
          const result = yield* append(records)
          const refused = records.filter((_, index) => result.outcomes[index]?._tag === "TooManyCombinations")
          if (refused.length > 0)
            yield* append(refused.map((record) => ({ ...record, productId: "unmetered" })))
          return result
        }),
    })),
    "contract",
  ],
  [
    "records are listed without their dimensions' filter",
    change(UsageStore, ({ list }) => ({
      list: ({ customerId, productId, unit }, page) => list({ customerId, productId, unit }, page),
    })),
    "contract",
  ],
  [
    "a tenant with many meters to build comes several times",
    change(UsageStore, ({ unfinished }) => ({
      unfinished: (after, limit) =>
        Effect.map(unfinished(after, limit), (found) => found.flatMap((each) => [each, each])),
    })),
    "contract",
  ],
  ["cells are never removed", change(UsageStore, () => ({ sweep: () => Effect.succeed(false) })), "contract"],
]
