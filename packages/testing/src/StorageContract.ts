/**
 * The contract of the storage ports, as a test suite for every adapter.
 */
import { type Billing, CurrentTenant, IdGenerator } from "@billwright/core"
import { describe, layer as layerOf } from "@effect/vitest"
import { type Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { apiKeyContract } from "./contract/ApiKeyContract.ts"
import { appendContract } from "./contract/AppendContract.ts"
import { auditContract } from "./contract/AuditContract.ts"
import { cancelContract } from "./contract/CancelContract.ts"
import { claimContract } from "./contract/ClaimContract.ts"
import { collected } from "./contract/Collected.ts"
import { collectionContract } from "./contract/CollectionContract.ts"
import { type ContractServices, type ContractTest, Effort, Patience } from "./contract/ContractTest.ts"
import { countsContract } from "./contract/CountsContract.ts"
import { deliveryContract } from "./contract/DeliveryContract.ts"
import { endpointContract } from "./contract/EndpointContract.ts"
import { eventKeyContract } from "./contract/EventKeyContract.ts"
import { eventListContract } from "./contract/EventListContract.ts"
import { eventTailContract } from "./contract/EventTailContract.ts"
import { fencingContract } from "./contract/FencingContract.ts"
import { handOverContract } from "./contract/HandOverContract.ts"
import { idempotencyContract } from "./contract/IdempotencyContract.ts"
import { leaseContract } from "./contract/LeaseContract.ts"
import { meterBuildContract } from "./contract/MeterBuildContract.ts"
import { meterLimitContract } from "./contract/MeterLimitContract.ts"
import { meterValueContract } from "./contract/MeterValueContract.ts"
import { planContract } from "./contract/PlanContract.ts"
import { publishContract } from "./contract/PublishContract.ts"
import { redactContract } from "./contract/RedactContract.ts"
import { replayRangeContract } from "./contract/ReplayRangeContract.ts"
import { retentionContract } from "./contract/RetentionContract.ts"
import { settleContract } from "./contract/SettleContract.ts"
import { tenantContract } from "./contract/TenantContract.ts"
import { testEventContract } from "./contract/TestEventContract.ts"
import { thresholdEventContract } from "./contract/ThresholdEventContract.ts"
import { thresholdFiringContract } from "./contract/ThresholdFiringContract.ts"
import { totalsContract } from "./contract/TotalsContract.ts"
import { transactorContract } from "./contract/TransactorContract.ts"
import { undoContract } from "./contract/UndoContract.ts"
import { usageKeyContract } from "./contract/UsageKeyContract.ts"
import { usageListContract } from "./contract/UsageListContract.ts"
import type { PropertyOptions } from "./Property.ts"
import * as Sample from "./Sample.ts"

export type { ContractTest } from "./contract/ContractTest.ts"

/** Options of a suite. */
export interface SuiteOptions extends Pick<PropertyOptions, "isShrunk"> {
  /** How many random cases each property gets. Default 25. */
  readonly runs?: number
  /** The seed of the random cases, to repeat a run. Default: a new one each time. A failure prints its seed. */
  readonly seed?: number
  /**
   * A pause in real time, in tests about concurrent work, during which other fibers continue. An adapter that does
   * I/O needs one, for example 20 milliseconds. Default: only as long as fibers need that don't wait for I/O.
   */
  readonly pause?: Duration.Input
  /** The time limit of a test. Default: vitest's `testTimeout`. */
  readonly timeoutMillis?: number
  /** The time limit for building the layer. Default: vitest's `hookTimeout`. */
  readonly startTimeout?: Duration.Input
}

const DEFAULT_RUNS = 25
/** How many yields let every fiber of a test continue to the point where it waits. */
const YIELDS = 50

export const servicesOf = (options: SuiteOptions) => {
  const { pause } = options
  const wait =
    pause === undefined
      ? Effect.repeat(Effect.yieldNow, { times: YIELDS })
      : TestClock.withLive(Effect.sleep(pause))
  return Layer.mergeAll(
    IdGenerator.layer,
    Layer.succeed(Patience, Effect.asVoid(wait) as Effect.Effect<void>),
    Layer.succeed(Effort, {
      runs: options.runs ?? DEFAULT_RUNS,
      seed: options.seed,
      isShrunk: options.isShrunk,
    }),
  )
}

/** Runs a test for a tenant that no other test has. */
export const inOwnTenant = <A, E, R>(
  body: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, Exclude<R, CurrentTenant>> =>
  Effect.provideServiceEffect(body, CurrentTenant, Sample.tenant)

/**
 * Opens a suite over a storage. The layer is built once for all tests of `register`, and each test has its own
 * tenant.
 */
export const open = <R, E>(
  name: string,
  storage: Layer.Layer<Billing.Storage | R, E>,
  options: SuiteOptions,
  register: (test: ContractTest) => void,
): void => {
  const timeout = options.startTimeout === undefined ? {} : { timeout: options.startTimeout }
  layerOf(Layer.merge(storage, servicesOf(options)), timeout)(name, (it) => {
    const test = (title: string, body: Effect.Effect<unknown, unknown, ContractServices>) =>
      it.effect(title, () => inOwnTenant(body), options.timeoutMillis)
    const section = (title: string, add: () => void) => {
      describe(title, () => {
        add()
      })
    }
    register(Object.assign(test, { section }))
  })
}

/** All tests of the contract. */
export const contract = (test: ContractTest): void => {
  transactorContract(test)
  undoContract(test)
  tenantContract(test)
  test.section("UsageStore", () => {
    appendContract(test)
    usageKeyContract(test)
    totalsContract(test)
    usageListContract(test)
    thresholdFiringContract(test)
    thresholdEventContract(test)
    test.section("meters", () => {
      meterValueContract(test)
      meterLimitContract(test)
      meterBuildContract(test)
    })
    auditContract(test)
  })
  for (const resource of collected) {
    test.section(resource.title, () => collectionContract(test, resource))
  }
  apiKeyContract(test)
  planContract(test)
  idempotencyContract(test)
  endpointContract(test)
  test.section("EventStore", () => {
    publishContract(test)
    eventKeyContract(test)
    eventListContract(test)
    eventTailContract(test)
    testEventContract(test)
    redactContract(test)
  })
  test.section("DeliveryStore", () => {
    deliveryContract(test)
    replayRangeContract(test)
    cancelContract(test)
    claimContract(test)
    leaseContract(test)
    handOverContract(test)
    settleContract(test)
    countsContract(test)
    fencingContract(test)
  })
  retentionContract(test)
}

/**
 * Registers the tests that every storage adapter has to pass, under `describe(name)`.
 *
 * The layer is built once and shared. Every test uses accounts of its own. So the storage may contain other data, and
 * the data that tests leave there disturbs no other test. But a storage may be used by only one run at a time, and by
 * nothing else: the sweep of expired idempotency keys and the queue of deliveries are shared by all accounts, and
 * tests of the queue first end **every** pending delivery that they find, as `Failed`.
 *
 * Call it at the top level of a vitest file:
 *
 * ```ts
 * StorageContract.suite("PostgreSQL", PostgresStorage.layer, { pause: "20 millis" })
 * ```
 */
export const suite = <R, E>(
  name: string,
  storage: Layer.Layer<Billing.Storage | R, E>,
  options: SuiteOptions = {},
): void => open(name, storage, options, contract)
