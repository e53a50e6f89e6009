/**
 * Forks: what would happen to a customer, on a copy that is thrown away.
 */
import type { Instant } from "../Call.ts"
import type { TestDuration } from "../testing/Testing.ts"

/** The clock of a fork. It begins at the time of the customer, and moves only when it is told to. */
export interface ForkClock {
  /** The current time of the fork. */
  readonly now: Date
  /**
   * Moves the clock, and does what becomes due meanwhile, each at its instant: subscriptions renew and end, invoices are
   * issued and paid, credits expire. Any length is possible.
   */
  advance(duration: TestDuration): Promise<void>
  /** The same, up to an instant. It must not be before `now`, nor after the year 9999. */
  advanceTo(instant: Instant): Promise<void>
}

/** How a customer is exported. */
export interface ExportCustomer {
  /**
   * `false`: without what names a person. Name, e-mail address, postal address, tax id, metadata, idempotency keys and the
   * last digits of cards are taken out. Descriptions and dimensions of usage stay. Default `true`.
   */
  readonly personalData?: boolean
}
