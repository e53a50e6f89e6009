/**
 * Events and webhooks from the view of the CLI, end to end.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cli from "./Cli.ts"
import { Installation, TIMEOUT } from "./Installation.ts"
import { answers, isVerified } from "./Receiver.ts"
import { INVOICE } from "./Tenant.ts"

/** Without being woken, the dispatcher looks for deliveries once a second. */
const AT_ONCE_MILLIS = 1_000

const installation = new Installation()
const { receiver } = installation

beforeAll(() => installation.start(), TIMEOUT)
afterAll(() => installation.stop(), TIMEOUT)

describe("a server", () => {
  it("sends a published event at once, signed", { timeout: TIMEOUT }, async () => {
    const { id, secret } = await installation.tenant.endpoint(receiver.url("/at-once"), ["invoice.paid"])
    const delays: Array<number> = []
    for (let n = 1; n <= 5; n++) {
      const publishedAt = Date.now()
      const eventId = await installation.tenant.publish()
      const request = await receiver.next("/at-once", n)
      delays.push(request.at - publishedAt)
      assert.isTrue(await isVerified(request, secret))
      assert.strictEqual(request.headers["webhook-id"], eventId)
      const payload = JSON.parse(request.body) as Record<string, unknown>
      assert.deepInclude(payload, { id: eventId, type: "invoice.paid", livemode: false, data: INVOICE })
    }
    // The best of five, because the promise is that publishing wakes the dispatcher, not a time on every machine.
    assert.isBelow(Math.min(...delays), AT_ONCE_MILLIS / 2)
    await installation.tenant.drain()
    await installation.tenant.request("DELETE", `/webhook_endpoints/${id}`)
  })

  it("retries while a receiver is down, and delivers when it is up again", { timeout: TIMEOUT }, async () => {
    const endpoint = await installation.tenant.endpoint(receiver.url("/down"), ["invoice.paid"])
    await receiver.stop()
    const eventId = await installation.tenant.publish()
    const pending = await installation.tenant.deliveryThat(eventId, ({ attempt_count }) => attempt_count > 0)
    assert.strictEqual(pending.status, "Pending")
    assert.strictEqual(pending.last_error, "connection_refused")
    assert.isString(pending.next_attempt_at)
    await receiver.start()
    const delivered = await installation.tenant.deliveryThat(eventId, ({ status }) => status === "Delivered")
    assert.isAbove(delivered.attempt_count, 1)

    const again = await installation.run(
      "replay",
      "event",
      eventId,
      "--endpoint",
      endpoint.id,
      "--wait",
      "--json",
    )
    assert.strictEqual(again.code, 0, again.stderr)
    const [first, second] = receiver.received("/down")
    assert.strictEqual(second?.headers["webhook-id"], first?.headers["webhook-id"])
    assert.strictEqual(second?.body, first?.body)
    await installation.tenant.request("DELETE", `/webhook_endpoints/${endpoint.id}`)
  })

  it("sends one event when usage crosses a threshold", { timeout: TIMEOUT }, async () => {
    const endpoint = await installation.tenant.endpoint(receiver.url("/threshold"), ["usage.threshold"])
    const customer = await installation.tenant.request("POST", "/customers", {
      name: "Ada",
      email: "a@example.com",
    })
    const meter = { customer_id: customer["id"], product_id: "api", unit: "call" }
    await installation.tenant.request("POST", "/usage/thresholds", {
      ...meter,
      quantity: 10,
      period: "month",
    })
    for (let n = 0; n < 6; n++) await installation.tenant.request("POST", "/usage", { ...meter, quantity: 4 })
    const request = await receiver.next("/threshold", 1)
    const { data } = JSON.parse(request.body) as { readonly data: Record<string, unknown> }
    assert.deepInclude(data, { quantity: 10, total_quantity: 12 })
    await installation.tenant.drain()
    assert.lengthOf(receiver.received("/threshold"), 1)
    await installation.tenant.request("DELETE", `/webhook_endpoints/${endpoint.id}`)
  })
})

/** The metrics of an address. The keys are the names with their labels. */
const metricsAt = async (url: string): Promise<ReadonlyMap<string, number>> => {
  const response = await fetch(`${url}/metrics`)
  assert.strictEqual(response.status, 200)
  assert.strictEqual(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ""), Number(line.split(" ").at(-1))]))
}

describe("GET /metrics", () => {
  it(
    "counts requests, usage and attempts for Prometheus, without data of tenants",
    { timeout: TIMEOUT },
    async () => {
      const { tenant } = installation
      const endpoint = await tenant.endpoint(receiver.url("/metrics"), ["invoice.paid"])
      const customer = await tenant.request("POST", "/customers", { name: "Ada", email: "ada@example.com" })
      const before = await metricsAt(installation.server.url)
      const usage = { customer_id: customer["id"], product_id: "secret-product", unit: "call", quantity: 1 }
      for (let n = 0; n < 2; n++)
        await tenant.request("POST", "/usage", { ...usage, idempotency_key: "metrics" })
      await tenant.publish()
      await receiver.next("/metrics", 1)
      await tenant.drain()
      const after = await metricsAt(installation.server.url)
      for (const [name, difference] of [
        ['billwright_http_requests_total{operation="recordUsage",status="201"}', 1],
        ['billwright_http_requests_total{operation="recordUsage",status="200"}', 1],
        ['billwright_http_request_seconds_count{operation="recordUsage"}', 2],
        ['billwright_usage_records_total{outcome="recorded"}', 1],
        ['billwright_usage_records_total{outcome="duplicate"}', 1],
        ['billwright_webhook_attempts_total{outcome="succeeded"}', 1],
      ] as const) {
        assert.strictEqual((after.get(name) ?? 0) - (before.get(name) ?? 0), difference, name)
      }
      assert.strictEqual(after.get("billwright_webhook_attempts_under_way"), 0)
      assert.strictEqual(after.get("billwright_webhook_oldest_due_seconds"), 0)
      for (const name of after.keys()) {
        assert.match(name, /^[a-z_]+(\{(outcome|operation|status|le)="[^"]*"(,(status|le)="[^"]*")?\})?$/)
        for (const told of [customer["id"], endpoint.id, "secret", "default"])
          assert.notInclude(name, String(told))
      }
      await tenant.request("DELETE", `/webhook_endpoints/${endpoint.id}`)
    },
  )
})

describe("billwright trigger", () => {
  it("publishes an example and waits for its delivery", { timeout: TIMEOUT }, async () => {
    const endpoint = await installation.tenant.endpoint(receiver.url("/trigger"))
    const { code, stderr, stdout } = await installation.run("trigger", "payment.failed", "--wait")
    assert.strictEqual(code, 0, stderr)
    const lines = stdout.trim().split("\n")
    assert.match(lines[0]!, /^evt_\S+ {2}payment\.failed$/)
    assert.match(
      lines[1]!,
      new RegExp(`^dlv_\\S+ {2}${endpoint.id} {2}Delivered {2}1 attempt {2}answered 204$`),
    )
    const [request] = receiver.received("/trigger")
    assert.isTrue(await isVerified(request!, endpoint.secret))
    await installation.tenant.request("DELETE", `/webhook_endpoints/${endpoint.id}`)
  })

  it("sends --data unchanged, once for an idempotency key", { timeout: TIMEOUT }, async () => {
    const customer = await installation.tenant.request("POST", "/customers", {
      name: "Ada",
      email: "a@example.com",
    })
    const args = ["--data", JSON.stringify({ ...INVOICE, amount: 7 }), "--customer", String(customer["id"])]
    const publish = (...flags: ReadonlyArray<string>) =>
      installation.run("trigger", "invoice.paid", ...args, "--idempotency-key", "typed", ...flags)
    const [first, second] = [await publish("--json"), await publish()]
    assert.strictEqual(first.code, 0, first.stderr)
    const event = JSON.parse(first.stdout) as Record<string, unknown>
    assert.deepInclude(event, { data: { ...INVOICE, amount: 7 }, customer_id: customer["id"] })
    assert.strictEqual(
      second.stdout,
      `${String(event["id"])}  invoice.paid\nNo endpoint subscribes to its type. A running "billwright listen" gets the event anyway.\n`,
    )
  })

  it("prints when a delivery will be tried again", { timeout: TIMEOUT }, async () => {
    receiver.script("/later", (exchange) => exchange.answer(503, { "retry-after": "3600" }))
    const { tenant } = installation
    const endpoint = await tenant.endpoint(receiver.url("/later"))
    const event = { type: "invoice.paid", data: INVOICE, idempotency_key: "later" }
    const { id } = await tenant.request("POST", "/events", event)
    const waiting = await tenant.deliveryThat(String(id), ({ attempt_count }) => attempt_count === 1)
    const { stdout } = await installation.run(
      "trigger",
      "invoice.paid",
      "--data",
      JSON.stringify(INVOICE),
      "--idempotency-key",
      "later",
    )
    assert.include(stdout, `Pending    1 attempt  answered 503  next at ${waiting.next_attempt_at}`)
    await tenant.request("DELETE", `/webhook_endpoints/${endpoint.id}`)
  })

  it("lists the types, and suggests one for a typing mistake", { timeout: TIMEOUT }, async () => {
    const listed = await installation.run("trigger")
    assert.match(listed.stdout, /^invoice\.paid {2,}An invoice was paid in full\.$/m)
    const mistyped = await installation.run("trigger", "invoice.payed")
    assert.strictEqual(mistyped.code, 1)
    assert.strictEqual(
      mistyped.stderr,
      'billwright: there is no event type "invoice.payed": did you mean invoice.paid? "billwright trigger" lists the types\n',
    )
  })

  it("fails when the delivery that it waits for fails", { timeout: TIMEOUT }, async () => {
    receiver.script("/gone", answers(410))
    const endpoint = await installation.tenant.endpoint(receiver.url("/gone"))
    const { code, stderr, stdout } = await installation.run("trigger", "invoice.paid", "--wait")
    assert.strictEqual(code, 1)
    assert.include(stdout, "Failed     1 attempt  answered 410  gone")
    assert.strictEqual(stderr, "billwright: 1 delivery of 1 failed\n")
    await installation.tenant.request("DELETE", `/webhook_endpoints/${endpoint.id}`)
  })
})

describe("billwright replay", () => {
  it("sends a delivery again, and everything that an endpoint missed", { timeout: TIMEOUT }, async () => {
    receiver.script("/missed", answers(500))
    const endpoint = await installation.tenant.endpoint(receiver.url("/missed"))
    const ids = [await installation.tenant.publish(), await installation.tenant.publish()]
    await receiver.next("/missed", 2)
    // Ends the deliveries earlier than the retry schedule would.
    const setStatus = (status: string) =>
      installation.tenant.request("PATCH", `/webhook_endpoints/${endpoint.id}`, { status })
    await setStatus("disabled")
    await setStatus("enabled")
    receiver.script("/missed", answers(204))
    const failed = await installation.tenant.deliveryOf(ids[0]!)
    assert.deepInclude(failed, { status: "Failed", reason: "endpoint_disabled" })

    const one = await installation.run("replay", "delivery", failed.id, "--wait")
    assert.strictEqual(one.code, 0, one.stderr)
    assert.match(one.stdout, /^dlv_\S+ {2}whe_\S+ {2}Delivered {2}1 attempt {2}answered 204\n$/)
    assert.notInclude(one.stdout, failed.id)

    const replayed = async (what: string, ...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await installation.run("replay", what, ...args, "--json")
      assert.strictEqual(code, 0, stderr)
      return JSON.parse(stdout) as Record<string, unknown>
    }
    const made = await replayed("delivery", failed.id)
    const delivered = await replayed("delivery", failed.id, "--wait")
    assert.deepInclude(delivered, { event_id: ids[0]!, status: "Delivered" })
    const list = await replayed("event", ids[0]!, "--endpoint", endpoint.id, "--wait")
    const [listed] = list["data"] as readonly [Record<string, unknown>]
    assert.deepStrictEqual(list, { object: "list", data: [listed], has_more: false })
    assert.strictEqual(listed["status"], "Delivered")
    // With --wait, each delivery is read by itself, so that the output says since when an attempt is under way.
    for (const each of [delivered, listed]) {
      assert.deepStrictEqual(Object.keys(each), [...Object.keys(made), "attempt_started_at"])
    }

    const range = await installation.run("replay", "endpoint", endpoint.id, "--since", "1h", "--wait")
    assert.strictEqual(range.code, 0, range.stderr)
    // The other one has been delivered by now.
    assert.strictEqual(range.stdout, "1 event is sent again.\n")
    const all = await installation.run(
      "replay",
      "endpoint",
      endpoint.id,
      "--since",
      "1h",
      "--status",
      "all",
      "--json",
    )
    assert.isAtLeast((JSON.parse(all.stdout) as { readonly count: number }).count, 2)
    await installation.tenant.drain()
    await installation.tenant.request("DELETE", `/webhook_endpoints/${endpoint.id}`)
  })
})

describe("billwright prune", () => {
  it("counts old events with their deliveries, and then removes them", { timeout: TIMEOUT }, async () => {
    const endpoint = await installation.tenant.endpoint(receiver.url("/prune"), ["invoice.paid"])
    const old = await installation.tenant.publish()
    await installation.tenant.drain()
    await installation.sql(
      "update billwright.events set occurred_at = occurred_at - interval '100 days'",
      "update billwright.webhook_finished set finished_at = finished_at - interval '100 days'",
      "update billwright.webhook_hourly set hour = hour - interval '100 days'",
    )
    const young = await installation.tenant.publish()
    await installation.tenant.drain()
    const prune = (...args: ReadonlyArray<string>) =>
      Cli.run(["prune", "--store", "postgres", ...args], { env: installation.env })

    const counted = await prune("--older-than", "90d", "--dry-run")
    assert.strictEqual(counted.code, 0, counted.stderr)
    assert.match(
      counted.stdout,
      /^Would remove data older than \S+Z: \d+ events with \d+ deliveries and \d+ attempts, \d+ hourly counts\.$/m,
    )
    const pruned = await prune("--older-than", "2160h", "--json")
    const answer = JSON.parse(pruned.stdout) as Record<string, unknown>
    for (const name of ["events", "deliveries", "attempts", "hourly_counts"]) {
      assert.isAtLeast(Number(answer[name]), 1, name)
    }
    assert.include(counted.stdout, `: ${answer["events"]} events with ${answer["deliveries"]} deliveries`)
    assert.deepInclude(answer, { dry_run: false, expired_answers: 0 })

    assert.strictEqual((await installation.tenant.call("GET", `/events/${old}`)).status, 404)
    assert.strictEqual((await installation.tenant.call("POST", `/events/${old}/replay`, {})).status, 404)
    assert.strictEqual((await installation.tenant.call("GET", `/events/${young}`)).status, 200)
    await installation.tenant.request("DELETE", `/webhook_endpoints/${endpoint.id}`)
  })
})

describe.concurrent("a command that fails", () => {
  it.each([
    [{ BILLWRIGHT_API_KEY: "" }, /set the environment variable BILLWRIGHT_API_KEY to a key/],
    [
      { BILLWRIGHT_API_KEY: `sk_${"test"}_wrong` },
      /\(401 unauthorized\): check the key in BILLWRIGHT_API_KEY$/m,
    ],
    [
      { BILLWRIGHT_API_KEY: "my key" },
      /^billwright: BILLWRIGHT_API_KEY is not an API key: keys begin with sk_test_/,
    ],
    [
      { BILLWRIGHT_URL: "http://127.0.0.1:2" },
      /^billwright: http:\/\/127\.0\.0\.1:2 can't be reached \(ECONNREFUSED\)/,
    ],
    [{ BILLWRIGHT_URL: "ftp://example.com" }, /--url must be an address such as/],
  ])("explains %j in a sentence", { timeout: TIMEOUT }, async (wrong, sentence) => {
    const given = { ...installation.callerEnv, ...wrong }
    const { code, stderr } = await Cli.run(["trigger", "invoice.paid"], { env: given })
    assert.strictEqual(code, 1)
    assert.match(stderr, sentence)
    assert.notMatch(stderr, /^\s+at /m)
  })

  it.each([
    [["event", "evt_nothing"], /no event has the id evt_nothing \(404 not_found\)/],
    [["delivery", "dlv_nothing"], /no delivery has the id dlv_nothing/],
    [["endpoint", "whe_nothing", "--since", "2026-02-30T00:00:00Z"], /since must be an RFC 3339 instant/],
    [
      ["endpoint", "whe_nothing", "--since", "yesterday"],
      /--since must be an instant such as .* 3d\. It is y/,
    ],
    [["endpoint", "whe_nothing", "--since", "-2h"], /--since must be an instant such as .* It is -2h$/m],
    [["endpoint", "whe_nothing", "--since", "1h", "--until=-2h"], /--until must be .* It is -2h$/m],
    [["endpoint", "whe_nothing", "--since", "999999d"], /--since must be at most 36500d ago\./],
  ])("explains what is wrong with replay %j", { timeout: TIMEOUT }, async (args, sentence) => {
    const { code, stderr } = await installation.run("replay", ...args)
    assert.strictEqual(code, 1)
    assert.match(stderr, sentence)
  })

  it("refuses an invalid age for prune", { timeout: TIMEOUT }, async () => {
    const { code, stderr } = await installation.run("prune", "--older-than", "90")
    assert.strictEqual(code, 1)
    assert.match(
      stderr,
      /^billwright: --older-than must be a number of hours or days, such as 12h or 90d\. It is 90$/m,
    )
  })

  it.each([
    [["--forward-to", "ftp://localhost/hooks"], {}, /must be an address such as/],
    [
      ["--forward-to", "http://localhost:1"],
      { BILLWRIGHT_LISTEN_SECRET: "whsec_short" },
      /BILLWRIGHT_LISTEN_SECRET must be whsec_/,
    ],
    [["--forward-to", "http://localhost:1", "--types", "no.such"], {}, /no\.such/],
  ])("refuses listen %j", { timeout: TIMEOUT }, async (args, more, sentence) => {
    const { code, stderr } = await Cli.run(["listen", ...args], {
      env: { ...installation.callerEnv, ...more },
    })
    assert.strictEqual(code, 1)
    assert.match(stderr, sentence)
  })
})
