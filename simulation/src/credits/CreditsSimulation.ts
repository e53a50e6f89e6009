/**
 * A simulation of credits: processes that die between each two steps, and whose clocks are wrong, take from the same
 * accounts at once.
 */
import { Memory } from "@billwright/memory"
import { Effect, Layer, Logger, Scheduler } from "effect"
import { TestClock } from "effect/testing"
import { Choice } from "../world/Choice.ts"
import { Recorder } from "../world/Recorder.ts"
import type { CreditHistory } from "./CreditBooks.ts"
import { type CreditMutations, CreditsWorld, START } from "./CreditsWorld.ts"

/** A bug may be planted, to test that it is found. */
export interface CreditsOptions extends CreditMutations {
  readonly seed: number
}

export interface CreditsSimulated {
  readonly history: CreditHistory
  /** How often each fault happened. */
  readonly faults: ReadonlyMap<string, number>
}

const program = Effect.fnUntraced(function* ({ seed, ...mutations }: CreditsOptions, recorder: Recorder) {
  yield* TestClock.setTime(START)
  const memory = yield* Layer.build(Layer.fresh(Memory.layer))
  const world = new CreditsWorld(new Choice(seed), recorder, memory, mutations)
  yield* world.work
  const history: CreditHistory = { ...(yield* world.books), defects: recorder.defects }
  return { history, faults: recorder.faults } satisfies CreditsSimulated
})

/** Runs one simulation of credits. */
export const simulateCredits = (options: CreditsOptions): Promise<CreditsSimulated> =>
  Effect.runPromise(
    Effect.scoped(program(options, new Recorder())).pipe(
      Effect.provide(Layer.merge(TestClock.layer({ warningDelay: "1 hour" }), Logger.layer([]))),
      Effect.provideService(Scheduler.Scheduler, new Scheduler.MixedScheduler("sync")),
      Effect.provideService(Scheduler.PreventSchedulerYield, true),
    ),
  )
