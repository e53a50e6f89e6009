/**
 * Causes faults: kills, stops and ends processes, changes clocks, and makes the storage unreachable.
 */
import { Effect } from "effect"
import type { Choice } from "./Choice.ts"
import type { Process, Shared } from "./Process.ts"
import type { Skew } from "./ProcessClock.ts"

/** A machine with one process at a time. A process that died is replaced by another. */
export interface Slot {
  readonly name: string
  readonly skew: Skew
  process: Process
  /** The process is being ended or started. */
  isBusy: boolean
}

/** The points where a process can be killed. */
export const WEBHOOK_POINTS = [
  // After the claim; after the body was sent; after the answer and before its result is written; after that.
  "DeliveryStore.claimDue: after",
  "WebhookTransport.send: before",
  "WebhookTransport.send: sent",
  "WebhookTransport.send: answered",
  "DeliveryStore.settle: before",
  "DeliveryStore.settle: after",
  // While an answer 410 disables the endpoint.
  "DeliveryStore.settle: in a transaction",
  "EndpointStore.modify: in a transaction",
  // After an endpoint was disabled or deleted, and before its pending deliveries are ended.
  "DeliveryStore.cancel: before",
  "DeliveryStore.cancel: after",
  "DeliveryStore.insert: after",
  "DeliveryStore.replayRange: after",
  "EndpointStore.modify: after",
  "EventStore.publish: before",
  "EventStore.publish: after",
  "EventStore.publish: in a transaction",
  "IdempotencyStore.once: after",
  "Collections(Customer).insert: in a transaction",
  "Transactor.commit",
  "Transactor.atomically: after",
  "UsageStore.append: before",
  "UsageStore.append: after",
  "UsageStore.void: after",
  "UsageStore.build: in a transaction",
  "UsageStore.sweep: in a transaction",
  "Collections(Meter).modify: after",
] as const

const HOUR = 3_600_000

/** How far clocks may be wrong. */
const SKEWS = [0, 0, -600_000, 600_000, -HOUR, HOUR, 40, -40]
/** How long the whole world pauses, for example a suspended machine. */
const SKIPS = [10_000, 60_000, HOUR, 6 * HOUR, 30 * HOUR]

export class Nemesis {
  readonly #choice: Choice
  readonly #shared: Shared
  readonly #slots: ReadonlyArray<Slot>
  readonly #pace: number

  constructor(choice: Choice, shared: Shared, slots: ReadonlyArray<Slot>) {
    this.#choice = choice
    this.#shared = shared
    this.#slots = slots
    this.#pace = choice.pick([700, 1_500, 4_000, 60_000])
  }

  /** Works until it is interrupted. */
  readonly work = Effect.forever(
    Effect.suspend(() => Effect.andThen(Effect.sleep(this.#choice.int(50, this.#pace)), this.#strike)),
  )

  readonly #strike = Effect.suspend((): Effect.Effect<void> => {
    const slot = this.#choice.pick(this.#slots)!
    return this.#choice.weighted<() => Effect.Effect<void>>([
      [6, () => this.#arm(slot)],
      [2, () => this.#kill(slot)],
      [3, () => this.#stop(slot)],
      [2, () => this.#setClock(slot)],
      [1, () => this.#skip()],
      [2, () => this.#cutOff()],
      [2, () => this.#terminate(slot)],
    ])()
  })

  #arm({ process }: Slot): Effect.Effect<void> {
    const point = this.#choice.pick(WEBHOOK_POINTS)
    process.dieAt(point, this.#choice.int(1, 2))
    return Effect.void
  }

  #kill({ process }: Slot): Effect.Effect<void> {
    if (process.isDead) return Effect.void
    this.#happens("crash anywhere")
    process.kill()
    return Effect.void
  }

  #stop({ process }: Slot): Effect.Effect<void> {
    if (process.isDead || process.isStopped) return Effect.void
    this.#happens("stopped and continued")
    process.stop()
    return Effect.andThen(
      Effect.sleep(this.#choice.int(100, 8_000)),
      Effect.sync(() => process.resume()),
    )
  }

  #setClock({ skew }: Slot): Effect.Effect<void> {
    this.#happens("clock set")
    skew.millis = this.#choice.pick(SKEWS)!
    return Effect.void
  }

  #skip(): Effect.Effect<void> {
    this.#happens("clocks of all jump ahead")
    this.#shared.time.skippedMillis += this.#choice.pick(SKIPS)!
    return Effect.void
  }

  #cutOff(): Effect.Effect<void> {
    const { weather } = this.#shared
    this.#happens("storage out of reach")
    weather.isOutage = true
    return Effect.andThen(
      Effect.sleep(this.#choice.int(100, 4_000)),
      Effect.sync(() => {
        weather.isOutage = false
      }),
    )
  }

  #terminate(slot: Slot): Effect.Effect<void> {
    const { process } = slot
    if (process.isDead || process.isStopped || slot.isBusy) return Effect.void
    this.#happens("ended in order")
    slot.isBusy = true
    return Effect.andThen(
      process.end,
      Effect.sync(() => {
        process.kill()
        slot.isBusy = false
      }),
    )
  }

  #happens(fault: string): void {
    this.#shared.recorder.injects(`process: ${fault}`)
  }
}
