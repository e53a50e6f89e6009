/**
 * The stream of events over real connections.
 */
import { once } from "node:events"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { type ApiKey, ApiKeys, ApiKeyStore, Events, EventType } from "@billwright/core"
import { FetchHandler } from "@billwright/http"
import { NodeHandler, NodeServer } from "@billwright/http/node"
import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Deferred, Effect, Exit, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../ApiServer.ts"
import * as EventSource from "../EventSource.ts"
import * as Faults from "../Faults.ts"
import * as TailWatch from "../TailWatch.ts"

const STREAM = "/v1/events/stream"
const ids = (events: ReadonlyArray<EventSource.SentEvent>) => events.map(({ id }) => id)

const large = EventType.make({
  name: "test.large",
  description: "A quarter of a megabyte.",
  data: Schema.Struct({ text: Schema.String }),
  example: { text: "" },
})

/** Publishes this many events, one after the other. */
const publishMany = (api: ApiServer.Api, count: number, fields: object = {}) =>
  Effect.forEach(Array.from({ length: count }), () => api.publish(fields))

describe("GET /v1/events/stream", () => {
  it.effect("sends the payload of each published event on one line", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const source = yield* EventSource.open(api)
      assert.strictEqual(source.status, 200)
      assert.strictEqual(source.headers["content-type"], "text/event-stream")
      assert.strictEqual(source.headers["cache-control"], "no-store, no-transform")
      assert.strictEqual(source.headers["x-accel-buffering"], "no")
      assert.match(source.headers["request-id"] as string, /^req_/)
      const data = { invoice_id: "a\nb\r\u2028c", customer_id: "c", amount: 1, currency: "EUR" }
      const published = [yield* api.publish(), yield* api.publish({ data }), yield* api.publish()]
      const events = yield* source.events(3)
      assert.deepStrictEqual(ids(events), published)
      const stored = (yield* api.snapshot).events
      for (const { data, event, id } of events) {
        assert.strictEqual(event, "invoice.paid")
        assert.strictEqual(data, stored.find((each) => each.event.id === id)?.event.payload)
      }
      const text = yield* source.until(() => true)
      assert.strictEqual(
        text,
        `retry: 1000\n\n${events.map(({ data, id }) => `id: ${id}\nevent: invoice.paid\ndata: ${data}\n\n`).join("")}`,
      )
    }),
  )

  it.effect("leaves out test events, which are for a single endpoint, and continues after them", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const endpoint = (yield* api.newEndpoint()).id
      const source = yield* EventSource.open(api)
      const test = { json: { type: "invoice.paid" } }
      const path = `/v1/webhook_endpoints/${endpoint}/test`
      const { id: last } = yield* api.expect(201, "POST", path, test)
      const next = yield* api.publish()
      assert.deepStrictEqual(ids(yield* source.events(1)), [next])
      const resumed = yield* EventSource.open(api, { lastEventId: last })
      assert.deepStrictEqual(ids(yield* resumed.events(1)), [next])
    }),
  )

  it.effect("begins with events that are published from now on", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      yield* publishMany(api, 3)
      const source = yield* EventSource.open(api)
      const next = yield* api.publish()
      assert.deepStrictEqual(ids(yield* source.events(1)), [next])
    }),
  )

  it.effect("resumes after Last-Event-ID without a gap, any number of times", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const published = [yield* api.publish()]
      const received = [...published]
      for (let round = 0; round < 5; round++) {
        // Published while no client listens, and more than the tail reads at once.
        published.push(...(yield* publishMany(api, round === 0 ? 250 : 7)))
        const missing = published.length - received.length
        const source = yield* EventSource.open(api, { lastEventId: received.at(-1) ?? "" })
        published.push(...(yield* publishMany(api, 5)))
        // The stream breaks after some events. The client continues after the last one that it has.
        const events = yield* source.events(missing + round)
        received.push(...ids(events).slice(0, missing + round))
        yield* source.destroy
      }
      const last = yield* EventSource.open(api, { lastEventId: received.at(-1) ?? "" })
      received.push(...ids(yield* last.events(published.length - received.length)))
      assert.deepStrictEqual(received, published)
    }),
  )

  it.effect("refuses an id of no event, because the following events are unknown", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const live = yield* api.publish({}, { key: api.liveKey })
      for (const id of ["", "x", ApiServer.UNKNOWN.event, ApiServer.UNKNOWN.customer, live]) {
        const headers = { "last-event-id": id }
        const refused = yield* api.expect(400, "GET", STREAM, { headers })
        assert.strictEqual(refused.message, "Last-Event-ID is not the id of an event")
      }
    }),
  )

  it.effect("sends only the requested types", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const source = yield* EventSource.open(api, {
        query: "?types=payment.failed,invoice.paid,invoice.paid",
      })
      const paid = yield* api.publish()
      yield* api.publish({ type: "invoice.created" })
      const data = { payment_id: "p", customer_id: "c", amount: 1, currency: "EUR" }
      yield* api.publish({ type: "payment.succeeded", data })
      const failed = yield* api.publish({ type: "payment.failed", data })
      assert.deepStrictEqual(ids(yield* source.events(2)), [paid, failed])

      const again = yield* EventSource.open(api, { query: "?types=payment.failed", lastEventId: paid })
      assert.deepStrictEqual(ids(yield* again.events(1)), [failed])
    }),
  )

  it.effect("names an unknown type and an unknown parameter", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const cases = [
        ["types=invoice.paid,invoice.payed", `types[1] is not a known event type: "invoice.payed"`],
        ["types=invoice.paid,", `types[1] is not a known event type: ""`],
        ["types=*", `types[0] is not a known event type: "*"`],
        ["types=", "types must be 1 to 4096 characters"],
        ["type=invoice.paid", "type is not a known field"],
      ] as const
      for (const [query, message] of cases) {
        assert.strictEqual((yield* api.expect(400, "GET", `${STREAM}?${query}`)).message, message)
      }
    }),
  )

  it.effect("shows nothing of another mode or account", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const stranger = (yield* api.issue({ account: "other" })).secret
      const source = yield* EventSource.open(api)
      yield* api.publish({}, { key: api.liveKey })
      yield* api.publish({}, { key: stranger })
      const own = yield* api.publish()
      assert.deepStrictEqual(ids(yield* source.events(1)), [own])
    }),
  )

  it.effect("keeps integers beyond 2^53", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const customer = yield* api.newCustomer()
      const source = yield* EventSource.open(api)
      const threshold = { customer_id: customer, product_id: "api", unit: "call", period: "day" }
      yield* api.expect(201, "POST", "/v1/usage/thresholds", {
        body: JSON.stringify({ ...threshold, quantity: 0 }).replace(":0}", ":9007199254740993}"),
      })
      yield* api.record(customer, { quantity: Number.MAX_SAFE_INTEGER })
      yield* api.record(customer, { quantity: 4 })
      const [event] = yield* source.events(1)
      assert.strictEqual(event?.event, "usage.threshold")
      assert.include(event?.data, '"quantity":9007199254740993,')
      assert.include(event?.data, '"total_quantity":9007199254740995}')
    }),
  )

  it.effect("answers HEAD without opening a stream", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make()
      const api = yield* ApiServer.start({ storage: watch.storage })
      const head = yield* api.expect(200, "HEAD", STREAM)
      assert.strictEqual(head.headers["content-type"], "text/event-stream")
      yield* api.expect(200, "GET", "/livez")
      assert.strictEqual(watch.subscriptions(), 0)
    }),
  )
})

describe("a stream over time", () => {
  it.effect("sends a comment after 15 s of silence", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make()
      const api = yield* ApiServer.start({ storage: watch.storage })
      const source = yield* EventSource.open(api)
      yield* watch.untilSubscriptions(1)
      yield* TestClock.adjust("14 seconds")
      yield* api.publish()
      assert.notInclude(yield* source.until((text) => text.includes("data:")), "\n:\n")
      // Only silence counts, not the time since the last comment.
      yield* TestClock.adjust("14 seconds")
      yield* api.publish()
      yield* source.events(2)
      assert.notInclude(yield* source.until(() => true), "\n:\n")
      yield* TestClock.adjust("16 seconds")
      assert.isTrue((yield* source.until((text) => text.endsWith("\n:\n\n"))).endsWith("}\n\n:\n\n"))
      yield* TestClock.adjust("16 seconds")
      yield* source.until((text) => text.endsWith("\n:\n\n:\n\n"))
    }),
  )

  it.effect("sends events without a signal within a second", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make({ isSilent: true })
      const api = yield* ApiServer.start({ storage: watch.storage })
      const source = yield* EventSource.open(api)
      yield* watch.untilSubscriptions(1)
      const id = yield* api.publish()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(ids(yield* source.events(1)), [id])
    }),
  )

  it.effect("continues without a gap after the storage was unreachable for a while", () =>
    Effect.gen(function* () {
      const { faults, storage } = Faults.make()
      const api = yield* ApiServer.start({ storage })
      const source = yield* EventSource.open(api)
      const before = yield* api.publish()
      yield* source.events(1)
      faults.data = Faults.unavailable
      for (let second = 0; second < 20; second++) yield* TestClock.adjust("1 second")
      yield* source.until((text) => text.includes("\n:\n"))
      faults.data = Effect.void
      const after = yield* api.publish()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(ids(yield* source.events(2)), [before, after])
      assert.lengthOf(
        api.logs.filter((line) => line.includes("streams of events can't be read")),
        1,
      )
    }),
  )

  const revocations = {
    "in this process": (api: ApiServer.Api, id: ApiKey.ApiKeyId) =>
      Context.get(api.services, ApiKeys).revoke(id).pipe(api.as({})),
    "in another process": (api: ApiServer.Api, id: ApiKey.ApiKeyId) =>
      Effect.flatMap(DateTime.now, (now) =>
        Context.get(api.services, ApiKeyStore).revoke(id, now).pipe(api.as({})),
      ),
  }
  for (const [where, revoke] of Object.entries(revocations)) {
    it.effect(`ends within 5 seconds of the revocation of its key ${where}`, () =>
      Effect.gen(function* () {
        const watch = TailWatch.make()
        const api = yield* ApiServer.start({ storage: watch.storage })
        const { id, secret } = yield* api.issue({ scopes: ["events:read"] })
        const source = yield* EventSource.open(api, { key: secret })
        yield* watch.untilSubscriptions(1)
        for (let second = 0; second < 10; second++) yield* TestClock.adjust("1 second")
        // The latest possible time, because a key that was just looked up is cached for the longest time.
        yield* api.expect(200, "GET", "/v1/events", { key: secret })
        yield* revoke(api, id)
        for (let second = 0; second < 5; second++) yield* TestClock.adjust("1 second")
        yield* source.closed
        yield* watch.untilSubscriptions(0)
        yield* api.expect(401, "GET", "/v1/events", { key: secret })
      }),
    )
  }
})

describe("the place of a stream", () => {
  it.effect("is released when the client disconnects", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make()
      const api = yield* ApiServer.start({
        storage: watch.storage,
        server: { streams: { maxStreamsPerKey: 3 } },
      })
      for (let round = 0; round < 3; round++) {
        const sources = yield* Effect.forEach([1, 2, 3], () => EventSource.open(api))
        yield* watch.untilSubscriptions(3)
        yield* Effect.forEach(sources, (source) => source.destroy)
        yield* watch.untilSubscriptions(0)
      }
      const source = yield* EventSource.open(api)
      assert.strictEqual(source.status, 200)
    }),
  )

  it.effect("is limited: 429 if the key has too many open streams, 503 if the server has", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make()
      const api = yield* ApiServer.start({
        storage: watch.storage,
        server: { streams: { maxStreams: 3, maxStreamsPerKey: 2 } },
      })
      const mine = [yield* EventSource.open(api), yield* EventSource.open(api)]
      yield* watch.untilSubscriptions(2)
      const refused = yield* api.expect(429, "GET", STREAM)
      assert.deepStrictEqual(refused.body, {
        error: "rate_limited",
        message: "this API key has reached its limit of open streams: 2",
      })
      assert.strictEqual(refused.headers["retry-after"], "10")
      yield* EventSource.open(api, { key: api.liveKey })
      yield* watch.untilSubscriptions(3)
      const full = yield* api.expect(503, "GET", STREAM, { key: api.liveKey })
      assert.strictEqual(full.message, "too many streams are open, try again in a moment")
      // All other requests still work.
      yield* api.expect(200, "GET", "/v1/events")
      yield* mine[0]!.destroy
      yield* watch.untilSubscriptions(2)
      yield* EventSource.open(api)
      yield* watch.untilSubscriptions(3)
    }),
  )

  it.effect("is limited also for streams that are opened at the same moment", () =>
    Effect.gen(function* () {
      let waiting = 0
      const both = yield* Deferred.make<void>()
      const opening = Effect.suspend(() =>
        ++waiting === 2 ? Deferred.succeed(both, undefined) : Deferred.await(both),
      )
      const api = yield* ApiServer.start({
        storage: TailWatch.make({ opening }).storage,
        server: { streams: { maxStreamsPerKey: 1 } },
      })
      const sources = yield* Effect.forEach([1, 2], () => EventSource.open(api), { concurrency: 2 })
      assert.deepStrictEqual(sources.map(({ status }) => status).sort(), [200, 429])
      const refused = sources.find(({ status }) => status === 429)
      assert.strictEqual(refused?.headers["retry-after"], "10")
      assert.deepStrictEqual(JSON.parse((yield* refused?.closed ?? Effect.succeed("")) || "null"), {
        error: "rate_limited",
        message: "this API key has reached its limit of open streams: 1",
      })
    }),
  )

  it.effect("is released when the request ends before the stream begins", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start({ server: { streams: { maxStreamsPerKey: 1 } } })
      for (let i = 0; i < 3; i++) yield* api.expect(200, "HEAD", STREAM)
      const source = yield* EventSource.open(api)
      assert.strictEqual(source.status, 200)
    }),
  )

  it.effect("costs few reads of the storage during many commits, and events are late only for a moment", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make()
      const api = yield* ApiServer.start({ storage: watch.storage })
      const source = yield* EventSource.open(api)
      yield* watch.untilSubscriptions(1)
      yield* publishMany(api, 10)
      yield* source.events(10)
      // Its burst of reads is used up, and the clock stands still.
      const before = watch.reads()
      yield* Effect.forEach(Array.from({ length: 50 }), () => api.publish({}, { key: api.liveKey }))
      const last = yield* api.publish()
      yield* api.expect(200, "GET", "/livez")
      assert.isAtMost(watch.reads() - before, 1)
      yield* TestClock.adjust("50 millis")
      assert.strictEqual((yield* source.events(11)).at(-1)?.id, last)
    }),
  )

  it.effect("is released after a minute, with limited memory, for a client that reads nothing", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make()
      const billing = { events: { types: [large] } }
      const api = yield* ApiServer.start({ storage: watch.storage, billing })
      const source = yield* EventSource.open(api)
      yield* source.pause
      yield* watch.untilSubscriptions(1)
      const publish = Context.get(api.services, Events)
        .publish({ type: large.name, data: { text: "x".repeat(250_000) } })
        .pipe(api.as({}))
      // More than fits into the buffers between server and client.
      yield* Effect.repeat(publish, { times: 99 })
      yield* api.expect(200, "GET", "/livez")
      const before = watch.reads()
      yield* Effect.repeat(publish, { times: 9 })
      yield* api.expect(200, "GET", "/livez")
      assert.strictEqual(watch.reads(), before)
      yield* TestClock.adjust("61 seconds")
      yield* watch.untilSubscriptions(0)
    }),
  )

  it.effect("is released soon after a server of the host has stopped listening", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make()
      const api = yield* ApiServer.start({ storage: watch.storage })
      const handler = NodeHandler.make(api.server, api.context)
      const server = Http.createServer(handler).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(server, "listening"))
      const { port } = server.address() as AddressInfo
      const source = yield* EventSource.open(api, { port })
      assert.strictEqual(source.headers.connection, "close")
      yield* watch.untilSubscriptions(1)
      const closed = once(server, "close")
      server.close()
      yield* TestClock.adjust("1 second")
      yield* source.closed
      assert.isTrue(source.isComplete())
      yield* Effect.promise(() => closed)
      yield* watch.untilSubscriptions(0)
    }),
  )

  it.effect("is released when a server has stopped, even if the client reads nothing", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make()
      const api = yield* ApiServer.start({ storage: watch.storage, billing: { events: { types: [large] } } })
      const server = Http.createServer(NodeHandler.make(api.server, api.context)).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(server, "listening"))
      const { port } = server.address() as AddressInfo
      const source = yield* EventSource.open(api, { port })
      yield* source.pause
      yield* Context.get(api.services, Events)
        .publish({ type: large.name, data: { text: "x".repeat(250_000) } })
        .pipe(api.as({}), Effect.repeat({ times: 99 }))
      const closed = once(server, "close")
      server.close()
      yield* TestClock.adjust("1 second")
      yield* watch.untilSubscriptions(0)
      yield* TestClock.adjust("5 seconds")
      yield* Effect.promise(() => closed)
    }),
  )

  it.effect("is released at once when the server stops", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make()
      const api = yield* ApiServer.start({ storage: watch.storage })
      const scope = yield* Scope.make()
      const handler = NodeHandler.make(api.server, api.context)
      const { port } = yield* NodeServer.listen(handler, { port: 0 }).pipe(Scope.provide(scope))
      const source = yield* EventSource.open(api, { port })
      yield* watch.untilSubscriptions(1)
      // The clock stands still, so the grace time doesn't end it.
      yield* Scope.close(scope, Exit.void)
      yield* source.closed
      yield* watch.untilSubscriptions(0)
    }),
  )
})

describe("a stream as a Response", () => {
  const ask = (api: ApiServer.Api, init: RequestInit = {}) =>
    Effect.promise(() =>
      FetchHandler.make(
        api.server,
        api.context,
      )(
        new Request(`http://localhost${STREAM}`, {
          ...init,
          headers: { authorization: `Bearer ${api.testKey}`, ...init.headers },
        }),
      ),
    )

  const readUntil = (reader: ReadableStreamDefaultReader<Uint8Array>, test: (text: string) => boolean) =>
    Effect.promise(async () => {
      const decoder = new TextDecoder()
      let text = ""
      while (!test(text)) {
        const { done, value } = await reader.read()
        if (done) break
        text += decoder.decode(value, { stream: true })
      }
      return text
    })

  it.effect("is read piece by piece, resumes, and is released when it is cancelled", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make()
      const api = yield* ApiServer.start({ storage: watch.storage })
      const first = yield* api.publish()
      const response = yield* ask(api, { headers: { "last-event-id": first } })
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      // Nothing has been read yet.
      assert.strictEqual(watch.subscriptions(), 0)
      const reader = response.body!.getReader()
      const second = yield* api.publish()
      const text = yield* readUntil(reader, (all) => all.includes("data:"))
      assert.deepStrictEqual(ids(EventSource.parse(text)), [second])
      assert.strictEqual(watch.subscriptions(), 1)
      yield* Effect.promise(() => reader.cancel())
      yield* watch.untilSubscriptions(0)
    }),
  )

  it.effect("ends when the request is aborted, whether it is read or not", () =>
    Effect.gen(function* () {
      const watch = TailWatch.make()
      const api = yield* ApiServer.start({ storage: watch.storage })
      const controller = new AbortController()
      const response = yield* ask(api, { signal: controller.signal })
      const reader = response.body!.getReader()
      yield* readUntil(reader, (text) => text.includes("retry"))
      const rest = readUntil(reader, () => false)
      yield* Effect.all([rest, Effect.sync(() => controller.abort())], { concurrency: "unbounded" })
      yield* watch.untilSubscriptions(0)
    }),
  )

  it.effect("is an ordinary error answer when it is refused", () =>
    Effect.gen(function* () {
      const api = yield* ApiServer.start()
      const response = yield* ask(api, { headers: { "last-event-id": "x" } })
      assert.strictEqual(response.status, 400)
      assert.deepStrictEqual(yield* Effect.promise(() => response.json()), {
        error: "invalid_request",
        message: "Last-Event-ID is not the id of an event",
      })
    }),
  )
})
