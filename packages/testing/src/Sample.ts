/**
 * Valid values to store in tests. A field that the test doesn't name has an ordinary value.
 *
 * Ids come from `IdGenerator`, so later samples have greater ids.
 */
import {
  ApiKey,
  CurrentTenant,
  Customer,
  Delivery,
  Dimensions,
  Endpoint,
  Event,
  EVENT_ID_PREFIX,
  EventId,
  IdGenerator,
  type Field,
  type IdempotentRequest,
  Plan,
  type Resource,
  type StoredApiKey,
  Tenant,
  UsageRecord,
} from "@billwright/core"
import { DateTime, Effect } from "effect"

/** The instant of an ISO 8601 text. */
export const instant = (iso: string): DateTime.Utc => DateTime.toUtc(DateTime.makeUnsafe(iso))

/** The creation time of samples, unless a test gives another. */
export const CREATED_AT = instant("2026-03-10T09:30:15.250Z")

/** A new account. */
export const accountId = Effect.sync(() => Tenant.AccountId.make(`test_${crypto.randomUUID()}`))

/** A new tenant, in live mode. */
export const tenant: Effect.Effect<Tenant.Tenant> = Effect.map(accountId, (account) => ({
  accountId: account,
  mode: "live",
}))

const next = <A>(prefix: string, make: (id: string) => A) =>
  Effect.flatMap(IdGenerator, (ids) => Effect.map(ids.next(prefix), make))

export const customerId = next(Customer.CUSTOMER_ID_PREFIX, (id) => Customer.CustomerId.make(id))

export const usageRecordId = next(UsageRecord.USAGE_RECORD_ID_PREFIX, (id) =>
  UsageRecord.UsageRecordId.make(id),
)

export const apiKeyId = next(ApiKey.API_KEY_ID_PREFIX, (id) => ApiKey.ApiKeyId.make(id))

export const eventId = next(EVENT_ID_PREFIX, (id) => EventId.make(id))

export const endpointId = next(Endpoint.ENDPOINT_ID_PREFIX, (id) => Endpoint.EndpointId.make(id))

export const planVersionId = next(Plan.PLAN_VERSION_ID_PREFIX, (id) => Plan.PlanVersionId.make(id))

export const deliveryId = next(Delivery.DELIVERY_ID_PREFIX, (id) => Delivery.DeliveryId.make(id))

/** A record of 1 call of the product `api`, without an idempotency key. Each record has its own timestamp. */
export const record = Effect.fnUntraced(function* (
  customer: Customer.CustomerId,
  fields: Partial<UsageRecord.NewUsageRecord> = {},
) {
  const made: UsageRecord.NewUsageRecord = {
    id: yield* usageRecordId,
    customerId: customer,
    productId: "api",
    quantity: 1,
    unit: "call",
    dimensions: Dimensions.NONE,
    timestamp: CREATED_AT,
    hasOwnTimestamp: true,
    idempotencyKey: null,
    voidedAt: null,
    createdAt: CREATED_AT,
    ...fields,
  }
  return made
})

/** The value of a field in the resource's example. Instants are `CREATED_AT`. */
export const exampleOf = (resource: Resource.Definition, name: string, field: Field.Field): unknown => {
  const sent = resource.example[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]
  if (sent === null) return null
  if (field.kind === "instant") return CREATED_AT
  if (field.kind === "json") return structuredClone(sent)
  return field.kind === "integer" ? BigInt(sent as number) : sent
}

/** A new id of a resource. */
export const idOf = <R extends Resource.Definition>({ prefix }: R) =>
  next(prefix, (id) => id as Resource.IdOf<R>)

/**
 * A value of a resource with a new id. It belongs to the customer, if values of the resource belong to customers. Its
 * unique fields end with its id. The other fields are those of its example.
 */
export const of = Effect.fnUntraced(function* <D extends Resource.Definition>(
  resource: Resource.Resource<D>,
  customer?: Customer.CustomerId,
  fields: Partial<Resource.ValueOf<Resource.Resource<D>>> = {},
) {
  const { customer: owner, fields: own, times }: Resource.Definition = resource
  const examples = Object.entries({ ...own, ...times }).map(
    ([name, field]) => [name, exampleOf(resource, name, field)] as const,
  )
  const id: string = yield* idOf(resource)
  const { example, unique = [] }: Resource.Definition = resource
  const made: object = {
    id,
    ...Object.fromEntries(examples),
    ...Object.fromEntries(
      unique.map((name) => [name, `${String(example[name])}_${id.slice(id.indexOf("_") + 1)}`]),
    ),
    ...(owner === undefined ? {} : { [owner]: customer }),
    ...fields,
  }
  return made as Resource.ValueOf<Resource.Resource<D>>
})

export const customer = (fields: Partial<Customer.Customer> = {}) =>
  of(Customer.customers, undefined, { metadata: {}, ...fields })

/** Version 1 of a plan with a flat fee. Its key is new. */
export const plan = Effect.fnUntraced(function* (fields: Partial<Plan.Plan> = {}) {
  const terms = fields.terms ?? {
    currencies: ["EUR"],
    interval: { unit: "month", count: 1 },
    charges: [{ key: "base", model: "flat", price: { EUR: "20.00" } }],
  }
  const id = yield* next(Plan.PLAN_ID_PREFIX, (text) => Plan.PlanId.make(text))
  const made: Plan.Plan = {
    id,
    key: id,
    name: "Pro",
    description: null,
    version: 1,
    versionId: yield* planVersionId,
    hash: Plan.hashOf(terms),
    terms,
    createdAt: CREATED_AT,
    updatedAt: CREATED_AT,
    ...fields,
  }
  return made
})

/** 64 new hexadecimal digits. */
export const digest = Effect.sync(() => (crypto.randomUUID() + crypto.randomUUID()).replaceAll("-", ""))

/** A key of the current tenant. */
export const apiKey = Effect.fnUntraced(function* (fields: Partial<ApiKey.ApiKey> = {}) {
  const { accountId: account, mode } = yield* CurrentTenant
  const key: ApiKey.ApiKey = {
    id: yield* apiKeyId,
    accountId: account,
    mode,
    name: "server",
    scopes: [],
    networks: [],
    creditLimits: {},
    hint: "wxyz",
    createdAt: CREATED_AT,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...fields,
  }
  const stored: StoredApiKey = { key, digest: yield* digest }
  return stored
})

export const request = (fields: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  method: "POST",
  path: "/v1/customers",
  key: "order-1001",
  fingerprint: "f".repeat(64),
  ...fields,
})

/** The input of an event sample: the fields of an event, and the data from which its payload is rendered. */
export interface EventFields extends Partial<Omit<Event.Event, "payload">> {
  readonly data?: unknown
}

/** An event of the current tenant: `invoice.paid`, for no customer, without an idempotency key. */
export const event = Effect.fnUntraced(function* ({ data = { amount: 100 }, ...fields }: EventFields = {}) {
  const { mode } = yield* CurrentTenant
  const made = {
    id: yield* eventId,
    type: "invoice.paid",
    timestamp: CREATED_AT,
    customerId: null,
    idempotencyKey: null,
    endpointId: null,
    ...fields,
  }
  const event: Event.Event = { ...made, payload: Event.render(made, mode, data) }
  return event
})

/** The id of the key that encrypts the secrets of samples. */
export const SEALED_BY = "sample"

/** A secret in its stored form. */
export const sealedSecret = (fields: Partial<Endpoint.EndpointSecret> = {}): Endpoint.EndpointSecret => ({
  sealed: `${SEALED_BY}.c2VhbGVk`,
  createdAt: CREATED_AT,
  expiresAt: null,
  ...fields,
})

/** An enabled endpoint for all event types, with one secret. */
export const endpoint = Effect.fnUntraced(function* (
  fields: Partial<Endpoint.Endpoint> = {},
  secrets: ReadonlyArray<Endpoint.EndpointSecret> = [sealedSecret()],
) {
  const made: Endpoint.Endpoint = {
    id: yield* endpointId,
    url: "https://example.com/hooks",
    eventTypes: [Endpoint.ALL_TYPES],
    description: null,
    headers: {},
    metadata: {},
    signature: "hmac",
    publicKey: null,
    status: "enabled",
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
    createdAt: CREATED_AT,
    updatedAt: CREATED_AT,
    ...fields,
  }
  const stored: Endpoint.StoredEndpoint = { endpoint: made, secrets }
  return stored
})

/** The fields of an endpoint that its owner disabled. */
export const disabled: Partial<Endpoint.Endpoint> = {
  status: "disabled",
  disabledReason: "manual",
  disabledAt: CREATED_AT,
}

/** An attempt that was answered 200. */
export const attempt = (fields: Partial<Delivery.Attempt> = {}): Delivery.Attempt => ({
  number: 1,
  startedAt: CREATED_AT,
  durationMillis: 12,
  requestHeaders: { "content-type": "application/json" },
  responseStatus: 200,
  responseHeaders: { server: "test" },
  responseBody: "ok",
  error: null,
  ...fields,
})
