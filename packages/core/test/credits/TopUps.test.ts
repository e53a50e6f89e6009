/**
 * A top-up and the issue of its invoice are one: whoever repeats a call that failed does not buy twice.
 */
import {
  BillingRuns,
  Invoices,
  InvoiceStore,
  StorageError,
  type TaxService,
  TopUps,
  Transactor,
} from "@billwright/core"
import type { TaxTable } from "@billwright/engine"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { inWorld, newCustomer } from "../world.ts"

const pack = { unit: "token", amount: 1_000n, currency: "EUR", price: 500n } as const

const gone = new StorageError({ operation: "InvoiceStore.lock", retryable: true })

/** A storage that fails when an invoice is held to be issued, so many times. */
const failing = (failures: { left: number }) =>
  Layer.effect(
    InvoiceStore,
    Effect.map(InvoiceStore, (store) =>
      InvoiceStore.of({
        ...store,
        lock: (id) => Effect.suspend(() => (failures.left-- > 0 ? Effect.fail(gone) : store.lock(id))),
      }),
    ),
  ).pipe(Layer.provideMerge(Memory.layer))

/** The statuses of all top-ups and all invoices. */
const sold = Effect.gen(function* () {
  const { data: bought } = yield* (yield* TopUps).list()
  const { data: invoices } = yield* (yield* Invoices).list()
  return [...bought.map(({ status }) => `top-up ${status}`), ...invoices.map(({ status }) => status)]
})

/** It has no rate for its own country. */
const noRates: TaxTable = { behavior: "exclusive", seller: "DE", rates: [], union: ["DE"] }

/** A service that notes when it is asked. */
const service = (asked: Array<string>): TaxService => ({
  quote: ({ lines }) =>
    Effect.sync(() => {
      asked.push("asked")
      const rate = { category: "S", country: "DE", rate: "19", reason: null } as const
      return { behavior: "exclusive", rates: Object.fromEntries(lines.map(({ id }) => [id, rate])) }
    }),
})

describe("a top-up", () => {
  it.effect("is not there when its invoice could not be issued, so that a repeat buys once", () =>
    Effect.gen(function* () {
      const { create } = yield* TopUps
      const { id: customerId } = yield* newCustomer()
      assert.strictEqual(yield* Effect.flip(create({ customerId, ...pack })), gone)
      assert.deepStrictEqual(yield* sold, [])
      yield* create({ customerId, ...pack })
      assert.deepStrictEqual(yield* sold, ["top-up pending", "open"])
    }).pipe(inWorld({}, failing({ left: 1 }))),
  )

  it.effect("fails with what fails in a transaction of the caller, who may go on without it", () =>
    Effect.gen(function* () {
      const { create } = yield* TopUps
      const { atomically } = yield* Transactor
      const { id: customerId } = yield* newCustomer()
      const buy = create({ customerId, ...pack })
      assert.strictEqual(yield* Effect.flip(atomically(buy)), gone)
      assert.deepStrictEqual(yield* sold, [])
      yield* atomically(Effect.andThen(Effect.flip(buy), create({ customerId, ...pack })))
      assert.deepStrictEqual(yield* sold, ["top-up pending", "draft"])
    }).pipe(inWorld({}, failing({ left: 2 }))),
  )

  it.effect("does not wait for a tax service, which a billing run asks", () => {
    const asked: Array<string> = []
    return Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer()
      yield* (yield* TopUps).create({ customerId, ...pack })
      assert.deepStrictEqual([asked, yield* sold], [[], ["top-up pending", "draft"]])
      yield* (yield* BillingRuns).runDue()
      assert.deepStrictEqual([asked, yield* sold], [["asked"], ["top-up pending", "open"]])
    }).pipe(inWorld({ invoices: { tax: service(asked) } }))
  })

  it.effect("is sold though its taxes are not known yet, and its invoice is a draft", () =>
    Effect.gen(function* () {
      const { id: customerId } = yield* newCustomer({ country: "DE" })
      const { invoiceId } = yield* (yield* TopUps).create({ customerId, ...pack })
      assert.deepStrictEqual(yield* sold, ["top-up pending", "draft"])
      const { finalizesAt } = yield* (yield* Invoices).get(invoiceId)
      assert.isNotNull(finalizesAt)
    }).pipe(inWorld({ invoices: { tax: noRates } })),
  )
})
