/**
 * A server with the data of a day: customers, usage, endpoints that work, fail or are disabled, and their deliveries.
 */
import * as BillingSample from "./BillingSample.ts"
import * as Host from "./Host.ts"

const HOUR_MILLIS = 3_600_000
const DAY_MILLIS = 24 * HOUR_MILLIS
const HOURS = 23
const DAYS_OF_USAGE = 30
/** How often to check whether everything was sent, in milliseconds. */
const LOOK_MILLIS = 40

/** A hostile answer of a receiver, which attacks the reader of the dashboard. */
export const HOSTILE_BODY = `<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"><svg onload="window.hacked = 1"></svg><a href="javascript:window.hacked = 1">click</a>`

const CUSTOMERS = [
  ["Ada Lovelace", "ada@example.com"],
  ["Grace Hopper", "grace@example.com"],
  ["Katherine Johnson", "katherine@example.com"],
  ["Alan Turing", "alan@example.com"],
  ["Barbara Liskov", "barbara@example.com"],
  ["Donald Knuth", "donald@example.com"],
  ["Edsger Dijkstra", "edsger@example.com"],
  ["Frances Allen", "frances@example.com"],
] as const

const settled = async (host: Host.Host): Promise<void> => {
  for (;;) {
    const { data } = await host.call("GET", "/deliveries?status=Pending&limit=1")
    if ((data as ReadonlyArray<unknown>).length === 0) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_MILLIS))
  }
}

const createCustomers = async (host: Host.Host): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  for (const [name, email] of CUSTOMERS) {
    const metadata = { plan: ids.length % 2 === 0 ? "pro" : "free", country: "GB" }
    ids.push(String((await host.call("POST", "/customers", { name, email, metadata }))["id"]))
  }
  return ids
}

/** Usage for each day, more on later days. It is not random, so that screenshots stay the same. */
const recordUsage = async (host: Host.Host, customerId: string): Promise<void> => {
  const records = Array.from({ length: DAYS_OF_USAGE }, (_, day) => {
    const timestamp = new Date(Date.now() - (DAYS_OF_USAGE - 1 - day) * DAY_MILLIS - 60_000).toISOString()
    const wave = 1 + Math.sin(day / 2.3) / 3 + ((day * 7) % 5) / 9
    return [
      { product_id: "api", unit: "call", quantity: Math.round(1_400 * wave + day * 55) },
      { product_id: "storage", unit: "byte", quantity: 9_007_199_254_740_991 - day },
      { product_id: "sms", unit: "message", quantity: Math.round(30 * wave) },
    ].map((meter) => ({ customer_id: customerId, timestamp, ...meter }))
  }).flat()
  await host.call("POST", "/usage/batch", { records })
}

const MODELS = ["opus", "haiku", "sonnet"] as const
const KINDS = ["input", "output"] as const

/** Tokens by model and kind for each day, and meters of them. One of the meters is archived. */
const recordTokens = async (host: Host.Host, customerId: string): Promise<void> => {
  const records = Array.from({ length: DAYS_OF_USAGE }, (_, day) => {
    const timestamp = new Date(Date.now() - (DAYS_OF_USAGE - 1 - day) * DAY_MILLIS - 60_000).toISOString()
    return MODELS.flatMap((model, place) =>
      KINDS.map((kind, other) => ({
        customer_id: customerId,
        timestamp,
        product_id: "chat",
        unit: "token",
        quantity: (place + 2) * (5 - other) * (100 + ((day * 7) % 11) * 9),
        dimensions: { model, kind, user: `user-${(day + place) % 4}` },
      })),
    )
  }).flat()
  await host.call("POST", "/usage/batch", { records })
  const of = { product_id: "chat", unit: "token" }
  await host.call("POST", "/meters", { ...of, key: "tokens", name: "Tokens", dimensions: ["model", "kind"] })
  await host.call("POST", "/meters", {
    ...of,
    key: "active_users",
    aggregation: "unique_count",
    dimensions: ["user"],
    counted: "user",
  })
  const { id } = await host.call("POST", "/meters", { ...of, key: "old", aggregation: "max" })
  await host.call("DELETE", `/meters/${String(id)}`)
}

const createThresholds = async (host: Host.Host, customerId: string): Promise<void> => {
  const meters = [
    ["api", "call", 100_000, "month"],
    ["sms", "message", 500, "lifetime"],
    ["storage", "byte", 1e18, "lifetime"],
  ] as const
  for (const [product_id, unit, quantity, period] of meters)
    await host.call("POST", "/usage/thresholds", {
      customer_id: customerId,
      product_id,
      unit,
      quantity,
      period,
    })
}

interface EventType {
  readonly type: string
  readonly example: unknown
}

/** Publishes the events of an hour. The answers of receivers change in between, so that some deliveries fail. */
const publishHour = async (
  host: Host.Host,
  hour: number,
  types: ReadonlyArray<EventType>,
  customers: ReadonlyArray<string>,
): Promise<void> => {
  const count = 2 + ((hour * 5) % 7)
  for (let index = 0; index < count; index++) {
    const { example, type } = types[(hour + index) % types.length]!
    await host.call("POST", "/events", {
      type,
      data: example,
      customer_id: customers[(hour * 3 + index) % customers.length],
    })
  }
  await settled(host)
}

export interface Sample {
  readonly host: Host.Host
  readonly billing: BillingSample.BillingSample
  readonly customerId: string
  /** A customer with usage by meters. */
  readonly meteredId: string
  /** The id of an event whose receiver gave the hostile answer. */
  readonly failedEventId: string
  readonly failedDeliveryId: string
  readonly endpointId: string
  readonly close: () => Promise<void>
}

const idOfFirst = async (host: Host.Host, path: string, field = "id"): Promise<string> => {
  const { data } = await host.call("GET", path)
  return String((data as ReadonlyArray<Record<string, unknown>>)[0]?.[field])
}

/** Makes the sample. It takes some seconds. */
export const make = async (options: Host.HostOptions = {}): Promise<Sample> => {
  const host = await Host.start({ ...options, behindMillis: HOURS * HOUR_MILLIS })
  const [steady, shaky] = [await Host.startReceiver(), await Host.startReceiver()]
  const customers = await createCustomers(host)
  const createEndpoint = async (url: string, event_types: ReadonlyArray<string>, description?: string) =>
    String((await host.call("POST", "/webhook_endpoints", { url, event_types, description }))["id"])
  const off = await createEndpoint(`${steady.url}/legacy`, ["invoice.created"], "Old billing system")
  await host.call("PATCH", `/webhook_endpoints/${off}`, { status: "disabled" })
  await createEndpoint(`${steady.url}/webhooks`, ["*"], "Warehouse")
  const endpointId = await createEndpoint(`${shaky.url}/hooks/billing`, ["invoice.paid", "payment.failed"])
  const types = (await host.call("GET", "/event_types"))["data"] as ReadonlyArray<EventType>
  for (let hour = 0; hour < HOURS; hour++) {
    host.setBehind((HOURS - hour) * HOUR_MILLIS)
    const isDown = hour % 6 === 2 || hour === HOURS - 1
    Object.assign(
      shaky.answer,
      isDown ? { status: 500, body: HOSTILE_BODY, contentType: "text/html" } : { status: 200, body: "ok" },
    )
    await publishHour(host, hour, types, customers)
  }
  host.setBehind(0)
  const customerId = customers[0]!
  await recordUsage(host, customerId)
  await createThresholds(host, customerId)
  const meteredId = customers[1]!
  await recordTokens(host, meteredId)
  const failed = "/deliveries?status=Failed&limit=1"
  const billing = await BillingSample.make(host)
  await settled(host)
  return {
    host,
    billing,
    customerId,
    meteredId,
    failedEventId: await idOfFirst(host, failed, "event_id"),
    failedDeliveryId: await idOfFirst(host, failed),
    endpointId,
    close: async () => {
      await host.close()
      await Promise.all([steady.close(), shaky.close()])
    },
  }
}

/** The names and paths of the pages. */
export const pagesOf = (sample: Sample): ReadonlyArray<readonly [name: string, path: string]> => [
  ["overview", "/"],
  ["events", "/events"],
  ["event", `/events/${sample.failedEventId}`],
  ["deliveries", "/deliveries"],
  ["delivery", `/deliveries/${sample.failedDeliveryId}`],
  ["endpoints", "/endpoints"],
  ["endpoint", `/endpoints/${sample.endpointId}`],
  ["usage", `/usage?customer=${sample.customerId}`],
  ["usage-by-meter", `/usage?customer=${sample.meteredId}&meter=tokens&group=model`],
  ["meters", "/usage/meters"],
  ["customers", "/customers"],
  ["customer", `/customers/${sample.billing.customerId}`],
  ["credits", `/customers/${sample.billing.customerId}/credits?unit=token`],
  ["payments", "/payments"],
  ["payment", `/payments/${sample.billing.paidPaymentId}`],
  ["troubled-payment", `/payments/${sample.billing.troubledPaymentId}`],
  ["attention", "/payments/attention"],
  ["audit-log", "/audit-log"],
  ["test-clocks", "/test-clocks"],
  ["test-clock", `/test-clocks/${sample.billing.clockId}`],
  ["money", "/money"],
  ["outstanding", "/invoices?figure=outstanding&currency=EUR"],
  ["plans", "/plans"],
  ["plan", "/plans/pro"],
  ["subscriptions", "/subscriptions"],
  ["subscription", `/subscriptions/${sample.billing.subscriptionId}`],
  ["invoices", "/invoices"],
  ["invoice", `/invoices/${sample.billing.paidInvoiceId}`],
  ["declined-invoice", `/invoices/${sample.billing.declinedInvoiceId}`],
  ["draft", `/invoices/${sample.billing.draftInvoiceId}`],
]
