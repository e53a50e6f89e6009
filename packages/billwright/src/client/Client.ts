/**
 * A client of the REST API, for any runtime with `fetch`.
 */
import type { BuiltInEvents, EventMap } from "../events/EventMap.ts"
import type { BillingClient } from "./BillingClient.ts"
import { type ClientOptions, Connection } from "./Connection.ts"
import { makeEvents } from "./EventRequests.ts"
import { makeResource } from "./ResourceRequests.ts"
import { makeUsage } from "./UsageRequests.ts"
import { makeDeliveries, makeEndpoints } from "./WebhookRequests.ts"

/**
 * Makes a client. Nothing is sent before the first call.
 *
 * ```ts
 * const billing = createClient({ url: "https://billing.example.com", apiKey })
 * await billing.usage.record({ customerId, productId: "api", quantity: 5, unit: "call" })
 * ```
 *
 * Every change carries an `Idempotency-Key` that the client makes, so that it can be tried again: after a lost
 * connection, a time-out, 429, 502, 503 and 504, at most `maxRetries` times, with growing delays or the one that
 * `Retry-After` asks for; one of more than a minute is not waited for.
 *
 * Events of your own are typed by a type argument: `createClient<BuiltInEvents & { "order.shipped": OrderShipped }>`.
 * Throws a `ConfigurationError` of `billwright`, by its `code` `invalid_configuration`, when options are wrong.
 */
export const createClient = <Map = BuiltInEvents>(options: ClientOptions): BillingClient<Map> => {
  const connection = new Connection(options)
  const client: BillingClient<EventMap> = {
    customers: makeResource(connection, {
      path: "/customers",
      removal: "erase",
      isMutable: true,
      integers: {},
    }),
    usage: makeUsage(connection),
    thresholds: makeResource(connection, {
      path: "/usage/thresholds",
      removal: "delete",
      isMutable: false,
      integers: { quantity: true },
    }),
    events: makeEvents(connection),
    endpoints: makeEndpoints(connection),
    deliveries: makeDeliveries(connection),
  }
  return client as unknown as BillingClient<Map>
}
