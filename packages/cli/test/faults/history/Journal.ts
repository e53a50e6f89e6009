/**
 * A record of the requests of clients and their answers.
 *
 * The order of a history is in epoch microseconds, because processes, receivers and Postgres share the clock of this
 * machine.
 */
import type { Answer, Ask, Call, TenantName } from "@billwright/simulation"

const MICROS = 1_000
/**
 * When the disk is slow, the writes of a transaction become visible after its commit time: seconds after it when other
 * processes write much. So requests count as sent this much earlier. This only makes the checkers less strict, and only
 * while faults last.
 */
const VISIBILITY_MICROS = 10_000_000

export class Journal {
  readonly calls: Array<Call> = []
  /** Answers that no client should get, as text. */
  readonly defects: Array<string> = []
  /** Errors that clients got, as text. */
  readonly errors: Array<string> = []
  quietSince = Number.POSITIVE_INFINITY

  /** Records a request. Returns a function that records its answer. */
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

  /** Called when all faults are over and all requests are answered. From now on all reads must be exact. */
  quiet(): void {
    this.quietSince = Date.now() * MICROS
  }
}
