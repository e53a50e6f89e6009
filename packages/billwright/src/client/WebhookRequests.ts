/**
 * Webhook endpoints and deliveries over the API.
 */
import type { EventMap } from "../events/EventMap.ts"
import type { Attempt, Deliveries, Delivery, DeliveryWithAttempts } from "../webhooks/Deliveries.ts"
import type { Endpoint, Endpoints, EndpointWithSecret } from "../webhooks/Endpoints.ts"
import type { Connection } from "./Connection.ts"
import { list, path, read, write } from "./Requests.ts"

type SentSecret = Endpoint & { readonly secret?: string }

const withSecret = (endpoint: SentSecret): EndpointWithSecret => ({
  ...endpoint,
  secret: endpoint.secret ?? null,
})

export const makeEndpoints = (connection: Connection): Endpoints<EventMap> => ({
  create: async (input, options) =>
    withSecret(await write<SentSecret>(connection, "POST", "/webhook_endpoints", input, options)),
  get: (id, options) => read(connection, path`/webhook_endpoints/${id}`, undefined, options),
  list: (query, options) => list<object, Endpoint>(connection, "/webhook_endpoints", query, options),
  update: (id, input, options) => write(connection, "PATCH", path`/webhook_endpoints/${id}`, input, options),
  delete: async (id, options) => {
    await write(connection, "DELETE", path`/webhook_endpoints/${id}`, undefined, options)
  },
  rotateSecret: async (id, input, options) => {
    const to = path`/webhook_endpoints/${id}/rotate_secret`
    return withSecret(await write<SentSecret>(connection, "POST", to, input ?? {}, options))
  },
  test: (id, input, options) =>
    write(connection, "POST", path`/webhook_endpoints/${id}/test`, input, options),
  replay: async (id, input, options) => {
    const to = path`/webhook_endpoints/${id}/replay`
    return (await write<{ readonly count: number }>(connection, "POST", to, input, options)).count
  },
})

type SentAttempt = Omit<Attempt, "durationMillis"> & { readonly durationMs: number | null }

const toAttempt = ({ durationMs, ...attempt }: SentAttempt): Attempt => ({
  ...attempt,
  durationMillis: durationMs,
})

export const makeDeliveries = (connection: Connection): Deliveries => ({
  get: async (id, options): Promise<DeliveryWithAttempts> => {
    const from = path`/deliveries/${id}`
    const found = await read<
      Omit<DeliveryWithAttempts, "attempts"> & { readonly attempts: ReadonlyArray<SentAttempt> }
    >(connection, from, undefined, options)
    return { ...found, attempts: found.attempts.map(toAttempt) }
  },
  list: (query, options) => list<object, Delivery>(connection, "/deliveries", query, options),
  replay: (id, options) => write(connection, "POST", path`/deliveries/${id}/replay`, undefined, options),
  statistics: (query, options) => read(connection, "/webhook_statistics", query, options),
})
