/**
 * Bugs in metering.
 */
import {
  Collections,
  CurrentTenant,
  Customer,
  EventStore,
  type RollupAnswer,
  type UsageRecord,
  UsageStore,
} from "@billwright/core"
import { Context, Effect, Option } from "effect"
import { change, everyNth, mutation, otherId } from "./Mutation.ts"

const THRESHOLD_EVENTS = {
  type: "usage.threshold",
  customerId: undefined,
  createdAfter: undefined,
  createdBefore: undefined,
  deliveryStatus: undefined,
}

export const meters = [
  mutation(
    "a void does not change the roll-up",
    ["I3", "I13"],
    change(UsageStore, (store) => {
      const voided = new Map<string, UsageRecord.UsageRecord>()
      return {
        void: (id, at) =>
          Effect.tap(store.void(id, at), (found) =>
            Effect.sync(() => {
              if (Option.isSome(found)) voided.set(id, found.value)
            }),
          ),
        totals: (query) =>
          Effect.map(store.totals(query), (totals) => {
            const forgotten = [...voided.values()].filter(
              (record) => record.customerId === query.customerId && record.productId === query.productId,
            )
            const rest = forgotten.reduce((sum, { quantity }) => sum + BigInt(quantity), 0n)
            return totals.map((total) => ({ ...total, quantity: total.quantity + rest }))
          }),
      }
    }),
  ),
  mutation(
    "the values of a meter are read once and then remembered",
    ["I13"],
    change(UsageStore, ({ rollup }) => {
      const known = new Map<string, RollupAnswer>()
      return {
        rollup: (query) =>
          Effect.gen(function* () {
            const key = JSON.stringify([yield* CurrentTenant, query])
            const answer = known.get(key) ?? (yield* rollup(query))
            if (answer._tag === "Totals") known.set(key, answer)
            return answer
          }),
      }
    }),
  ),
  mutation(
    "a meter answers by its next roll-up before that is whole",
    ["I13"],
    change(UsageStore, ({ build }) => ({
      build: (rollup, batch) =>
        Effect.map(build(rollup, { ...batch, days: 1 }), (progress) =>
          progress._tag === "Building" ? { _tag: "Built", total: progress.total } : progress,
        ),
    })),
  ),
  mutation(
    "customers and modes share idempotency keys",
    ["I1", "I3"],
    change(UsageStore, ({ append }) => {
      const known = new Map<string, UsageRecord.UsageRecord>()
      return {
        append: (records) =>
          Effect.gen(function* () {
            const { accountId } = yield* CurrentTenant
            const keyOf = (record: UsageRecord.UsageRecord) => `${accountId} ${record.idempotencyKey}`
            const fresh = records.filter(
              (record) => record.idempotencyKey === null || !known.has(keyOf(record)),
            )
            const appended = yield* append(fresh)
            const outcomes = records.map((record) => {
              const outcome = appended.outcomes[fresh.indexOf(record)]
              if (outcome?._tag === "Recorded") known.set(keyOf(record), outcome.record)
              return outcome ?? { _tag: "Duplicate" as const, record: known.get(keyOf(record))! }
            })
            return { ...appended, outcomes }
          }),
      }
    }),
  ),
  mutation(
    "idempotency keys of usage are ignored",
    ["I3"],
    change(UsageStore, ({ append }) => ({
      append: (records) => append(records.map((record) => ({ ...record, idempotencyKey: null }))),
    })),
  ),
  mutation(
    "usage is acknowledged but not stored",
    ["I1"],
    change(UsageStore, ({ append }) => {
      const isNow = everyNth(10)
      return {
        append: (records) =>
          isNow()
            ? Effect.succeed({
                outcomes: records.map((record) => ({ _tag: "Recorded" as const, record })),
                crossings: [],
              })
            : append(records),
      }
    }),
  ),
  mutation(
    "usage of erased customers is recorded",
    ["I1"],
    change(Collections, (collections) => ({
      of: (resource) =>
        resource.type === Customer.customers.type
          ? { ...collections.of(resource), remove: () => Effect.succeed(true) }
          : collections.of(resource),
    })),
  ),
  mutation(
    "a firing of a threshold is published twice",
    ["I4"],
    change(UsageStore, ({ append }, ports) => ({
      append: (records) =>
        Effect.gen(function* () {
          const appended = yield* append(records)
          if (appended.crossings.length === 0) return appended
          const events = Context.get(ports, EventStore)
          const { data } = yield* Effect.orDie(events.list(THRESHOLD_EVENTS, { limit: 1, cursor: undefined }))
          const id = otherId(data[0]!.id)
          const payload = data[0]!.payload.replace(data[0]!.id, id)
          yield* events.publish({ ...data[0]!, id, payload })
          return appended
        }),
    })),
  ),
]
