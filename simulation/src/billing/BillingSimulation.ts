/**
 * A simulation of billing: several processes over one storage bill the same customers for months. Processes die between
 * and within transactions, come late, have clocks that were set back, and lose answers of the storage. The same commands
 * are run once more without any fault, and the outcome must be the same.
 *
 * What is due is done before the next command, as by `advance`. So what a command finds does not depend on faults.
 */
import { Memory } from "@billwright/memory"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Choice } from "../world/Choice.ts"
import { newcomers } from "../world/Known.ts"
import type { Ports } from "../world/Observer.ts"
import { Recorder } from "../world/Recorder.ts"
import { runDeterministic } from "../world/Seeded.ts"
import { BillingWorld, START } from "./BillingWorld.ts"
import type { BillingHistory } from "./Books.ts"
import type { Command } from "./Command.ts"
import { outcomeOf } from "./Outcome.ts"
import { scriptOf } from "./Script.ts"

export interface BillingSimulationOptions {
  readonly seed: number
  /** Plants a bug in the storage, to test that it is found. It is there without faults, too. */
  readonly breakStorage?: ((ports: Ports) => Ports) | undefined
}

export interface BillingSimulated {
  readonly history: BillingHistory
  /** How often each fault happened. */
  readonly faults: ReadonlyMap<string, number>
}

/** How many commands a run has, beyond those that begin it. */
const COMMANDS = 31

const runWorld = Effect.fnUntraced(function* (
  { breakStorage, seed }: BillingSimulationOptions,
  recorder: Recorder,
  commands: ReadonlyArray<Command>,
  instants: ReadonlyArray<number> | undefined,
) {
  const memory = yield* Layer.build(Layer.fresh(Memory.layer))
  const ports = (breakStorage ?? ((same: Ports) => same))(memory)
  const world = new BillingWorld(
    new Choice(seed),
    recorder,
    memory,
    ports,
    instants !== undefined,
    seed % 3 === 0,
  )
  yield* world.start
  const taken = yield* world.work(commands, instants)
  const books = yield* world.books
  world.kill()
  return { taken, books }
})

const program = Effect.fnUntraced(function* (options: BillingSimulationOptions, recorder: Recorder) {
  yield* TestClock.setTime(START)
  const commands = scriptOf(new Choice(options.seed), newcomers().length, COMMANDS)
  const calm = new Recorder()
  const undisturbed = yield* runWorld(options, calm, commands, undefined)
  const disturbed = yield* runWorld(options, recorder, commands, undisturbed.taken)
  const history: BillingHistory = {
    ...disturbed.books,
    outcome: outcomeOf(disturbed.books),
    undisturbed: outcomeOf(undisturbed.books),
    defects: [...calm.defects, ...recorder.defects],
  }
  return { history, faults: recorder.faults } satisfies BillingSimulated
})

/** Runs one simulation of billing. */
export const simulateBilling = (options: BillingSimulationOptions): Promise<BillingSimulated> => {
  const recorder = new Recorder()
  return runDeterministic(recorder, program(options, recorder))
}
