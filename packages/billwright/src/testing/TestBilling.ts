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
  /** The time at the start. Default 2026-01-15T12:00:00Z. */
  readonly now?: Instant
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
