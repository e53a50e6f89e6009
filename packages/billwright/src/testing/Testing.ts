/**
 * What a test can control: the clock, and the receivers of webhooks. It also has helpers that create test data.
 */
import type { CreateCustomer, Customer } from "../customers/Customers.ts"
import type { Deliveries, DeliveryWithAttempts } from "../webhooks/Deliveries.ts"
import type { CreateEndpoint, EndpointWithSecret } from "../webhooks/Endpoints.ts"
import type { TestReceiver } from "./TestReceiver.ts"

/** How far to move the clock: the sum of these fields. */
export interface TestDuration {
  readonly milliseconds?: number
  readonly seconds?: number
  readonly minutes?: number
  readonly hours?: number
  readonly days?: number
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
   * Moves the clock, and sends the webhooks and retries that become due meanwhile, each at its time.
   *
   * ```ts
   * await billing.testing.advance({ hours: 1 })
   * ```
   */
  advance(duration: TestDuration): Promise<void>
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
