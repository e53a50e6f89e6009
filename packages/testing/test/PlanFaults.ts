/**
 * Faults of plans that an adapter could have.
 */
import { PlanStore } from "@billwright/core"
import { Effect, Option } from "effect"
import { change, type Fault, inTestMode } from "./BrokenStorage.ts"

export const planFaults: ReadonlyArray<Fault> = [
  [
    "a published version changes with its plan",
    change(PlanStore, ({ findAll, findVersion }) => ({
      findVersion: (key, version) =>
        Effect.gen(function* () {
          const [plan] = yield* findAll([key])
          const found = yield* findVersion(key, version)
          return Option.map(found, (each) => ({ ...each, terms: plan?.terms ?? each.terms }))
        }),
    })),
    "contract",
  ],
  [
    "a version that does not follow is ignored silently",
    change(PlanStore, ({ publish }) => ({ publish: (plan) => Effect.ignore(publish(plan)) })),
    "contract",
  ],
  [
    "a published version is published again as the next one",
    change(PlanStore, ({ listVersions, publish }) => ({
      publish: (plan) =>
        Effect.gen(function* () {
          const { data } = yield* Effect.orDie(listVersions(plan.key, { limit: 1, cursor: undefined }))
          yield* publish({ ...plan, version: (data[0]?.version ?? 0) + 1 })
        }),
    })),
    "contract",
  ],
  ["a plan keeps its name", change(PlanStore, () => ({ rename: () => Effect.void })), "contract"],
  [
    "a description is never removed",
    change(PlanStore, ({ findAll, rename }) => ({
      rename: (plan) =>
        Effect.gen(function* () {
          const [stored] = yield* findAll([plan.key])
          yield* rename({ ...plan, description: plan.description ?? stored?.description ?? null })
        }),
    })),
    "contract",
  ],
  [
    "the modes share plans",
    change(PlanStore, ({ findAll, publish }) => ({
      publish: (plan) => inTestMode(publish(plan)),
      findAll: (keys) => inTestMode(findAll(keys)),
    })),
    "contract",
  ],
  [
    "terms are stored as the caller's own object",
    change(PlanStore, ({ findAll, publish }) => {
      const given = new Map<string, object>()
      return {
        publish: (plan) =>
          Effect.tap(publish(plan), () => Effect.sync(() => given.set(plan.versionId, plan.terms))),
        findAll: (keys) =>
          Effect.map(findAll(keys), (plans) =>
            plans.map((plan) => Object.assign(plan, { terms: given.get(plan.versionId) ?? plan.terms })),
          ),
      }
    }),
    "contract",
  ],
]
