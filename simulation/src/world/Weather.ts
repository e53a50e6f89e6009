/**
 * Decides on faults of the storage: how frequent each is.
 */
import { StorageError } from "@billwright/core"
import type { Choice } from "./Choice.ts"
import type { Recorder } from "./Recorder.ts"

/** The faults of a storage call. */
export type StorageFault =
  | "none"
  /** Slow before it is carried out, or before its answer. */
  | "slow"
  | "slow answer"
  /** Nothing was done. A repeat may work. */
  | "refused"
  /** Nothing was done. A repeat fails, too. */
  | "broken"
  /** It was carried out, but the answer is lost. */
  | "answer lost"
  /** It was not carried out, but the caller can't know. */
  | "request lost"

const WEIGHTS: ReadonlyArray<readonly [weight: number, fault: StorageFault]> = [
  [4, "slow"],
  [2, "slow answer"],
  [3, "refused"],
  [1, "broken"],
  [2, "answer lost"],
  [1, "request lost"],
]

const SLOW: ReadonlyArray<StorageFault> = ["slow", "slow answer"]

/** The faults within an open transaction. */
export type TransactionFault = "none" | "slow" | "refused"

export const refusal = (operation: string) => new StorageError({ operation, retryable: true })
export const breakage = (operation: string) => new StorageError({ operation, retryable: false })
export const uncertainty = (operation: string) =>
  new StorageError({ operation, retryable: false, isOutcomeUnknown: true })

/** The share of calls with a fault, one of these for each run. */
const RATES = [0, 0.02, 0.08, 0.2]

export class Weather {
  readonly #choice: Choice
  readonly #recorder: Recorder
  readonly #rate: number
  /** Whether there are no faults, before or after the storm. */
  isCalm = true
  /** Whether the storage is unreachable for all processes. */
  isOutage = false
  /** Whether nothing is slow, so that the clock stands still during a call. */
  isInstant = false
  /** How many faults are left before there are no more. */
  faultsLeft = Number.POSITIVE_INFINITY

  constructor(choice: Choice, recorder: Recorder) {
    this.#choice = choice
    this.#recorder = recorder
    this.#rate = choice.pick(RATES) ?? 0
  }

  /** The fault of the next call. */
  storageFault(): StorageFault {
    if (this.isCalm || this.faultsLeft <= 0) return "none"
    if (this.isOutage) return this.#happens("refused")
    if (!this.#choice.chance(this.#rate)) return "none"
    const fault = this.#choice.weighted(WEIGHTS)
    return this.isInstant && SLOW.includes(fault) ? "none" : this.#happens(fault)
  }

  /** The fault of the next call in a transaction. */
  transactionFault(): TransactionFault {
    if (this.isCalm || this.faultsLeft <= 0 || !this.#choice.chance(this.#rate / 2)) return "none"
    const fault = this.#choice.chance(0.6) ? "slow" : "refused"
    return this.isInstant && fault === "slow" ? "none" : this.#happens(fault)
  }

  /** The delay of a slow call: mostly short, sometimes longer than a lease. */
  slowness(): number {
    return this.#choice.chance(0.05) ? this.#choice.int(1_000, 7_500) : this.#choice.int(1, 150)
  }

  /** The delay of a slow call in a transaction. It is short, because it blocks all others. */
  transactionSlowness(): number {
    return this.#choice.int(1, 50)
  }

  #happens<Fault extends string>(fault: Fault): Fault {
    this.#recorder.injects(`storage: ${fault}`)
    this.faultsLeft--
    return fault
  }
}
