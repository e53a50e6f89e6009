/**
 * The work that all sides of the router benchmark do for a request: verify the API key, record the usage on the
 * memory adapter, and render the answer. Reading, routing and validating the request is up to each side.
 */
import { ApiKeys, Billing, CurrentTenant, Customers, Tenant, Usage, type UsageRecord } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { type Context, DateTime, Effect, Layer, ManagedRuntime, Redacted } from "effect"

const CUSTOMERS = 1_000

type Services = Billing.Services | Billing.Storage

const tenant = { accountId: Tenant.defaultAccountId, mode: "live" } as const

/** The body of a request, with the names of the API. */
export interface UsageBody {
  readonly customer_id: string
  readonly product_id: string
  readonly quantity: number
  readonly unit: string
  readonly timestamp?: string
  readonly idempotency_key?: string
}

export interface Prepared {
  readonly context: Context.Context<Services>
  readonly key: string
  readonly customers: ReadonlyArray<string>
}

/** The services on an empty store, with a key and customers. */
export const prepare = async (): Promise<Prepared> => {
  const runtime = ManagedRuntime.make(Billing.layer.pipe(Layer.provideMerge(Memory.layer)))
  const { ids, secret } = await runtime.runPromise(
    Effect.gen(function* () {
      const customers = yield* Customers
      const issued = yield* (yield* ApiKeys).issue({ name: "bench" })
      const made = yield* Effect.forEach(
        Array.from({ length: CUSTOMERS }, (_, index) => index),
        (index) => customers.create({ name: `Customer ${index}`, email: `c${index}@example.com` }),
      )
      return { secret: issued.secret, ids: made.map(({ id }) => id) }
    }).pipe(Effect.provideService(CurrentTenant, tenant)),
  )
  return { context: await runtime.context(), key: Redacted.value(secret), customers: ids }
}

const render = (record: UsageRecord.UsageRecord) => ({
  object: "usage_record",
  id: record.id,
  customer_id: record.customerId,
  product_id: record.productId,
  quantity: record.quantity,
  unit: record.unit,
  timestamp: DateTime.formatIso(record.timestamp),
  idempotency_key: record.idempotencyKey,
  voided_at: null,
  livemode: true,
  created_at: DateTime.formatIso(record.createdAt),
})

/** What each side calls with the parsed request. Rejects if the key or the record is invalid. */
export type Handle = (
  authorization: string | undefined,
  body: UsageBody,
) => Promise<ReturnType<typeof render>>

export const makeHandle = (context: Context.Context<Services>): Handle => {
  const run = Effect.runPromiseWith(context)
  const verify = (authorization: string | undefined) =>
    Effect.flatMap(ApiKeys, (keys) =>
      keys.verify(Redacted.make(authorization?.slice("Bearer ".length) ?? "")),
    )
  return (authorization, body) =>
    run(
      Effect.flatMap(verify(authorization), ({ tenant: own }) =>
        Effect.flatMap(Usage, (usage) =>
          usage.record({
            customerId: body.customer_id as UsageRecord.RecordUsage["customerId"],
            productId: body.product_id,
            quantity: body.quantity,
            unit: body.unit,
            ...(body.timestamp === undefined ? {} : { timestamp: DateTime.makeUnsafe(body.timestamp) }),
            ...(body.idempotency_key === undefined ? {} : { idempotencyKey: body.idempotency_key }),
          }),
        ).pipe(
          Effect.provideService(CurrentTenant, own),
          Effect.map(({ record }) => render(record)),
        ),
      ),
    )
}
