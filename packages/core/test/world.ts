/**
 * A world to try the services in: all of them over a memory storage of their own, two accounts, and a clock
 * that stands at noon of 2026-11-21 UTC until a test moves it.
 */
import {
  Billing,
  Customers,
  IdGenerator,
  Tenant,
  Usage,
  type Customer,
  type UsageRecord,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { DateTime, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"

export const acme: Tenant.Tenant = { accountId: Tenant.AccountId.make("acme"), mode: "live" }
export const acmeTest: Tenant.Tenant = { accountId: Tenant.AccountId.make("acme"), mode: "test" }
export const globex: Tenant.Tenant = { accountId: Tenant.AccountId.make("globex"), mode: "live" }

export const at = (text: string): DateTime.Utc => DateTime.makeUnsafe(text)
/** When every test starts. */
export const NOON = at("2026-11-21T12:00:00.000Z")

const world = (options: Billing.BillingOptions, storage: typeof Memory.layer) =>
  Billing.layerWithIds(options).pipe(
    Layer.provideMerge(Layer.mergeAll(storage, IdGenerator.layerSeeded(1))),
    Layer.merge(Layer.succeed(Tenant.CurrentTenant, acme)),
  )

/** Runs a test in a new world, as the tenant `acme`. */
export const inWorld =
  (options: Billing.BillingOptions = {}, storage = Memory.layer) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    // The clock is set first: what runs by itself would wake once for each of its intervals since 1970.
    Effect.andThen(TestClock.setTime(NOON.epochMilliseconds), Effect.provide(test, world(options, storage)))

export const as =
  (tenant: Tenant.Tenant) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideService(effect, Tenant.CurrentTenant, tenant)

/** A new customer. */
export const newCustomer = Effect.fnUntraced(function* (input: Partial<Customer.CreateCustomer> = {}) {
  return yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com", ...input })
})

/** Records usage of the product `api` in calls, unless the change says otherwise. */
export const recordUsage = Effect.fnUntraced(function* (
  customer: Customer.Customer,
  change: Partial<UsageRecord.RecordUsage> = {},
) {
  const input = { customerId: customer.id, productId: "api", quantity: 1, unit: "call", ...change }
  return yield* (yield* Usage).record(input)
})

/** What is logged: the sentences. */
export const listen = () => {
  const logged: Array<string> = []
  const logger = Logger.make(({ message }) => void logged.push(String([message].flat()[0])))
  return { logged, logger: Logger.layer([logger]) }
}
