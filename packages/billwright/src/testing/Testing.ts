/**
 * What a test can control: the clock, and the receivers of webhooks. It also has helpers that create test data.
 */
import type { Instant } from "../Call.ts"
import type { CreateCustomer, Customer } from "../customers/Customers.ts"
import type { Deliveries, DeliveryWithAttempts } from "../webhooks/Deliveries.ts"
import type { CreateEndpoint, EndpointWithSecret } from "../webhooks/Endpoints.ts"
import type { TestReceiver } from "./TestReceiver.ts"

/**
 * How far to move the clock: the sum of these fields, integers of at least 0. Years and months are those of the calendar in
 * UTC; a day that the month lacks becomes its last day. A day has 24 hours.
 */
export interface TestDuration {
  readonly milliseconds?: number
  readonly seconds?: number
  readonly minutes?: number
  readonly hours?: number
  readonly days?: number
  readonly months?: number
  readonly years?: number
}

/** An endpoint and its receiver. */
export interface TestEndpoint {
  readonly endpoint: EndpointWithSecret
  readonly receiver: TestReceiver
}

/** The clock, the receivers, and helpers that create test data. */
export interface Testing<Type extends string = string> {
  /** The current time of the test's clock. */
  readonly now: Date
  /**
   * Moves the clock, and does what becomes due meanwhile, each at its instant: subscriptions renew and end, invoices are
   * issued, webhooks are sent and retried. First it builds meters that are not built yet. Any length is possible: what is
   * done is what is due, and nothing else wakes. Many small steps do the same as a large one.
   *
   * ```ts
   * await billing.testing.advance({ years: 3 })
   * ```
   */
  advance(duration: TestDuration): Promise<void>
  /** The same, up to an instant. It must not be before `now`, nor after the year 9999. */
  advanceTo(instant: Instant): Promise<void>
  /**
   * Sends the webhooks that are due now and waits for the answers. Returns all deliveries of an account with their
   * attempts, oldest first. Default: the account and mode of this billing.
   */
  deliveries(account?: { readonly deliveries: Deliveries }): Promise<ReadonlyArray<DeliveryWithAttempts>>
  /** The receiver at a URL, with the requests that it got. Nothing goes over the network. */
  receiver(url: string): TestReceiver
  /** Creates a customer. Fields that are left out get test values. */
  customer(fields?: Partial<CreateCustomer>): Promise<Customer>
  /** Creates an endpoint with a receiver of its own. By default it subscribes to all event types. */
  endpoint(fields?: Partial<CreateEndpoint<Type>>): Promise<TestEndpoint>
}
