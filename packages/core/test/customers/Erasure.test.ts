/**
 * What is taken out of the storage when a customer is erased, also when it is more than one transaction does.
 */
import {
  BillingRuns,
  Collections,
  Customers,
  DueStore,
  Events,
  EventStore,
  EventType,
  FakeProvider,
  IdGenerator,
  InvoiceItem,
  InvoiceItems,
  MAX_REDACTED,
  PaymentMethods,
  Redaction,
  Subscriptions,
  Tenant,
} from "@billwright/core"
import { Memory } from "@billwright/memory"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { save, subscribe, withProvider } from "../payments/collecting.ts"
import { inWorld, newCustomer } from "../world.ts"

const greeted = EventType.make({
  name: "customer.greeted",
  description: "A customer was greeted.",
  data: Schema.Struct({ name: Schema.String, channel: Schema.String }),
  example: { name: "Ada", channel: "mail" },
  kept: ["channel"],
})
const types = { events: { types: [greeted] } }

/** More than the transaction that erases a customer redacts, and more than one visit of a run does. */
const MANY = 125 * MAX_REDACTED

/** More than 100 steps of 100. */
const MANY_ITEMS = 10_100

const greet = Effect.fnUntraced(function* (
  customerId: Parameters<Events["Service"]["publish"]>[0]["customerId"],
) {
  const data = { name: "Ada Lovelace", channel: "mail" }
  const input = { type: "customer.greeted", data, ...(customerId === undefined ? {} : { customerId }) }
  return (yield* (yield* Events).publish(input)).event
})

const countOf = Effect.fnUntraced(function* (events: ReadonlyArray<{ readonly id: string }>) {
  const { get } = yield* Events
  const now = yield* Effect.forEach(events, ({ id }) => get(id))
  return now.filter((event) => Redaction.isRedacted(event)).length
})

/** Memory whose `redact` fails at some calls, counted from 1. */
const failingAt = (calls: ReadonlyArray<number>): typeof Memory.layer =>
  Layer.effectContext(
    Effect.gen(function* () {
      const storage = yield* Layer.build(Memory.layer)
      const store = Context.get(storage, EventStore)
      let count = 0
      const redact: typeof store.redact = (step, redacted) =>
        Effect.suspend(() =>
          calls.includes(++count) ? Effect.die(new Error("the process ended")) : store.redact(step, redacted),
        )
      return Context.add(storage, EventStore, { ...store, redact })
    }),
  ) as typeof Memory.layer

describe("the erasure of a customer", () => {
  it.effect("takes personal data out of its events at once, and keeps what their type names", () =>
    Effect.gen(function* () {
      const [ada, other] = [yield* newCustomer(), yield* newCustomer()]
      const [own, ofOther, ofNobody] = [yield* greet(ada.id), yield* greet(other.id), yield* greet(undefined)]
      yield* (yield* Customers).erase(ada.id)
      const { get } = yield* Events
      const { payload } = yield* get(own.id)
      assert.include(payload, '"redacted":true,"data":{"name":"[redacted]","channel":"mail"}')
      for (const event of [ofOther, ofNobody])
        assert.strictEqual((yield* get(event.id)).payload, event.payload)
      assert.isTrue(Option.isNone(yield* (yield* BillingRuns).nextDueAt))
    }).pipe(inWorld(types)),
  )

  it.effect("is undone with its transaction", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const event = yield* greet(customer.id)
      assert.strictEqual((yield* Effect.exit((yield* Customers).erase(customer.id)))._tag, "Failure")
      assert.strictEqual((yield* (yield* Customers).get(customer.id)).name, "Ada")
      assert.strictEqual((yield* (yield* Events).get(event.id)).payload, event.payload)
      yield* (yield* Customers).erase(customer.id)
      assert.strictEqual(yield* countOf([event]), 1)
    }).pipe(inWorld(types, failingAt([1]))),
  )

  it.effect("of one with many events goes on in billing runs, also after one of them was killed", () =>
    Effect.gen(function* () {
      const { runDue } = yield* BillingRuns
      const customer = yield* newCustomer()
      const events = yield* Effect.forEach(Array.from({ length: MANY }), () => greet(customer.id))
      yield* (yield* Customers).erase(customer.id)
      const first = yield* countOf(events)
      assert.isAbove(first, 0)
      assert.isBelow(first, MANY)
      assert.isTrue(Option.isSome(yield* (yield* BillingRuns).nextDueAt))
      assert.deepInclude(yield* runDue(), { failed: 1 })
      const second = yield* countOf(events)
      assert.isAbove(second, first)
      assert.isBelow(second, MANY)
      yield* TestClock.adjust("1 hour")
      assert.deepInclude(yield* runDue(), { failed: 0 })
      assert.strictEqual(yield* countOf(events), MANY)
      assert.isTrue(Option.isNone(yield* (yield* BillingRuns).nextDueAt))
    }).pipe(inWorld(types, failingAt([25]))),
  )

  it.effect("does all of it at once where nothing runs in the background", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const events = yield* Effect.forEach(Array.from({ length: MANY }), () => greet(customer.id))
      yield* (yield* Customers).erase(customer.id)
      assert.strictEqual(yield* countOf(events), MANY)
    }).pipe(
      inWorld(
        types,
        Layer.effectContext(
          Effect.map(Layer.build(Memory.layer), Context.omit(DueStore)),
        ) as typeof Memory.layer,
      ),
    ),
  )

  it.effect("ends although a customer has more values than the steps of a visit look at", () =>
    Effect.gen(function* () {
      const items = yield* InvoiceItems
      const { insert } = (yield* Collections).of(InvoiceItem.invoiceItems)
      const customer = yield* newCustomer()
      const charge = { customerId: customer.id, currency: "EUR", amount: 100n, description: "Workshop" }
      const oldest = yield* items.create({ ...charge, metadata: { note: "Lovelace" } })
      const ids = yield* IdGenerator
      for (let count = 0; count < MANY_ITEMS; count++) {
        const id = InvoiceItem.InvoiceItemId.make(yield* ids.next(InvoiceItem.INVOICE_ITEM_ID_PREFIX))
        yield* insert({ ...oldest, id, metadata: {} })
      }
      yield* (yield* Customers).erase(customer.id)
      const runs = yield* BillingRuns
      yield* runs.runDue({ limit: 3 })
      assert.deepStrictEqual((yield* items.get(oldest.id)).metadata, {})
      assert.isTrue(Option.isNone(yield* runs.nextDueAt))
    }).pipe(inWorld(types)),
  )

  it.effect("takes details of cards and metadata out of what it leaves", () => {
    const fake = new FakeProvider({ hasMethods: true })
    return Effect.gen(function* () {
      const methods = yield* PaymentMethods
      const subscriptions = yield* Subscriptions
      const items = yield* InvoiceItems
      const customer = yield* subscribe
      const metadata = { note: "Lovelace" }
      const subscription = yield* subscriptions.create({ customerId: customer.id, plan: "base", metadata })
      const [saved, gone] = [yield* save(fake, customer.id), yield* save(fake, customer.id)]
      yield* methods.update(saved.id, { metadata })
      yield* methods.update(gone.id, { metadata })
      yield* methods.detach(gone.id)
      const item = yield* items.create({
        customerId: customer.id,
        currency: "EUR",
        amount: 100n,
        description: "Workshop",
        metadata,
      })
      for (const { id } of (yield* subscriptions.list({ customerId: customer.id })).data) {
        yield* subscriptions.cancel(id, { at: "now" })
      }
      assert.isNotNull((yield* methods.get(saved.id)).last4)
      yield* (yield* Customers).erase(customer.id)
      for (const { id } of [saved, gone]) {
        const bare = { status: "detached" as const, brand: null, last4: null, expiry: null, metadata: {} }
        assert.deepInclude(yield* methods.get(id), bare)
      }
      assert.deepStrictEqual((yield* subscriptions.get(subscription.id)).metadata, {})
      assert.deepInclude(yield* items.get(item.id), { metadata: {}, description: "Workshop", amount: 100n })
    }).pipe(withProvider(fake))
  })

  it.effect("of another mode changes nothing", () =>
    Effect.gen(function* () {
      const customer = yield* newCustomer()
      const event = yield* greet(customer.id)
      const tenant = yield* Tenant.CurrentTenant
      const elsewhere = (yield* Customers).erase(customer.id)
      yield* Effect.flip(Effect.provideService(elsewhere, Tenant.CurrentTenant, { ...tenant, mode: "test" }))
      assert.strictEqual(yield* countOf([event]), 0)
    }).pipe(inWorld(types)),
  )
})
