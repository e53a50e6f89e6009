/**
 * What clients learn of customers that commands make, and of their usage. Of seed 3909 of the whole: a client voided usage of
 * a customer with a test clock after its last invoice. No record says when that was by the test clock.
 */
import { Billing, CurrentTenant, Customers, StorageError, Tenant, TestClocks, Usage } from "@billwright/core"
import { Memory } from "@billwright/memory"
import { DateTime, Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { makeOnce } from "../src/billing/Command.ts"
import { newcomers } from "../src/world/Known.ts"
import { noted, type Work } from "../src/world/Noted.ts"
import { Recorder } from "../src/world/Recorder.ts"

const tenant: Tenant.Tenant = { accountId: Tenant.AccountId.make("acme"), mode: "test" }

/** Makes customers, but the answers of the calls are lost. */
const withLostAnswers = Effect.updateService(Customers, (customers) => ({
  ...customers,
  create: (input) =>
    Effect.andThen(
      customers.create(input),
      Effect.fail(
        new StorageError({ operation: "CustomerStore.insert", retryable: false, isOutcomeUnknown: true }),
      ),
    ),
}))

/** A command makes a customer, and another one records its usage. Gives what they made, and what clients know then. */
const perform = (options: { readonly isClocked: boolean; readonly isAnswered: boolean }) =>
  Effect.gen(function* () {
    const known = newcomers()
    const recorder = new Recorder()
    const noting = noted(recorder, known)
    const clock = yield* (yield* TestClocks).create({ name: "clock", now: DateTime.makeUnsafe(0) })
    const made = { customerId: "", recordId: "" }
    const customer = Effect.gen(function* () {
      const { create, list } = yield* Customers
      const testClockId = options.isClocked ? clock.id : null
      const input = { name: "Ada", email: "ada@example.com", testClockId }
      const { id } = yield* makeOnce(list, ({ name }) => name === input.name, create(input))
      made.customerId = id
    })
    const use = Effect.gen(function* () {
      const customerId = (yield* (yield* Customers).list({})).data[0]!.id
      const usage = { customerId, productId: "api", unit: "call", quantity: 1 }
      made.recordId = (yield* (yield* Usage).record(usage)).record.id
    })
    const inProcess = (work: Work) => noting({ name: "p1.1", now: 0 }, tenant, work)
    if (!options.isAnswered) yield* Effect.flip(withLostAnswers(inProcess(customer)))
    yield* inProcess(customer)
    yield* inProcess(use)
    const { customers, records } = known.find((one) => one.tenant.mode === tenant.mode)!
    return { made, learnt: { customers, records }, asked: recorder.calls.map(({ ask }) => ask._tag) }
  }).pipe(
    Effect.provideService(CurrentTenant, tenant),
    Effect.provide(Layer.provideMerge(Billing.layer, Memory.layer)),
    Effect.runPromise,
  )

describe("clients", () => {
  it("learn of a customer without a test clock, and of its usage", async () => {
    const { asked, learnt, made } = await perform({ isClocked: false, isAnswered: true })
    expect(learnt).toEqual({ customers: [made.customerId], records: [made.recordId] })
    expect(asked).toEqual(["CreateCustomer", "RecordUsage"])
  })

  it.each([
    ["the call that made it was answered", true],
    ["the call that made it got no answer", false],
  ])("don't learn of usage of a customer with a test clock: %s", async (_, isAnswered) => {
    const { asked, learnt } = await perform({ isClocked: true, isAnswered })
    expect(learnt).toEqual({ customers: [], records: [] })
    expect(asked).toEqual(["CreateCustomer", "RecordUsage"])
  })
})
