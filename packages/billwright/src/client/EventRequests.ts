/**
 * Events over the API.
 */
import type { EventMap } from "../events/EventMap.ts"
import type { EventOf, EventWithDeliveries, ListedEvent } from "../events/Events.ts"
import type { Delivery } from "../webhooks/Deliveries.ts"
import type { ClientEvents, ClientEventTypeInfo } from "./BillingClient.ts"
import type { Connection } from "./Connection.ts"
import { follow } from "./EventStream.ts"
import { list, path, read, readAll } from "./Requests.ts"
import { fromWire, toWire } from "./WireNames.ts"

type AnyEvent = EventOf<string, unknown>
type SentType = Omit<ClientEventTypeInfo, "name"> & { readonly type: string }

const publish =
  (connection: Connection): ClientEvents<EventMap>["publish"] =>
  async (input, options) => {
    const request = { method: "POST", path: "/events", body: toWire(input), signal: options?.signal } as const
    const { body, status } = await connection.send(request)
    return { event: fromWire(body), isDuplicate: status === 200 }
  }

export const makeEvents = (connection: Connection): ClientEvents<EventMap> => ({
  types: async (options) => {
    const request = { method: "GET", path: "/event_types", signal: options?.signal } as const
    return (await readAll<SentType>(connection, request)).map(({ type, ...info }) => ({
      name: type,
      ...info,
    }))
  },
  publish: publish(connection),
  get: (id, options) =>
    read<EventWithDeliveries<EventMap>>(connection, path`/events/${id}`, undefined, options),
  list: (query, options) => list<object, ListedEvent<EventMap>>(connection, "/events", query, options),
  replay: (id, to, options) =>
    readAll<Delivery>(connection, {
      method: "POST",
      path: path`/events/${id}/replay`,
      body: toWire(to ?? {}),
      signal: options?.signal,
    }),
  stream: (query = {}, options) => ({
    [Symbol.asyncIterator]: () => follow<AnyEvent>(connection, query, options?.signal),
  }),
})
