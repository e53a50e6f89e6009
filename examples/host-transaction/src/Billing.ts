/**
 * Billwright in this shop. It is created once, when the process starts.
 */
import {
  Billing as Billwright,
  CurrentTenant,
  type Customer,
  Customers,
  Tenant,
  Usage,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import type { Order } from "./Order.ts"

export const TENANT = { accountId: Tenant.defaultAccountId, mode: "live" } as const
export const UNIT = "credit"

/** The usage of an order. With its idempotency key it counts once, even if the order is retried. */
export const usageOf = (order: Order) =>
  Effect.flatMap(Usage, (usage) =>
    usage.record({
      customerId: order.customerId,
      productId: order.product,
      quantity: order.credits,
      unit: UNIT,
      idempotencyKey: `order-${order.id}`,
    }),
  )

export const newCustomer = (name: string) =>
  Effect.flatMap(Customers, (customers) => customers.create({ name, email: "shop@example.com" }))

export const totalOf = (customerId: Customer.CustomerId, productId: string) =>
  Effect.flatMap(Usage, (usage) => usage.summary({ customerId, productId, unit: UNIT }))

/**
 * Outside of the shop's transactions, Billwright uses two connections of its own. A shop on `pg` can give it its pool
 * instead: `Host.fromPool(pool)`.
 */
export const openBilling = (url: string) => {
  const postgres = PostgresClient.layer({ url: Redacted.make(url), poolSize: 2 })
  const runtime = ManagedRuntime.make(
    Billwright.layer.pipe(Layer.provide(Storage.layer()), Layer.provide(postgres)),
  )
  return {
    run: <A, E>(effect: Effect.Effect<A, E, Customers | Usage | CurrentTenant>): Promise<A> =>
      runtime.runPromise(Effect.provideService(effect, CurrentTenant, TENANT)),
    close: () => runtime.dispose(),
  }
}

export type Billing = ReturnType<typeof openBilling>
