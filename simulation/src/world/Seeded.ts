/**
 * Runs a world over the memory storage on a `TestClock`: what happens follows from its seed alone.
 */
import type { Billing } from "@billwright/core"
import { Memory, type MemoryInspector } from "@billwright/memory"
import { Cause, type Context, Effect, Layer, Logger, Scheduler, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Choice } from "./Choice.ts"
import { Recorder } from "./Recorder.ts"

/** The storage of a world. */
export type Memory = Context.Context<Billing.Storage | Billing.InvoicingStorage | MemoryInspector>

/** A world works until it has ended, and leaves books behind. */
interface World<Books> {
  readonly work: Effect.Effect<void>
  readonly books: Effect.Effect<Books>
}

const textOf = (message: unknown): string =>
  Array.isArray(message) ? message.map(textOf).join(" ") : (JSON.stringify(message) ?? String(message))

/** Runs a program on a `TestClock`. What is logged goes to the recorder. */
export const runDeterministic = <A>(
  recorder: Recorder,
  program: Effect.Effect<A, never, Scope.Scope>,
): Promise<A> => {
  const logger = Logger.make(({ cause, message }) => {
    recorder.logs.push(`${textOf(message)} ${Cause.pretty(cause)}`)
  })
  return Effect.runPromise(
    Effect.scoped(program).pipe(
      Effect.provide(Layer.merge(TestClock.layer({ warningDelay: "1 hour" }), Logger.layer([logger]))),
      // Nothing outside influences the run: everything runs in microtasks, and no fiber yields after a number of
      // steps.
      Effect.provideService(Scheduler.Scheduler, new Scheduler.MixedScheduler("sync")),
      Effect.provideService(Scheduler.PreventSchedulerYield, true),
    ),
  )
}

/** What a run leaves behind, and the bugs that fibers died of. */
export interface Simulated<Books> {
  readonly history: Books & { readonly defects: ReadonlyArray<string> }
  /** How often each fault happened. */
  readonly faults: ReadonlyMap<string, number>
}

/** Makes a world, and runs it. `start` is the instant at which it begins, in epoch milliseconds. */
export const runSeeded = <Books extends object>(
  { seed, start }: { readonly seed: number; readonly start: number },
  make: (choice: Choice, recorder: Recorder, memory: Memory) => World<Books>,
): Promise<Simulated<Books>> => {
  const recorder = new Recorder()
  const program = Effect.gen(function* () {
    yield* TestClock.setTime(start)
    const memory = yield* Layer.build(Layer.fresh(Memory.layer))
    const world = make(new Choice(seed), recorder, memory)
    yield* world.work
    const { defects, faults } = recorder
    return { history: { ...(yield* world.books), defects }, faults }
  })
  return runDeterministic(recorder, program)
}
