/**
 * A client with types that were generated from the served document, as a user of another library writes it.
 * ForeignClient.test.ts compiles and runs it in a directory with the generated `schema.d.mts`.
 */
import createClient from "openapi-fetch"
import type { components, paths, webhooks } from "./schema.mjs"

const [, , baseUrl = "", apiKey = ""] = process.argv
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } })

const required = <A,>(answer: { readonly data?: A; readonly error?: unknown }): A => {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error))
  return answer.data
}

const customer: components["schemas"]["Customer"] = required(
  await client.POST("/v1/customers", {
    body: { name: "Ada Lovelace", email: "ada@example.com", metadata: { plan: "pro" } },
    params: { header: { "Idempotency-Key": "tour-customer" } },
  }),
)

const listed = required(await client.GET("/v1/customers", { params: { query: { limit: 10 } } }))

const record = required(
  await client.POST("/v1/usage", {
    body: {
      customer_id: customer.id,
      product_id: "api",
      quantity: 5,
      unit: "call",
      idempotency_key: "tour-1",
    },
  }),
)

const batch = required(
  await client.POST("/v1/usage/batch", {
    body: {
      records: [
        { customer_id: customer.id, product_id: "api", quantity: 7, unit: "call" },
        { customer_id: customer.id, product_id: "api", quantity: 5, unit: "call", idempotency_key: "tour-1" },
      ],
    },
  }),
)

const summary = required(
  await client.GET("/v1/usage", {
    params: { query: { customer_id: customer.id, start_date: "2000-01-01", end_date: "2100-01-01" } },
  }),
)

const series = required(
  await client.GET("/v1/usage/series", {
    params: {
      query: { customer_id: customer.id, start_date: "2026-11-21", end_date: "2026-11-22", window: "day" },
    },
  }),
)

const voided = required(
  await client.POST("/v1/usage/records/{id}/void", { params: { path: { id: record.id } } }),
)

const threshold = required(
  await client.POST("/v1/usage/thresholds", {
    body: { customer_id: customer.id, product_id: "api", unit: "call", quantity: 10, period: "month" },
  }),
)

const changed = required(
  await client.PATCH("/v1/customers/{id}", {
    params: { path: { id: customer.id } },
    body: { metadata: { plan: null } },
  }),
)

const endpoint = required(
  await client.POST("/v1/webhook_endpoints", {
    body: { url: "http://localhost:9/hooks", event_types: ["invoice.paid"], headers: { "x-team": "books" } },
  }),
)

const published = required(
  await client.POST("/v1/events", {
    body: {
      type: "invoice.paid",
      data: { invoice_id: "in_1", customer_id: customer.id, amount: 4200, currency: "EUR" },
      customer_id: customer.id,
    },
  }),
)

const event = required(await client.GET("/v1/events/{id}", { params: { path: { id: published.id } } }))

const delivery = required(
  await client.GET("/v1/deliveries/{id}", { params: { path: { id: event.deliveries[0]?.id ?? "" } } }),
)

// A body may be left out if all of its fields are optional.
const replays = required(
  await client.POST("/v1/events/{id}/replay", { params: { path: { id: published.id } } }),
)

const rotated = required(
  await client.POST("/v1/webhook_endpoints/{id}/rotate_secret", { params: { path: { id: endpoint.id } } }),
)

const types = required(await client.GET("/v1/event_types"))

const stream = await client.GET("/v1/events/stream", {
  params: { query: { types: "invoice.paid" }, header: { "Last-Event-ID": published.id } },
  parseAs: "stream",
})
const streamType = stream.response.headers.get("content-type")
await stream.data?.cancel()

/** A receiver: the payload has the types of the document. */
type InvoicePaid = webhooks["invoice.paid"]["post"]["requestBody"]["content"]["application/json"]
const amountOf = ({ data, type }: InvoicePaid): string => `${type} ${data.amount} ${data.currency}`

const missing = await client.GET("/v1/customers/{id}", { params: { path: { id: "cus_unknown" } } })
const errorCode: string | undefined = missing.error?.error

// What the types must refuse.
// @ts-expect-error name is missing
const noName: components["schemas"]["CreateCustomer"] = { email: "ada@example.com" }
// @ts-expect-error quantities are numbers
const textQuantity: components["schemas"]["RecordUsage"]["quantity"] = "5"
// @ts-expect-error there is no such window
const noWindow: paths["/v1/usage/series"]["get"]["parameters"]["query"]["window"] = "week"
// @ts-expect-error customer_id is required
const noCustomer: paths["/v1/usage"]["get"]["parameters"]["query"] = {}
// @ts-expect-error there is no such status
const noStatus: components["schemas"]["Delivery"]["status"] = "pending"
// @ts-expect-error an amount is a number
const textAmount: InvoicePaid["data"]["amount"] = "42"
void [noName, textQuantity, noWindow, noCustomer, noStatus, textAmount]

process.stdout.write(
  JSON.stringify({
    customer: customer.name,
    listed: listed.data.map(({ id }) => id === customer.id),
    record: record.quantity,
    batch: batch.data.map(({ status }) => status),
    total: summary.total_quantity,
    unit: summary.unit,
    series: series.data.map(({ quantity }) => quantity),
    voided: voided.voided_at !== null,
    threshold: threshold.period,
    metadata: changed.metadata,
    secrets: [endpoint.secret, rotated.secret].map((secret) => secret?.slice(0, 6)),
    event: [event.type, event.data],
    delivery: [delivery.status, delivery.attempts.length, delivery.endpoint_id === endpoint.id],
    replays: replays.data.length,
    types: types.data.map(({ type }) => type).includes("invoice.paid"),
    stream: streamType,
    amount: amountOf({
      id: event.id,
      type: "invoice.paid",
      timestamp: event.timestamp,
      livemode: event.livemode,
      data: { invoice_id: "in_1", customer_id: customer.id, amount: 4200, currency: "EUR" },
    }),
    missing: [missing.response.status, errorCode],
  }),
)
