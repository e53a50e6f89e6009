/** Events, webhooks and the host's own event types, on the memory store. */
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import {
  type Billing,
  type BuiltInEvents,
  ClosedError,
  ConfigurationError,
  createBilling,
  defineEvent,
  EventKeyConflictError,
  InvalidInputError,
} from "billwright"
import { memory } from "billwright/memory"
import { verify } from "billwright/verify"
import * as v from "valibot"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { z } from "zod"
import { selfSigned } from "../../node/test/Certificate.ts"
import { rejection } from "./Rejection.ts"

const { cert: certificate, key } = selfSigned(["127.0.0.1"], -1, 365)

const shipped = defineEvent({
  name: "order.shipped",
  description: "An order left the warehouse.",
  schema: z.strictObject({ order_id: z.string().min(1), boxes: z.array(z.object({ weight: z.int() })) }),
  example: { order_id: "ord_1", boxes: [{ weight: 5 }] },
})
const returned = defineEvent({
  name: "order.returned",
  description: "An order came back.",
  schema: v.object({ order_id: v.string() }),
  example: { order_id: "ord_1" },
})
const counted = defineEvent({
  name: "stock.counted",
  description: "Somebody counted.",
  parse: (data) => {
    const { count } = data as { count: bigint | number }
    if (typeof count !== "number" && typeof count !== "bigint") throw new Error("count must be a number")
    return { count }
  },
  example: { count: 1 },
})

const invoice = { invoice_id: "in_1", customer_id: "ours", amount: 4200, currency: "EUR" }
const collect = async <A>(items: AsyncIterable<A>, count: number): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const item of items) if (found.push(item) === count) break
  return found
}

const start = () =>
  createBilling({
    store: memory(),
    mode: "test",
    dispatcher: "manual",
    events: [shipped, returned, counted],
    network: { allowLoopback: true },
    log: false,
  })
let billing: Awaited<ReturnType<typeof start>>

beforeAll(async () => {
  billing = await start()
})
afterAll(() => billing.close())

describe("events", () => {
  it("are published once for an idempotency key, read and listed", async () => {
    const input = { type: "invoice.paid", data: invoice, idempotencyKey: "i1" } as const
    const { event, isDuplicate } = await billing.events.publish(input)
    assert.isFalse(isDuplicate)
    assert.strictEqual(event.data.amount, 4200)
    assert.instanceOf(event.timestamp, Date)
    assert.deepStrictEqual(await billing.events.publish(input), { event, isDuplicate: true })
    const other = billing.events.publish({ ...input, data: { ...invoice, amount: 1 } })
    assert.instanceOf(await rejection(other), EventKeyConflictError)
    assert.deepStrictEqual(await billing.events.get(event.id), { ...event, deliveries: [] })
    const page = await billing.events.list({ type: "invoice.paid", createdAfter: event.timestamp }).page()
    const deliveryCounts = { pending: 0, delivered: 0, failed: 0 }
    assert.deepStrictEqual(page.data, [{ ...event, deliveryCounts }])
  })

  it("keep integers exact", async () => {
    const { event } = await billing.events.publish({ type: "stock.counted", data: { count: 2n ** 64n } })
    assert.strictEqual(event.data.count, 2n ** 64n)
  })

  it("commit and roll back with their transaction", async () => {
    const account = billing.forAccount("outbox")
    const failed = account.transaction(async (tx) => {
      await tx.events.publish({ type: "invoice.paid", data: invoice })
      throw new Error("no")
    })
    await rejection(failed)
    await account.transaction((tx) => tx.events.publish({ type: "invoice.created", data: invoice }))
    const { data } = await account.events.list().page()
    assert.deepStrictEqual(
      data.map(({ type }) => type),
      ["invoice.created"],
    )
  })

  it("are streamed as they are committed, starting from the call of stream", async () => {
    const account = billing.forAccount("stream")
    const before = await account.events.publish({ type: "invoice.paid", data: invoice })
    const stream = account.events.stream()
    const paid = account.events.stream({ types: ["invoice.paid"], after: before.event.id })
    const first = await account.events.publish({ type: "invoice.created", data: invoice })
    const second = await account.events.publish({ type: "invoice.paid", data: invoice })
    const seen = await collect(stream, 2)
    assert.deepStrictEqual(seen, [first.event, second.event])
    assert.deepStrictEqual(await collect(paid, 1), [second.event])
  })

  it("are streamed until the signal aborts", async () => {
    const account = billing.forAccount("signal")
    const controller = new AbortController()
    const iterator = account.events.stream({}, controller)[Symbol.asyncIterator]()
    const next = iterator.next()
    const { event } = await account.events.publish({ type: "invoice.paid", data: invoice })
    assert.deepStrictEqual((await next).value, event)
    const last = iterator.next()
    const reason = new Error("enough")
    controller.abort(reason)
    assert.strictEqual(await rejection(last), reason)
  })

  it("are streamed until billing is closed", async () => {
    const closing = await createBilling({ store: memory(), log: false })
    const iterator = closing.events.stream()[Symbol.asyncIterator]()
    await closing.close()
    assert.isTrue((await iterator.next()).done)
  })

  it("can't be streamed after billing was closed", async () => {
    const closed = await createBilling({ store: memory(), log: false })
    await closed.close()
    const iterator = closed.events.stream()[Symbol.asyncIterator]()
    assert.instanceOf(await rejection(iterator.next()), ClosedError)
  })

  it("refuse a stream after an unknown id", async () => {
    const iterator = billing.events.stream({ after: "evt_none" })[Symbol.asyncIterator]()
    assert.propertyVal(await rejection(iterator.next()), "code", "event_not_found")
  })
})

describe("the host's own event types", () => {
  it("are checked by the schema of any library", async () => {
    const ok = await billing.events.publish({ type: "order.shipped", data: { order_id: "o", boxes: [] } })
    assert.strictEqual(ok.event.data.order_id, "o")
    const nested = { order_id: "o", boxes: [{ weight: 1.5 }] }
    const error = await rejection(billing.events.publish({ type: "order.shipped", data: nested }))
    assert.instanceOf(error, InvalidInputError)
    assert.strictEqual(error.field, "data.boxes[0].weight")
    const extra = { order_id: "o", boxes: [], more: 1 }
    assert.match(
      (await rejection(billing.events.publish({ type: "order.shipped", data: extra }))).message,
      /more/,
    )
    const valibot = billing.events.publish({ type: "order.returned", data: { order_id: 5 as never } })
    assert.propertyVal(await rejection(valibot), "field", "data.order_id")
    const parsed = billing.events.publish({ type: "stock.counted", data: { count: "5" as never } })
    assert.strictEqual((await rejection(parsed)).message, "data is not valid: count must be a number")
    const unknown = (billing as unknown as Billing<Record<string, unknown>>).events.publish({
      type: "no.such",
      data: 1,
    })
    const refused = await rejection(unknown)
    assert.propertyVal(refused, "field", "type")
    assert.strictEqual(
      refused.message,
      'type is not a known event type: "no.such" (define your own with defineEvent, and pass it to createBilling in events)',
    )
  })

  it("name a missing field with the schema of any library", async () => {
    const zod = billing.events.publish({ type: "order.shipped", data: { boxes: [] } as never })
    assert.strictEqual((await rejection(zod)).message, "data.order_id is required")
    const nested = billing.events.publish({
      type: "order.shipped",
      data: { order_id: "o", boxes: [{}] } as never,
    })
    assert.strictEqual((await rejection(nested)).message, "data.boxes[0].weight is required")
    const valibot = billing.events.publish({ type: "order.returned", data: {} as never })
    assert.strictEqual((await rejection(valibot)).message, "data.order_id is required")
    const builtIn = billing.events.publish({
      type: "invoice.paid",
      data: { invoice_id: "i", customer_id: "c", currency: "EUR" } as never,
    })
    assert.strictEqual((await rejection(builtIn)).message, "data.amount is required")
  })

  it("are in the catalogue together with the built-in types", async () => {
    const names = (await billing.events.types()).map(({ name }) => name)
    assert.includeMembers(names, ["order.returned", "order.shipped", "stock.counted"])
    const builtIn: Record<keyof BuiltInEvents, true> = {
      "credit.exhausted": true,
      "credit.expired": true,
      "credit.granted": true,
      "credit_note.created": true,
      "entitlement.limit_reached": true,
      "invoice.created": true,
      "invoice.deleted": true,
      "invoice.finalized": true,
      "invoice.marked_uncollectible": true,
      "invoice.overdue": true,
      "invoice.paid": true,
      "invoice.voided": true,
      "payment_method.attached": true,
      "payment_method.detached": true,
      "payment_method.expiring": true,
      "payment_method.updated": true,
      "payment.succeeded": true,
      "payment.failed": true,
      "invoice.collection_exhausted": true,
      "payment.action_required": true,
      "payment.overpaid": true,
      "payment.processing": true,
      "payment.needs_attention": true,
      "payment.unresolved": true,
      "refund.created": true,
      "refund.failed": true,
      "refund.succeeded": true,
      "dispute.closed": true,
      "dispute.opened": true,
      "invoice.reopened": true,
      "credit.low": true,
      "credit.top_up_suspended": true,
      "spend.alert": true,
      "subscription.created": true,
      "subscription.activated": true,
      "subscription.canceled": true,
      "subscription.ended": true,
      "subscription.paused": true,
      "subscription.renewed": true,
      "subscription.resumed": true,
      "subscription.trial_ending": true,
      "subscription.updated": true,
      "usage.threshold": true,
      "usage.unbilled": true,
      "usage.unrated": true,
    }
    assert.includeMembers(names, Object.keys(builtIn))
  })

  it("are refused when they are wrong", async () => {
    const good = { name: "a.b", description: "", schema: z.number(), example: 1 }
    const wrong: ReadonlyArray<readonly [object, RegExp]> = [
      [{ ...good, name: "nodot" }, /"nodot" is not a valid name of an event type/],
      [{ ...good, example: "x" }, /the example of a\.b: data is not valid/],
      [
        { ...good, schema: z.number().refine(async () => true) },
        /the example of a\.b: data can't be checked: its schema validates asynchronously/,
      ],
    ]
    for (const [definition, sentence] of wrong) {
      const events = [definition as typeof good]
      assert.match((await rejection(createBilling({ store: memory(), events }))).message, sentence)
    }
    const own = defineEvent(good)
    const twice = createBilling({
      store: memory(),
      events: [own, defineEvent({ ...good, description: "2" })],
    })
    assert.match((await rejection(twice)).message, /^events has two definitions of "a\.b"$/)
    const ours = createBilling({ store: memory(), events: [{ ...own, name: "usage.threshold" }] })
    assert.match(
      (await rejection(ours)).message,
      /can't define "usage\.threshold", because Billwright publishes/,
    )
    const define = (type: unknown) => () => defineEvent(type as typeof good)
    assert.throws(
      define({ ...good, schema: undefined }),
      ConfigurationError,
      /"a\.b"\) needs a schema or a function/,
    )
    for (const nameless of [undefined, {}])
      assert.throws(define(nameless), ConfigurationError, /needs a name/)
  })

  it("may replace a built-in type, which is logged", async () => {
    const lines: Array<string> = []
    const paid = defineEvent({
      name: "invoice.paid",
      description: "",
      parse: (value) => value as { readonly mine: number },
      example: { mine: 1 },
    })
    await using billing = await createBilling({
      store: memory(),
      events: [paid],
      log: ({ level, message }) => void lines.push(`${level} ${message}`),
    })
    await billing.events.publish({ type: "invoice.paid", data: { mine: 2 } })
    assert.include(lines, 'warn the definition of "invoice.paid" replaces the built-in event type')
  })
})

describe("webhooks", () => {
  it("go to this machine only if the host allows it, and never to metadata services of clouds", async () => {
    const create = (billing: Billing, url: string) => billing.endpoints.create({ url, eventTypes: ["*"] })
    await using closed = await createBilling({ store: memory(), mode: "test", log: false })
    for (const url of ["http://127.0.0.1:3000/hooks", "http://localhost:3000/hooks", "http://[::1]/"]) {
      const { message } = await rejection(create(closed, url))
      assert.match(message, /^url must not point to .*: sending to loopback needs allowLoopback/)
    }
    const network = { allow: ["0.0.0.0/0"], allowLoopback: true }
    await using open = await createBilling({ store: memory(), mode: "test", log: false, network })
    await create(open, "http://127.0.0.1:3000/hooks")
    for (const host of ["169.254.169.254", "metadata.google.internal"]) {
      const { message } = await rejection(create(open, `http://${host}/`))
      assert.include(message, `url must not point to ${host}`)
    }
  })

  it("go through the proxy of the dispatcher, whose failures are not the endpoint's", async () => {
    const proxy = createServer()
    const asked: Array<string | undefined> = []
    proxy.on("connect", ({ headers, url }, socket) => {
      asked.push(url, headers["proxy-authorization"])
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
    })
    proxy.listen(0, "127.0.0.1")
    await once(proxy, "listening")
    const { port } = proxy.address() as AddressInfo
    const logged: Array<string> = []
    await using sending = await createBilling({
      store: memory(),
      mode: "test",
      dispatcher: { proxy: `http://ada:word@127.0.0.1:${port}` },
      network: { allowLoopback: true },
      log: (entry) => void logged.push(JSON.stringify(entry)),
    })
    const { id } = await sending.endpoints.create({ url: "https://127.0.0.1:9/", eventTypes: ["*"] })
    const attempted = once(proxy, "connect")
    const { event } = await sending.events.publish({ type: "invoice.paid", data: invoice })
    await attempted
    const lastError = async () => {
      const { data } = await sending.deliveries.list({ eventId: event.id }).page()
      return data[0]!.lastError
    }
    await vi.waitUntil(async () => (await lastError()) !== null, { timeout: 10_000 })
    assert.strictEqual(await lastError(), "proxy_error")
    assert.deepStrictEqual(asked.slice(0, 2), ["127.0.0.1:9", `Basic ${btoa("ada:word")}`])
    assert.strictEqual((await sending.endpoints.get(id)).failingSince, null)
    assert.include(logged.join("\n"), "it answered 407 to CONNECT")
    for (const secret of ["ada:word", btoa("ada:word")]) assert.notInclude(logged.join("\n"), secret)
    proxy.close()
  })

  it("present the client certificate of the dispatcher to receivers that demand one", async () => {
    const tls = { cert: certificate, key, ca: certificate, requestCert: true, rejectUnauthorized: true }
    const hook = createTlsServer(tls, (_request, response) => response.writeHead(204).end())
    hook.listen(0, "127.0.0.1")
    await once(hook, "listening")
    await using sending = await createBilling({
      store: memory(),
      mode: "test",
      dispatcher: { certificateAuthorities: [certificate], clientCertificate: { certificate, key } },
      network: { allowLoopback: true },
      log: false,
    })
    const { port } = hook.address() as AddressInfo
    await sending.endpoints.create({ url: `https://127.0.0.1:${port}/`, eventTypes: ["*"] })
    const received = once(hook, "request")
    await sending.events.publish({ type: "invoice.paid", data: invoice })
    const [request] = await received
    assert.strictEqual(request.socket.getPeerX509Certificate().toString(), certificate)
    hook.close()
  })

  it("are sent, signed, recorded and replayed", async () => {
    const received: Array<{ readonly headers: IncomingHttpHeaders; readonly body: string }> = []
    const server = createServer(async (request, response) => {
      received.push({ headers: request.headers, body: await text(request) })
      response.writeHead(204).end()
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const endpoint = await billing.endpoints.create({
      url: `http://127.0.0.1:${port}/hooks`,
      eventTypes: ["order.shipped"],
    })
    const { event } = await billing.events.publish({
      type: "order.shipped",
      data: { order_id: "ord_9", boxes: [] },
    })
    await billing.events.publish({ type: "invoice.paid", data: invoice })
    assert.strictEqual(await billing.deliverDue(), 1)
    const verified = await verify({ secret: endpoint.secret ?? "", ...received[0]! })
    assert.strictEqual(verified.id, event.id)
    assert.deepStrictEqual(verified.event.data, event.data)
    const [delivery] = (await billing.deliveries.list({ endpointId: endpoint.id }).page()).data
    assert.isDefined(delivery)
    assert.strictEqual(delivery.status, "Delivered")
    const { attempts } = await billing.deliveries.get(delivery.id)
    assert.strictEqual(attempts[0]?.responseStatus, 204)
    assert.strictEqual((await billing.deliveries.replay(delivery.id)).status, "Pending")
    assert.lengthOf(await billing.events.replay(event.id), 1)
    const since = new Date(Date.now() - 60_000)
    const range = { since, status: "all" } as const
    assert.strictEqual(await billing.endpoints.replay(endpoint.id, { ...range, dryRun: true }), 1)
    assert.strictEqual(await billing.endpoints.replay(endpoint.id, range), 1)
    const tested = await billing.endpoints.test(endpoint.id, { type: "invoice.paid" })
    assert.deepStrictEqual([tested.type, tested.endpointId], ["invoice.paid", endpoint.id])
    assert.isNull(event.endpointId)
    assert.strictEqual(await billing.deliverDue(), 4)
    const rotated = await billing.endpoints.rotateSecret(endpoint.id)
    assert.notStrictEqual(rotated.secret, endpoint.secret)
    await billing.endpoints.update(endpoint.id, { headers: { authorization: "Bearer of the receiver" } })
    const moved = await rejection(billing.endpoints.update(endpoint.id, { url: "https://example.com/" }))
    assert.propertyVal(moved, "field", "headers")
    const disabled = await billing.endpoints.update(endpoint.id, { status: "disabled" })
    assert.strictEqual(disabled.disabledReason, "manual")
    const replayed = await rejection(billing.deliveries.replay(delivery.id))
    assert.propertyVal(replayed, "code", "endpoint_disabled")
    await billing.endpoints.delete(endpoint.id)
    assert.lengthOf((await billing.endpoints.list().page()).data, 0)
    server.close()
    server.closeAllConnections()
  })
})
