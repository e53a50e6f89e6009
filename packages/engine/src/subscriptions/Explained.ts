import type { LineRef } from "../invoices/Line.ts"
/**
 * An amount with the steps of its computation, from which more is subtracted.
 */
import * as Exact from "../money/Exact.ts"
import type { Rated } from "../rating/Rate.ts"
import type { Step } from "../rating/Step.ts"

/** An amount in the minor unit, and its steps. `fold` of the steps is the amount. */
export class Explained {
  readonly amount: bigint
  readonly steps: ReadonlyArray<Step>
  readonly #digits: number

  constructor(amount: bigint, steps: ReadonlyArray<Step>, digits: number) {
    this.amount = amount
    this.steps = steps
    this.#digits = digits
  }

  static of({ amount, steps }: Rated, digits: number): Explained {
    return new Explained(amount, steps, digits)
  }

  /** Subtracts what a document billed, or what belongs to another line (`null`). Subtracting 0 is no step. */
  less(billed: bigint, of: LineRef | null = null): Explained {
    if (billed === 0n) return this
    const amount = this.amount - billed
    const text = (units: bigint) => Exact.text(Exact.ofUnits(units, this.#digits))
    const step: Step = {
      type: "already_billed",
      invoice: of?.invoiceId ?? null,
      line: of?.lineId ?? null,
      billed: text(billed),
      amount: text(amount),
    }
    return new Explained(amount, [...this.steps, step], this.#digits)
  }
}
