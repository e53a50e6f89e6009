/**
 * A clock that stands until it is moved. What waits (for a lock, for an answer) waits in real time as ever.
 */
import { Clock, Effect, Layer } from "effect"

export class FixedClock {
  #millis: number
  /** The clock of all services, and of what runs on them. */
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
          // How long things take is real.
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

  /** Never back: ids and leases go by it. */
  moveTo(millis: number): void {
    this.#millis = Math.max(this.#millis, millis)
  }
}
