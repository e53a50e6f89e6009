/**
 * The machines of a world whose time jumps from one due instant to the next. Each runs a process, and another one when
 * that has died.
 */
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Process, type Shared } from "./Process.ts"
import type { Skew } from "./ProcessClock.ts"

export interface Machine {
  readonly name: string
  readonly skew: Skew
  process: Process
  incarnation: number
}

/** How far time moves at once while something is under way, and how often at most. */
interface Steps {
  readonly millis: number
  readonly most: number
}

export class Machines {
  readonly #shared: Shared
  readonly #steps: Steps
  readonly all: Array<Machine> = []
  #now = 0

  constructor(shared: Shared, steps: Steps) {
    this.#shared = shared
    this.#steps = steps
  }

  /** The time of the world when it was set last. */
  get now(): number {
    return this.#now
  }

  start(count: number) {
    return Effect.gen({ self: this }, function* () {
      for (let index = 0; index < count; index++) {
        const skew = { millis: 0 }
        const name = `p${index + 1}`
        const process = new Process(`${name}.1`, skew, this.#shared)
        yield* process.start
        this.all.push({ name, skew, process, incarnation: 1 })
      }
    })
  }

  setTime(instant: number) {
    return Effect.map(Clock.currentTimeMillis, (millis) => {
      this.#now = instant
      this.#shared.time.skippedMillis = instant - millis
    })
  }

  /** Lets time pass until an effect has ended. */
  driven<A>(effect: Effect.Effect<A>) {
    const { millis, most } = this.#steps
    return Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(effect)
      for (let step = 0; fiber.pollUnsafe() === undefined && step < most; step++) {
        yield* TestClock.adjust(millis)
      }
      return yield* Fiber.join(fiber)
    })
  }

  /** Ends the faults, and replaces the processes that died. */
  calm() {
    return Effect.gen({ self: this }, function* () {
      this.#shared.weather.isCalm = true
      this.#shared.weather.faultsLeft = Number.POSITIVE_INFINITY
      for (const machine of this.all) {
        machine.skew.millis = 0
        machine.process.spare()
        if (!machine.process.isDead) continue
        yield* Effect.forkDetach(machine.process.end)
        machine.incarnation++
        machine.process = new Process(`${machine.name}.${machine.incarnation}`, machine.skew, this.#shared)
        yield* machine.process.start
      }
      const millis = yield* Clock.currentTimeMillis
      yield* this.setTime(Math.max(this.#now, millis + this.#shared.time.skippedMillis))
    })
  }

  kill(): void {
    for (const { process } of this.all) process.kill()
  }
}
