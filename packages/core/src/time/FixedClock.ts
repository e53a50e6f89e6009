/**
 * A clock that moves only when a test moves it. Waiting, for a lock or an answer, still takes real time.
 */
import { Clock, Effect, Layer } from "effect"

export class FixedClock {
  #millis: number
  /** Provides this clock to all services. */
  readonly layer: Layer.Layer<never>

  constructor(startMillis: number) {
    this.#millis = startMillis
    const nanos = (): bigint => BigInt(this.#millis) * 1_000_000n
    this.layer = Layer.effect(
      Clock.Clock,
      Clock.clockWith((real) =>
        Effect.succeed({
          currentTimeMillisUnsafe: () => this.#millis,
          currentTimeMillis: Effect.sync(() => this.#millis),
          currentTimeNanosUnsafe: nanos,
          currentTimeNanos: Effect.sync(nanos),
          // Durations are measured in real time.
          monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
          monotonicTimeNanos: real.monotonicTimeNanos,
          sleep: (duration) => real.sleep(duration),
        }),
      ),
    )
  }

  get millis(): number {
    return this.#millis
  }

  /** Never moves back, because ids and leases depend on the time. */
  moveTo(millis: number): void {
    this.#millis = Math.max(this.#millis, millis)
  }
}
