/**
 * Subscriptions over the API.
 */
import type { CreateSubscription, Subscriptions } from "../subscriptions/Subscriptions.ts"
import type { Connection } from "./Connection.ts"
import { list, path, read, write } from "./Requests.ts"
import { toWire } from "./WireNames.ts"

const toCreate = ({ trial, ...input }: CreateSubscription): object => ({
  ...input,
  ...(trial === undefined
    ? {}
    : { trial: typeof trial === "object" && trial !== null ? toWire(trial) : trial }),
})

export const makeSubscriptions = (connection: Connection): Subscriptions => ({
  create: (input, options) => write(connection, "POST", "/subscriptions", toCreate(input), options),
  get: (id, options) => read(connection, path`/subscriptions/${id}`, undefined, options),
  list: (query, options) => list(connection, "/subscriptions", query, options),
  change: (id, input, options) =>
    write(connection, "POST", path`/subscriptions/${id}/change`, input, options),
  cancel: (id, input, options) =>
    write(connection, "POST", path`/subscriptions/${id}/cancel`, input, options),
  uncancel: (id, options) =>
    write(connection, "POST", path`/subscriptions/${id}/uncancel`, undefined, options),
  pause: (id, input, options) =>
    write(connection, "POST", path`/subscriptions/${id}/pause`, input ?? {}, options),
  resume: (id, input, options) =>
    write(connection, "POST", path`/subscriptions/${id}/resume`, input ?? {}, options),
})
