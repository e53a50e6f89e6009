/**
 * How a world ends all subscriptions, so that nothing new is charged while it waits for everything. Of seed 4950 of the whole:
 * one of them had ended by its own time, no runner had come by, and those after it were never canceled. So the run ended in the
 * middle of a dispute of a new payment.
 */
import {
  Billing,
  BillingRuns,
  CurrentTenant,
  Customer,
  Customers,
  Plans,
  StorageError,
  Subscriptions,
  Tenant,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { cancelAll } from "../src/payments/PaymentCommands.ts"
import { PLAN } from "../src/payments/PaymentsWorld.ts"

const tenant: Tenant.Tenant = { accountId: Tenant.defaultAccountId, mode: "live" }

/** By the names that the subscriptions were given. */
const phases = Effect.gen(function* () {
  const { data } = yield* (yield* Subscriptions).list({})
  return Object.fromEntries(data.map(({ metadata, phase }) => [metadata["name"], phase]))
})

/**
 * Two subscriptions, the newest of which has ended by its own time. Lists begin with it, and show it as live until a runner
 * comes by.
 */
const begin = Effect.gen(function* () {
  const { id: customerId } = yield* (yield* Customers).create({ name: "Ada", email: "ada@example.com" })
  yield* (yield* Plans).push({ plans: [PLAN] })
  const { cancel, create } = yield* Subscriptions
  yield* create({ customerId, plan: PLAN.key, metadata: { name: "going on" } })
  yield* TestClock.adjust("1 hour")
  const { id } = yield* create({ customerId, plan: PLAN.key, metadata: { name: "ended" } })
  yield* cancel(id, { at: "period_end" })
  yield* TestClock.adjust("40 days")
  return { customerId: Customer.CustomerId.make(customerId), recorded: new Map<string, never>() }
})

const run = <A>(
  program: Effect.Effect<
    A,
    unknown,
    Billing.Services | Billing.Storage | Billing.InvoicingStorage | CurrentTenant
  >,
) =>
  program.pipe(
    Effect.provideService(CurrentTenant, tenant),
    Effect.provide(Layer.provideMerge(Billing.layer, Memory.layer)),
    Effect.provide(TestClock.layer()),
    Effect.runPromise,
  )

describe("ending all subscriptions", () => {
  it("passes over one that has ended by its own time, and ends the others", async () => {
    const { before, after } = await run(
      Effect.gen(function* () {
        const host = yield* begin
        const before = yield* phases
        yield* cancelAll(host)
        yield* (yield* BillingRuns).runDue({ limit: 1_000 })
        return { before, after: yield* phases }
      }),
    )
    expect(before).toEqual({ "going on": "active", ended: "active" })
    expect(after).toEqual({ "going on": "ended", ended: "ended" })
  })

  it("fails if the outcome of a cancellation is not known, so that it is repeated", async () => {
    const lost = new StorageError({ operation: "cancel", retryable: false, isOutcomeUnknown: true })
    const failure = await run(
      Effect.gen(function* () {
        const host = yield* begin
        const answer = Effect.updateService(cancelAll(host), Subscriptions, (all) => ({
          ...all,
          cancel: (id, input) => Effect.andThen(all.cancel(id, input), Effect.fail(lost)),
        }))
        return yield* Effect.flip(answer)
      }),
    )
    expect(failure).toBe(lost)
  })
})
