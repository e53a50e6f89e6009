/**
 * What clients asked and were answered, written down while it happens.
 *
 * The order of a history is epoch microseconds here: processes, receivers and Postgres share this machine's clock.
 */
import type { Answer, Ask, Call, TenantName } from "@billwright/simulation"

const MICROS = 1_000
/**
 * What a transaction wrote may be seen a little after the instant that it says it committed at, when the disk is
 * slow. What is asked counts as asked so much earlier, which only makes the checkers ask for less.
 */
const VISIBILITY_MICROS = 2_000_000

export class Journal {
  readonly calls: Array<Call> = []
  /** Answers that no client should get, as text. */
  readonly defects: Array<string> = []
  /** Errors that clients got, as text. */
  readonly errors: Array<string> = []
  quietSince = Number.POSITIVE_INFINITY

  /** Writes down what is asked; gives what takes the answer. */
  asks(tenant: TenantName, ask: Ask): (answer: Answer) => void {
    const from = Date.now()
    const isQuiet = from * MICROS >= this.quietSince
    const order = isQuiet ? from * MICROS : from * MICROS - VISIBILITY_MICROS
    return (answer) => {
      const to = Date.now()
      const endOrder = to * MICROS + MICROS - 1
      this.calls.push({ order, endOrder, clock: [from, to], tenant, process: "server", ask, answer })
    }
  }

  /** All faults are over and everything is answered: from now on what is read must be exact. */
  quiet(): void {
    this.quietSince = Date.now() * MICROS
  }
}
