/**
 * The library on a database, in the benchmark's own process.
 */
import {
  Billing,
  CurrentTenant,
  type Customer,
  Customers,
  type InvoicesOptions,
  Tenant,
} from "@billwright/core"
import { PostgresClient, Storage } from "@billwright/postgres"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"

export type Services = Billing.Services | Billing.Storage | CurrentTenant

const tenant: Tenant.Tenant = { accountId: Tenant.defaultAccountId, mode: "live" }

export interface Ours {
  readonly run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>
  readonly close: () => Promise<void>
}

/** Brings the schema up to date, and runs effects for the tenant. */
export const make = (url: string, invoices: InvoicesOptions = {}, poolSize = 10): Ours => {
  const runtime = ManagedRuntime.make(
    Billing.layerWith({ encryption: "none", invoices }).pipe(
      Layer.provideMerge(Storage.layer()),
      Layer.provide(PostgresClient.layer({ url: Redacted.make(url), poolSize })),
    ),
  )
  return {
    run: (effect) => runtime.runPromise(Effect.provideService(effect, CurrentTenant, tenant)),
    close: () => runtime.dispose(),
  }
}

/** Creates this many customers. */
export const createCustomers = (
  count: number,
): Effect.Effect<ReadonlyArray<Customer.CustomerId>, unknown, Services> =>
  Effect.flatMap(Customers, (customers) =>
    Effect.forEach(
      Array.from({ length: count }, (_, index) => index),
      (index) => customers.create({ name: `Customer ${index}`, email: `c${index}@example.com` }),
      { concurrency: 10 },
    ),
  ).pipe(Effect.map((made) => made.map(({ id }) => id)))
