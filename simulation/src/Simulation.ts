/**
 * A simulation: the whole library in several processes over one storage in memory. For some seconds anything may go
 * wrong. Then the faults end, and everything that is due is done. The seed decides all of it.
 */
import {
  type DispatcherOptions,
  REBUILD_POLL_MILLIS,
  RetryPolicy,
  Rollup,
  type Tenant,
  Usage,
  type UsageDiscrepancy,
} from "@billwright/core"
import { Memory, MemoryInspector } from "@billwright/memory"
import { Clock, Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { History } from "./History.ts"
import { Choice } from "./world/Choice.ts"
import { Clients } from "./world/Clients.ts"
import { newcomers } from "./world/Known.ts"
import { Nemesis, type Slot } from "./world/Nemesis.ts"
import { observed, type Ports } from "./world/Observer.ts"
import { Process, type Shared } from "./world/Process.ts"
import { DEADLINE_MILLIS, Receivers } from "./world/Receivers.ts"
import { Recorder } from "./world/Recorder.ts"
import { runDeterministic } from "./world/Seeded.ts"
import { Weather } from "./world/Weather.ts"

export interface SimulationOptions {
  readonly seed: number
  /** Plants a bug in the storage, to test that it is found. */
  readonly breakStorage?: ((ports: Ports) => Ports) | undefined
}

export interface Simulated {
  readonly history: History
  /** How often each fault happened. */
  readonly faults: ReadonlyMap<string, number>
}

/** 2026-11-21, noon. */
const NOON = 1_795_262_400_000
/** How long faults happen. */
const STORM_MILLIS = 14_000
/** A lease is only a little longer than an attempt. */
const LEASE_MILLIS = 6_000
/** How often the run checks whether clients have ended, after the faults. */
const CALM_STEP_MILLIS = 500
const MAX_CALM_STEPS = 60
/** The latest that anything may be due after the faults: 24 h, its jitter, and a wrong clock. */
const MAX_AHEAD_MILLIS = 31 * 3_600_000
/** How often the run waits for the next due work: more than twice the attempts of a delivery. */
const MAX_ROUNDS = 40

/** Runs one simulation. */
export const simulate = (options: SimulationOptions): Promise<Simulated> => {
  const recorder = new Recorder()
  return runDeterministic(recorder, program(options, recorder))
}

const program = Effect.fnUntraced(function* (options: SimulationOptions, recorder: Recorder) {
  yield* TestClock.setTime(NOON)
  const choice = new Choice(options.seed)
  const memory = yield* Layer.build(Memory.layer)
  const ports = (options.breakStorage ?? ((same: Ports) => same))(memory)
  const shared: Shared = {
    choice,
    recorder,
    weather: new Weather(choice.fork(), recorder),
    receivers: new Receivers(choice.fork(), recorder),
    time: { skippedMillis: 0 },
    dispatcher: dispatcherOptions(choice),
    invoices: {},
    portsOf: (process) => observed(ports, recorder, process),
  }
  const slots = yield* startAll(shared)
  const living = () => slots.filter(({ process }) => !process.isDead).map(({ process }) => process)
  const clients = new Clients(choice.fork(), recorder, newcomers(), living)
  yield* clients.setUp
  const hung = yield* storm(shared, slots, clients)
  if (hung === undefined) yield* clients.settle
  const quietSince = recorder.order
  const inspector = Context.get(memory, MemoryInspector)
  const stuck = hung ?? (yield* drain(shared, inspector))
  if (stuck === undefined) yield* clients.readTotals
  const stored = yield* inspector.snapshot
  const discrepancies = yield* auditOf(
    living()[0]!,
    newcomers().map(({ tenant }) => tenant),
  )
  for (const process of living()) process.kill()
  const { faults } = recorder
  const simulated: Simulated = {
    history: { ...recorder.history(), stored, discrepancies, quietSince, stuck, maxAttempts },
    faults,
  }
  return simulated
})

const maxAttempts = { live: RetryPolicy.live.maxAttempts, test: RetryPolicy.test.maxAttempts }

/** Dispatchers of a process, some of which send few deliveries at once. */
export const dispatcherOptions = (choice: Choice): DispatcherOptions => ({
  leaseMillis: LEASE_MILLIS,
  attemptDeadlineMillis: DEADLINE_MILLIS,
  maxInFlight: choice.pick([2, 8, 64]),
  maxInFlightPerEndpoint: choice.pick([1, 2, 8]),
})

const startAll = (shared: Shared) =>
  Effect.forEach(Array.from({ length: shared.choice.chance(0.3) ? 3 : 2 }).keys(), (index) => {
    const name = `p${index + 1}`
    const skew = { millis: 0 }
    const slot: Slot = { name, skew, isBusy: false, process: new Process(`${name}.1`, skew, shared) }
    return Effect.as(slot.process.start, slot)
  })

/**
 * Runs the clients during the faults, and then until all of them have their answers. Returns why they have not, if
 * so.
 */
const storm = Effect.fnUntraced(function* (shared: Shared, slots: ReadonlyArray<Slot>, clients: Clients) {
  const { choice, receivers, weather } = shared
  let isOver = false
  const ends = () => isOver
  const nemesis = new Nemesis(choice.fork(), shared, slots)
  const clientsAtWork = Array.from({ length: choice.int(2, 4) }, () => clients.work(ends))
  weather.isCalm = false
  receivers.isCalm = false
  const working = yield* Effect.forEach(clientsAtWork, (work) => Effect.forkChild(work))
  const breaking = yield* Effect.forEach([nemesis.work, replaceTheDead(shared, slots)], (work) =>
    Effect.forkChild(work),
  )
  yield* TestClock.adjust(STORM_MILLIS)
  isOver = true
  // Ending a process cleanly takes time.
  yield* Effect.forkChild(Fiber.interruptAll(breaking))
  calm(shared, slots)
  const underWay = [...working, ...breaking]
  const isUnderWay = () => underWay.some((fiber) => fiber.pollUnsafe() === undefined)
  for (let step = 0; isUnderWay() && step < MAX_CALM_STEPS; step++) yield* TestClock.adjust(CALM_STEP_MILLIS)
  if (isUnderWay()) return "a client waits for ever"
  yield* Effect.forEach(
    slots.filter(({ process }) => process.isDead),
    (slot) => replace(shared, slot),
    { discard: true },
  )
  return undefined
})

/** Ends all faults, and sets all clocks to the latest time that any of them showed. */
const calm = ({ receivers, time, weather }: Shared, slots: ReadonlyArray<Slot>): void => {
  weather.isCalm = true
  weather.isOutage = false
  receivers.isCalm = true
  time.skippedMillis += Math.max(0, ...slots.map(({ skew }) => skew.millis))
  for (const { isBusy, process, skew } of slots) {
    skew.millis = 0
    process.spare()
    process.resume()
    if (isBusy) process.kill()
  }
}

/** Starts a new process in place of each one that died. */
const replaceTheDead = (shared: Shared, slots: ReadonlyArray<Slot>) =>
  Effect.forever(
    Effect.suspend(() => Effect.sleep(shared.choice.int(100, 1_500))).pipe(
      Effect.andThen(() =>
        Effect.forEach(
          slots.filter(({ isBusy, process }) => process.isDead && !isBusy),
          (slot) => replace(shared, slot),
          { discard: true },
        ),
      ),
    ),
  )

const replace = Effect.fnUntraced(function* (shared: Shared, slot: Slot) {
  const dead = slot.process
  yield* Effect.forkDetach(dead.end)
  const [, incarnation] = dead.name.split(".")
  slot.isBusy = false
  const next = new Process(`${slot.name}.${Number(incarnation) + 1}`, slot.skew, shared)
  yield* next.start
  slot.process = next
})

/** Runs until all due work is done, and skips the time in which nothing is due. Returns why it did not end, if so. */
export const drain = Effect.fnUntraced(function* (
  { pollMillis = REBUILD_POLL_MILLIS, time }: Pick<Shared, "time" | "pollMillis">,
  inspector: MemoryInspector["Service"],
) {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    yield* TestClock.adjust(pollMillis + 100)
    const { deliveries, meters } = yield* inspector.snapshot
    const due = deliveries.flatMap(({ delivery }) => delivery.nextAttemptAt?.epochMilliseconds ?? [])
    const unfinished = meters.filter(({ meter }) => Rollup.isUnfinished(meter)).length
    if (due.length === 0 && unfinished === 0) return undefined
    if (due.length === 0) {
      yield* TestClock.adjust(pollMillis)
      continue
    }
    const ahead = Math.max(...due) - (yield* Clock.currentTimeMillis) - time.skippedMillis
    if (ahead > MAX_AHEAD_MILLIS) return `a delivery is due in ${ahead} ms`
    time.skippedMillis += Math.max(0, ahead)
  }
  return `there are pending deliveries or unfinished meters after ${MAX_ROUNDS} rounds`
})

/** What an audit finds in the usage of tenants. */
export const auditOf = Effect.fnUntraced(function* (process: Process, tenants: ReadonlyArray<Tenant.Tenant>) {
  const found: Array<UsageDiscrepancy> = []
  for (const tenant of tenants) {
    found.push(
      ...(yield* process.run(
        tenant,
        Effect.flatMap(Usage, (usage) => usage.audit),
      )),
    )
  }
  return found
}, Effect.orDie)
