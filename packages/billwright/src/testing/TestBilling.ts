/**
 * The result of `createTestBilling`, and its options.
 */
import type { Billing } from "../Billing.ts"
import type { BillingOptions, DispatcherOptions } from "../BillingOptions.ts"
import type { Instant } from "../Call.ts"
import type { EventDefinition } from "../events/EventDefinition.ts"
import type { BuiltInEvents } from "../events/EventMap.ts"
import type { Store } from "../Store.ts"
import type { Testing } from "./Testing.ts"

/** The options of `createTestBilling`: those of `createBilling`, and the time. */
export interface TestBillingOptions<
  Definitions extends ReadonlyArray<EventDefinition> = ReadonlyArray<EventDefinition>,
> extends Omit<BillingOptions<Definitions>, "dispatcher" | "network" | "store"> {
  /** Default: an empty `memory()`. */
  readonly store?: Store
  /** The time at the start. Default 2026-01-15T12:00:00Z, or the time of the snapshot. */
  readonly now?: Instant
  /**
   * A customer that `exportCustomer` or `billwright export` has written: the text of the file. Billing starts with this
   * customer, in its account and mode, at the time of the snapshot. Without `payments`, its payment provider is one that
   * moves no money, of the same name. Give the other options, such as `invoices`, the values that the real ones have.
   */
  readonly snapshot?: string
  /**
   * How webhooks are sent. They go to `testing.receiver(url)`, when `testing.advance`, `testing.deliveries` or
   * `deliverDue` is called.
   */
  readonly dispatcher?: DispatcherOptions
}

/** The result of `createTestBilling`: a `Billing` with `testing`. */
export interface TestBilling<Map = BuiltInEvents> extends Billing<Map> {
  readonly testing: Testing<keyof Map & string>
}
