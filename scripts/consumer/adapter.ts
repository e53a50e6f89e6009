/**
 * An app whose billing uses a storage that `billwright` doesn't know, written with `@billwright/core` and `effect`.
 */
import assert from "node:assert/strict"
import { type Billing, StorageError } from "@billwright/core"
import { Memory } from "@billwright/memory"
import {
  type BillingOptions,
  ConfigurationError,
  createBilling,
  CustomerNotFoundError,
  StorageUnavailableError,
} from "billwright"
import * as Adapter from "billwright/adapter"
import { defineStore, type Store } from "billwright/adapter"
import { createTestBilling, fakePayments } from "billwright/testing"
import { Effect, Layer } from "effect"

const own = (layer: Layer.Layer<Billing.Storage, StorageError>): Store =>
  defineStore({ kind: "own", layer, isSerial: true })

// It serves the library and the REST API. Its errors are those of `billwright`.
const options = { dispatcher: "manual", mode: "test", log: false } as const satisfies Partial<BillingOptions>
const billing = await createBilling({ store: own(Memory.layer), ...options })
const { id } = await billing.customers.create({ name: "Ada Lovelace", email: "ada@example.com" })
await billing.transaction((tx) =>
  tx.usage.record({ customerId: id, productId: "api", quantity: 5, unit: "call" }),
)
assert.equal((await billing.usage.summary({ customerId: id })).totalQuantity, 5n)
const otherId = id.replace(/.$/, (last) => (last === "0" ? "1" : "0"))
await assert.rejects(billing.customers.get(otherId), CustomerNotFoundError)
const { secret } = await billing.keys.create({ name: "first" })
const request = new Request("http://localhost/v1/customers", {
  headers: { authorization: `Bearer ${secret}` },
})
assert.equal((await billing.fetch(request)).status, 200)
await billing.close()

// The clock and the receivers of a test billing.
const test = await createTestBilling({ store: own(Memory.layer) })
await test.testing.advance({ days: 1 })
assert.equal((await test.testing.customer()).createdAt.toISOString(), "2026-01-16T12:00:00.000Z")
const { receiver } = await test.testing.endpoint()
await test.events.publish({
  type: "invoice.paid",
  data: { invoice_id: "in_1", customer_id: "cus_1", amount: 4200, currency: "EUR" },
})
assert.equal((await test.testing.deliveries())[0]?.status, "Delivered")
assert.equal(receiver.requests.length, 1)
await test.close()

// A provider of payments, whose errors say whether something may have happened.
const payments = fakePayments()
const paid = await createTestBilling({ store: own(Memory.layer), payments })
const { id: payer } = await paid.testing.customer({ currency: "EUR" })
await payments.saveCard(payer)
const collectionOf = async () => {
  const lines = [{ description: "Workshop", amount: 9_000 }]
  const { id: invoiceId } = await paid.invoices.create({ customerId: payer, lines })
  await paid.invoices.finalize(invoiceId)
  await paid.testing.advance({ minutes: 1 })
  return (await paid.invoices.get(invoiceId)).collection
}
assert.equal(await collectionOf(), "paid")
payments.fail("break")
assert.equal(await collectionOf(), "needs_attention")
await paid.close()

// Errors at the start.
assert.equal(Adapter.ConfigurationError, ConfigurationError)
const failing = (layer: Layer.Layer<Billing.Storage, StorageError>) =>
  createBilling({ store: own(layer), ...options })
const away = new StorageError({ operation: "open", retryable: true, cause: new Error("no disk") })
await assert.rejects(failing(Layer.effectContext(Effect.fail(away))), StorageUnavailableError)
// @ts-expect-error a layer without ports
await assert.rejects(failing(Layer.empty), (error) => {
  assert.ok(error instanceof ConfigurationError)
  assert.match(
    error.message,
    /^billing can't start: the store "own" lacks ApiKeyStore, Collections, .*UsageStore:/,
  )
  return true
})
console.log("works")
