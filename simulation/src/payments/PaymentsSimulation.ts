/**
 * A simulation of payments: processes that die between each two steps collect invoices from a bank that loses, delays
 * and repeats requests and answers. Meanwhile the host records money, gives it back, voids and writes off.
 */
import { Memory } from "@billwright/memory"
import { Effect, Layer, Logger, Scheduler } from "effect"
import { TestClock } from "effect/testing"
import { Choice } from "../world/Choice.ts"
import { Recorder } from "../world/Recorder.ts"
import type { PaymentHistory } from "./PaymentBooks.ts"
import { type PaymentMutations, PaymentsWorld, START } from "./PaymentsWorld.ts"

/** A bug may be planted, to test that it is found. */
export interface PaymentsOptions extends PaymentMutations {
  readonly seed: number
}

export interface PaymentsSimulated {
  readonly history: PaymentHistory
  /** How often each fault happened. */
  readonly faults: ReadonlyMap<string, number>
}

const program = Effect.fnUntraced(function* ({ seed, ...mutations }: PaymentsOptions, recorder: Recorder) {
  yield* TestClock.setTime(START)
  const memory = yield* Layer.build(Layer.fresh(Memory.layer))
  const world = new PaymentsWorld(new Choice(seed), recorder, memory, mutations)
  yield* world.work
  const history: PaymentHistory = { ...(yield* world.books), defects: recorder.defects }
  return { history, faults: recorder.faults } satisfies PaymentsSimulated
})

/** Runs one simulation of payments. */
export const simulatePayments = (options: PaymentsOptions): Promise<PaymentsSimulated> =>
  Effect.runPromise(
    Effect.scoped(program(options, new Recorder())).pipe(
      Effect.provide(Layer.merge(TestClock.layer({ warningDelay: "1 hour" }), Logger.layer([]))),
      Effect.provideService(Scheduler.Scheduler, new Scheduler.MixedScheduler("sync")),
      Effect.provideService(Scheduler.PreventSchedulerYield, true),
    ),
  )
