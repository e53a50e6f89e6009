/**
 * Compares the document and the answers of customers and usage thresholds byte for byte with recorded ones.
 *
 * `npm run record` records an intended change. The diff of `recordings/` then shows what it changes for callers.
 */
import { fileURLToPath } from "node:url"
import { ApiKeys, Billing, CurrentTenant, IdGenerator, Tenant } from "@billwright/core"
import { Server } from "@billwright/http"
import { makeOpenApiDocument } from "@billwright/http/api"
import { Memory } from "@billwright/memory"
import { describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { expect } from "vitest"

const recording = (name: string): string => fileURLToPath(new URL(`recordings/${name}`, import.meta.url))

const services = Billing.layerWithIds({}).pipe(
  Layer.provideMerge(IdGenerator.layerSeeded(16)),
  Layer.provideMerge(Memory.layer),
)

const UNKNOWN = "0".repeat(26)

interface Sent {
  readonly json?: unknown
  readonly key?: string
  readonly idempotencyKey?: string
}

const open = Effect.gen(function* () {
  const server = yield* Server.make()
  const keys = yield* ApiKeys
  const issue = (mode: Tenant.Mode, scopes: ReadonlyArray<"customers:read" | "usage:read">) =>
    Effect.map(
      keys
        .issue({ name: "recorder", ...(scopes.length === 0 ? {} : { scopes: [...scopes] }) })
        .pipe(Effect.provideService(CurrentTenant, { accountId: Tenant.defaultAccountId, mode })),
      ({ secret }) => Redacted.value(secret),
    )
  const whole = yield* issue("test", [])
  const live = yield* issue("live", [])
  const reader = yield* issue("test", ["customers:read", "usage:read"])
  const lines: Array<string> = []

  /** Sends a request, records it and its answer, and returns the id in the answer. */
  const send = Effect.fnUntraced(function* (method: string, target: string, sent: Sent = {}) {
    const { idempotencyKey, json, key = whole } = sent
    const [path = "", query = ""] = target.split("?")
    const text = json === undefined ? "" : typeof json === "string" ? json : JSON.stringify(json)
    const headers: Readonly<Record<string, string | undefined>> = {
      authorization: `Bearer ${key}`,
      "idempotency-key": idempotencyKey,
      "content-type": json === undefined ? undefined : "application/json",
    }
    const response = yield* server({
      method,
      path: `/v1${path}`,
      query,
      header: (name) => headers[name],
      headers: () => ({}),
      body: Effect.succeed(new TextEncoder().encode(text)),
    })
    const sentHeaders = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}\n`)
    lines.push(
      `${method} ${target}\n${text}\n\n${response.status}\n${sentHeaders.join("")}\n${response.body}\n`,
    )
    return response.body.startsWith("{") ? String((JSON.parse(response.body) as { id?: unknown }).id) : ""
  })
  return { lines, live, reader, send }
})

const customers = Effect.gen(function* () {
  const { lines, live, reader, send } = yield* open
  const ada = yield* send("POST", "/customers", {
    json: { name: "Ada Lovelace", email: "ada@example.com", metadata: { plan: "pro" } },
    idempotencyKey: "create-ada",
  })
  yield* send("POST", "/customers", {
    json: { name: "Ada Lovelace", email: "ada@example.com", metadata: { plan: "pro" } },
    idempotencyKey: "create-ada",
  })
  yield* TestClock.adjust("1 minute")
  const grace = yield* send("POST", "/customers", {
    json: { name: "Grace Hopper", email: "grace@example.com" },
  })
  const other = yield* send("POST", "/customers", {
    json: { name: "Ada King", email: "ada@example.com" },
    key: live,
  })
  const refused: ReadonlyArray<unknown> = [
    {},
    { name: "", email: "a@b" },
    { name: "x".repeat(257), email: "a@b" },
    { name: "Ada", email: "ada" },
    { name: 7, email: "a@b" },
    { name: "Ada", email: "a@b", plan: "pro" },
    { name: "Ada", email: "a@b", metadata: { k: 1 } },
    { name: "Ada", email: "a@b", metadata: { ["k".repeat(41)]: "" } },
    { name: "a\0", email: "a@b" },
    [],
    "{",
    undefined,
  ]
  for (const json of refused) yield* send("POST", "/customers", { json })
  yield* send("POST", "/customers", { json: { name: "Ada", email: "a@b" }, key: reader })
  for (const query of [
    "",
    "?limit=1",
    `?limit=1&starting_after=${grace}`,
    `?ending_before=${ada}`,
    "?email=ada@example.com",
    "?search=hopper",
    "?search=ho",
    "?limit=0",
    "?limit=101",
    "?email=ada",
    "?unknown=1",
    `?starting_after=${ada}&ending_before=${grace}`,
    `?starting_after=cus_${UNKNOWN}`,
    "?starting_after=nothing",
    `?starting_after=${other}`,
  ])
    yield* send("GET", `/customers${query}`)
  for (const id of [ada, other, `cus_${UNKNOWN}`, "nothing", `thr_${UNKNOWN}`])
    yield* send("GET", `/customers/${id}`)
  yield* TestClock.adjust("1 minute")
  for (const json of [
    { name: "Ada King" },
    { metadata: { plan: null, seats: "5" } },
    { metadata: null },
    {},
    { name: null },
    { name: "" },
    { id: "cus_1" },
    undefined,
  ])
    yield* send("PATCH", `/customers/${ada}`, { json })
  yield* send("PATCH", `/customers/cus_${UNKNOWN}`, { json: { name: "Nobody" } })
  yield* send("PATCH", `/customers/${ada}`, { json: { name: "Ada" }, key: reader })
  yield* send("DELETE", `/customers/${ada}`, { key: reader })
  yield* send("DELETE", `/customers/${ada}`)
  yield* send("DELETE", `/customers/${ada}`)
  yield* send("DELETE", `/customers/cus_${UNKNOWN}`)
  yield* send("GET", `/customers/${ada}`)
  yield* send("GET", `/customers?starting_after=${ada}`)
  yield* send("GET", "/customers?email=ada@example.com")
  yield* send("PUT", "/customers")
  yield* send("POST", `/customers/${grace}`)
  return lines.join("\n")
})

const thresholds = Effect.gen(function* () {
  const { lines, live, reader, send } = yield* open
  const customer_id = yield* send("POST", "/customers", {
    json: { name: "Ada", email: "ada@example.com" },
  })
  const watched = { customer_id, product_id: "api", unit: "call", quantity: 10, period: "month" }
  const path = "/usage/thresholds"
  const first = yield* send("POST", path, { json: watched, idempotencyKey: "first" })
  yield* send("POST", path, { json: watched, idempotencyKey: "first" })
  yield* send("POST", path, { json: { ...watched, quantity: 11 }, idempotencyKey: "first" })
  const large = yield* send("POST", path, {
    json: `{"customer_id":"${customer_id}","product_id":"api","unit":"byte","quantity":1000000000000000000000000000000,"period":"lifetime"}`,
  })
  const refused: ReadonlyArray<unknown> = [
    {},
    { ...watched, quantity: 0 },
    { ...watched, quantity: 1.5 },
    { ...watched, quantity: "10" },
    { ...watched, period: "year" },
    { ...watched, unit: "" },
    { ...watched, customer_id: "nobody" },
    { ...watched, customer_id: `cus_${UNKNOWN}` },
    { ...watched, last_fired_at: null },
    undefined,
  ]
  for (const json of refused) yield* send("POST", path, { json })
  yield* send("POST", path, { json: watched, key: reader })
  yield* send("POST", path, { json: watched, key: live })
  for (const query of [
    "",
    "?limit=1",
    `?starting_after=${large}`,
    `?ending_before=${first}`,
    `?customer_id=${customer_id}`,
    `?customer_id=cus_${UNKNOWN}`,
    "?customer_id=nobody",
    `?starting_after=thr_${UNKNOWN}`,
    `?starting_after=${customer_id}`,
    "?limit=x",
    "?product_id=api",
  ])
    yield* send("GET", `${path}${query}`)
  yield* send("GET", path, { key: live })
  for (const id of [first, `thr_${UNKNOWN}`, "nothing", customer_id]) yield* send("GET", `${path}/${id}`)
  yield* TestClock.adjust("1 minute")
  yield* send("POST", "/usage", { json: { customer_id, product_id: "api", unit: "call", quantity: 12 } })
  yield* send("GET", `${path}/${first}`)
  yield* send("GET", "/events")
  yield* send("DELETE", `${path}/${first}`, { key: reader })
  yield* send("DELETE", `${path}/${first}`)
  yield* send("DELETE", `${path}/${first}`)
  yield* send("GET", `${path}/${first}`)
  yield* send("PATCH", `${path}/${large}`, { json: { quantity: 5 } })
  const told = lines.length
  for (let made = 0; made <= 100; made++) yield* send("POST", path, { json: watched })
  lines.splice(told, 99)
  yield* send("DELETE", `/customers/${customer_id}`)
  yield* send("POST", path, { json: watched })
  yield* send("GET", "/event_types")
  return lines.join("\n")
})

/** A plan with one charge. */
const planOf = (price: string, more: object = {}) => ({
  key: "pro",
  name: "Pro",
  currencies: ["EUR"],
  interval: { unit: "month", count: 1 },
  charges: [{ key: "calls", model: "unit", meter: "api_calls", price: { EUR: price } }],
  ...more,
})

const plans = Effect.gen(function* () {
  const { lines, live, reader, send } = yield* open
  const push = (json: unknown, more: Sent = {}) => send("POST", "/catalog/push", { json, ...more })
  const first = { plans: [planOf("0.01")] }
  yield* send("POST", "/catalog/diff", { json: first })
  yield* push(first, { idempotencyKey: "first" })
  yield* push(first, { idempotencyKey: "first" })
  yield* TestClock.adjust("1 minute")
  yield* push(first)
  yield* push({ plans: [planOf("0.02"), planOf("0", { key: "free", description: "To begin with" })] })
  yield* push({ plans: [planOf("0.02", { name: "Professional" })] })
  const refused: ReadonlyArray<unknown> = [
    {},
    { plans: [] },
    { plans: [{}] },
    { plans: [planOf("-1"), planOf("1e5"), planOf("1", { trial: { days: 0 } })] },
    { plans: [planOf("1")], mode: "live" },
    undefined,
  ]
  for (const json of refused) yield* push(json)
  yield* push(first, { key: reader })
  for (const path of ["", "?limit=1", "/pro", "/free/versions", "/pro/versions", "/pro/versions/1"])
    yield* send("GET", `/plans${path}`)
  for (const path of [
    "/nothing",
    "/pro/versions/3",
    "/pro/versions/x",
    "?limit=0",
    `?starting_after=pln_${UNKNOWN}`,
  ])
    yield* send("GET", `/plans${path}`)
  yield* send("GET", "/plans", { key: live })
  yield* send("GET", "/plans", { key: reader })
  for (const json of [
    { plan: "pro", quantities: { calls: 1500 } },
    { plan: "pro", version: 1, quantities: { calls: "0.5" } },
    { plan: planOf("1"), currency: "USD" },
    { plan: "pro", quantities: { call: 1 } },
    { plan: "pro", version: 9 },
    { plan: "nothing" },
    {},
  ])
    yield* send("POST", "/catalog/preview", { json })
  yield* send("DELETE", "/plans/pro")
  yield* send("PATCH", "/plans/pro/versions/1", { json: {} })
  return lines.join("\n")
})

const record = (name: string, text: string) =>
  Effect.promise(() => expect(text).toMatchFileSnapshot(recording(name)))

/** Sets the clock before anything waits for it. */
const answers = <E>(
  name: string,
  asked: Effect.Effect<string, E, Layer.Success<typeof services>>,
): Effect.Effect<void, E | Layer.Error<typeof services>> =>
  TestClock.setTime(DateTime.makeUnsafe("2026-11-21T09:30:00.000Z").epochMilliseconds).pipe(
    Effect.andThen(Effect.provide(asked, services)),
    Effect.flatMap((text) => record(name, text)),
  )

describe("recordings", () => {
  it.effect("match the OpenAPI document", () =>
    record("openapi.txt", `${JSON.stringify(makeOpenApiDocument(), undefined, 1)}\n`),
  )

  it.effect("match the answers of customers", () => answers("customers.txt", customers))

  it.effect("match the answers of plans", () => answers("plans.txt", plans))

  it.effect("match the answers of usage thresholds", () => answers("thresholds.txt", thresholds))
})
