/**
 * Converts actions of the simulation to requests of the REST API, and its answers to results.
 */
import type { Answer, Ask, UsageAsked } from "@billwright/simulation"

export interface Request {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Response {
  readonly status: number
  readonly text: string
  readonly body: Body
  readonly headers: Headers
}

type Body = Readonly<Record<string, unknown>>
type Tag = Ask["_tag"]
type AskOf<T extends Tag> = Extract<Ask, { readonly _tag: T }>
type Done = Extract<Answer, { readonly _tag: "Done" }>

interface Operation<T extends Tag> {
  readonly request: (ask: AskOf<T>) => Request
  readonly done: (response: Response) => Omit<Done, "_tag">
}

const post = (path: string, body: unknown = {}, headers: Record<string, string> = {}): Request => ({
  method: "POST",
  path,
  body,
  headers,
})

const idOf = ({ body }: Response) => ({ ids: [String(body["id"])] })
const nothing = () => ({ ids: [] })
const listOf = (body: Body): ReadonlyArray<Body> => (body["data"] ?? []) as ReadonlyArray<Body>

const usageBody = ({ customerId, dimensions, key, productId, quantity, unit }: UsageAsked) => ({
  customer_id: customerId,
  product_id: productId,
  unit,
  quantity,
  dimensions,
  ...(key === null ? {} : { idempotency_key: key }),
})

/** Data of an event, with a marker by which the event can be recognized. */
const dataOf = (type: string, marker: string) => ({
  ...(type.startsWith("payment.") ? { payment_id: marker } : { invoice_id: marker }),
  customer_id: "c_1",
  amount: 4200,
  currency: "EUR",
})

const secretOf = (response: Response) => ({ ...idOf(response), secret: String(response.body["secret"]) })

const usageDone = ({ body, status }: Response) =>
  body["object"] === "usage_batch"
    ? {
        ids: listOf(body).map((one) => String(one["id"])),
        repeats: listOf(body).map((one) => one["status"] === "duplicate"),
      }
    : { ids: [String(body["id"])], repeats: [status === 200] }

const NUMBER = /"total_quantity":(\d+)/

const totalOf = ({ text }: Response) => ({ ids: [], total: BigInt(NUMBER.exec(text)![1]!) })

/** The actions that exist over HTTP. `RecordAndPublish` needs a transaction of the host, so it is missing. */
const operations: { readonly [T in Exclude<Tag, "RecordAndPublish" | "ReadForeign">]: Operation<T> } = {
  CreateCustomer: {
    request: ({ isValid, key, marker }) =>
      post(
        "/customers",
        { name: isValid ? marker : "", email: "ada@example.com" },
        { "idempotency-key": key },
      ),
    done: ({ body, headers, status, text }) => ({
      ids: [String(body["id"])],
      response: { status, body: text, isReplay: headers.get("idempotent-replayed") === "true" },
    }),
  },
  EraseCustomer: {
    request: ({ customerId }) => ({ method: "DELETE", path: `/customers/${customerId}` }),
    done: idOf,
  },
  RecordUsage: {
    request: ({ records }) =>
      records.length === 1
        ? post("/usage", usageBody(records[0]!))
        : post("/usage/batch", { records: records.map(usageBody) }),
    done: usageDone,
  },
  VoidUsage: { request: ({ recordId }) => post(`/usage/records/${recordId}/void`), done: idOf },
  CreateThreshold: {
    request: ({ customerId, period, productId, quantity, unit }) =>
      post("/usage/thresholds", {
        customer_id: customerId,
        product_id: productId,
        unit,
        quantity: Number(quantity),
        period,
      }),
    done: idOf,
  },
  PublishEvent: {
    request: ({ key, marker, type }) =>
      post("/events", {
        type,
        data: dataOf(type, marker),
        ...(key === null ? {} : { idempotency_key: key }),
      }),
    done: (response) => ({ ...idOf(response), repeats: [response.status === 200] }),
  },
  CreateEndpoint: {
    request: ({ eventTypes, url }) => post("/webhook_endpoints", { url, event_types: eventTypes }),
    done: secretOf,
  },
  UpdateEndpoint: {
    request: ({ endpointId, eventTypes, status }) => ({
      method: "PATCH",
      path: `/webhook_endpoints/${endpointId}`,
      body: {
        ...(status === undefined ? {} : { status }),
        ...(eventTypes === undefined ? {} : { event_types: eventTypes }),
      },
    }),
    done: idOf,
  },
  DeleteEndpoint: {
    request: ({ endpointId }) => ({ method: "DELETE", path: `/webhook_endpoints/${endpointId}` }),
    done: idOf,
  },
  RotateSecret: {
    request: ({ endpointId, overlapSeconds }) =>
      post(`/webhook_endpoints/${endpointId}/rotate_secret`, {
        expire_previous_after_seconds: overlapSeconds,
      }),
    done: secretOf,
  },
  TestEndpoint: {
    request: ({ endpointId, type }) => post(`/webhook_endpoints/${endpointId}/test`, { type }),
    done: idOf,
  },
  ReplayEvent: {
    request: ({ endpointId, eventId }) =>
      post(`/events/${eventId}/replay`, endpointId === undefined ? {} : { endpoint_id: endpointId }),
    done: ({ body }) => ({ ids: listOf(body).map((one) => String(one["id"])) }),
  },
  ReplayDelivery: { request: ({ deliveryId }) => post(`/deliveries/${deliveryId}/replay`), done: idOf },
  ReplayRange: {
    request: ({ endpointId }) =>
      post(`/webhook_endpoints/${endpointId}/replay`, { since: "2000-01-01T00:00:00Z" }),
    done: nothing,
  },
  CreateMeter: {
    request: ({ _tag, productId, ...meter }) => post("/meters", { ...meter, product_id: productId }),
    done: idOf,
  },
  UpdateMeter: {
    request: ({ _tag, meterId, ...change }) => ({
      method: "PATCH",
      path: `/meters/${meterId}`,
      body: change,
    }),
    done: idOf,
  },
  ReadMeter: {
    request: ({ customerId, endDate, meter, startDate }) => {
      const dates = { start_date: startDate, end_date: endDate }
      const query = new URLSearchParams({ customer_id: customerId, meter, ...dates })
      return { method: "GET", path: `/usage?${query.toString()}` }
    },
    done: totalOf,
  },
  ReadTotal: {
    request: ({ customerId, productId, unit }) => {
      const query = new URLSearchParams({ customer_id: customerId, product_id: productId, unit })
      return { method: "GET", path: `/usage?${query.toString()}` }
    },
    done: totalOf,
  },
}

const operationOf = (tag: Tag): Operation<Tag> => operations[tag as keyof typeof operations] as Operation<Tag>

/** Whether the API has this action. */
export const isOfApi = (tag: Tag): boolean => tag in operations

export const requestOf = (ask: Ask): Request => operationOf(ask._tag).request(ask)

/** A refusal of usage because its key was used with other content. The checkers use this name. */
const errorOf = (ask: Ask, { body, status }: Response): string =>
  ask._tag === "RecordUsage" && status === 409 ? "UsageKeyConflict" : String(body["error"])

/** Whether an answer allows a repeat. A repeat may also arrive while the first request is still running. */
export const isRefusal = ({ body, headers, status }: Response): boolean => {
  const hasRetryAfter = /^[1-9]\d*$/.test(headers.get("retry-after") ?? "")
  return hasRetryAfter && (status === 503 || (status === 409 && body["error"] === "conflict"))
}

/** The result of an answer. After a refusal it is unknown whether the request was carried out. */
export const answerOf = (ask: Ask, response: Response): Answer => {
  const { status } = response
  if (status >= 500 || isRefusal(response)) return { _tag: "Unknown" }
  return status < 300
    ? { _tag: "Done", ...operationOf(ask._tag).done(response) }
    : { _tag: "Rejected", error: errorOf(ask, response) }
}

const MARKER = /"(?:invoice|payment)_id":"([^"]+)"/

const ROUTES: ReadonlyArray<readonly [RegExp, (id: string, body: Body) => Ask]> = [
  [
    /^POST \/customers$/,
    (_, body) => {
      const marker = String(body["name"])
      return { _tag: "CreateCustomer", marker, key: crypto.randomUUID(), isValid: true }
    },
  ],
  [/^DELETE \/customers\/(\w+)$/, (customerId) => ({ _tag: "EraseCustomer", customerId })],
  [/^POST \/usage$/, (_, body) => ({ _tag: "RecordUsage", records: [usageOf(body)] })],
  [
    /^POST \/usage\/batch$/,
    (_, body) => ({
      _tag: "RecordUsage",
      records: (body["records"] as ReadonlyArray<Body>).map(usageOf),
    }),
  ],
  [
    /^POST \/events$/,
    (_, body) => ({
      _tag: "PublishEvent",
      type: String(body["type"]),
      marker: MARKER.exec(JSON.stringify(body["data"]))?.[1] ?? "",
      key: (body["idempotency_key"] ?? null) as string | null,
    }),
  ],
  [
    /^POST \/webhook_endpoints$/,
    (_, body) => ({
      _tag: "CreateEndpoint",
      url: String(body["url"]),
      eventTypes: body["event_types"] as ReadonlyArray<string>,
    }),
  ],
  [
    /^PATCH \/webhook_endpoints\/(\w+)$/,
    (endpointId, body) => ({
      _tag: "UpdateEndpoint",
      endpointId,
      status: body["status"] as "enabled",
      eventTypes: body["event_types"] as ReadonlyArray<string>,
    }),
  ],
  [/^DELETE \/webhook_endpoints\/(\w+)$/, (endpointId) => ({ _tag: "DeleteEndpoint", endpointId })],
  [
    /^POST \/webhook_endpoints\/(\w+)\/rotate_secret$/,
    (endpointId, body) => ({
      _tag: "RotateSecret",
      endpointId,
      overlapSeconds: Number(body["expire_previous_after_seconds"] ?? DAY_SECONDS),
    }),
  ],
  [/^POST \/webhook_endpoints\/(\w+)\/replay$/, (endpointId) => ({ _tag: "ReplayRange", endpointId })],
  [/^POST \/deliveries\/(\w+)\/replay$/, (deliveryId) => ({ _tag: "ReplayDelivery", deliveryId })],
]

const DAY_SECONDS = 86_400

const usageOf = (body: Body): UsageAsked => ({
  customerId: String(body["customer_id"]),
  productId: String(body["product_id"]),
  unit: String(body["unit"]),
  quantity: Number(body["quantity"]),
  dimensions: (body["dimensions"] ?? {}) as Readonly<Record<string, string>>,
  key: (body["idempotency_key"] ?? null) as string | null,
})

/** The action of a request, if the history has a name for it. */
export const askOf = (method: string, path: string, body: unknown): Ask | undefined => {
  for (const [pattern, make] of ROUTES) {
    const found = pattern.exec(`${method} ${path}`)
    if (found !== null) return make(found[1] ?? "", (body ?? {}) as Body)
  }
  return undefined
}
