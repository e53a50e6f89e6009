/**
 * What a test has in its hands beside billing: the time, the receivers of webhooks, and things to begin with.
 */
import type { CreateCustomer, Customer } from "../customers/Customers.ts"
import type { Deliveries, DeliveryWithAttempts } from "../webhooks/Deliveries.ts"
import type { CreateEndpoint, EndpointWithSecret } from "../webhooks/Endpoints.ts"
import type { TestReceiver } from "./TestReceiver.ts"

/** How far the clock is moved: the sum of these. */
export interface TestDuration {
  readonly milliseconds?: number
  readonly seconds?: number
  readonly minutes?: number
  readonly hours?: number
  readonly days?: number
}

/** An endpoint, and who receives what is sent to it. */
export interface TestEndpoint {
  readonly endpoint: EndpointWithSecret
  readonly receiver: TestReceiver
}

/** The time, the receivers, and things to begin with. */
export interface Testing<Type extends string = string> {
  /** What time it is for billing. It stands still. */
  readonly now: Date
  /**
   * Moves the clock, and sends what becomes due on the way, retries included, each at its time.
   *
   * ```ts
   * await billing.testing.advance({ hours: 1 })
   * ```
   */
  advance(duration: TestDuration): Promise<void>
  /**
   * Sends what is due now, waits for the answers, and gives all deliveries of an account with their attempts, oldest
   * first. Default: the account and mode of this billing.
   */
  deliveries(account?: { readonly deliveries: Deliveries }): Promise<ReadonlyArray<DeliveryWithAttempts>>
  /** The receiver at a URL: what it got, and what it answers from now on. Nothing goes over the network. */
  receiver(url: string): TestReceiver
  /** Creates a customer; what is left out has a value. */
  customer(fields?: Partial<CreateCustomer>): Promise<Customer>
  /** Creates an endpoint for all event types, unless told otherwise, with a receiver of its own. */
  endpoint(fields?: Partial<CreateEndpoint<Type>>): Promise<TestEndpoint>
}
