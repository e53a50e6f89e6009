/**
 * Faults that an adapter could have. The contract and the model must find those that they cover.
 */
import {
  ApiKeyStore,
  type Billing,
  Customer,
  IdempotencyStore,
  Threshold,
  Transactor,
  UsageStore,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Context, type Duration, Effect, Exit, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import type { ContractServices } from "../src/contract/ContractTest.ts"
import * as StorageContract from "../src/StorageContract.ts"
import * as StorageModel from "../src/StorageModel.ts"
import { change, changeCollection, type Fault, inTestMode } from "./BrokenStorage.ts"
import { meterFaults } from "./MeterFaults.ts"
import { planFaults } from "./PlanFaults.ts"
import { webhookFaults } from "./WebhookFaults.ts"

type Test = Effect.Effect<unknown, unknown, ContractServices>

/** The tests of a suite, to run here and not by vitest. */
const testsOf = (contract: (test: StorageContract.ContractTest) => void): ReadonlyArray<Test> => {
  const tests: Array<Test> = []
  const add = (_: string, body: Test) => {
    tests.push(body)
  }
  contract(Object.assign(add, { section: (_: string, register: () => void) => register() }))
  return tests
}

const contract = testsOf(StorageContract.contract)
const model = testsOf(StorageModel.contract)

/** Whether at least one test fails. Each runs on its own storage. A test that never ends counts as failed. */
const finds = (
  tests: ReadonlyArray<Test>,
  storage: Layer.Layer<Billing.Storage>,
  { patience = "1 second", seed = 1 }: { readonly patience?: Duration.Input; readonly seed?: number } = {},
) =>
  Effect.gen(function* () {
    const services = Layer.mergeAll(
      Layer.fresh(storage),
      StorageContract.servicesOf({ runs: 50, seed, isShrunk: false }),
    )
    for (const test of tests) {
      const isolated = StorageContract.inOwnTenant(test).pipe(Effect.provide(services), Effect.scoped)
      const exit = yield* Effect.exit(Effect.timeoutOption(isolated, patience))
      if (Exit.isFailure(exit) || Option.isNone(exit.value)) return true
    }
    return false
  }).pipe(TestClock.withLive)

/**
 * The seeds of the model's runs. One seed may miss a fault by chance; a fault that all miss is outside of the model.
 */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8]

const modelFinds = Effect.fnUntraced(function* (storage: Layer.Layer<Billing.Storage>) {
  for (const seed of SEEDS) if (yield* finds(model, storage, { seed })) return true
  return false
})

const billingFaults: ReadonlyArray<Fault> = [
  ["transactions undo nothing", change(Transactor, () => ({ atomically: (effect) => effect })), "both"],
  [
    "savepoints undo nothing",
    change(Transactor, ({ atomically, inTransaction }) => ({
      atomically: (effect) =>
        Effect.flatMap(inTransaction, (isInside) => (isInside ? effect : atomically(effect))),
    })),
    "both",
  ],
  [
    "does not know that it is in a transaction",
    change(Transactor, () => ({ inTransaction: Effect.succeed(false) })),
    "contract",
  ],
  [
    "customers are shared by live and test mode",
    changeCollection(Customer.customers, ({ find }) => ({ find: (id) => inTestMode(find(id)) })),
    "both",
  ],
  [
    "customers are found by their e-mail address alone",
    changeCollection(Customer.customers, ({ list }) => ({
      list: (filter, page) =>
        Effect.map(list(filter, page), ({ data, hasMore }) => ({
          data: data.filter(({ email }) => email.toLowerCase().includes(filter.search ?? "")),
          hasMore,
        })),
    })),
    "contract",
  ],
  [
    "changes of a customer are lost when there are several at once",
    changeCollection(Customer.customers, ({ find, modify }) => ({
      modify: (id, make) =>
        Effect.flatMap(find(id), (found) =>
          Option.isNone(found)
            ? Effect.succeed(found)
            : Effect.flatMap(make(found.value), (changed) => modify(id, () => Effect.succeed(changed))),
        ),
    })),
    "contract",
  ],
  [
    "an erased customer is unknown",
    changeCollection(Customer.customers, ({ status }) => ({
      status: (id) => Effect.map(status(id), (found) => (found === "removed" ? "unknown" : found)),
    })),
    "both",
  ],
  [
    "a page's last item is repeated on the next",
    changeCollection(Customer.customers, ({ list }) => ({
      list: (filter, page) => {
        const repeat = page.cursor?.direction === "older"
        return Effect.map(list(filter, page), ({ data, hasMore }) => ({
          data: repeat ? [...data.slice(0, 1), ...data].slice(0, page.limit) : data,
          hasMore,
        }))
      },
    })),
    "contract",
  ],
  [
    "an unknown cursor gives the first page",
    change(UsageStore, ({ list }) => ({
      list: (filter, page) =>
        Effect.catchTag(list(filter, page), "CursorNotFound", () =>
          list(filter, { ...page, cursor: undefined }),
        ),
    })),
    "both",
  ],
  [
    "idempotency keys of usage are forgotten",
    change(UsageStore, ({ append }) => ({
      append: (records) => append(records.map((record) => ({ ...record, idempotencyKey: null }))),
    })),
    "both",
  ],
  [
    "a timestamp set by the library counts as content",
    change(UsageStore, ({ append }) => ({
      append: (records) => append(records.map((record) => ({ ...record, hasOwnTimestamp: true }))),
    })),
    "both",
  ],
  [
    "one bad record refuses its whole batch",
    change(UsageStore, ({ append }) => ({
      append: (records) =>
        Effect.map(append(records), (result) =>
          result.outcomes.some(({ _tag }) => _tag === "CustomerNotFound")
            ? { ...result, outcomes: records.map(() => ({ _tag: "CustomerNotFound" as const })) }
            : result,
        ),
    })),
    "both",
  ],
  [
    "totals go through floating point",
    change(UsageStore, ({ totals }) => ({
      totals: (query) =>
        Effect.map(totals(query), (found) =>
          found.map((total) => ({ ...total, quantity: BigInt(Math.fround(Number(total.quantity))) })),
        ),
    })),
    "both",
  ],
  [
    "a window includes its end",
    change(UsageStore, ({ totals }) => ({
      totals: (query) =>
        totals({
          ...query,
          boundaries: query.boundaries.map((at, index) =>
            at !== undefined && index === query.boundaries.length - 1 ? at + 1 : at,
          ),
        }),
    })),
    "contract",
  ],
  [
    "a second void replaces the time of the first",
    change(UsageStore, ({ void: voidRecord }) => ({
      void: (id, at) =>
        Effect.map(
          voidRecord(id, at),
          Option.map((record) => ({ ...record, voidedAt: at })),
        ),
    })),
    "both",
  ],
  [
    "thresholds fire only for the first period of an append",
    change(UsageStore, ({ append }) => ({
      append: (records) =>
        Effect.map(append(records), (result) => ({ ...result, crossings: result.crossings.slice(0, 1) })),
    })),
    "both",
  ],
  [
    "a firing does not show in the threshold",
    changeCollection(Threshold.thresholds, ({ find }) => ({
      find: (id) =>
        Effect.map(
          find(id),
          Option.map((found) => ({ ...found, lastFiredAt: null })),
        ),
    })),
    "both",
  ],
  [
    "a deleted threshold stays",
    changeCollection(Threshold.thresholds, () => ({ remove: () => Effect.succeed(true) })),
    "both",
  ],
  ["an API key can be revived", change(ApiKeyStore, ({ expire }) => ({ revoke: expire })), "both"],
  [
    "an expiry moves to a later time",
    change(ApiKeyStore, ({ expire }) => ({
      expire: (id, at) =>
        Effect.map(
          expire(id, at),
          Option.map((key) => ({ ...key, expiresAt: at })),
        ),
    })),
    "both",
  ],
  [
    "an API key can be rolled twice",
    change(ApiKeyStore, ({ expire, find }) => ({
      expire: (id, at) =>
        Effect.flatMap(expire(id, at), (key) => (Option.isNone(key) ? find(id) : Effect.succeed(key))),
    })),
    "both",
  ],
  [
    "a repeat with other content gets the stored answer",
    change(IdempotencyStore, ({ once }) => ({
      once: (request, lifetime, effect) => once({ ...request, fingerprint: "" }, lifetime, effect),
    })),
    "both",
  ],
  [
    "a running request makes others wait",
    change(IdempotencyStore, ({ once }, ports) => ({
      once: (request, lifetime, effect) =>
        Context.get(ports, Transactor).atomically(once(request, lifetime, effect)),
    })),
    "contract",
  ],
  [
    "answers never expire",
    change(IdempotencyStore, ({ once }) => ({
      once: (request, { expiresAt, now }, effect) =>
        once(request, { now: { ...now, epochMilliseconds: 0 }, expiresAt }, effect),
    })),
    "both",
  ],
  [
    "answers about a customer keep their bodies",
    change(IdempotencyStore, () => ({ redact: () => Effect.void })),
    "contract",
  ],
  [
    "answers about a customer are removed, so that requests run again",
    change(IdempotencyStore, ({ forget }) => ({ redact: forget })),
    "contract",
  ],
  ["nothing is swept", change(IdempotencyStore, () => ({ sweep: () => Effect.succeed(0) })), "contract"],
]

const faults = [...billingFaults, ...meterFaults, ...planFaults, ...webhookFaults]

describe("a storage without faults", () => {
  it.effect("passes", () =>
    Effect.gen(function* () {
      // Long enough for a busy machine.
      assert.isFalse(yield* finds(contract, Memory.layer, { patience: "10 seconds" }))
      assert.isFalse(yield* finds(model, Memory.layer, { patience: "10 seconds" }))
    }),
  )
})

describe("the suites find this fault:", () => {
  for (const [name, storage, by] of faults) {
    it.effect(name, () =>
      Effect.gen(function* () {
        assert.isTrue(yield* finds(contract, storage), "the contract finds it")
        if (by === "both") assert.isTrue(yield* modelFinds(storage), "the model finds it")
      }),
    )
  }
})
