/** The types that a host's compiler sees. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { EventCatalogue, ThresholdEvent } from "@billwright/core"
import {
  type Billing,
  type BillingError,
  type BuiltInEvents,
  createBilling,
  defineEvent,
  type EventOf,
  type Store,
  type Transaction,
} from "billwright"
import { type BillingClient, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import type { PgPool, TransactionClient } from "billwright/postgres"
import type express from "express"
import type { FastifyPluginAsync } from "fastify"
import type { Handler as HonoHandler } from "hono"
import type Koa from "koa"
import type pg from "pg"
import { describe, expectTypeOf, it } from "vitest"
import { z } from "zod"

const shipped = defineEvent({
  name: "order.shipped",
  description: "An order left the warehouse.",
  schema: z.object({ order_id: z.string(), express: z.boolean().default(false) }),
  example: { order_id: "ord_1" },
})
const parsed = defineEvent({
  name: "order.parsed",
  description: "Parsed by a function.",
  parse: (data): { readonly order_id: string } => ({ order_id: String(data) }),
  example: { order_id: "ord_1" },
})
const start = () => createBilling({ store: memory(), events: [shipped, parsed] })
type Own = Awaited<ReturnType<typeof start>>

declare const billing: Own
declare const plain: Billing

describe("types", () => {
  it("include the host's own events, with the input types of their schemas", () => {
    expectTypeOf(shipped.name).toEqualTypeOf<"order.shipped">()
    type Publish = Own["events"]["publish"]
    expectTypeOf<Publish>().toBeCallableWith({ type: "order.shipped", data: { order_id: "o" } })
    expectTypeOf<Publish>().toBeCallableWith({ type: "order.parsed", data: { order_id: "o" } })
    // @ts-expect-error -- a field of another type
    void (() => billing.events.publish({ type: "order.shipped", data: { order_id: 5 } }))
    // @ts-expect-error -- a type that is not defined
    void (() => billing.events.publish({ type: "order.lost", data: {} }))
    // @ts-expect-error -- an own type that this billing does not have
    void (() => plain.events.publish({ type: "order.shipped", data: { order_id: "o" } }))
    // @ts-expect-error -- a wrong example
    void (() => defineEvent({ name: "a.b", description: "", schema: z.string(), example: 5 }))
  })

  it("distinguish events by their type", () => {
    const read = (event: Awaited<ReturnType<Own["events"]["get"]>>) => {
      if (event.type === "invoice.paid") expectTypeOf(event.data.amount).toEqualTypeOf<number>()
      if (event.type === "order.parsed") expectTypeOf(event.data.order_id).toEqualTypeOf<string>()
    }
    expectTypeOf(read).toBeFunction()
    type Published = ReturnType<typeof publishPaid>
    const publishPaid = () =>
      plain.events.publish({
        type: "invoice.paid",
        data: { invoice_id: "i", customer_id: "c", amount: 1, currency: "EUR" },
      })
    expectTypeOf<Awaited<Published>["event"]>().toEqualTypeOf<
      EventOf<"invoice.paid", BuiltInEvents["invoice.paid"]>
    >()
  })

  it("agree with the built-in types of core", () => {
    type Names = (typeof EventCatalogue.builtIn)[number]["name"]
    expectTypeOf<keyof BuiltInEvents>().toExtend<Names>()
    type Threshold = (typeof ThresholdEvent.usageThreshold)["data"]["Type"]
    expectTypeOf<keyof BuiltInEvents["usage.threshold"]>().toEqualTypeOf<keyof Threshold>()
  })

  it("give other accounts and transactions the same events", () => {
    expectTypeOf<Own["test"]["events"]>().toEqualTypeOf<Own["events"]>()
    expectTypeOf<Own["forAccount"]>().returns.toEqualTypeOf<Own["live"]>()
    const result = () => billing.transaction(async (tx) => tx.usage.summary({ customerId: "cus_1" }))
    expectTypeOf<Awaited<ReturnType<typeof result>>["totalQuantity"]>().toEqualTypeOf<bigint>()
    expectTypeOf<Transaction>().not.toHaveProperty("transaction")
    expectTypeOf<Transaction>().not.toHaveProperty("close")
  })

  it("accept quantities as number and bigint, and instants as Date and text", () => {
    type Record = Parameters<Own["usage"]["record"]>[0]
    expectTypeOf<Record["quantity"]>().toEqualTypeOf<number | bigint>()
    expectTypeOf<Record["timestamp"]>().toEqualTypeOf<Date | string | undefined>()
    expectTypeOf<BillingError["code"]>().toExtend<string>()
    expectTypeOf(memory).returns.toEqualTypeOf<Store>()
  })

  it("fit the frameworks", () => {
    expectTypeOf<Own["express"]>().returns.toExtend<express.RequestHandler>()
    expectTypeOf<Own["fastify"]>().returns.toExtend<FastifyPluginAsync>()
    expectTypeOf<Own["hono"]>().returns.toExtend<HonoHandler>()
    expectTypeOf<Own["koa"]>().returns.toExtend<Koa.Middleware>()
    expectTypeOf<Own["node"]>().returns.toExtend<
      (request: IncomingMessage, response: ServerResponse) => void
    >()
    expectTypeOf<Own["fetch"]>().toExtend<(request: Request) => Promise<Response>>()
  })

  it("fit the clients of pg", () => {
    expectTypeOf<pg.Pool>().toExtend<PgPool>()
    expectTypeOf<pg.PoolClient>().toExtend<TransactionClient>()
  })

  it("of the client are those of billing, for calls that both have", () => {
    expectTypeOf<BillingClient["customers"]>().toEqualTypeOf<Billing["customers"]>()
    expectTypeOf<BillingClient["endpoints"]>().toEqualTypeOf<Billing["endpoints"]>()
    const client = () =>
      createClient<BuiltInEvents & { "order.shipped": { order_id: string } }>({
        url: "http://localhost",
        apiKey: "k",
      })
    expectTypeOf<ReturnType<typeof client>["events"]["publish"]>().toBeCallableWith({
      type: "order.shipped",
      data: { order_id: "o" },
    })
  })
})
