/** The client, over a real API and over one that fails. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Billing, ConfigurationError, createBilling, InvalidInputError } from "billwright"
import { ApiError, type BillingClient, ConnectionError, createClient } from "billwright/client"
import { memory } from "billwright/memory"
import { afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import { rejection } from "./Rejection.ts"

const ada = { name: "Ada Lovelace", email: "ada@example.com" }

let billing: Billing
let apiKey: string
let client: BillingClient

/** Without a network: the handler answers requests directly. */
const direct = (url: string, init: RequestInit) =>
  billing.fetch(new Request(url, init), { basePath: "/billing" })

/** The answer to an export. */
const exportOf = (body: BodyInit) => new Response(body, { headers: { "content-type": "application/jsonl" } })

/** An export whose connection is lost after its first line. */
const brokenOff = () => {
  const steps = [
    (sink: ReadableStreamDefaultController<Uint8Array>) =>
      sink.enqueue(new TextEncoder().encode('{"object":"customer"}\n')),
    (sink: ReadableStreamDefaultController<Uint8Array>) => sink.error(new TypeError("terminated")),
  ]
  return exportOf(new ReadableStream({ pull: (sink) => steps.shift()?.(sink) }))
}

beforeAll(async () => {
  billing = await createBilling({
    store: memory(),
    mode: "test",
    dispatcher: "manual",
    network: { allowLoopback: true },
    log: false,
  })
  apiKey = (await billing.keys.create({ name: "client" })).secret
  client = createClient({ url: "http://localhost/billing", apiKey, fetch: direct })
  return () => billing.close()
})

describe("the client", () => {
  it("exports everything about a customer, as createBilling does", async () => {
    const { id: customerId } = await billing.customers.create(ada)
    const other = await billing.customers.create({ ...ada, name: "Grace Hopper" })
    await billing.usage.record({ customerId, productId: "api", unit: "call", quantity: 5 })
    await billing.usage.record({ customerId: other.id, productId: "api", unit: "call", quantity: 5 })
    const all: Array<object> = []
    for await (const object of client.customers.export(customerId)) all.push(object)
    const embedded: Array<object> = []
    for await (const object of billing.customers.export(customerId)) embedded.push(object)
    assert.deepStrictEqual(all, embedded)
    assert.deepStrictEqual(
      embedded.map((value) => (value as { readonly object: string }).object),
      ["customer", "audit_record", "usage_record"],
    )
    assert.deepInclude(embedded[0], { id: customerId, email: ada.email })
    assert.notInclude(JSON.stringify(all), "Hopper")
    // Nothing more is read than what is asked for.
    for await (const { object } of billing.customers.export(customerId)) {
      assert.strictEqual(object, "customer")
      break
    }
    await billing.customers.erase(customerId)
    const read = async (from: Pick<Billing, "customers">) => {
      for await (const _ of from.customers.export(customerId)) assert.fail("an erased customer was exported")
    }
    assert.strictEqual(
      ((await rejection(read(billing))) as { readonly code?: string }).code,
      "customer_not_found",
    )
    assert.instanceOf(await rejection(read(client as never)), ApiError)
  })

  it("does not take an export that broke off for a whole one", async () => {
    const { id } = await billing.customers.create(ada)
    const cutting = createClient({
      url: "http://localhost/billing",
      apiKey,
      fetch: async (url, init) => {
        const response = await direct(url, init)
        const lines = (await response.text()).split("\n")
        return new Response(
          lines
            .slice(0, -2)
            .map((line) => `${line}\n`)
            .join(""),
          response,
        )
      },
    })
    const read = async () => {
      const found: Array<object> = []
      for await (const object of cutting.customers.export(id)) found.push(object)
    }
    assert.instanceOf(await rejection(read()), ConnectionError)
  })

  it.each([
    [
      "an opening without a connection",
      () => Promise.reject(new TypeError("fetch failed")),
      /^the connection/,
    ],
    ["a connection lost on the way", () => brokenOff(), /^the export broke off before its end/],
    ["a line that was mixed up", () => exportOf('{"object":"customer"}\n<html>\n'), /^the export broke off/],
    [
      "an answer that is not an export",
      () => new Response("<html>"),
      /: check that url is the URL of the API$/,
    ],
  ] as const)("rejects an export with a ConnectionError after %s", async (_, answer, message) => {
    const breaking = createClient({ url: "http://localhost", apiKey, fetch: async () => answer() })
    const read = async () => {
      for await (const { object } of breaking.customers.export("cus_1"))
        assert.strictEqual(object, "customer")
    }
    const error = await rejection(read())
    assert.instanceOf(error, ConnectionError)
    assert.strictEqual(error.code, "network_error")
    assert.match(error.message, message)
  })

  it("ends an export with the reason of its signal, and leaves the caller's own errors alone", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const hanging = createClient({
      url: "http://localhost",
      apiKey,
      fetch: async (_url, { signal }) => {
        const body = new ReadableStream<Uint8Array>({
          start(sink) {
            sink.enqueue(new TextEncoder().encode('{"object":"customer"}\n'))
            signal?.addEventListener("abort", () => sink.error(new TypeError("terminated")))
          },
        })
        return exportOf(body)
      },
    })
    const abort = async () => {
      for await (const _ of hanging.customers.export("cus_1", controller)) controller.abort(reason)
    }
    assert.strictEqual(await rejection(abort()), reason)
    const own = new TypeError("of the caller")
    const fail = async () => {
      for await (const _ of hanging.customers.export("cus_1")) throw own
    }
    assert.strictEqual(await rejection(fail()), own)
  })

  it("returns the same values as createBilling", async () => {
    const created = await client.customers.create({ ...ada, metadata: { someKey: "a", other_key: "b" } })
    const embedded = await billing.customers.get(created.id)
    assert.deepStrictEqual(created, embedded)
    assert.deepStrictEqual(await client.customers.get(created.id), embedded)
    const changed = await client.customers.update(created.id, { metadata: { someKey: null } })
    assert.deepStrictEqual(changed.metadata, { other_key: "b" })

    const meter = { customerId: created.id, productId: "api", unit: "call" }
    const input = { ...meter, quantity: 5n, timestamp: new Date("2026-11-20T08:15:00Z"), idempotencyKey: "k" }
    const { isDuplicate, record } = await client.usage.record(input)
    assert.isFalse(isDuplicate)
    assert.deepStrictEqual(record, await billing.usage.getRecord(record.id))
    assert.deepStrictEqual(await client.usage.record(input), { record, isDuplicate: true })
    const batch = await client.usage.recordBatch([
      { ...meter, quantity: Number.MAX_SAFE_INTEGER },
      { ...meter, quantity: 5, timestamp: input.timestamp, idempotencyKey: "k" },
    ])
    assert.deepStrictEqual(batch[1], { id: record.id, isDuplicate: true })
    const summary = await client.usage.summary({ customerId: created.id, startDate: "2026-01-01" })
    assert.strictEqual(summary.totalQuantity, BigInt(Number.MAX_SAFE_INTEGER) + 5n)
    assert.deepStrictEqual(
      summary,
      await billing.usage.summary({ customerId: created.id, startDate: "2026-01-01" }),
    )
    const series = {
      customerId: created.id,
      startDate: "2026-11-20",
      endDate: "2026-11-21",
      window: "day",
    } as const
    assert.deepStrictEqual(await client.usage.series(series), await billing.usage.series(series))
    const grouped = { ...series, groupBy: "product_id" } as const
    assert.deepStrictEqual(await client.usage.series(grouped), await billing.usage.series(grouped))
    assert.deepStrictEqual(await client.usage.getRecord(record.id), record)
    assert.instanceOf((await client.usage.voidRecord(record.id)).voidedAt, Date)

    const threshold = await client.thresholds.create({ ...meter, quantity: 10n ** 20n, period: "month" })
    assert.strictEqual(threshold.quantity, 10n ** 20n)
    assert.deepStrictEqual(threshold, await billing.thresholds.get(threshold.id))
    assert.deepStrictEqual(await client.thresholds.get(threshold.id), threshold)
    await client.thresholds.delete(threshold.id)
    await client.customers.erase(created.id)
    const gone = await rejection(client.customers.get(created.id))
    assert.instanceOf(gone, ApiError)
    assert.deepInclude(gone, { code: "not_found", status: 404 })
    assert.match(gone.requestId ?? "", /^req_/)
  })

  it("returns the same events, endpoints and deliveries as createBilling", async () => {
    const endpoint = await client.endpoints.create({
      url: "http://127.0.0.1:9/hooks",
      eventTypes: ["invoice.paid"],
      metadata: { team_name: "a" },
    })
    const { secret, ...shown } = endpoint
    assert.match(secret ?? "", /^whsec_/)
    assert.deepStrictEqual(shown, await billing.endpoints.get(endpoint.id))
    const data = {
      invoice_id: "in_1",
      customer_id: "ours",
      amount: 1,
      currency: "EUR",
      metadata: { some_key: "x" },
    }
    const input = { type: "invoice.paid", data, idempotencyKey: "once" } as const
    const { event } = await client.events.publish(input)
    assert.deepStrictEqual(event.data, data)
    assert.isTrue((await client.events.publish(input)).isDuplicate)
    assert.deepStrictEqual(await client.events.get(event.id), await billing.events.get(event.id))
    const listed = (await client.events.list().page()).data
    assert.deepStrictEqual(listed, [{ ...event, deliveryCounts: { pending: 1, delivered: 0, failed: 0 } }])
    assert.deepStrictEqual(listed, (await billing.events.list().page()).data)
    await billing.deliverDue()
    const [delivery] = (await client.deliveries.list({ eventId: event.id }).page()).data
    assert.isDefined(delivery)
    assert.deepStrictEqual(
      await client.deliveries.get(delivery.id),
      await billing.deliveries.get(delivery.id),
    )
    const counts = { pending: 1, delivered: 0, failed: 0, failedAttempts: 1 }
    for (const { deliveries } of [client, billing]) {
      const statistics = await deliveries.statistics({ hours: 2 })
      assert.deepInclude(statistics, counts)
      assert.lengthOf(statistics.endpoints, 1)
      assert.deepInclude(statistics.endpoints[0], { endpointId: endpoint.id, ...counts })
      assert.lengthOf(statistics.hours, 2)
      assert.deepStrictEqual(statistics.hours[0]?.start, statistics.since)
      assert.instanceOf(statistics.until, Date)
      assert.lengthOf((await deliveries.statistics()).hours, 24)
    }
    const tooMany = await rejection(billing.deliveries.statistics({ hours: 169 }))
    assert.instanceOf(tooMany, InvalidInputError)
    assert.strictEqual((await client.deliveries.replay(delivery.id)).eventId, event.id)
    assert.lengthOf(await client.events.replay(event.id), 1)
    const tested = await client.endpoints.test(endpoint.id, { type: "invoice.paid" })
    assert.deepStrictEqual([tested.type, tested.endpointId], ["invoice.paid", endpoint.id])
    assert.match((await client.endpoints.rotateSecret(endpoint.id)).secret ?? "", /^whsec_/)
    assert.strictEqual(
      await client.endpoints.replay(endpoint.id, { since: event.timestamp, dryRun: true }),
      0,
    )
    assert.strictEqual(await client.endpoints.replay(endpoint.id, { since: event.timestamp }), 0)
    assert.strictEqual(
      (await client.endpoints.update(endpoint.id, { status: "disabled" })).status,
      "disabled",
    )
    await client.endpoints.delete(endpoint.id)
    const types = await client.events.types()
    assert.include(
      types.map(({ name }) => name),
      "invoice.paid",
    )
    assert.isObject(types[0]?.schema)
  })

  it("reads lists one page after the other", async () => {
    const ids: Array<string> = []
    const mail = "list@example.com"
    for (let i = 0; i < 5; i++) ids.unshift((await billing.customers.create({ ...ada, email: mail })).id)
    const seen: Array<string> = []
    for await (const { id } of client.customers.list({ limit: 2, email: mail })) seen.push(id)
    assert.deepStrictEqual(seen, ids)
  })

  it("reads lists of what the loop deletes", async () => {
    const { id: customerId } = await billing.customers.create(ada)
    const meter = { customerId, productId: "api", unit: "call" }
    for (let quantity = 1; quantity <= 5; quantity++)
      await billing.thresholds.create({ ...meter, quantity, period: "month" })
    for (const { thresholds } of [client, billing]) {
      const kept: Array<string> = []
      for await (const { id } of thresholds.list({ limit: 2, customerId })) {
        if (thresholds === client.thresholds && kept.length === 0) kept.push(id)
        else await thresholds.delete(id)
      }
    }
    assert.lengthOf((await client.thresholds.list({ customerId }).page()).data, 0)
  })

  it("does not follow redirects, after which a change would be another request", async () => {
    const asked: Array<string> = []
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      if (request.url === "/v1/lists") response.end('{"data":[],"has_more":false}')
      else response.writeHead(301, { location: "/v1/lists" }).end()
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    try {
      const { port } = server.address() as AddressInfo
      const redirected = createClient({ url: `http://127.0.0.1:${port}`, apiKey })
      const calls = [
        () => redirected.customers.create(ada),
        () => redirected.customers.export("cus_1")[Symbol.asyncIterator]().next(),
        () => redirected.events.stream()[Symbol.asyncIterator]().next(),
      ]
      for (const call of calls) {
        const error = await rejection(call())
        assert.instanceOf(error, ConnectionError)
        assert.strictEqual(error.message, "the server redirects: check that url is the URL of the API")
      }
      assert.deepStrictEqual(asked, [
        "POST /v1/customers",
        "GET /v1/customers/cus_1/export",
        "GET /v1/events/stream",
      ])
    } finally {
      server.close()
    }
  })

  it("follows events", async () => {
    const data = { invoice_id: "in_2", customer_id: "ours", amount: 2, currency: "EUR" }
    const { event: before } = await billing.events.publish({ type: "invoice.created", data })
    const { event } = await billing.events.publish({ type: "invoice.paid", data })
    const { data: eventData, id, timestamp, type } = event
    for await (const seen of client.events.stream({ after: before.id })) {
      assert.deepStrictEqual(seen, { id, type, timestamp, data: eventData })
      break
    }
    const controller = new AbortController()
    const iterator = client.events.stream({}, controller)[Symbol.asyncIterator]()
    const next = iterator.next()
    const reason = new Error("enough")
    controller.abort(reason)
    assert.strictEqual(await rejection(next), reason)
    const unknown = client.events.stream({ after: "evt_none" })[Symbol.asyncIterator]()
    assert.propertyVal(await rejection(unknown.next()), "code", "invalid_request")
  })

  it("needs an address and a key", () => {
    const url = "http://localhost"
    const wrong: ReadonlyArray<readonly [unknown, RegExp]> = [
      [undefined, /^createClient needs url: createClient\(\{ url/],
      [{ apiKey }, /^createClient needs url/],
      [{ url }, /^createClient needs apiKey/],
      [{ url, apiKey: "" }, /^apiKey must be a key such as sk_live_…$/],
      [{ url: "app/billing", apiKey }, /^url must be a URL such as "https:.*or a path of this origin/],
      [{ url: "ftp://localhost", apiKey }, /^url must be a URL/],
      [
        { url, apiKey, retrys: 1 },
        /^createClient has no option "retrys": its options are url, apiKey, maxRetries/,
      ],
      [{ url, apiKey, maxRetries: -1 }, /^maxRetries must be an integer of at least 0$/],
      [{ url, apiKey, timeoutMillis: "5s" }, /^timeoutMillis must be an integer of at least 1$/],
      [{ url, apiKey, fetch: {} }, /^fetch must be a function$/],
    ]
    for (const [options, sentence] of wrong)
      assert.throws(() => createClient(options as never), ConfigurationError, sentence)
    createClient({ url: "/billing", apiKey })
    createClient({ url, apiKey, fetch: undefined as never })
  })

  it("says so when the key is not valid", async () => {
    const stranger = createClient({
      url: "http://localhost/billing/v1/",
      apiKey: "sk_test_no",
      fetch: direct,
    })
    assert.propertyVal(await rejection(stranger.customers.list().page()), "code", "unauthorized")
  })
})

describe("tries", () => {
  afterEach(() => void vi.useRealTimers())

  interface Sent {
    readonly at: number
    readonly key: string | null
  }

  /** Answers in turn, and repeats the last answer. It keeps the requests. */
  const scripted = (...answers: ReadonlyArray<() => Response | Promise<Response>>) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] })
    const sent: Array<Sent> = []
    const start = Date.now()
    const trying = createClient({
      url: "http://localhost",
      apiKey,
      fetch: async (_url, init) => {
        sent.push({ at: Date.now() - start, key: new Headers(init.headers).get("idempotency-key") })
        return answers[Math.min(sent.length, answers.length) - 1]!()
      },
    })
    return { trying, sent }
  }

  const answer =
    (status: number, headers: Record<string, string> = {}) =>
    () =>
      new Response(JSON.stringify({ error: "unavailable", message: "later" }), { status, headers })
  const success = () =>
    Response.json({ object: "customer", id: "cus_1", name: "Ada", created_at: "2026-11-21T00:00:00.000Z" })
  const lost = () => Promise.reject(new TypeError("fetch failed"))

  const settled = async <A>(promise: Promise<A>): Promise<A> => {
    const guarded = promise.catch(() => undefined)
    await vi.runAllTimersAsync()
    await guarded
    return promise
  }

  it("are repeated with the same idempotency key after a lost connection and temporary errors", async () => {
    const { sent, trying } = scripted(lost, answer(503), answer(502), success)
    const customer = await settled(trying.customers.create(ada))
    assert.strictEqual(customer.id, "cus_1")
    assert.lengthOf(sent, 4)
    assert.match(sent[0]?.key ?? "", /^[0-9a-f]{32}$/)
    assert.strictEqual(new Set(sent.map(({ key }) => key)).size, 1)
    const delays = sent.slice(1).map(({ at }, index) => at - sent[index]!.at)
    for (const [index, delay] of delays.entries()) {
      assert.isAtLeast(delay, 125 * 2 ** index)
      assert.isAtMost(delay, 250 * 2 ** index)
    }
  })

  it("wait as long as Retry-After asks for, and not for more than a minute", async () => {
    const { sent, trying } = scripted(
      answer(429, { "retry-after": "7" }),
      answer(409, { "retry-after": "1" }),
      success,
    )
    await settled(trying.customers.create(ada))
    assert.isAtLeast(sent[1]!.at, 7_000)
    assert.isAtLeast(sent[2]!.at, 8_000)
    const impatient = scripted(answer(503, { "retry-after": "61" }), success)
    const error = await rejection(settled(impatient.trying.customers.create(ada)))
    assert.propertyVal(error, "status", 503)
    assert.lengthOf(impatient.sent, 1)
  })

  it.each(["Sat, 21 Nov 2026 12:00:30 GMT", "Saturday, 21-Nov-26 12:00:30 GMT", "Sat Nov 21 12:00:30 2026"])(
    "wait until the date of Retry-After in any time zone of the process: %s",
    async (date) => {
      const zone = process.env["TZ"]
      process.env["TZ"] = "America/New_York"
      try {
        vi.setSystemTime("2026-11-21T12:00:00Z")
        const { sent, trying } = scripted(answer(503, { "retry-after": date }), success)
        await settled(trying.customers.create(ada))
        assert.strictEqual(sent[1]!.at - sent[0]!.at, 30_000)
      } finally {
        if (zone === undefined) delete process.env["TZ"]
        else process.env["TZ"] = zone
      }
    },
  )

  it("end after three repeats", async () => {
    const { sent, trying } = scripted(lost)
    const error = await rejection(settled(trying.customers.get("cus_1")))
    assert.instanceOf(error, ConnectionError)
    assert.strictEqual(error.code, "network_error")
    assert.instanceOf(error.cause, TypeError)
    assert.lengthOf(sent, 4)
    assert.isNull(sent[0]?.key)
  })

  it("are not repeated after errors that would come again", async () => {
    for (const status of [400, 401, 403, 404, 409, 422, 500]) {
      const { sent, trying } = scripted(answer(status))
      assert.propertyVal(await rejection(settled(trying.customers.create(ada))), "status", status)
      assert.lengthOf(sent, 1)
    }
  })

  it("stop waiting when the signal aborts", async () => {
    const { sent, trying } = scripted(answer(503))
    const controller = new AbortController()
    const reason = new Error("enough")
    const call = trying.customers.create(ada, { signal: controller.signal })
    const outcome = rejection(call)
    await vi.advanceTimersByTimeAsync(1)
    controller.abort(reason)
    assert.strictEqual(await outcome, reason)
    assert.lengthOf(sent, 1)
  })

  it("are not repeated after a redirect, of which browsers show nothing", async () => {
    const opaque = () =>
      Object.defineProperties(new Response(null), {
        type: { value: "opaqueredirect" },
        status: { value: 0 },
        ok: { value: false },
      })
    for (const redirect of [opaque, answer(307)]) {
      const { sent, trying } = scripted(redirect)
      const error = await rejection(settled(trying.customers.create(ada)))
      assert.instanceOf(error, ConnectionError)
      assert.match(error.message, /^the server redirects/)
      assert.lengthOf(sent, 1)
    }
  })

  const stream = (text: string) => () =>
    new Response(text, { headers: { "content-type": "text/event-stream; charset=utf-8" } })
  const refused = answer(401)

  it("of a stream end when the answer is not a stream of events", async () => {
    const { sent, trying } = scripted(
      () => new Response("<html>", { headers: { "content-type": "text/html" } }),
      refused,
    )
    const error = await rejection(settled(trying.events.stream()[Symbol.asyncIterator]().next()))
    assert.instanceOf(error, ConnectionError)
    assert.match(error.message, /^the answer is not text\/event-stream: check that url/)
    assert.lengthOf(sent, 1)
  })

  it("of a stream go on after a lost connection", async () => {
    const event = 'id: evt_1\ndata: {"id":"evt_1"}\n\n'
    const { trying } = scripted(lost, stream(event))
    const { value } = await settled(trying.events.stream()[Symbol.asyncIterator]().next())
    assert.propertyVal(value, "id", "evt_1")
  })

  it("of a stream wait longer while it gives nothing, and shortly again after a sign of life", async () => {
    const silent = stream("")
    for (const alive of [":\n\n", "retry: 1000\n\n"]) {
      const { sent, trying } = scripted(silent, silent, silent, stream(alive), silent, refused)
      const outcome = await rejection(settled(trying.events.stream()[Symbol.asyncIterator]().next()))
      assert.propertyVal(outcome, "status", 401)
      const delays = sent.slice(1).map(({ at }, index) => at - sent[index]!.at)
      for (const [index, step] of [1, 2, 4, 1, 2].entries()) {
        assert.isAtLeast(delays[index]!, 125 * step)
        assert.isAtMost(delays[index]!, 250 * step)
      }
    }
  })

  it("explain an answer that is not from the API", async () => {
    const html = () => new Response("<html>", { status: 404 })
    const error = await rejection(settled(scripted(html).trying.customers.get("cus_1")))
    assert.instanceOf(error, ApiError)
    assert.deepInclude(error, { code: "not_found", requestId: undefined })
    const ok = scripted(() => new Response("<html>", { status: 200 }))
    assert.match((await rejection(settled(ok.trying.customers.get("cus_1")))).message, /is not JSON/)
  })
})
