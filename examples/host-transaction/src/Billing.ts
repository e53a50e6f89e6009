/**
 * Billwright as this shop uses it: made once, when the process starts.
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

/** What an order means as usage. Its key makes it count once, however often the order is tried. */
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
 * Outside of the shop's transactions Billwright works on two connections of its own; a shop on `pg` can give it
 * its pool instead: `Host.fromPool(pool)`.
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
