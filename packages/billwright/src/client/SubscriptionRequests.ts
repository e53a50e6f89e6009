/**
 * Subscriptions over the API.
 */
import type { Invoice } from "../invoices/Invoices.ts"
import type {
  CreateSubscription,
  PreviewSubscription,
  SubscriptionPreview,
  Subscriptions,
} from "../subscriptions/Subscriptions.ts"
import type { Connection } from "./Connection.ts"
import { toInvoice } from "./InvoiceRequests.ts"
import { list, path, read, write } from "./Requests.ts"
import { toWire } from "./WireNames.ts"

const toCreate = ({ trial, ...input }: CreateSubscription): object => ({
  ...input,
  ...(trial === undefined
    ? {}
    : { trial: typeof trial === "object" && trial !== null ? toWire(trial) : trial }),
})

/** Where a preview is asked for, and its body. */
const toPreview = (input: PreviewSubscription): readonly [to: string, body: object] => {
  if (input.action === "create") {
    const { action: _, ...fields } = input
    return ["/subscriptions/preview", toCreate(fields)]
  }
  const { subscriptionId, ...fields } = input
  return [path`/subscriptions/${subscriptionId}/preview`, fields]
}

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
  preview: async (input, options) => {
    const [to, body] = toPreview(input)
    const sent = await write<SubscriptionPreview>(connection, "POST", to, body, options)
    return {
      ...sent,
      invoices: sent.invoices.map(toInvoice),
      nextInvoice: sent.nextInvoice === null ? null : toInvoice(sent.nextInvoice),
    }
  },
  reconcile: async (id, options) => {
    const sent = await write<{ readonly invoice: Invoice | null }>(
      connection,
      "POST",
      path`/subscriptions/${id}/reconcile`,
      undefined,
      options,
    )
    return sent.invoice === null ? null : toInvoice(sent.invoice)
  },
})
