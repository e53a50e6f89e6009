/** The tour of the README with the client that OpenAPI Generator makes for TypeScript. */
import * as api from "./client/index.js"

const [, , basePath = "", accessToken = ""] = process.argv
const configuration = new api.Configuration({ basePath, accessToken })
const customers = new api.CustomersApi(configuration)
const usage = new api.UsageApi(configuration)

const customer = await customers.createCustomer({
  createCustomer: { name: "Ada Lovelace", email: "ada@example.com", metadata: { plan: "pro" } },
  idempotencyKey: "tour",
})
const first: api.RecordUsage = {
  customerId: customer.id,
  productId: "api",
  quantity: 9_007_199_254_740_991,
  unit: "call",
  timestamp: new Date("2026-11-20T08:15:00Z"),
  idempotencyKey: "request-8f14",
}
const record = await usage.recordUsage({ recordUsage: first })
const again = await usage.recordUsage({ recordUsage: first })
const endpoint = await new api.WebhookEndpointsApi(configuration).createWebhookEndpoint({
  createWebhookEndpoint: { url: "http://127.0.0.1:9", eventTypes: new Set(["*"]) },
})
const threshold = await new api.UsageThresholdsApi(configuration).createUsageThreshold({
  createUsageThreshold: {
    customerId: customer.id,
    productId: "api",
    unit: "call",
    // A multiple of 4, which a double holds exactly.
    quantity: 9_007_199_254_740_996,
    period: api.CreateUsageThresholdPeriodEnum.Month,
  },
})
await usage.recordUsage({
  recordUsage: {
    customerId: customer.id,
    productId: "api",
    quantity: 5,
    unit: "call",
    timestamp: new Date("2026-11-20T23:30:00-05:00"),
  },
})
const summary = await usage.summarizeUsage({
  customerId: customer.id,
  startDate: new Date("2026-11-01"),
  endDate: new Date("2026-11-30"),
})
const [delivery] = (await new api.DeliveriesApi(configuration).listDeliveries({ limit: 1 })).data
const replayed = await new api.EventsApi(configuration).replayEvent({ id: delivery?.eventId ?? "" })
const deleted = await customers.deleteCustomer({ id: customer.id })
const missing = await customers.getCustomer({ id: "cus_unknown" }).then(
  () => "",
  async (error: unknown) =>
    error instanceof api.ResponseError
      ? ((await error.response.json()) as { error: string }).error
      : Promise.reject(error),
)

process.stdout.write(
  JSON.stringify({
    customer: customer.name,
    plan: customer.metadata["plan"],
    quantity: String(record.quantity),
    repeated: again.id === record.id,
    secret: endpoint.secret?.slice(0, 6),
    threshold: String(threshold.quantity),
    total: String(summary.totalQuantity),
    unit: summary.unit,
    records: summary.recordCount,
    event: delivery?.eventType,
    replays: replayed.data.length,
    deleted: deleted.deleted,
    missing,
  }),
)
