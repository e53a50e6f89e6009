/**
 * What goes wrong: how often each fault is to be expected, and where a process is to die.
 */
import { StorageError } from "@billwright/core"
import type { Choice } from "./Choice.ts"
import type { Recorder } from "./Recorder.ts"

/** What a storage verb may run into. */
export type StorageFault =
  | "none"
  /** It takes its time, before it is carried out or before it is answered. */
  | "slow"
  | "slow answer"
  /** Nothing happened: try again. */
  | "refused"
  /** Nothing happened, and trying again doesn't help. */
  | "broken"
  /** It was carried out, and nobody hears of it. */
  | "answer lost"
  /** It was not carried out, and nobody knows. */
  | "request lost"

const WEIGHTS: ReadonlyArray<readonly [weight: number, fault: StorageFault]> = [
  [4, "slow"],
  [2, "slow answer"],
  [3, "refused"],
  [1, "broken"],
  [2, "answer lost"],
  [1, "request lost"],
]

/** What a transaction may run into while it is open. */
export type TransactionFault = "none" | "slow" | "refused"

export const refusal = (operation: string) => new StorageError({ operation, retryable: true })
export const breakage = (operation: string) => new StorageError({ operation, retryable: false })
export const uncertainty = (operation: string) =>
  new StorageError({ operation, retryable: false, isOutcomeUnknown: true })

/** How much goes wrong, of 1. */
const RATES = [0, 0.02, 0.08, 0.2]

export class Weather {
  readonly #choice: Choice
  readonly #recorder: Recorder
  readonly #rate: number
  /** Nothing goes wrong any more, or not yet. */
  isCalm = true
  /** The storage is out of reach, for everybody. */
  isOutage = false

  constructor(choice: Choice, recorder: Recorder) {
    this.#choice = choice
    this.#recorder = recorder
    this.#rate = choice.pick(RATES) ?? 0
  }

  /** What happens to the next verb. */
  storageFault(): StorageFault {
    if (this.isCalm) return "none"
    if (this.isOutage) return this.#happens("refused")
    return this.#choice.chance(this.#rate) ? this.#happens(this.#choice.weighted(WEIGHTS)) : "none"
  }

  /** What happens to the next verb in a transaction. */
  transactionFault(): TransactionFault {
    if (this.isCalm || !this.#choice.chance(this.#rate / 2)) return "none"
    return this.#happens(this.#choice.chance(0.6) ? "slow" : "refused")
  }

  /** How long something slow takes. Most of it is short, and some is longer than a lease. */
  slowness(): number {
    return this.#choice.chance(0.05) ? this.#choice.int(1_000, 7_500) : this.#choice.int(1, 150)
  }

  /** How long something slow takes in a transaction, which holds up everybody. */
  transactionSlowness(): number {
    return this.#choice.int(1, 50)
  }

  #happens<Fault extends string>(fault: Fault): Fault {
    this.#recorder.injects(`storage: ${fault}`)
    return fault
  }
}
